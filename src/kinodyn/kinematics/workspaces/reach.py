"""The largest reach of a frame: the farthest samples, improved by optimisation within the joint limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

MAX_STARTS = 8  # several, because some lead to local maxima


def far_rows(offsets: Array) -> NDArray[np.int64]:
    """Choose the rows, at most MAX_STARTS, of offsets (n, 3) that are longest."""
    distance = np.linalg.norm(offsets, axis=1)
    if len(distance) <= MAX_STARTS:
        return np.arange(len(distance))
    return np.sort(np.argpartition(-distance, MAX_STARTS)[:MAX_STARTS])


def refine_reach(
    robot: Robot,
    frame: str,
    starts: Array,
    moving: tuple[JointInfo, ...],
    ranges: tuple[Array, Array],
    centre: Array,
) -> tuple[float, Array]:
    """Maximise the distance from each start (n, nq) within the ranges: return it [m] and the configuration (nq,).

    The unknowns are steps on the tangent space from the start, so that ball joints are covered. Gradients by finite
    differences suffice: at the maximum an error e in the joints changes the distance by only e squared.
    """
    columns = np.concatenate([np.arange(joint.v.start, joint.v.stop) for joint in moving])

    def reached(step: Array, start: Array) -> tuple[float, Array]:
        v = np.zeros(robot.nv)
        v[columns] = step
        q = robot.integrate(start, v)
        return float(np.linalg.norm(_core.pose(robot, q, frame, None)[:3, 3] - centre)), q

    best, q_best = 0.0, starts[0]
    for start in starts:
        box = [pair for joint in moving for pair in _box(joint, start, ranges)]
        found = minimize(
            lambda step, start=start: -(reached(step, start)[0] ** 2),
            np.zeros(len(columns)),
            method="L-BFGS-B",
            bounds=box,
            options={"ftol": 1e-15, "gtol": 1e-10},
        )
        distance, q = reached(found.x, start)
        if distance > best:
            best, q_best = distance, _within(q, moving, ranges)
    return best, q_best


def _box(joint: JointInfo, start: Array, ranges: tuple[Array, Array]) -> list[tuple[float, float]]:
    if joint.kind == "ball":
        return [(-np.inf, np.inf)] * 3
    lower, upper = (float(limit[joint.q.start]) - float(start[joint.q.start]) for limit in ranges)
    return [(lower, upper)]


def _within(q: Array, moving: tuple[JointInfo, ...], ranges: tuple[Array, Array]) -> Array:
    """Clip to the ranges: start + (limit - start) may exceed the limit by rounding."""
    result = np.array(q)
    for joint in moving:
        if joint.kind != "ball":
            result[joint.q] = np.clip(q[joint.q], ranges[0][joint.q], ranges[1][joint.q])
    return result
