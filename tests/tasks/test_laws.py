"""Laws of every task, on robots with joints of every kind: the Jacobian is minus the derivative of the error, the drift
is the derivative of the Jacobian, and the error vanishes at the target."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.tasks import Task

H = 1e-3
POINT = (0.1, -0.2, 0.3)
MAKERS: dict[str, Callable[[str, str, Robot], Task]] = {
    "pose": lambda frame, other, robot: kd.tasks.FrameTask(frame, TARGET),
    "pose of a point": lambda frame, other, robot: kd.tasks.FrameTask(frame, TARGET, point=POINT),
    "relative pose": lambda frame, other, robot: kd.tasks.FrameTask(frame, TARGET, relative_to=other, point=POINT),
    "position": lambda frame, other, robot: kd.tasks.FrameTask(frame, TARGET[:3, 3], point=POINT),
    "relative position": lambda frame, other, robot: kd.tasks.FrameTask(
        frame, TARGET[:3, 3], relative_to=other, point=POINT
    ),
    "com": lambda frame, other, robot: kd.tasks.ComTask([0.1, 0.2, 0.3]),
    "posture": lambda frame, other, robot: kd.tasks.PostureTask(robot.random(seed=9), weights=np.ones(robot.nv)),
    "gaze": lambda frame, other, robot: kd.tasks.GazeTask(frame, [0.5, 1.5, 2.0], axis=(1.0, 2.0, -0.5)),
}
TARGET = kd.spatial.exp([0.2, -0.3, 0.4, 0.5, 1.0, -0.7])


@pytest.fixture(params=MAKERS)
def task(request: pytest.FixtureRequest, robot: Robot, frames: tuple[str, str]) -> Task:
    return MAKERS[request.param](*frames, robot)


def states(robot: Robot, n: int = 20) -> tuple[Array, Array]:
    """Draw configurations (n, nq) and velocities (n, nv)."""
    rng = np.random.default_rng(1)
    return robot.random(n, seed=rng), rng.normal(size=(n, robot.nv))


def rate(f: Callable[[float], Array]) -> Array:
    """Differentiate f at 0, of fourth order."""
    return np.asarray((8 * (f(H) - f(-H)) - (f(2 * H) - f(-2 * H))) / (12 * H))


def times(J: Array, v: Array) -> Array:
    return np.asarray((J @ v[..., None])[..., 0])


def continuous(task: Task, robot: Robot, q: Array, v: Array) -> np.ndarray:
    """Tell where the error is far enough from half a turn, where logarithms jump, to be differentiated."""
    near = [task.error(robot, robot.integrate(q, h * v)) for h in (-2 * H, 0.0, 2 * H)]
    smooth = np.abs(near[2] - near[0]).max(axis=-1) < 0.5
    if isinstance(task, kd.tasks.GazeTask):
        smooth &= np.linalg.norm(near[1], axis=-1) < 2.8
    return smooth


def assert_same(found: Array, expected: Array, tolerance: float) -> None:
    scale = np.maximum(1.0, np.abs(expected).max(axis=-1, keepdims=True))
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=tolerance)


def test_the_jacobian_is_minus_the_derivative_of_the_error(robot: Robot, task: Task) -> None:
    q, v = states(robot)
    use = continuous(task, robot, q, v)
    assert use.sum() > 12
    derivative = rate(lambda h: task.error(robot, robot.integrate(q[use], h * v[use])))
    assert_same(times(task.jacobian(robot, q[use]), v[use]), -derivative, 1e-7)


def test_the_drift_is_the_derivative_of_the_jacobian_times_the_velocity(robot: Robot, task: Task) -> None:
    q, v = states(robot)
    use = continuous(task, robot, q, v)
    q, v = q[use], v[use]
    derivative = rate(lambda h: times(task.jacobian(robot, robot.integrate(q, h * v)), v))
    assert_same(task.drift(robot, q, v), derivative, 1e-6)


def test_the_error_is_zero_at_the_target(robot: Robot, task: Task) -> None:
    q, _ = states(robot, 5)
    task.target = task.measure(robot, q)
    np.testing.assert_allclose(task.error(robot, q), 0.0, rtol=0, atol=1e-7)


def test_batches_of_states_and_targets_broadcast(robot: Robot, task: Task) -> None:
    q, v = states(robot, 3)
    target = task.measure(robot, robot.random(2, seed=3))
    task.target = target[:, None]
    error, J, drift = task.error(robot, q), task.jacobian(robot, q), task.drift(robot, q, v)
    assert error.shape[:-1] == J.shape[:-2] == drift.shape[:-1] == (2, 3)
    task.target = target[1]
    np.testing.assert_array_equal(error[1, 2], task.error(robot, q[2]))
    np.testing.assert_array_equal(J[1, 2], task.jacobian(robot, q[2]))
    np.testing.assert_array_equal(drift[1, 2], task.drift(robot, q[2], v[2]))
