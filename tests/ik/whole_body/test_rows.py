"""A step serves the rows that tasks report: one task alone is least squares, which NumPy can solve as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.tasks import Task

Make = Callable[["Case"], Task]


class Case:
    """A robot, a state, and targets somewhere."""

    def __init__(self, robot: Robot, frame: str, other: str, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.robot, self.frame, self.other = robot, frame, other
        self.q = robot.random(seed=self.rng)
        self.there = robot.random(seed=self.rng)

    def pose(self) -> Array:
        return kd.kinematics.pose(self.robot, self.there, self.frame)

    def weights(self, n: int) -> Array:
        """Draw weights, one of them zero where there are several."""
        result = self.rng.uniform(0.5, 2.0, n)
        result[self.rng.integers(n)] *= n == 1
        return result


TASKS: dict[str, Make] = {
    "pose": lambda c: kd.tasks.FrameTask(c.frame, c.pose(), gain=0.7),
    "pose, weighted": lambda c: kd.tasks.FrameTask(c.frame, c.pose(), weights=c.weights(6)),
    "pose of a point": lambda c: kd.tasks.FrameTask(c.frame, c.pose(), point=(0.1, 0.2, -0.3)),
    "relative pose": lambda c: kd.tasks.FrameTask(c.frame, c.pose(), relative_to=c.other, weights=c.weights(6)),
    "position": lambda c: kd.tasks.FrameTask(c.frame, c.pose()[:3, 3], weights=c.weights(3), gain=0.3),
    "relative position": lambda c: kd.tasks.FrameTask(
        c.frame, c.pose()[:3, 3], relative_to=c.other, point=(0.1, 0.0, 0.2), weights=c.weights(3)
    ),
    "contact": lambda c: kd.tasks.ContactTask(c.frame, c.pose()),
    "com": lambda c: kd.tasks.ComTask([0.1, -0.2, 0.8], weights=c.weights(3), gain=0.9),
    "posture": lambda c: kd.tasks.PostureTask(c.there, weights=c.weights(c.robot.nv), gain=0.8),
    "momentum": lambda c: kd.tasks.MomentumTask(c.rng.normal(size=6), weights=c.weights(6)),
    "gaze": lambda c: kd.tasks.GazeTask(c.frame, [1.0, 0.5, 2.0], axis=(1.0, -1.0, 0.5), weights=1.5, gain=0.6),
}
ROBOTS = {
    "humanoid": ("left_palm", "right_shank"),
    "panda": ("panda_hand_tcp", "panda_link2"),
    "scara": ("link4", "base"),
    "every kind": ("l9", "l4"),
}


def least_squares(task: Task, robot: Robot, q: Array, dt: float) -> Array:
    """Solve one task by NumPy, damped by 1e-10 times the square of its longest row."""
    weights = task.row_weights(robot)
    J = weights[:, None] * task.jacobian(robot, q)
    e = weights * task.gain * task.error(robot, q)
    if isinstance(task, kd.tasks.MomentumTask):
        e = e * dt
    damping = np.sqrt(1e-10) * np.linalg.norm(J, axis=1).max()
    rows = np.concatenate([J, damping * np.eye(robot.nv)])
    return np.asarray(np.linalg.lstsq(rows, np.r_[e, np.zeros(robot.nv)], rcond=None)[0])


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("name", ROBOTS)
def test_one_task_alone_is_least_squares(every_kind: Robot, name: str, kind: str) -> None:
    frame, other = ROBOTS[name]
    robot, dt = every_kind if name == "every kind" else kd.load(name), 0.02
    for seed in range(8):
        case = Case(robot, frame, other, seed)
        task = TASKS[kind](case)
        x = kd.ik.WholeBody(robot, [task], [], damping=0.0).step(case.q, dt).v * dt
        expected = least_squares(task, robot, case.q, dt)
        J = task.row_weights(robot)[:, None] * task.jacobian(robot, case.q)
        scale = np.linalg.norm(expected) + 1e-3
        np.testing.assert_allclose(J @ x, J @ expected, rtol=0, atol=1e-9 * scale * max(1, np.abs(J).max()))
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-6 * scale)


def test_damping_is_scaled_by_the_squared_error(person: Any) -> None:
    robot, q = person.robot, person.q
    task = kd.tasks.ComTask(kd.kinematics.com(robot, q) + [0.3, 0.0, -0.1])
    J, e = task.jacobian(robot, q), task.error(robot, q)
    H = J.T @ J + (0.2 * (e @ e) + 1e-10 * (J**2).sum(axis=1).max()) * np.eye(robot.nv)
    v = kd.ik.WholeBody(robot, [task], [], damping=0.2).step(q, 1.0).v
    np.testing.assert_allclose(v, np.linalg.solve(H, J.T @ e), rtol=0, atol=1e-10)


def test_errors_of_a_step_are_those_of_the_tasks_where_it_begins(person: Any) -> None:
    robot = person.robot
    for seed in range(8):
        case = Case(robot, "left_palm", "right_palm", seed)
        tasks = [make(case) for kind, make in TASKS.items() if kind not in ("contact", "momentum")]
        for k, task in enumerate(tasks):
            task.name = f"task {k}"
        step = kd.ik.WholeBody(robot, tasks).step(case.q, 0.01)
        expected = np.stack([task.missing(robot, case.q) for task in tasks])
        np.testing.assert_allclose(step.errors, expected, rtol=0, atol=1e-12)


def test_postures_of_one_level_are_weighted_against_each_other(person: Any) -> None:
    robot = person.robot
    rng = np.random.default_rng(0)
    q = robot.random(seed=rng)
    tasks = [
        kd.tasks.PostureTask(robot.random(seed=rng), weights=rng.uniform(0.0, 2.0, robot.nv), gain=gain, name=f"{gain}")
        for gain in (0.2, 0.5, 1.0)
    ]
    J = np.concatenate([task.weights[:, None] * task.jacobian(robot, q) for task in tasks])
    e = np.concatenate([task.weights * task.gain * task.error(robot, q) for task in tasks])
    v = kd.ik.WholeBody(robot, tasks, [], damping=0.0).step(q, 1.0).v
    np.testing.assert_allclose(v, np.linalg.lstsq(J, e, rcond=None)[0], rtol=0, atol=1e-7)


@pytest.mark.parametrize("frames", [4, 8, 16])
def test_weighted_frames_of_one_level_with_com_and_posture_are_least_squares(body: Any, frames: int) -> None:
    """Few rows with many zeros, and more of them than variables; with the posture or without."""
    robot, rng = body.robot, np.random.default_rng(frames)
    names = rng.permutation(robot.frame_names)[:frames]
    for q, goal in zip(body.draw(3, 0.3, rng), body.draw(3, 0.3, rng), strict=True):
        tasks: list[kd.tasks.Task] = [
            kd.tasks.FrameTask(name, kd.kinematics.pose(robot, goal, name), weights=rng.choice([1.0, 30.0]))
            for name in names
        ]
        tasks.append(kd.tasks.ComTask(kd.kinematics.com(robot, q) + 0.1 * rng.normal(size=3)))
        if rng.random() < 0.7:
            tasks.append(kd.tasks.PostureTask(robot.neutral(), weights=0.1, priority=1))
        A = np.concatenate([t.row_weights(robot)[:, None] * t.jacobian(robot, q) for t in tasks])
        b = np.concatenate([t.row_weights(robot) * t.error(robot, q) for t in tasks])
        damping = 1e-10 * (A**2).sum(axis=1).max()
        expected = np.linalg.lstsq(
            np.vstack([A, np.sqrt(damping) * np.eye(robot.nv)]), np.r_[b, np.zeros(robot.nv)], rcond=None
        )[0]
        x = kd.ik.WholeBody(robot, tasks, [], damping=0.0).step(q, 1.0).v
        np.testing.assert_allclose(A @ x, A @ expected, rtol=0, atol=1e-9 * np.linalg.norm(b))
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-6 * np.linalg.norm(expected))
