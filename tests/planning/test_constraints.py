"""Paths along constraints of frames: kept between vertices too, free of collision, with honest statuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision import World
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.planning import (
    Constraint,
    FixedOrientation,
    FixedRelativePose,
    InBox,
    OnLine,
    OnPlane,
    Standing,
    Upright,
    plan,
)

from .constrained_paths import assert_a_path, assert_exactly_free, dense, turned
from .test_exact_paths import CART

ARMS = {"panda": "panda_hand_tcp", "ur5": "wrist_3_link"}
STARTS = {"panda": [0.6, -0.2, 0.0, -2.0, 0.0, 1.8, 0.8], "ur5": [0.6, -1.2, 1.6, -2.0, -1.5, 0.0]}


def post() -> World:
    """Return a post between both sides."""
    world = World()
    world.add_cylinder("post", 0.03, 0.5, ((0.62, 0.0, 0.25), None))
    return world


def mirrored(name: str, lift: float = 0.0) -> tuple[kd.Robot, Array, Array]:
    """Return an arm, a start, and the pose of its hand, lifted and turned by -1.2 rad about the vertical."""
    robot, start = kd.load(name), np.array(STARTS[name])
    T = kd.kinematics.pose(robot, start, ARMS[name])
    T[2, 3] += lift
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(-1.2), -np.sin(-1.2)], [np.sin(-1.2), np.cos(-1.2)]]
    return robot, start, turn @ T


@pytest.mark.parametrize("name", ARMS)
def test_an_axis_stays_vertical(name: str) -> None:
    robot, start, target = mirrored(name, 0.2)
    found = plan(robot, start, {ARMS[name]: target}, post(), constraints=[Upright(ARMS[name], tolerance=0.01)])
    assert_a_path(found, start)
    up = kd.kinematics.pose(robot, dense(found), ARMS[name])[:, 2, :3]
    tilt = np.arccos(np.clip(up @ up[0], -1.0, 1.0))
    assert tilt.max() <= 0.01
    (deviation,) = found.deviations
    assert abs(deviation.angle - tilt.max()) < 1e-3
    assert_exactly_free(found, post())
    assert kd.collision.motion_free(robot, found.path[:-1], found.path[1:], post()).all()
    reached = kd.kinematics.pose(robot, found.path[-1], ARMS[name])
    np.testing.assert_allclose(reached, target, atol=2e-4)


def test_a_straight_motion_between_upright_ends_tilts_and_the_plan_does_not() -> None:
    robot, start, target = mirrored("panda", -0.2)
    target[0, 3] += 0.1
    found = plan(robot, start, {ARMS["panda"]: target}, constraints=[Upright(ARMS["panda"], tolerance=0.01)])
    assert_a_path(found, start)
    straight = robot.interpolate(start, found.path[-1], np.linspace(0.0, 1.0, 100))
    for q, tilts in ((straight, True), (dense(found), False)):
        up = kd.kinematics.pose(robot, q, ARMS["panda"])[:, 2, :3]
        assert (np.arccos(np.clip(up @ up[0], -1.0, 1.0)).max() > 0.01) == tilts


@pytest.mark.parametrize("name", ARMS)
def test_a_tool_stays_on_a_plane(name: str) -> None:
    robot, start, target = mirrored(name)
    found = plan(robot, start, {ARMS[name]: target}, post(), constraints=[OnPlane(ARMS[name])])
    assert_a_path(found, start)
    heights = kd.kinematics.pose(robot, dense(found), ARMS[name])[:, 2, 3]
    assert np.abs(heights - heights[0]).max() <= 2e-3
    assert found.deviations[0].distance <= 2e-3
    assert_exactly_free(found, post())


@pytest.mark.parametrize("name", ARMS)
def test_a_tool_stays_on_a_line(name: str) -> None:
    robot, start = kd.load(name), np.array(STARTS[name])
    T = kd.kinematics.pose(robot, start, ARMS[name])
    direction = np.array([0.2, 1.0, 0.3]) / np.linalg.norm([0.2, 1.0, 0.3])
    target = T.copy()
    target[:3, 3] -= 0.3 * direction
    line = OnLine(ARMS[name], direction)
    found = plan(robot, start, {ARMS[name]: target}, constraints=[line, FixedOrientation(ARMS[name])])
    assert_a_path(found, start)
    poses = kd.kinematics.pose(robot, dense(found), ARMS[name])
    offset = poses[:, :3, 3] - T[:3, 3]
    away = offset - (offset @ direction)[:, None] * direction
    assert np.linalg.norm(away, axis=1).max() <= 2e-3
    assert turned(poses[:, :3, :3], T[:3, :3]).max() <= 0.1


def test_a_tool_stays_inside_a_box() -> None:
    robot, start, target = mirrored("panda")
    frame = ARMS["panda"]
    first = kd.kinematics.pose(robot, start, frame)[:3, 3]
    low, high = np.minimum(first, target[:3, 3]) - 0.06, np.maximum(first, target[:3, 3]) + 0.06
    pose = np.eye(4)
    pose[:3, 3] = 0.5 * (low + high)
    box = InBox(frame, high - low, pose)
    found = plan(robot, start, {frame: target}, constraints=[box])
    assert_a_path(found, start)
    p = kd.kinematics.pose(robot, dense(found), frame)[:, :3, 3]
    assert (p >= low).all() and (p <= high).all()


def closed_chain(name: str) -> tuple[kd.Robot, Array, str, str, list[str]]:
    """Return a robot with two arms, a start, its hands and the joints of both arms."""
    robot = kd.load(name)
    start = robot.neutral()
    if name == "baxter":
        left = {"left_s0": -0.4, "left_s1": -0.3, "left_e1": 1.2, "left_w1": 0.6}
        right = {"right_s0": 0.4, "right_s1": -0.3, "right_e1": 1.2, "right_w1": 0.6}
        for joint, angle in {**left, **right}.items():
            start[robot.joint(joint).q] = angle
        arms = [f"{side}_{part}" for side in ("left", "right") for part in ("s0", "s1", "e0", "e1", "w0", "w1", "w2")]
        return robot, start, "left_gripper", "right_gripper", arms
    start = robot.configuration("half_sitting")
    arms = [f"arm_{side}_{k}_joint" for side in ("left", "right") for k in range(1, 8)]
    return robot, start, "arm_left_7_link", "arm_right_7_link", arms


@pytest.mark.filterwarnings("ignore::kinodyn.errors.DescriptionWarning")
@pytest.mark.parametrize("name", ["baxter", "talos"])
def test_both_hands_keep_their_relative_pose(name: str) -> None:
    robot, start, left, right, arms = closed_chain(name)
    target = kd.kinematics.pose(robot, start, left)
    target[:3, 3] += [0.05, -0.03, 0.1]
    chain = FixedRelativePose(right, left)
    found = plan(robot, start, {left: target}, group=arms, constraints=[chain], time_budget=5.0)
    assert_a_path(found, start)
    q = dense(found)
    T = np.linalg.inv(kd.kinematics.pose(robot, q, left)) @ kd.kinematics.pose(robot, q, right)
    assert np.linalg.norm(T[:, :3, 3] - T[0, :3, 3], axis=1).max() <= 2e-3
    assert turned(T[:, :3, :3], T[0, :3, :3]).max() <= 1e-2
    np.testing.assert_allclose(kd.kinematics.pose(robot, found.path[-1], left), target, atol=2e-4)


def test_the_same_seed_gives_the_same_path_and_others_do_not() -> None:
    robot, start, target = mirrored("panda")
    paths = [
        plan(robot, start, {ARMS["panda"]: target}, post(), constraints=[Upright(ARMS["panda"])], seed=seed).path
        for seed in (3, 3, 4)
    ]
    np.testing.assert_array_equal(paths[0], paths[1])
    assert paths[0].shape != paths[2].shape or not np.allclose(paths[0], paths[2])


def test_violations_are_reported_with_their_amount() -> None:
    robot, start, target = mirrored("panda")
    frame = ARMS["panda"]
    above = OnPlane(frame, point=kd.kinematics.pose(robot, start, frame)[:3, 3] + [0.0, 0.0, 0.05])
    found = plan(robot, start, {frame: target}, constraints=[Upright(frame), above])
    assert found.status == "start_violates_constraint" and not found.success and len(found.path) == 0
    assert "OnPlane" in found.message and "50 mm" in found.message
    goal = start + [0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0]
    found = plan(robot, start, goal, constraints=[Upright(frame)])
    assert found.status == "goal_violates_constraint" and "Upright" in found.message and "rad" in found.message
    far = target.copy()
    far[2, 3] += 0.1
    found = plan(robot, start, {frame: far}, constraints=[OnPlane(frame)], time_budget=0.3)
    assert found.status == "out_of_reach" and "mm" in found.message


def test_collisions_of_the_ends_are_statuses() -> None:
    robot, start, target = mirrored("panda")
    frame = ARMS["panda"]
    world = World()
    world.add_sphere("ball", 0.2, target[:3, 3])
    found = plan(robot, start, {frame: target}, world, constraints=[Upright(frame)], time_budget=0.3)
    assert found.status == "goal_in_collision" and "ball" in found.message
    world = World()
    world.add_sphere("ball", 0.2, kd.kinematics.pose(robot, start, frame)[:3, 3])
    found = plan(robot, start, {frame: target}, world, constraints=[Upright(frame)])
    assert found.status == "start_in_collision" and "ball" in found.message


def test_the_absence_of_a_path_within_the_budget_is_reported() -> None:
    """A wall with a gap that is narrower than the forearm, and that the links before it may touch."""
    robot, frame = kd.load("panda"), ARMS["panda"]
    start = np.array([1.5, 0.7, 0.0, -1.6, 0.0, 2.0, 0.8])
    target = kd.kinematics.pose(robot, start * [-1, 1, 1, 1, 1, 1, 1], frame)
    world = World()
    world.add_box("front", (2.0, 0.02, 4.0), ((1.03, 0.0, 0.0), None))
    world.add_box("back", (2.0, 0.02, 4.0), ((-1.03, 0.0, 0.0), None))
    allowed = [(f"panda_link{k}", wall) for k in range(4) for wall in ("front", "back")]
    plane = [OnPlane(frame)]
    found = plan(robot, start, {frame: target}, world, constraints=plane, allowed=allowed, time_budget=0.5)
    assert found.status == "no_path" and "0.5 s" in found.message
    assert found.iterations > 0


def test_an_interrupt_stops_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, start, target = mirrored("panda")

    def interrupted(problem: _core.ConstrainedProblem, seconds: float) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(_core, "constrained_rrt", interrupted)
    found = plan(robot, start, {ARMS["panda"]: target}, constraints=[Upright(ARMS["panda"])])
    assert found.status == "interrupted" and "stopped" in found.message


def test_alternative_poses_are_tried_until_one_can_be_reached() -> None:
    robot, start, target = mirrored("panda")
    far = target.copy()
    far[0, 3] += 5.0
    found = plan(robot, start, {ARMS["panda"]: np.stack([far, target])}, constraints=[Upright(ARMS["panda"])])
    assert_a_path(found, start)
    np.testing.assert_allclose(kd.kinematics.pose(robot, found.path[-1], ARMS["panda"]), target, atol=2e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Upright("hand", tolerance=0.0),
        lambda: Upright("hand", axis=(0.0, 0.0, 0.0)),
        lambda: Upright("hand", axis=(0.0, 0.0, np.nan)),
        lambda: OnPlane("hand", (0.0, 1.0)),
        lambda: OnLine("hand", (0.0, 0.0, 0.0)),
        lambda: InBox("hand", (0.1, -0.1, 0.1), np.eye(4)),
        lambda: InBox("hand", (0.1, 0.1, 0.1), np.zeros((4, 4))),
        lambda: FixedRelativePose("a", "b", tolerance=-1.0),
        lambda: FixedOrientation("hand", orientation=np.ones((3, 3))),
        lambda: Standing([]),
        lambda: Standing(margin=-0.1),
    ],
)
def test_invalid_values_raise(make: Callable[[], Constraint]) -> None:
    with pytest.raises(InputError):
        make()


def test_invalid_constraints_raise() -> None:
    robot, start, target = mirrored("panda")
    with pytest.raises(UnknownNameError):
        plan(robot, start, {ARMS["panda"]: target}, constraints=[Upright("no such frame")])
    with pytest.raises(InputError, match="constraints"):
        plan(robot, start, {ARMS["panda"]: target}, constraints=["upright"])  # type: ignore[list-item]
    with pytest.raises(kd.errors.KinodynError, match="fixed base"):
        plan(robot, start, {ARMS["panda"]: target}, constraints=[Standing()])
    with pytest.raises(InputError, match="planner"):
        plan(robot, start, {ARMS["panda"]: target}, constraints=[Upright(ARMS["panda"])], planner="anytime")
    with pytest.raises(InputError, match="empty"):
        plan(robot, start, {}, constraints=[Upright(ARMS["panda"])])


def test_goals_behind_walls_give_way_to_others(tmp_path: Path) -> None:
    """Every configuration that reaches the first pose is in a closed room; the second pose is tried afterwards."""
    file = tmp_path / "cart.urdf"
    file.write_text(CART)
    cart, world = kd.load(file), World()
    for name, x, y, size in (("w", 0.3, 0.6, (0.02, 0.8, 0.2)), ("e", 1.0, 0.6, (0.02, 0.8, 0.2))):
        world.add_box(name, size, ((x, y, 0.0), None))
    for name, y in (("s", 0.25), ("n", 0.95)):
        world.add_box(name, (0.72, 0.02, 0.2), ((0.65, y, 0.0), None))
    inside, outside = (kd.spatial.pose([x, y, 0.0]) for x, y in ((0.65, 0.6), (0.0, 0.9)))
    constraints = [InBox("cart", (3.0, 3.0, 1.0), np.eye(4))]
    closed = plan(cart, np.zeros(2), {"cart": inside}, world, constraints=constraints, time_budget=0.3)
    assert closed.status == "no_path"
    goal = {"cart": np.stack([inside, outside])}
    found = plan(cart, np.zeros(2), goal, world, constraints=constraints, time_budget=20.0)
    assert found.success
    np.testing.assert_allclose(found.path[-1], [0.0, 0.9], atol=1e-3)
