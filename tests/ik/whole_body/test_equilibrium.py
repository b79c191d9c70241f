"""What is called a conflict is at rest: no level can gain by a small motion while those above keep what they have."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.tasks import Task

SMALL = 1e-2  # rad or m, how far each joint may move


def gains(body: Any, q: Array, levels: list[list[Task]]) -> list[float]:
    """Return for each level the largest fraction of its error that a small motion takes away, to first order.

    A linear program: joints stay within their limits, and levels above keep what they have.
    """
    robot = body.robot
    below = np.maximum(-1.0, (robot.limits.lower[7:] - q[7:]) / SMALL)
    above = np.minimum(1.0, (robot.limits.upper[7:] - q[7:]) / SMALL)
    bounds = [(-1.0, 1.0)] * 6 + [(min(low, 0.0), max(high, 0.0)) for low, high in zip(below, above, strict=True)]
    kept, result = np.zeros((0, robot.nv)), []
    for tasks in levels:
        A = np.concatenate([t.row_weights(robot)[:, None] * t.jacobian(robot, q) for t in tasks])
        e = np.concatenate([t.row_weights(robot) * t.error(robot, q) for t in tasks])
        gain = SMALL * A.T @ e / (1.0 + np.linalg.norm(e))
        found = linprog(-gain, A_eq=kept, b_eq=np.zeros(len(kept)), bounds=bounds)
        assert found.status == 0, found.message
        result.append(-float(found.fun))
        kept = np.concatenate([kept, A])
    return result


def test_unreachable_targets_end_at_an_optimum(body: Any) -> None:
    robot = body.robot
    rng = np.random.default_rng(0)
    com = kd.tasks.ComTask(kd.kinematics.com(robot, body.q), weights=(1, 1, 0))
    conflicts = 0
    for _ in range(30):
        hand = kd.tasks.FrameTask(body.hands[0], body.pose(body.hands[0], tuple(2 * rng.normal(size=3))))
        stance = body.stance()
        result = kd.ik.WholeBody(robot, [*stance, hand, com, kd.tasks.PostureTask(body.q)]).solve(body.q)
        if result.status != "conflict":
            continue
        conflicts += 1
        assert all(task.missing(robot, result.q).max() <= 1e-6 for task in stance)  # the feet never moved
        assert max(gains(body, result.q, [stance, [hand, com]])) <= 1e-5
    assert conflicts > 0
