"""Groups: SRDF chains, joints, subgroups, the whole tree; other joints stay, mimic joints follow."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.model.robot import Robot
from kinodyn.planning import plan
from kinodyn.planning.groups import Group, group_joints

from .machines import machine


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return machine(tmp_path_factory.mktemp("machine"))


def room() -> World:
    world = World()
    world.add_box("pillar", (0.2, 0.2, 1.5), ((0.9, 0.0, 0.75), None))
    return world


def moved_joints(robot: Robot, path: Array) -> set[str]:
    return {joint.name for joint in robot.joints if np.ptp(path, axis=0)[joint.q].any()}


ARM = ["left_turn", "left_lift", "left_elbow"]
GROUPS: list[tuple[Group, list[str]]] = [
    ("left_arm", ARM),
    (["left_elbow", "left_turn"], ["left_turn", "left_elbow"]),
    ("column", ["column"]),
    ("left_gripper", ["left_finger_z"]),
    (["left_gripper", "left_arm"], [*ARM, "left_finger_z"]),
    ("both_arms", [*ARM, "right_turn", "right_lift", "right_elbow"]),
    (["left_arm", "right_arm"], [*ARM, "right_turn", "right_lift", "right_elbow"]),
    ("tree", ["base", "column", *ARM, "right_turn", "right_lift", "right_elbow"]),
    (None, ["base", "column", *ARM, "left_finger_z", "right_turn", "right_lift", "right_elbow", "right_finger_z"]),
]


@pytest.mark.parametrize(("group", "names"), GROUPS)
def test_the_joints_of_a_group_move_and_others_stay(robot: Robot, group: Group, names: list[str]) -> None:
    assert [joint.name for joint in group_joints(robot, group)] == names
    world, start = room(), robot.neutral()
    q = robot.random(4000, seed=len(names))
    mask = np.ones(robot.nq, dtype=bool)
    for joint in robot.joints:
        if joint.name in names:
            mask[joint.q] = False
    q[:, mask] = start[mask]
    goal = q[kd.collision.free(robot, q, world)][0]
    # the goal of joints that are not in the group does not matter
    found = plan(robot, start, np.where(mask, 0.123, goal), world, group=group, time_budget=10.0)
    assert found.success, found
    np.testing.assert_array_equal(found.path[0], start)
    assert moved_joints(robot, found.path) == set(names)
    np.testing.assert_allclose(np.sin(found.path[-1]), np.sin(goal), atol=1e-9)  # full turns do not matter
    assert kd.collision.motion_free(robot, found.path[:-1], found.path[1:], world).all()


def test_fingers_that_mimic_follow(robot: Robot) -> None:
    goal = robot.neutral()
    goal[group_joints(robot, "left_gripper")[0].q] = 0.5
    found = plan(robot, robot.neutral(), goal, group="left_gripper")
    tips = kd.kinematics.poses(robot, found.path[-1], frames=["left_b", "left_z", "left_hand"])
    relative = np.linalg.inv(tips[2]) @ tips[:2]
    np.testing.assert_allclose(relative[0, :3, :3], kd.spatial.rot_y(-0.5), atol=1e-9)
    np.testing.assert_allclose(relative[1, :3, :3], kd.spatial.rot_y(0.5), atol=1e-9)


def test_a_mobile_base_drives_around_a_pillar_to_a_pose(robot: Robot) -> None:
    start, world = robot.neutral(), room()
    T = kd.kinematics.pose(robot, start, "left_hand").copy()
    T[0, 3] += 1.8  # behind the pillar
    found = plan(robot, start, {"left_hand": T}, world, group="tree", time_budget=5.0)
    assert found.success, found
    np.testing.assert_allclose(kd.kinematics.pose(robot, found.path[-1], "left_hand"), T, atol=1e-5)
    assert kd.collision.motion_free(robot, found.path[:-1], found.path[1:], world).all()


def test_a_named_state_moves_only_what_it_mentions(robot: Robot) -> None:
    start = robot.neutral()
    start[:2] = -0.3, 0.2
    found = plan(robot, start, "bent")
    assert found.success and moved_joints(robot, found.path) == {"left_elbow"}


@pytest.mark.parametrize(
    ("group", "error", "message"),
    [
        ("tail", UnknownNameError, "tail.*left_arm"),
        (["left_arm", "tail"], UnknownNameError, "tail"),
        (["left_finger_b"], InputError, "follows"),
        ([], InputError, "no joints"),
        (3, InputError, "group must be a string, a list of strings or None"),
    ],
)
def test_unknown_groups_are_rejected(robot: Robot, group: Group, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        plan(robot, robot.neutral(), robot.neutral(), group=group)


def test_the_floating_base_moves_where_it_is_named_only() -> None:
    robot = kd.load("humanoid")
    assert robot.joints[0].name not in {joint.name for joint in group_joints(robot, None, manifold=True)}
    with pytest.raises(InputError, match="floating"):
        group_joints(robot, [robot.joints[0].name, "left_arm"])
