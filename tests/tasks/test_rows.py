"""Errors and Jacobians of tasks: the error leads to the target, the Jacobian is how joints move what is measured."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

H = 1e-3


ROBOTS = {
    "humanoid": ("left_palm", "right_shank"),
    "panda": ("panda_hand_tcp", "panda_link3"),
    "scara": ("link4", "link2"),
    "every kind": ("l9", "l4"),
}
TARGET = kd.spatial.exp([0.2, -0.3, 0.4, 0.5, 1.0, -0.7])


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request: pytest.FixtureRequest, every_kind: Robot) -> Robot:
    return every_kind if request.param == "every kind" else kd.load(request.param)


@pytest.fixture
def frames(request: pytest.FixtureRequest, robot: Robot) -> tuple[str, str]:
    return ROBOTS[request.node.callspec.params["robot"]]


def rate(f: Callable[[float], Array]) -> Array:
    """Differentiate f at 0, of fourth order."""
    return np.asarray((8 * (f(H) - f(-H)) - (f(2 * H) - f(-2 * H))) / (12 * H))


def states(robot: Robot, n: int = 20) -> tuple[Array, Array]:
    """Draw configurations (n, nq) and velocities (n, nv)."""
    rng = np.random.default_rng(1)
    return robot.random(n, seed=rng), rng.normal(size=(n, robot.nv))


def times(J: Array, v: Array) -> Array:
    return np.asarray((J @ v[..., None])[..., 0])


def assert_same(found: Array, expected: Array, tolerance: float = 1e-8) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, float(np.abs(expected).max())))


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("point", [(0.0, 0.0, 0.0), (0.1, -0.2, 0.3)])
def test_the_error_of_a_pose_shrinks_as_its_jacobian_says_and_leads_to_the_target(
    robot: Robot, frames: tuple[str, str], relative: bool, point: tuple[float, ...]
) -> None:
    q, v = states(robot)
    task = kd.tasks.FrameTask(frames[0], TARGET, relative_to=frames[1] if relative else None, point=point)
    assert_same(times(task.jacobian(robot, q), v), -rate(lambda h: task.error(robot, robot.integrate(q, h * v))))
    there = task.measure(robot, q) @ kd.spatial.exp(task.error(robot, q))
    assert_same(there, np.broadcast_to(TARGET, there.shape), 1e-12)


@pytest.mark.parametrize("relative", [False, True])
def test_a_point_moves_as_its_jacobian_says_and_its_error_is_the_way(
    robot: Robot, frames: tuple[str, str], relative: bool
) -> None:
    q, v = states(robot)
    other = frames[1] if relative else None
    task = kd.tasks.FrameTask(frames[0], [0.1, 0.2, 0.3], relative_to=other, point=(0.1, 0.0, -0.2))
    T = kd.kinematics.pose(robot, q, frames[0])
    p = T @ [0.1, 0.0, -0.2, 1.0]
    if relative:
        p = (np.linalg.inv(kd.kinematics.pose(robot, q, frames[1])) @ p[..., None])[..., 0]
    assert_same(task.measure(robot, q), p[..., :3], 1e-12)
    assert_same(times(task.jacobian(robot, q), v), rate(lambda h: task.measure(robot, robot.integrate(q, h * v))))
    assert_same(task.error(robot, q), [0.1, 0.2, 0.3] - p[..., :3], 1e-12)


def test_the_centre_of_mass_moves_as_its_jacobian_says(robot: Robot) -> None:
    q, v = states(robot)
    task = kd.tasks.ComTask([0.1, 0.2, 0.3])
    assert_same(times(task.jacobian(robot, q), v), rate(lambda h: kd.kinematics.com(robot, robot.integrate(q, h * v))))
    assert_same(task.error(robot, q), [0.1, 0.2, 0.3] - kd.kinematics.com(robot, q), 1e-12)


def test_the_error_of_a_posture_leads_to_it(robot: Robot) -> None:
    q, _ = states(robot)
    goal = robot.random(seed=9)
    task = kd.tasks.PostureTask(goal)
    there = robot.integrate(q, task.error(robot, q))
    assert_same(robot.difference(there, goal), np.zeros((len(q), robot.nv)), 1e-9)
    assert_same(task.jacobian(robot, q), np.broadcast_to(np.eye(robot.nv), (len(q), robot.nv, robot.nv)), 0.0)


def test_the_rows_of_momentum_are_momentum(robot: Robot) -> None:
    q, v = states(robot)
    momentum = times(kd.tasks.MomentumTask().jacobian(robot, q), v)
    assert_same(momentum, kd.centroidal.momentum(robot, q, v), 1e-11)
    speed = rate(lambda h: kd.kinematics.com(robot, robot.integrate(q, h * v)))
    assert_same(momentum[:, :3], robot.mass * speed)


def test_a_gaze_turns_as_its_jacobian_says(robot: Robot, frames: tuple[str, str]) -> None:
    q, v = states(robot)
    task = kd.tasks.GazeTask(frames[0], [0.5, 1.5, 2.0], axis=(1.0, 2.0, -0.5))
    error = task.error(robot, q)
    angle = np.linalg.norm(error, axis=-1)
    faster = rate(lambda h: np.linalg.norm(task.error(robot, robot.integrate(q, h * v)), axis=-1))
    # the angle shrinks by what the joints turn about the axis of the error
    assert_same(faster, -(error * times(task.jacobian(robot, q), v)).sum(axis=-1) / angle, 1e-7)


def test_a_gaze_that_meets_its_target_leaves_it_as_the_jacobian_says(robot: Robot, frames: tuple[str, str]) -> None:
    q, v = states(robot, 1)
    T = kd.kinematics.pose(robot, q[0], frames[0])
    task = kd.tasks.GazeTask(frames[0], T[:3, 3] + 1.7 * T[:3, 2], axis=(0.0, 0.0, 3.0))
    assert_same(task.error(robot, q), np.zeros((1, 2)), 1e-12)
    leaving = rate(lambda h: task.error(robot, robot.integrate(q, h * v)))
    assert_same(leaving, -times(task.jacobian(robot, q), v), 1e-7)


def test_the_error_of_a_gaze_is_the_angle_to_the_target(robot: Robot, frames: tuple[str, str]) -> None:
    q, _ = states(robot)
    task = kd.tasks.GazeTask(frames[0], [0.5, 1.5, 2.0], axis=(0.0, 1.0, 0.0))
    T = kd.kinematics.pose(robot, q, frames[0])
    way = [0.5, 1.5, 2.0] - T[:, :3, 3]
    cosine = (way * T[:, :3, 1]).sum(axis=-1) / np.linalg.norm(way, axis=-1)
    assert_same(np.linalg.norm(task.error(robot, q), axis=-1), np.arccos(cosine), 1e-7)
