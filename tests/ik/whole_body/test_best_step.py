"""Steps of humanoids are the best there are, level by level: multipliers found without the solver prove it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array

DT = 0.05
NEAR = 1e-8  # rad or m from a bound that count as on it


def bounds(body: Any, q: Array, fastest: float) -> tuple[Array, Array]:
    """Return how far each velocity may go in a step: position limits within velocity limits."""
    robot = body.robot
    longest = np.full(robot.nv, fastest * DT)
    lower, upper = -longest, longest.copy()
    lower[6:] = np.clip(robot.limits.lower[7:] - q[7:], -longest[6:], longest[6:])
    upper[6:] = np.clip(robot.limits.upper[7:] - q[7:], -longest[6:], longest[6:])
    return lower, upper


def test_no_level_of_a_humanoid_can_improve_without_degrading_a_higher_one(
    body: Any, unbalanced: Callable[[Array, Array, Array], float]
) -> None:
    robot = body.robot
    rng = np.random.default_rng(0)
    for q in body.draw(60, 0.4, rng):
        fastest = rng.uniform(0.3, 3.0)
        lower, upper = bounds(body, q, fastest)
        levels = [
            body.stance(),
            [kd.tasks.FrameTask(body.hands[0], body.pose(body.hands[0], tuple(rng.normal(size=3))))],
            [kd.tasks.ComTask(kd.kinematics.com(robot, q) + 0.3 * rng.normal(size=3), priority=2)],
            [kd.tasks.PostureTask(robot.neutral(), priority=3)],
        ]
        limits = [kd.limits.PositionLimit(), kd.limits.VelocityLimit(fastest)]
        x = DT * kd.ik.WholeBody(robot, sum(levels, []), limits, damping=0.0).step(q, DT).v
        assert (x >= lower - 1e-12).all() and (x <= upper + 1e-12).all()
        stops = np.concatenate([np.eye(robot.nv)[x >= upper - NEAR], -np.eye(robot.nv)[x <= lower + NEAR]])
        above = np.zeros((0, robot.nv))
        for tasks in levels:
            A = np.concatenate([t.row_weights(robot)[:, None] * t.jacobian(robot, q) for t in tasks])
            b = np.concatenate([t.row_weights(robot) * t.error(robot, q) for t in tasks])
            assert unbalanced(A.T @ (A @ x - b), above, stops) <= 1e-8 * (b @ b + (A**2).sum(axis=1).max())
            above = np.concatenate([above, A])
