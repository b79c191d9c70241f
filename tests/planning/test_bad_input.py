"""Bad input: typed errors or honest statuses, in bounded time; budgets are kept."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import World, exact
from kinodyn.errors import InputError, KinodynError, UnknownNameError
from kinodyn.planning import PoseRegion, Roadmap, plan

from .machines import machine, outside, room_without_doors

PANDA, HUMANOID = kd.load("panda"), kd.load("humanoid")
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
AWAY = HOME + [1.5, 0, 0, 0, 0, 0, 0]
PLANNERS = ["rrt_connect", "anytime", "prm"]


def ball_at(q: np.ndarray) -> World:
    world = World()
    world.add_sphere("ball", 0.1, kd.kinematics.pose(PANDA, q, "panda_link8")[:3, 3])
    return world


@pytest.mark.parametrize("planner", PLANNERS)
def test_ends_in_collision_name_the_pair_and_its_depth(planner: str) -> None:
    found = plan(PANDA, HOME, AWAY, ball_at(HOME), planner=planner)
    assert found.status == "start_in_collision" and "panda_link7 with ball" in found.message
    found = plan(PANDA, AWAY, HOME, ball_at(HOME), planner=planner)
    assert found.status == "goal_in_collision" and "panda_link7 with ball" in found.message
    if exact.is_available():
        depth = float(found.message.split("panda_link7 with ball, ")[1].split(" mm")[0])
        shapes = exact.placed_links(PANDA, HOME)["panda_link7"]
        ball = ball_at(HOME).snapshot()["ball"]
        measured = exact.distance(shapes, [exact.Placed(ball.shape, ball.pose)]).distance
        assert depth == pytest.approx(-1e3 * measured, rel=1e-2)


def test_self_collisions_of_ends_are_named() -> None:
    q = PANDA.random(3000, seed=1)
    folded = q[~kd.collision.free(PANDA, q)]
    statuses = [plan(PANDA, HOME, goal, time_budget=0.3) for goal in folded[:5]]
    assert any(found.status == "goal_in_collision" and "panda_link" in found.message for found in statuses)


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_goal_that_only_collides_by_poses_names_what_touches(planner: str) -> None:
    T = kd.kinematics.pose(PANDA, HOME, "panda_link8")
    for goal in (T, PoseRegion(T, position_tolerance=0.01, free_yaw=True), np.stack([T] * 3)):
        found = plan(PANDA, AWAY, {"panda_link8": goal}, ball_at(HOME), planner=planner)
        assert found.status == "goal_in_collision" and "ball" in found.message


def test_joints_out_of_limits_are_named() -> None:
    beyond = HOME + [0, 5, 0, 0, 0, 0, 0]
    with pytest.raises(InputError, match=r"start: joint panda_joint2 is at 4\.215, outside its limits"):
        plan(PANDA, beyond, HOME)
    found = plan(PANDA, HOME, np.array([beyond, beyond]))
    assert found.status == "out_of_reach" and "panda_joint2 is at 4.215, outside its limits" in found.message
    assert plan(PANDA, HOME, np.array([beyond, AWAY])).success
    found = plan(PANDA, HOME, {"panda_joint4": 1.0})
    assert found.status == "out_of_reach" and "panda_joint4" in found.message


def test_joints_that_do_not_move_may_be_out_of_limits() -> None:
    start = HUMANOID.configuration("standing")
    head = next(joint for joint in HUMANOID.joints if joint.name == "head_yaw")
    start[head.q] = 9.0
    goal = start.copy()
    goal[next(joint.q for joint in HUMANOID.joints if joint.name == "left_elbow")] -= 0.3
    assert plan(HUMANOID, start, goal, group="left_arm").success


@pytest.mark.parametrize(
    "add",
    [
        lambda world: world.add_box("bad", (0.1, 0.0, 0.1)),
        lambda world: world.add_box("bad", (0.1, np.nan, 0.1)),
        lambda world: world.add_box("bad", (0.1, 0.1, 0.1), ((np.nan, 0, 0), None)),
        lambda world: world.add_sphere("bad", 0.0, (0, 0, 1)),
        lambda world: world.add_sphere("bad", np.inf, (0, 0, 1)),
        lambda world: world.add_sphere("bad", 0.1, (0, np.nan, 1)),
        lambda world: world.add_cylinder("bad", -1.0, 1.0),
        lambda world: world.add_capsule("bad", 0.1, np.nan),
        lambda world: world.add_points("bad", np.array([[0.0, np.nan, 0.0]]), 0.01),
        lambda world: world.add_mesh("bad", (np.full((3, 3), np.nan), np.array([[0, 1, 2]]))),
    ],
)
def test_worlds_with_invalid_shapes_are_rejected_and_stay_as_they_were(add: object) -> None:
    world = World()
    with pytest.raises(KinodynError):
        add(world)  # type: ignore[operator]
    assert len(world.snapshot()) == 0 and plan(PANDA, HOME, AWAY, world).success


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"group": "tail"}, UnknownNameError, "tail"),
        ({"planner": "rrt"}, UnknownNameError, "planner"),
        ({"time_budget": -1.0}, InputError, "time_budget"),
        ({"time_budget": np.nan}, InputError, "time_budget"),
        ({"start": np.full(7, np.nan)}, InputError, "start"),
        ({"goal": np.full(7, np.inf)}, InputError, "goal"),
        ({"goal": None}, InputError, "goal"),
    ],
)
def test_invalid_arguments_are_rejected(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    given = {"start": HOME, "goal": AWAY, **arguments}
    with pytest.raises(error, match=message):
        plan(PANDA, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("planner", PLANNERS)
def test_where_there_is_no_path_the_budget_ends_the_search(planner: str, tmp_path: Path) -> None:
    robot, world = machine(tmp_path), room_without_doors()
    plan(robot, robot.neutral(), robot.neutral(), world, group="tree")  # its spheres are fitted once
    begin = time.process_time()
    found = plan(robot, robot.neutral(), outside(robot), world, group="tree", planner=planner, time_budget=0.5)
    assert found.status == "no_path" and not found.success and not len(found.path)
    assert time.process_time() - begin < 5.0


def test_the_search_ends_where_every_straight_motion_touches_between_its_checks() -> None:
    """A wire so thin that checks at steps miss it: a path leads around it, or there is none."""
    world = World()
    start, goal = HOME + [0.3, 0.6, 0, 0.3, 0, 0, 0], HOME + [-0.3, 0.6, 0, 0.3, 0, 0, 0]
    tool = kd.kinematics.pose(PANDA, HOME + [0, 0.6, 0, 0.3, 0, 0, 0], "panda_link7")[:3, 3]
    world.add_cylinder("wire", 1e-4, 4.0, ((tool[0], tool[1], 0.0), None))
    assert not kd.collision.motion_free(PANDA, start, goal, world)
    begin = time.process_time()
    found = plan(PANDA, start, goal, world, time_budget=2.0)
    assert time.process_time() - begin < 20.0 and found.status in ("solved", "no_path")
    if found.success:
        assert kd.collision.motion_free(PANDA, found.path[:-1], found.path[1:], world, resolution=1e-5).all()


def test_many_alternatives_out_of_reach_take_no_longer_than_the_budget() -> None:
    T = np.tile(np.eye(4), (4000, 1, 1))
    T[:, 0, 3] = np.linspace(3, 5, 4000)
    begin = time.process_time()
    found = plan(PANDA, HOME, {"panda_link8": T}, time_budget=0.3)
    assert found.status == "out_of_reach" and time.process_time() - begin < 5.0


def test_a_roadmap_in_a_world_without_room_has_no_vertices() -> None:
    world = World()
    world.add_box("block", (4.0, 4.0, 4.0))
    roadmap = Roadmap(PANDA, world, vertices=100)
    assert len(roadmap.vertices) == 0
    assert roadmap.plan(HOME, AWAY).status == "start_in_collision"
