"""Joint trajectories: points of a cubic motion lose nothing, and motions pass through all points."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.rosmsgs.trajectories import JointTrajectory, joint_trajectory

ROBOT = kd.load("panda")
START, GOAL = np.array([0, -0.8, 0, -2.4, 0, 1.6, 0.8]), np.array([1, -0.2, 0.3, -2, 0.1, 1.6, 0.8])


def test_the_points_of_a_plan_give_the_same_motion() -> None:
    motion = kd.planning.plan(ROBOT, START, GOAL).trajectory()
    points = joint_trajectory(motion, ROBOT)
    again = points.motion(ROBOT)
    t = np.linspace(0.0, motion.duration, 500)
    for order, tolerance in ((0, 1e-8), (1, 1e-7), (2, 1e-5)):  # times are whole nanoseconds
        np.testing.assert_allclose(again(np.minimum(t, again.duration), order), motion(t, order), atol=tolerance)


@pytest.mark.parametrize("given", [1, 2, 3])
def test_a_motion_passes_through_all_given_derivatives(given: int) -> None:
    rng = np.random.default_rng(given)
    values = [rng.normal(size=(5, 2)) for _ in range(given)]
    time = np.array([0.0, 0.1, 0.4, 0.5, 1.5])
    points = JointTrajectory(("panda_joint2", "panda_joint5"), time, *values)
    motion = points.motion(ROBOT, START)
    for order in range(given):
        at = motion(time, order)
        np.testing.assert_allclose(at[:-1][:, [1, 4]], values[order][:-1], atol=1e-9)
        np.testing.assert_allclose(at[-1, [1, 4]], values[order][-1], atol=1e-9)
    np.testing.assert_array_equal(motion(time)[:, 0], START[0])


def test_a_first_point_after_time_zero_is_approached_from_the_start() -> None:
    points = JointTrajectory(("panda_joint1",), np.array([1.0]), np.array([[0.5]]), np.array([[0.0]]))
    motion = points.motion(ROBOT, START)
    np.testing.assert_allclose(motion(0.0), START)
    assert motion(1.0)[0] == pytest.approx(0.5) and 0.0 < motion(0.5)[0] < 0.5


def test_a_motion_that_is_not_cubic_is_sampled() -> None:
    motion = kd.trajectory.quintic(START, GOAL, 1.0, robot=ROBOT)
    points = joint_trajectory(motion, ROBOT, dt=0.1, joints=("panda_joint4",))
    assert len(points) == 11 and points.joints == ("panda_joint4",)
    np.testing.assert_allclose(points.position[:, 0], motion(points.time)[:, 3])


@pytest.mark.parametrize(
    ("joints", "time", "position", "message"),
    [
        (("a",), [0.0, 0.0], [[1.0], [2.0]], "time must be"),
        (("a",), [0.0], [[1.0, 2.0]], r"position must be \(1, 1\), got \(1, 2\)"),
        (("a", "a"), [0.0], [[1.0, 2.0]], "joints must differ"),
    ],
)
def test_inconsistent_points_are_errors(joints: tuple[str, ...], time: list, position: list, message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        JointTrajectory(joints, np.array(time), np.array(position))


def test_joints_that_cannot_be_moved_are_errors() -> None:
    points = JointTrajectory(("panda_joint_1",), np.array([0.0]), np.array([[1.0]]))
    with pytest.raises(kd.UnknownNameError, match="did you mean 'panda_joint1'"):
        points.motion(ROBOT)
    with pytest.raises(kd.InputError, match="must have points with positions"):
        JointTrajectory(("panda_joint1",), np.array([0.0]), None).motion(ROBOT)
