"""Joint limits of MoveIt: what counts in motions, files there and back, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinodyn as kd
from kinodyn.interop.moveit import JointLimit, JointLimits, read_joint_limits, write_joint_limits

LIMITS = JointLimits(
    {
        "panda_joint1": JointLimit(-1.0, 2.0, velocity=2.0, acceleration=3.0, deceleration=1.0, jerk=7.0, effort=5.0),
        "panda_joint2": JointLimit(acceleration=1.0, deceleration=3.0),
        "panda_joint3": JointLimit(deceleration=4.0, wraparound=True),
        "panda_joint4": JointLimit(),
    },
    velocity_scaling=0.5,
    acceleration_scaling=0.25,
)


def test_motions_have_the_scaled_limits_and_the_smaller_of_acceleration_and_deceleration() -> None:
    assert LIMITS.motion_limits() == {
        "velocity": {"panda_joint1": 1.0},
        "acceleration": {"panda_joint1": 0.25, "panda_joint2": 0.25, "panda_joint3": 1.0},
        "jerk": {"panda_joint1": 7.0},
    }
    assert JointLimits().motion_limits() == {}


def test_a_file_restores_the_limits(tmp_path: Path) -> None:
    write_joint_limits(LIMITS, tmp_path / "joint_limits.yaml")
    assert read_joint_limits(tmp_path / "joint_limits.yaml") == LIMITS


def test_limits_of_a_file_replace_those_of_the_robot_where_it_has_some() -> None:
    robot = kd.load("panda")
    limited = LIMITS.apply(robot)
    assert (limited.limits.lower[0], limited.limits.upper[0]) == (-1.0, 2.0)
    assert (limited.limits.velocity[0], limited.limits.effort[0]) == (2.0, 5.0)
    for name in ("lower", "upper", "velocity", "effort"):
        assert (getattr(limited.limits, name)[1:] == getattr(robot.limits, name)[1:]).all()
    with pytest.raises(kd.UnknownNameError, match="unknown joint 'panda_joint'; did you mean"):
        JointLimits({"panda_joint": JointLimit()}).apply(robot)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"has_position_limits": True, "min_position": 1.0, "max_position": 0.0}, "at least min_position, 1.0"),
        ({"has_velocity_limits": True, "max_velocity": 0.0}, "a number above 0"),
        ({"has_acceleration_limits": True, "max_acceleration": -1.0}, "a number above 0"),
    ],
)
def test_limits_that_leave_nothing_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        read_joint_limits({"joint_limits": {"a": fields}})


@pytest.mark.parametrize("factor", [0.0, -0.5, 1.01])
def test_factors_are_above_0_and_at_most_1(factor: float) -> None:
    with pytest.raises(kd.InputError, match="above 0 and at most 1"):
        read_joint_limits({"default_velocity_scaling_factor": factor})
    assert read_joint_limits({"default_acceleration_scaling_factor": 1.0}).acceleration_scaling == 1.0


def test_a_limit_that_is_switched_off_has_no_effect() -> None:
    fields = {"has_velocity_limits": False, "max_velocity": 1.0, "has_position_limits": False, "min_position": 1.0}
    assert read_joint_limits({"joint_limits": {"a": fields}}).joints["a"] == JointLimit()
