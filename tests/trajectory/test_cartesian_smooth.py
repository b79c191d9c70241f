"""Accelerations of joints that follow a frame: those of the frame's motion, without jumps but at its knots."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.spatial import exp3
from kinodyn.trajectory import cartesian
from kinodyn.trajectory.cartesian import CartesianLimits, FollowResult, PoseTrajectory

LIMITS = CartesianLimits(
    linear_velocity=0.3,
    linear_acceleration=1.0,
    angular_velocity=1.0,
    angular_acceleration=3.0,
    linear_jerk=10.0,
    angular_jerk=30.0,
)
ARMS = {
    "panda": ("panda_link8", np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])),
    "ur5": ("wrist_3_link", np.array([0.3, -1.4, 1.5, -1.0, 1.0, 0.5])),
}
LAWS = ["trapezoid", "jerk_limited", "minimum_jerk"]


def followed(name: str, law: str, **options: object) -> tuple[kd.Robot, str, PoseTrajectory, FollowResult]:
    robot, (frame, q0) = kd.load(name), ARMS[name]
    T0 = kd.kinematics.pose(robot, q0, frame)
    T1 = T0.copy()
    T1[:3, 3] += [0.1, 0.15, -0.1]
    T1[:3, :3] = T1[:3, :3] @ exp3([0.2, -0.3, 0.4])
    motion = cartesian.line(T0, T1, LIMITS, law=law)  # type: ignore[arg-type]
    return robot, frame, motion, motion.follow(robot, frame, q0, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("law", LAWS)
def test_the_frame_has_the_acceleration_of_the_motion(name: str, law: str) -> None:
    robot, frame, motion, found = followed(name, law)
    assert found and found.trajectory is not None and found.error.max() < 1e-9
    t = np.linspace(0.0, motion.duration, 1000)
    t = t[np.abs(t[:, None] - motion.knots).min(axis=1) > 1e-6]
    q, v, a = (found.trajectory(t, order) for order in range(3))
    np.testing.assert_allclose(kd.kinematics.acceleration(robot, q, v, a, frame), motion(t, 2), atol=1e-4)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("law", LAWS)
def test_joint_accelerations_jump_only_where_the_frame_s_does(name: str, law: str) -> None:
    _, _, motion, found = followed(name, law, tolerance=1e-8)
    assert found.trajectory is not None
    inner = found.trajectory.knots[1:-1]
    side = 1e-7
    jump = np.abs(found.trajectory(inner + side, 2) - found.trajectory(inner - side, 2)).max(axis=1)
    of_frame = np.abs(motion(inner + side, 2) - motion(inner - side, 2)).max(axis=1) > 1e-4
    assert jump[~of_frame].max() < 1e-4
    if law == "trapezoid":
        assert jump[of_frame].min() > 0.1


@pytest.mark.parametrize("law", LAWS[1:])
def test_accelerations_of_a_redundant_arm_are_smooth(law: str) -> None:
    """The jerk is bounded by that of the motion, not by the number of samples."""
    jerk = []
    for samples in (40, 160):
        _, _, motion, found = followed("panda", law, samples=samples)
        assert found.trajectory is not None
        jerk.append(np.abs(found.trajectory(np.linspace(0.0, motion.duration, 2000), 3)).max())
    assert max(jerk) < 50.0 and jerk[1] < 1.3 * jerk[0]


def test_positions_alone_are_followed_smoothly_within_limits() -> None:
    robot, frame, motion, found = followed("panda", "minimum_jerk", position_only=True)
    assert found and found.trajectory is not None
    t = np.linspace(0.0, motion.duration, 500)
    q, v, a = (found.trajectory(t, order) for order in range(3))
    reached = kd.kinematics.acceleration(robot, q, v, a, frame)
    np.testing.assert_allclose(reached[:, :3], motion(t, 2)[:, :3], atol=1e-4)
    assert (q >= robot.limits.lower).all() and (q <= robot.limits.upper).all()
