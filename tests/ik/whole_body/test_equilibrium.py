"""What is called a conflict is at rest: no level can gain by a small motion while those above keep what they have."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import nnls

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.tasks import Task


def slopes(body: Any, q: Array, levels: list[list[Task]]) -> list[float]:
    """Return for each level what is left of its slope after rows above and position limits that are reached."""
    robot = body.robot
    joints = np.eye(robot.nv)[6:]
    at_lower, at_upper = q[7:] - robot.limits.lower[7:] < 1e-7, robot.limits.upper[7:] - q[7:] < 1e-7
    above, result = np.zeros((0, robot.nv)), []
    for tasks in levels:
        A = np.concatenate([t.row_weights(robot)[:, None] * t.jacobian(robot, q) for t in tasks])
        e = np.concatenate([t.row_weights(robot) * t.error(robot, q) for t in tasks])
        stops = [-joints[at_lower], joints[at_upper], np.zeros((1, robot.nv))]
        columns = np.concatenate([above, -above, *stops]).T
        share, _ = nnls(columns, A.T @ e, maxiter=10000)
        result.append(float(np.linalg.norm(A.T @ e - columns @ share)) / (1.0 + float(np.linalg.norm(e))))
        above = np.concatenate([above, A])
    return result


def test_what_is_out_of_reach_ends_where_nothing_can_be_gained(body: Any) -> None:
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
        assert max(slopes(body, result.q, [stance, [hand, com]])) <= 1e-4
    assert conflicts > 0
