"""Errors and Jacobians of tasks by independent formulas: geometry, centroidal momentum, Pinocchio's logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

pin = pytest.importorskip("pinocchio")

TARGET = kd.spatial.exp([0.2, -0.3, 0.4, 0.5, 1.0, -0.7])


def assert_same(found: Array, expected: Array, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, float(np.abs(expected).max())))


def as_se3(T: Array) -> Any:
    return pin.SE3(T[:3, :3], T[:3, 3])


@pytest.mark.parametrize("relative", [False, True])
def test_pose_rows_are_the_logarithm_of_pinocchio_and_its_jacobian(
    robot: Robot, frames: tuple[str, str], relative: bool
) -> None:
    task = kd.tasks.FrameTask(frames[0], TARGET, relative_to=frames[1] if relative else None)
    for q in robot.random(10, seed=1):
        T_world = kd.kinematics.pose(robot, q, frames[0])
        J = kd.kinematics.jacobian(robot, q, frames[0])
        T = T_world
        if relative:
            T_other = kd.kinematics.pose(robot, q, frames[1])
            other = kd.kinematics.jacobian(robot, q, frames[1])
            arm = T_world[:3, 3] - T_other[:3, 3]
            other[:3] += np.cross(other[3:], arm, axisa=0, axisc=0)
            J, T = J - other, np.linalg.inv(T_other) @ T_world
        missing = as_se3(T).actInv(as_se3(TARGET))
        assert_same(task.error(robot, q), pin.log6(missing).vector, 1e-9)
        # Jlog6 is for motions of the second pose in its own axes; e(X) = -e(X^-1) gives that of the first
        twist = np.kron(np.eye(2), T_world[:3, :3].T) @ J
        assert_same(task.jacobian(robot, q), pin.Jlog6(missing.inverse()) @ twist, 1e-8)


def test_the_error_of_a_pose_leads_to_the_target(robot: Robot, frames: tuple[str, str]) -> None:
    q = robot.random(20, seed=1)
    task = kd.tasks.FrameTask(frames[0], TARGET, relative_to=frames[1], point=(0.1, -0.2, 0.3))
    there = task.measure(robot, q) @ kd.spatial.exp(task.error(robot, q))
    assert_same(there, np.broadcast_to(TARGET, there.shape))


@pytest.mark.parametrize("relative", [False, True])
def test_the_error_of_a_position_is_target_minus_position(
    robot: Robot, frames: tuple[str, str], relative: bool
) -> None:
    q = robot.random(20, seed=1)
    other = frames[1] if relative else None
    task = kd.tasks.FrameTask(frames[0], [0.1, 0.2, 0.3], relative_to=other, point=(0.1, 0.0, -0.2))
    p = kd.kinematics.pose(robot, q, frames[0]) @ [0.1, 0.0, -0.2, 1.0]
    if relative:
        p = (np.linalg.inv(kd.kinematics.pose(robot, q, frames[1])) @ p[..., None])[..., 0]
    assert_same(task.error(robot, q), [0.1, 0.2, 0.3] - p[..., :3])


def test_com_rows_are_those_of_kinematics(robot: Robot) -> None:
    q = robot.random(20, seed=1)
    task = kd.tasks.ComTask([0.1, 0.2, 0.3])
    assert_same(task.error(robot, q), [0.1, 0.2, 0.3] - kd.kinematics.com(robot, q))
    assert_same(task.jacobian(robot, q), kd.kinematics.com_jacobian(robot, q))


def test_posture_errors_are_differences_on_the_manifold(robot: Robot) -> None:
    q, goal = robot.random(20, seed=1), robot.random(seed=9)
    assert_same(kd.tasks.PostureTask(goal).error(robot, q), robot.difference(q, goal), 1e-9)


def test_momentum_rows_are_the_centroidal_momentum_matrix(robot: Robot) -> None:
    q, v = robot.random(20, seed=1), np.random.default_rng(1).normal(size=(20, robot.nv))
    target = np.arange(6.0)
    task = kd.tasks.MomentumTask(target)
    assert_same(task.error(robot, q), np.broadcast_to(target, (20, 6)))
    assert_same(task.jacobian(robot, q), kd.centroidal.momentum_matrix(robot, q), 1e-11)
    assert_same(task.drift(robot, q, v), kd.centroidal.momentum_rate(robot, q, v, 0 * v), 1e-10)


def test_the_error_of_a_gaze_is_the_angle_to_the_target(robot: Robot, frames: tuple[str, str]) -> None:
    q = robot.random(20, seed=1)
    task = kd.tasks.GazeTask(frames[0], [0.5, 1.5, 2.0], axis=(0.0, 1.0, 0.0))
    T = kd.kinematics.pose(robot, q, frames[0])
    sight = [0.5, 1.5, 2.0] - T[:, :3, 3]
    cosine = (sight * T[:, :3, 1]).sum(axis=-1) / np.linalg.norm(sight, axis=-1)
    assert_same(np.linalg.norm(task.error(robot, q), axis=-1), np.arccos(cosine), 1e-7)


def test_a_task_without_a_target_has_no_error(robot: Robot, frames: tuple[str, str]) -> None:
    with pytest.raises(kd.InputError, match="has no target"):
        kd.tasks.FrameTask(frames[0]).error(robot, robot.neutral())
