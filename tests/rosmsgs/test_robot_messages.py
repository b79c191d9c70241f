"""States of robots as messages: any order of joints, missing joints, transforms that compose to the poses."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd

pytest.importorskip("rosbags")

from kinodyn import rosmsgs  # noqa: E402
from kinodyn.rosmsgs.robot_messages import JointStateReader  # noqa: E402

from ..conftest import mimics  # noqa: E402


@pytest.mark.parametrize("name", ["panda", "humanoid", "ur5"])
def test_a_state_returns_from_its_message_in_any_order(name: str) -> None:
    robot = kd.load(name)
    q, v = robot.random(seed=3), np.random.default_rng(3).normal(size=robot.nv)
    message = rosmsgs.joint_state(robot, q, v, 2.0 * v, time=1_500_000_001)
    order = np.random.default_rng(0).permutation(len(message.name))
    message.name = [message.name[k] for k in order]
    for field in ("position", "velocity", "effort"):
        setattr(message, field, getattr(message, field)[order])
    sample = JointStateReader(robot, q).read(message)
    first = 6 if robot.base == "floating" else 0
    np.testing.assert_array_equal(sample.q, q)
    np.testing.assert_array_equal(sample.v[first:], v[first:])
    np.testing.assert_array_equal(sample.tau[first:], 2.0 * v[first:])
    assert sample.time == 1_500_000_001 and sample.missing == () and sample.unknown == ()


def test_mimic_joints_are_sent_and_ignored_when_read() -> None:
    mimic_robot = kd.Robot(mimics())
    q = mimic_robot.random(seed=1)
    message = rosmsgs.joint_state(mimic_robot, q)
    followers = {joint.name: joint for joint in mimic_robot.joints if joint.mimic is not None}
    sent = dict(zip(message.name, message.position, strict=True))
    for name, joint in followers.items():
        assert joint.mimic is not None
        leader = q[joint.q.start]
        assert sent[name] == pytest.approx(joint.mimic.multiplier * leader + joint.mimic.offset)
    np.testing.assert_allclose(JointStateReader(mimic_robot, q).read(message).q, q)


def test_missing_joints_keep_their_value_and_are_named() -> None:
    robot = kd.load("panda")
    reader = JointStateReader(robot)
    full = rosmsgs.joint_state(robot, np.arange(7.0))
    reader.read(full)
    part = rosmsgs.new("sensor_msgs/JointState", name=["panda_joint2", "gripper"], position=[9.0, 1.0])
    sample = reader.read(part)
    assert sample.q.tolist() == [0.0, 9.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert "panda_joint1" in sample.missing and sample.unknown == ("gripper",)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ["panda_joint1"], "position": [1.0, 2.0]}, "position must be as long as name, 1, got 2"),
        ({"name": ["panda_joint1"], "position": [np.nan]}, "position must be finite"),
        ({"name": ["panda_joint1"] * 2, "position": [1.0, 2.0]}, "each joint once"),
        ({"name": ["panda_joint1"]}, "position must have 1 numbers, got none"),
    ],
)
def test_a_broken_state_is_an_error_and_the_old_state_stays(fields: dict[str, object], message: str) -> None:
    robot = kd.load("panda")
    reader = JointStateReader(robot)
    reader.read(rosmsgs.joint_state(robot, np.arange(7.0)))
    with pytest.raises(kd.InputError, match=message):
        reader.read(rosmsgs.new("sensor_msgs/JointState", fields))
    assert reader.read(rosmsgs.new("sensor_msgs/JointState")).q.tolist() == list(np.arange(7.0))


@pytest.mark.parametrize("name", ["panda", "humanoid"])
def test_transforms_compose_to_the_poses_of_the_links(name: str) -> None:
    robot = kd.load(name)
    q = robot.random(seed=5)
    T_world = {robot.frame_names[0]: kd.kinematics.pose(robot, q, robot.frame_names[0])}
    parts = [rosmsgs.transforms(robot, q, fixed=fixed).transforms for fixed in (False, True)]
    waiting = [*parts[0], *parts[1]]
    while waiting:
        stamped = next(each for each in waiting if each.header.frame_id in T_world)
        waiting.remove(stamped)
        at, turned = stamped.transform.translation, stamped.transform.rotation
        T = kd.spatial.pose((at.x, at.y, at.z), kd.spatial.from_quaternion([turned.x, turned.y, turned.z, turned.w]))
        T_world[stamped.child_frame_id] = T_world[stamped.header.frame_id] @ T
    assert len(T_world) >= len(robot.description.links)
    for link, T in T_world.items():
        np.testing.assert_allclose(T, kd.kinematics.pose(robot, q, link), atol=1e-12)


def test_the_description_is_a_urdf_that_loads_again(tmp_path: object) -> None:
    robot = kd.load("humanoid", base="fixed")
    path = f"{tmp_path}/robot.urdf"
    with open(path, "w", encoding="utf-8") as file:
        file.write(rosmsgs.robot_description(robot).data)
    again = kd.load(path)
    assert again.nq == robot.nq and again.mass == pytest.approx(robot.mass)
