"""Limits over a hundred thousand steps, towards targets that are far, jump, and contradict each other."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import DescriptionWarning
from kinodyn.ik import WholeBody
from kinodyn.model.robot import Robot

BATCH = 250
FRAMES = {
    "humanoid": ("left_sole", "right_sole", "left_palm", "right_palm", "head"),
    "talos": (
        "left_sole_link",
        "right_sole_link",
        "gripper_left_base_link",
        "gripper_right_base_link",
        "head_2_link",
    ),
    "g1": ("left_ankle_roll_link", "right_ankle_roll_link", "left_rubber_hand", "right_rubber_hand", "torso_link"),
}


def load(name: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return kd.load(name, base="floating")


def beyond(robot: Robot, q: Array) -> Array:
    """Measure how far (..., nq) joints are outside of their limits."""
    return np.maximum(np.maximum(robot.limits.lower - q, q - robot.limits.upper), 0.0)


def starts(robot: Robot, rng: np.random.Generator) -> Array:
    """Draw half of the starts within limits, half beyond them."""
    q = robot.random(BATCH, seed=rng)
    outside = q[BATCH // 2 :]
    outside[:, 7:] += rng.normal(size=outside[:, 7:].shape)
    return q


def poses(robot: Robot, frame: str, rng: np.random.Generator) -> Array:
    """Draw targets that the frame can have, some of them pushed far away."""
    T = kd.kinematics.pose(robot, robot.random(BATCH, seed=rng), frame).copy()
    T[:, :3, 3] += rng.normal(size=(BATCH, 3)) * rng.choice([0.0, 0.3, 10.0], size=(BATCH, 1))
    return T


def solver_of(robot: Robot, frames: tuple[str, ...], rng: np.random.Generator) -> WholeBody:
    foot, other, hand, free, head = frames
    tasks = [
        kd.tasks.ContactTask(foot, poses(robot, foot, rng)),
        kd.tasks.ContactTask(other, poses(robot, other, rng)),
        kd.tasks.FrameTask(hand, poses(robot, hand, rng)),
        kd.tasks.FrameTask(free, poses(robot, free, rng)[:, :3, 3], name="point"),
        kd.tasks.ComTask(rng.normal(size=(BATCH, 3))),
        kd.tasks.GazeTask(head, rng.normal(size=(BATCH, 3)) * 3, priority=2),
        kd.tasks.PostureTask(robot.random(BATCH, seed=rng), priority=3),
    ]
    square = [[-0.2, -0.2], [0.2, -0.2], [0.2, 0.2], [-0.2, 0.2]]
    return WholeBody(robot, tasks, [kd.limits.PositionLimit(), kd.limits.VelocityLimit(), kd.limits.ComLimit(square)])


def jump(solver: WholeBody, robot: Robot, rng: np.random.Generator) -> None:
    """Move all targets elsewhere at once."""
    for task in solver.tasks:
        if isinstance(task, kd.tasks.FrameTask):
            T = poses(robot, task.frame, rng)
            task.target = T[:, :3, 3] if task.is_point else T
        elif not isinstance(task, kd.tasks.PostureTask):
            task.target = rng.normal(size=(BATCH, 3)) * 2


@pytest.mark.parametrize("name", FRAMES)
def test_limits_hold_over_a_hundred_thousand_steps(name: str) -> None:
    robot, dt = load(name), 0.02
    rng = np.random.default_rng(5)
    solver = solver_of(robot, FRAMES[name], rng)
    q = starts(robot, rng)
    fastest = robot.limits.velocity
    steps = 134  # of 250 robots, three times: a hundred thousand
    for k in range(steps):
        if k % 20 == 19:
            jump(solver, robot, rng)
        step = solver.step(q, dt)
        assert np.isfinite(step.q).all() and np.isfinite(step.v).all()
        assert (np.abs(step.v) <= fastest * (1 + 1e-6)).all()
        before, after = beyond(robot, q), beyond(robot, step.q)
        inside = before <= 1e-8
        assert (after[inside] <= 1e-8).all()
        # from outside: back by the largest step, or to the limit
        limited = np.minimum(fastest, 1e30)[6:] * dt
        expected = np.maximum(before[:, 7:] - limited, 0.0)
        np.testing.assert_allclose(after[:, 7:], expected, rtol=0, atol=1e-8)
        q = step.q
    assert (beyond(robot, q) <= 1e-8).all()
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=-1), 1.0, rtol=0, atol=1e-12)
