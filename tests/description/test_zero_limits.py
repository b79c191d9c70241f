"""Limits of 0 in files: unknown ones are treated as unlimited, those of joints without a motor stay."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import replace

import pytest

import kinodyn as kd
from kinodyn.description.sdf import parse_sdf
from kinodyn.description.types import Description
from kinodyn.description.urdf import parse_urdf


def urdf_of(*limits: tuple[float, float], kinds: str = "revolute") -> Description:
    """Read a chain of joints j0, j1, ... with limits (velocity, effort)."""
    joints = "".join(
        f'<joint name="j{i}" type="{kinds}"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<limit lower="-1" upper="1" velocity="{velocity}" effort="{effort}"/></joint>'
        for i, (velocity, effort) in enumerate(limits)
    )
    links = "".join(f'<link name="l{i}"/>' for i in range(len(limits) + 1))
    return parse_urdf(f'<robot name="chain">{links}{joints}</robot>')


def sdf_of(*limits: tuple[float, float]) -> Description:
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent>l{i}</parent><child>l{i + 1}</child><axis><xyz>0 0 1</xyz>'
        f"<limit><lower>-1</lower><upper>1</upper><velocity>{velocity}</velocity><effort>{effort}</effort></limit>"
        "</axis></joint>"
        for i, (velocity, effort) in enumerate(limits)
    )
    links = "".join(
        f'<link name="l{i}"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>'
        "</link>"
        for i in range(len(limits) + 1)
    )
    return parse_sdf(f'<sdf version="1.7"><model name="chain">{links}{joints}</model></sdf>')


def limits_of(description: Description) -> list[tuple[float, float]]:
    return [(joint.velocity, joint.effort) for joint in description.joints]


@pytest.mark.parametrize("read", [urdf_of, sdf_of])
@pytest.mark.parametrize(
    ("written", "understood", "said"),
    [
        ([(0, 5), (2, 6)], [(math.inf, 5), (2, 6)], "velocity limits above 0, treated as unlimited, to joints: j0"),
        ([(1, 0), (2, 0)], [(1, math.inf), (2, math.inf)], "effort limits above 0, .* to joints: j0, j1"),
        ([(0, 0), (2, 6)], [(math.inf, math.inf), (2, 6)], "effort limits above 0, .* to joints: j0"),
    ],
)
def test_zeros_that_stand_for_unknown_limits_are_unlimited_with_a_warning(
    read: Callable[..., Description],
    written: list[tuple[float, float]],
    understood: list[tuple[float, float]],
    said: str,
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        description = read(*written)
    assert limits_of(description) == understood
    assert any(re.search(said, str(each.message)) for each in caught)


@pytest.mark.parametrize("read", [urdf_of, sdf_of])
def test_a_joint_without_a_motor_among_others_keeps_its_effort_of_zero(read: Callable[..., Description]) -> None:
    assert limits_of(read((1, 0), (2, 6))) == [(1, 0), (2, 6)]


def test_the_leader_of_a_follower_decides_whether_there_are_motors() -> None:
    follower = '<joint name="j1" type="revolute"><parent link="l1"/><child link="l2"/><mimic joint="j0"/>'
    text = (
        '<robot name="hand"><link name="l0"/><link name="l1"/><link name="l2"/>'
        '<joint name="j0" type="revolute"><parent link="l0"/><child link="l1"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="0"/></joint>'
        f'{follower}<limit lower="-1" upper="1" velocity="1" effort="9"/></joint></robot>'
    )
    with pytest.warns(kd.DescriptionWarning, match="effort limits above 0"):
        assert limits_of(parse_urdf(text)) == [(1, math.inf), (1, 9)]


def test_a_plan_of_a_robot_whose_file_has_zeros_becomes_a_trajectory() -> None:
    with pytest.warns(kd.DescriptionWarning, match="above 0"):
        robot = kd.Robot(urdf_of((0, 0), (0, 0)))
    with pytest.warns(kd.DescriptionWarning, match="no link has a shape"):
        plan = kd.planning.plan(robot, [-0.5, 0.2], [0.7, -0.4], kd.collision.World())
    assert plan.trajectory().duration > 0.5


def test_a_velocity_limit_of_zero_of_a_robot_made_in_code_is_an_error_of_trajectories() -> None:
    arm = kd.load("ur5")
    joints = tuple(replace(joint, velocity=0.0) for joint in arm.description.joints)
    still = kd.Robot(replace(arm.description, joints=joints))
    a, b = still.random(2, seed=0)
    with pytest.raises(kd.InputError, match="velocity limit of joint .* must be positive, got 0; give velocity="):
        kd.trajectory.trapezoid(a, b, robot=still, acceleration=1.0)
    given = kd.trajectory.trapezoid(a, b, robot=still, velocity=1.0, acceleration=1.0)
    assert given.duration > 0.0


def test_a_joint_that_cannot_move_may_have_a_velocity_limit_of_zero() -> None:
    arm = kd.load("ur5")
    locked = tuple(
        replace(joint, lower=0.0, upper=0.0, velocity=0.0) if joint.name == "shoulder_lift_joint" else joint
        for joint in arm.description.joints
    )
    robot = kd.Robot(replace(arm.description, joints=locked))
    a, b = robot.random(2, seed=0)
    assert kd.trajectory.trapezoid(a, b, robot=robot, acceleration=1.0).duration > 0.0
