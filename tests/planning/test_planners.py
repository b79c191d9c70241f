"""Planners by name: free paths from each, shorter ones with time, determinism, Ctrl-C."""

from __future__ import annotations

import _thread
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import World
from kinodyn.collision.query import Query
from kinodyn.errors import UnknownNameError
from kinodyn.planning import Plan, PlannerSettings, plan
from kinodyn.planning.anytime import crossed, length
from kinodyn.planning.search import SearchProblem, search

from .machines import machine, outside, room_without_doors
from .panda_scene import HOME, LEFT, PANDA, RIGHT, wall


def assert_free(found: Plan, world: World) -> None:
    assert found.success, found
    # pieces of motions that were found free are checked again with a smaller resolution: they may touch nearly
    assert kd.collision.motion_free(PANDA, found.path[:-1], found.path[1:], world, resolution=1e-5).all()


@pytest.mark.parametrize("name", ["RRTConnect", "BKPIECE1", "LBKPIECE1", "AORRTC", "PRM"])
def test_planners_of_ompl_find_free_paths(name: str) -> None:
    pytest.importorskip("ompl")
    world = wall()
    found = plan(PANDA, LEFT, RIGHT, world, planner=f"ompl:{name}", time_budget=4.0)
    assert_free(found, world)
    np.testing.assert_array_equal(found.path[[0, -1]], [LEFT, RIGHT])
    assert found.length < 12.0 and found.iterations > 0


def test_ompl_reaches_a_pose_and_one_of_several_goals() -> None:
    pytest.importorskip("ompl")
    world = wall()
    T = kd.kinematics.pose(PANDA, RIGHT, "panda_link8")
    found = plan(PANDA, LEFT, {"panda_link8": T}, world, planner="ompl:RRTConnect", time_budget=4.0)
    assert_free(found, world)
    np.testing.assert_allclose(kd.kinematics.pose(PANDA, found.path[-1], "panda_link8"), T, atol=1e-5)


@pytest.mark.parametrize("name", ["rrt", "ompl:Nothing", "ompl:", ""])
def test_unknown_planners_are_rejected(name: str) -> None:
    if str(name).startswith("ompl"):
        pytest.importorskip("ompl")
    with pytest.raises(UnknownNameError, match="planner"):
        plan(PANDA, LEFT, RIGHT, planner=name)


@pytest.mark.parametrize("fraction", [0.5, 1.0])
def test_samples_around_nodes_lead_to_free_paths_within_the_bounds(fraction: float) -> None:
    world, lower, upper = wall(), PANDA.limits.lower, PANDA.limits.upper
    query, ends = Query(PANDA, world.snapshot()), (LEFT, RIGHT[None])
    given = SearchProblem(query, PlannerSettings(), ends, (lower, upper), 30.0, 3, local_fraction=fraction)
    paths = [search(given).path for _ in range(2)]
    assert paths[0] is not None and paths[1] is not None
    np.testing.assert_array_equal(paths[0], paths[1])
    np.testing.assert_allclose(paths[0][[0, -1]], [LEFT, RIGHT], atol=1e-6)
    assert (paths[0] >= lower - 1e-6).all() and (paths[0] <= upper + 1e-6).all()
    assert kd.collision.motion_free(PANDA, paths[0][:-1], paths[0][1:], world, resolution=1e-5).all()


def test_more_rounds_give_shorter_paths() -> None:
    world = wall()
    world.add_box("roof", (0.4, 0.3, 0.04), ((0.6, 0.0, 0.65), None))
    lengths = []
    for rounds in (0, 2, 40):
        plans = [
            plan(PANDA, LEFT, RIGHT, world, planner="anytime", time_budget=60.0, seed=seed, settings=_rounds(rounds))
            for seed in range(4)
        ]
        for found in plans:
            assert_free(found, world)
            np.testing.assert_array_equal(found.path[[0, -1]], [LEFT, RIGHT])
        lengths.append(np.array([found.length for found in plans]))
    assert (lengths[1] <= lengths[0] + 1e-6).all() and (lengths[2] <= lengths[1] + 1e-6).all()
    assert lengths[2].mean() < 0.95 * lengths[0].mean()
    # all seeds come near the same, shortest path
    assert np.ptp(lengths[2]) < 0.2 * np.ptp(lengths[0]) + 0.05 * lengths[2].min()


def _rounds(n: int) -> PlannerSettings:
    return PlannerSettings(rounds=n)


def test_a_number_of_rounds_is_deterministic() -> None:
    paths = [
        plan(PANDA, LEFT, RIGHT, wall(), planner="anytime", time_budget=60.0, seed=5, settings=_rounds(8)).path
        for _ in range(2)
    ]
    np.testing.assert_array_equal(paths[0], paths[1])


def test_the_anytime_planner_uses_its_budget_and_keeps_it() -> None:
    world = wall()
    world.add_box("second", (0.4, 0.3, 0.04), ((0.6, 0.0, 0.65), None))
    begin = time.perf_counter()
    found = plan(PANDA, LEFT, RIGHT, world, planner="anytime", time_budget=0.4)
    spent = time.perf_counter() - begin
    assert found.success and 0.3 < spent < 5.0  # generous: other work may run on the machine


def test_a_free_straight_motion_is_returned_at_once() -> None:
    begin = time.perf_counter()
    found = plan(PANDA, LEFT, RIGHT, planner="anytime", time_budget=30.0)
    assert len(found.path) == 2 and time.perf_counter() - begin < 20.0


def test_crossing_paths_over_gives_the_shortest_combination() -> None:
    """Two paths each of which makes a detour in another half; the crossing has neither."""
    start, goal = HOME, HOME + [0.8, 0, 0, 0, 0, 0, 0]
    middle, aside = 0.5 * (start + goal), np.array([0, -0.4, 0, 0, 0, 0, 0])
    first = np.array([start, start + [0.2, 0, 0, 0, 0, 0, 0] + aside, middle, goal])
    second = np.array([start, middle, goal - [0.2, 0, 0, 0, 0, 0, 0] + aside, goal])
    query = Query(PANDA, World().snapshot(), q=HOME, moves=np.ones(7, dtype=bool))
    found = crossed(query, first, second, PlannerSettings(), np.inf)
    np.testing.assert_array_equal(found[[0, -1]], [start, goal])
    assert length(found) < length(first) - 0.3


@pytest.mark.parametrize("planner", ["rrt_connect", "anytime", "ompl:RRTConnect"])
def test_ctrl_c_stops_a_search_that_cannot_succeed(planner: str, tmp_path: Path) -> None:
    if planner.startswith("ompl"):
        pytest.importorskip("ompl")
    robot, world = machine(tmp_path), room_without_doors()
    Query(robot, world.snapshot())  # fits spheres, before the search
    begin = time.perf_counter()
    timer = threading.Timer(0.4, _thread.interrupt_main)
    timer.start()
    found = plan(robot, robot.neutral(), outside(robot), world, planner=planner, time_budget=60.0)
    timer.cancel()
    assert found.status == "interrupted" and not found.success and not len(found.path)
    assert time.perf_counter() - begin < 20.0


def test_ctrl_c_leaves_the_best_path_so_far() -> None:
    world = wall()
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    found = plan(PANDA, LEFT, RIGHT, world, planner="anytime", time_budget=60.0)
    timer.cancel()
    assert found.status == "interrupted" and len(found.path) >= 2
    np.testing.assert_array_equal(found.path[[0, -1]], [LEFT, RIGHT])
    assert kd.collision.motion_free(PANDA, found.path[:-1], found.path[1:], world, resolution=1e-5).all()


@pytest.mark.parametrize("delay", [0.2, 0.5, 0.8])
def test_ctrl_c_leaves_the_best_path_of_ompl(delay: float) -> None:
    pytest.importorskip("ompl")
    plan(PANDA, LEFT, RIGHT, wall(), planner="ompl:RRTConnect")  # loads OMPL
    timer = threading.Timer(delay, _thread.interrupt_main)
    timer.start()
    found = plan(PANDA, LEFT, RIGHT, wall(), planner="ompl:RRTstar", time_budget=60.0)
    timer.cancel()
    assert found.status == "interrupted"
    assert delay < 0.5 or len(found.path) >= 2


def test_ctrl_c_while_goals_are_computed_is_a_status() -> None:
    """All solutions of many poses inside of an obstacle collide, so that the search for others goes on."""
    world = World()
    world.add_box("block", (0.4, 0.4, 0.4), ((0.5, 0.0, 0.5), None))
    poses = np.tile(kd.kinematics.pose(PANDA, HOME, "panda_link8"), (100_000, 1, 1))
    poses[:, :3, 3] = np.random.default_rng(0).uniform((0.4, -0.1, 0.4), (0.6, 0.1, 0.6), (len(poses), 3))
    start = np.array([1.8, -0.2, 0, -2, 0, 1.8, 0.8])
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    found = plan(PANDA, start, {"panda_link8": poses}, world, time_budget=60.0)
    timer.cancel()
    assert found.status == "interrupted" and not len(found.path)
