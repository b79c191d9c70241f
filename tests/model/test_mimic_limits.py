"""Limits of mimic joints bind the joint that they follow, in everything that asks a robot for its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description import Description, Inertia, Joint, Link, Mimic, parse_mjcf, parse_urdf
from kinodyn.errors import DescriptionError

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'

# The follower turns twice as far as its leader and ends at 1: the leader must not exceed 0.5.
URDF = f"""
<robot name="arm">
  <link name="base"/>
  <link name="upper">{INERTIAL}</link>
  <link name="lower">{INERTIAL}</link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="3" effort="10"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="lower"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="1" velocity="3" effort="10"/><mimic joint="shoulder" multiplier="2"/>
  </joint>
  <link name="tip"/>
  <joint name="fixed" type="fixed"><parent link="lower"/><child link="tip"/><origin xyz="1 0 0"/></joint>
</robot>
"""

MJCF = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 0 1" range="-2 2"/>
      <geom type="sphere" size="0.1"/>
      <body name="lower" pos="1 0 0">
        <joint name="elbow" axis="0 0 1" range="-3 1"/>
        <geom type="sphere" size="0.1"/>
        <site name="tip" pos="1 0 0"/>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="elbow" joint2="shoulder" polycoef="0 2 0 0 0"/></equality>
</mujoco>
"""


@pytest.fixture(params=["urdf", "mjcf"])
def arm(request):
    return kd.Robot(parse_urdf(URDF) if request.param == "urdf" else parse_mjcf(MJCF))


def elbow(q):
    return 2.0 * np.asarray(q)[..., 0]


def chain(*, multiplier: float, offset: float = 0.0, lower: float = -1.0, upper: float = 1.0) -> kd.Robot:
    """Make a leader without limits and a follower."""
    links = tuple(Link(name, Inertia(1.0, np.zeros(3), np.eye(3))) for name in ("base", "first", "second"))
    joints = (
        Joint("leader", "revolute", "base", "first", velocity=8.0),
        Joint(
            "follower",
            "revolute",
            "first",
            "second",
            lower=lower,
            upper=upper,
            velocity=6.0,
            mimic=Mimic("leader", multiplier, offset),
        ),
    )
    return kd.Robot(Description("chain", links, joints))


def test_the_leader_is_limited_by_its_follower(arm):
    np.testing.assert_allclose([arm.limits.lower[0], arm.limits.upper[0]], [-1.5, 0.5])


def test_the_velocity_of_the_leader_is_limited_by_its_follower():
    assert kd.Robot(parse_urdf(URDF)).limits.velocity.tolist() == [1.5]
    assert chain(multiplier=-4.0).limits.velocity.tolist() == [1.5]
    assert chain(multiplier=0.5).limits.velocity.tolist() == [8.0]


@pytest.mark.parametrize(
    ("multiplier", "offset", "expected"),
    [(1.0, 0.0, (-1.0, 1.0)), (2.0, 1.0, (-1.0, 0.0)), (-2.0, 1.0, (0.0, 1.0)), (-0.5, 0.0, (-2.0, 2.0))],
)
def test_signs_and_offsets_of_mimics_count(multiplier, offset, expected):
    limits = chain(multiplier=multiplier, offset=offset).limits
    np.testing.assert_allclose([limits.lower[0], limits.upper[0]], expected, atol=1e-15)


def test_limits_go_through_chains_of_mimics():
    links = tuple(Link(name, Inertia(1.0, np.zeros(3), np.eye(3))) for name in "abcd")
    joints = (
        Joint("last", "revolute", "a", "b", mimic=Mimic("middle", -2.0, 0.5), lower=-1.0, upper=1.0, velocity=2.0),
        Joint("middle", "revolute", "b", "c", mimic=Mimic("first", 0.5, 0.1)),
        Joint("first", "continuous", "c", "d"),
    )
    limits = kd.Robot(Description("chain", links, joints)).limits
    # last = -2 (0.5 q + 0.1) + 0.5 = 0.3 - q
    np.testing.assert_allclose([limits.lower[0], limits.upper[0], limits.velocity[0]], [-0.7, 1.3, 2.0])


def test_continuous_followers_limit_nothing():
    description = parse_urdf(URDF.replace('name="elbow" type="revolute"', 'name="elbow" type="continuous"'))
    assert kd.Robot(description).limits.upper.tolist() == [2.0]


def test_limits_without_a_common_position_name_both_joints():
    with pytest.raises(
        DescriptionError, match=r"joint 'shoulder', which it follows, have no position in common"
    ) as found:
        parse_urdf(URDF.replace('lower="-3" upper="1"', 'lower="5" upper="6"'))
    assert 'name="elbow"' in str(found.value)


def test_a_follower_that_stands_still_beyond_its_limits_is_an_error():
    assert chain(multiplier=0.0, offset=0.5).limits.upper.tolist() == [math.inf]
    with pytest.raises(DescriptionError, match="keeps it at 1.5, outside its limits -1 to 1"):
        chain(multiplier=0.0, offset=1.5)


def test_random_configurations_respect_followers(arm):
    q = arm.random(500, seed=1)
    assert elbow(q).max() <= 1.0
    assert elbow(q).min() >= -3.0
    assert elbow(q).max() > 0.9


def test_ik_does_not_push_a_follower_beyond_its_limit(arm):
    beyond = kd.kinematics.pose(arm, [0.9], "tip")
    found = kd.ik.solve(arm, {"tip": beyond}, q0=[0.0])
    assert not found.success
    assert elbow(found.q) <= 1.0 + 1e-9
    within = kd.kinematics.pose(arm, [0.45], "tip")
    assert kd.ik.solve(arm, {"tip": within}, q0=[0.0]).success


def test_whole_body_ik_does_not_push_a_follower_beyond_its_limit(arm):
    task = kd.tasks.FrameTask("tip", target=kd.kinematics.pose(arm, [0.9], "tip"))
    found = kd.ik.WholeBody(arm, [task]).solve(np.zeros(1))
    assert elbow(found.q) <= 1.0 + 1e-9
    assert str(found.status) != "solved"


def test_trajectories_respect_the_velocity_of_followers():
    arm = kd.Robot(parse_urdf(URDF))
    trajectory = kd.trajectory.trapezoid([-1.4], [0.4], acceleration=20.0, robot=arm)
    rates = trajectory(np.linspace(0.0, trajectory.duration, 400), 1)
    assert 2.9 < 2.0 * np.abs(rates).max() <= 3.0 + 1e-9


def test_a_trajectory_that_takes_a_follower_beyond_its_limits_is_reported(arm):
    trajectory = kd.trajectory.minimum_jerk([0.0], [0.9], 5.0, robot=arm)
    assert not kd.trajectory.check(arm, trajectory, torque=False)
    assert kd.trajectory.check(arm, kd.trajectory.minimum_jerk([0.0], [0.45], 5.0, robot=arm), torque=False)


def test_a_joint_that_its_followers_lock_is_a_warning():
    with pytest.warns(kd.errors.DescriptionWarning, match="1 joint that cannot move within the limits .*: shoulder"):
        description = parse_urdf(URDF.replace('lower="-3" upper="1"', 'lower="1" upper="1"'))
    with pytest.warns(kd.errors.DescriptionWarning):
        arm = kd.Robot(description)
    assert arm.limits.lower == arm.limits.upper == 0.5
    assert arm.random(2).tolist() == [[0.5], [0.5]]
