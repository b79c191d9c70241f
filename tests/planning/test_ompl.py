"""Planners of OMPL on functions that tell what is free: paths, budgets, seeds, joints without limits."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.planning.ompl import PlanningInterruptedError

pytest.importorskip("ompl")
PLANNERS = kd.planning.ompl_planners()
FIRST_PATH = ("RRT", "RRTConnect", "BKPIECE1", "LBKPIECE1", "KPIECE1")
OPTIMAL = ("RRTstar", "InformedRRTstar", "SORRTstar", "PRMstar", "BITstar", "AORRTC")
LIMITS = (np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
UNBOUNDED = (np.array([-1.0, -np.inf]), np.array([1.0, np.inf]))
START, GOAL = np.array([-0.5, 0.0]), np.array([0.5, 0.0])


def around_the_wall(q: np.ndarray) -> bool:
    """Tell whether a point is free: a wall has a gap at its upper end."""
    return not (abs(q[0]) < 0.2 and q[1] < 0.7)


def through_the_back(q: np.ndarray) -> bool:
    """Tell whether a position and an angle are free: only angles near pi are free in the middle."""
    return not (abs(q[0]) < 0.2 and math.cos(q[1]) > -0.5)


def motion(free: Callable[[np.ndarray], bool]) -> Callable[[np.ndarray, np.ndarray], bool]:
    return lambda q0, q1: all(free(q0 + s * (q1 - q0)) for s in np.linspace(0.0, 1.0, 16))


def plan(planner: str = "RRTConnect", goals: object = GOAL, **options: object) -> np.ndarray | None:
    free = options.pop("free", around_the_wall)
    lower, upper = options.pop("limits", LIMITS)
    check = options.pop("motion_free", motion(free))
    return kd.planning.plan_with_ompl(planner, START, goals, lower, upper, free, check, **options)


def enough(planner: str) -> float:
    """Return a time budget that is enough on a busy machine; planners that optimise use all of it."""
    return 2.0 if planner in OPTIMAL else 20.0


def is_valid(path: np.ndarray, free: Callable[[np.ndarray], bool]) -> bool:
    return all(motion(free)(q0, q1) for q0, q1 in zip(path[:-1], path[1:], strict=True))


def test_the_common_planners_are_there() -> None:
    assert {"RRTConnect", "RRTstar", "BITstar", "PRMstar", "FMT", "KPIECE1"} <= set(PLANNERS)


@pytest.mark.parametrize("planner", PLANNERS)
def test_every_planner_finds_a_free_path_within_limits(planner: str) -> None:
    path = plan(planner, goals=[GOAL, GOAL + 0.1], time_budget=enough(planner))
    assert path is not None and is_valid(path, around_the_wall)
    np.testing.assert_array_equal(path[0], START)
    assert min(np.abs(path[-1] - goal).max() for goal in (GOAL, GOAL + 0.1)) < 1e-6
    assert (LIMITS[0] <= path).all() and (path <= LIMITS[1]).all()


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_joint_without_limits_may_pass_half_a_turn(planner: str) -> None:
    path = plan(planner, free=through_the_back, limits=UNBOUNDED, time_budget=enough(planner))
    assert path is not None and is_valid(path, through_the_back)
    np.testing.assert_array_equal(path[0], START)
    assert abs(path[-1, 0] - 0.5) < 1e-6 and abs(math.remainder(path[-1, 1], 2 * math.pi)) < 1e-6
    assert np.abs(np.diff(path[:, 1])).max() <= 2 * math.pi + 1e-9


def test_joints_without_limits_take_the_shorter_direction() -> None:
    start, goal = np.array([3.0]), np.array([-3.0])
    limits = np.array([-np.inf]), np.array([np.inf])
    path = kd.planning.plan_with_ompl("RRTConnect", start, goal, *limits, lambda q: True, lambda q0, q1: True)
    assert path is not None and path[-1, 0] == pytest.approx(2 * math.pi - 3.0)


@pytest.mark.parametrize("planner", PLANNERS)
def test_hardly_any_check_begins_after_the_budget_where_there_is_no_path(planner: str) -> None:
    begun: list[float] = []  # time of each check: how many come late does not depend on the load of the machine

    def slow(free: bool) -> bool:
        begun.append(time.perf_counter())
        time.sleep(0.0005)
        return free

    deadline = time.perf_counter() + 0.5
    path = plan(
        planner,
        free=lambda q: slow(abs(q[0]) > 0.2),
        motion_free=lambda q0, q1: slow(q0[0] * q1[0] > 0),
        time_budget=0.5,
    )
    assert path is None
    assert len(begun) > 10 and sum(moment > deadline for moment in begun) <= 0.2 * len(begun)


@pytest.mark.parametrize("planner", FIRST_PATH)
def test_a_seed_gives_the_same_path_and_another_one_another(planner: str) -> None:
    first, again, other = (plan(planner, seed=seed, time_budget=5.0) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or (first != other).any()


def test_an_interrupt_leaves_the_best_path_so_far() -> None:
    calls = 0

    def interrupted(q: np.ndarray) -> bool:
        nonlocal calls
        calls += 1
        if calls > 20_000:
            raise KeyboardInterrupt
        return around_the_wall(q)

    with pytest.raises(PlanningInterruptedError) as stop:
        kd.planning.plan_with_ompl("RRTstar", START, GOAL, *LIMITS, interrupted, motion(interrupted), time_budget=60.0)
    path = stop.value.path
    assert path is not None
    np.testing.assert_allclose([path[0], path[-1]], [START, GOAL], atol=1e-9)
    assert all(around_the_wall(q) for q in path)


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_exception_stops_planning(planner: str, error: type[BaseException]) -> None:
    calls = 0

    def breaks(q: np.ndarray) -> bool:
        nonlocal calls
        calls += 1
        if calls > 5:
            raise error
        return abs(q[0]) > 0.2

    def motion_breaks(q0: np.ndarray, q1: np.ndarray) -> bool:
        return breaks(q0) and q0[0] * q1[0] > 0

    began = time.process_time()
    with pytest.raises(error):
        plan(planner, free=breaks, motion_free=motion_breaks, time_budget=30.0)
    assert time.process_time() - began < 5.0


def test_nothing_leaks_after_paths_and_exceptions() -> None:
    """At exit nanobind reports objects of OMPL that are still referred to."""
    script = """
import kinodyn as kd
for planner in kd.planning.ompl_planners():
    for free in (lambda q: True, lambda q: 1 / 0):
        try:
            kd.planning.plan_with_ompl(planner, [0], [1], [-2], [2], free, lambda a, b: True, time_budget=0.05)
        except ZeroDivisionError:
            pass
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""


@pytest.mark.parametrize("planner", ["RRTConnect", "PRM", "BITstar"])
def test_a_start_or_goal_in_collision_gives_no_path(planner: str) -> None:
    assert plan(planner, goals=[0.0, 0.0], time_budget=0.3) is None
    assert plan(planner, free=lambda q: q[0] > -0.3, time_budget=0.3) is None


def test_threads_take_turns() -> None:
    paths: list[np.ndarray | None] = []
    threads = [threading.Thread(target=lambda: paths.append(plan(seed=3, time_budget=10.0))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(paths) == 4
    for path in paths:
        np.testing.assert_array_equal(path, paths[0])


def test_an_unknown_planner_suggests_the_nearest() -> None:
    with pytest.raises(kd.UnknownNameError, match="did you mean .*'RRTConnect'"):
        plan("RRTconnect")
    with pytest.raises(kd.UnknownNameError, match="planner of OMPL"):
        plan("PathSimplifier")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goals": [0.5]}, "goals must have shape"),
        ({"goals": [0.5, np.nan]}, r"goals must be finite numbers, at most 1e\+60"),
        ({"goals": np.zeros((0, 2))}, "goals must have shape"),
        ({"goals": [2.0, 0.0]}, "a goal is outside"),
        ({"limits": ([0.0, 0.0], [1.0, 1.0])}, "start is outside"),
        ({"limits": ([1.0, 1.0], [-1.0, -1.0])}, "lower below upper"),
        ({"limits": ([-1.0, -np.inf], [1.0, 1.0])}, "both limits"),
        ({"limits": ([-1.0], [1.0])}, "shape"),
        ({"limits": ([-1.0, np.nan], [1.0, 1.0])}, "lower below upper"),
        ({"time_budget": 0.0}, "time_budget"),
        ({"time_budget": np.nan}, "time_budget"),
        ({"seed": -1}, "seed"),
        ({"seed": 0.5}, "seed"),
    ],
)
def test_invalid_arguments_are_errors(options: dict[str, object], message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        plan(**options)
