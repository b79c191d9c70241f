"""Bounded optimisation by SciPy: one target at a time, slower than the core and a second opinion on it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.optimize import least_squares

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.ik.result import ARRIVED, OUT_OF_ITERATIONS, STANDSTILL
from kinodyn.model.robot import Robot
from kinodyn.spatial import log3, right_jacobian, right_jacobian_inverse

Wanted = Mapping[str, tuple[Array, Array]]  # frame -> poses (n, 16), weights (6,)


def optimise(
    robot: Robot, start: Array, lower: Array, upper: Array, wanted: Wanted, iterations: int, enough: float
) -> tuple[Array, Array, Array]:
    """Minimise the weighted squared errors within limits from each start (n, nq).

    Returns configurations (n, nq), evaluations (n,) and how each ended (n,). A trust region that reflects at the
    bounds: M. A. Branch, T. F. Coleman, Y. Li, 1999, as SciPy has it.
    """
    q, steps, ended = np.clip(start, lower, upper), np.zeros(len(start)), np.full(len(start), float(OUT_OF_ITERATIONS))
    moving = _moving(robot, tuple(wanted), lower, upper)
    for row in range(len(start) if iterations else 0):
        target = {frame: (T[row].reshape(4, 4), weights) for frame, (T, weights) in wanted.items()}
        if len(moving) == 0:
            ended[row] = STANDSTILL
            continue
        fit = _Fit(robot, q[row], moving, target, enough)
        low, high = fit.bounds(lower, upper)
        exact = dict.fromkeys(("xtol", "ftol", "gtol"), 1e-14)
        try:
            found = least_squares(
                fit.error, np.zeros(len(moving)), fit.slope, (low, high), max_nfev=iterations, **exact
            )
            x, ended[row] = found.x, STANDSTILL if found.status > 0 else OUT_OF_ITERATIONS
        except _Arrived as arrival:
            x, ended[row] = arrival.x, ARRIVED
        q[row], steps[row] = np.clip(fit.at(x), lower, upper), fit.evaluations
    return q, steps, ended


class _Arrived(Exception):  # noqa: N818
    """Leaves the optimiser as soon as the target is reached, at x."""

    def __init__(self, x: Array) -> None:
        self.x = x


class _Fit:
    """Errors of the frames over a tangent x at the start: q = start + x."""

    def __init__(
        self, robot: Robot, start: Array, moving: list[int], target: dict[str, tuple[Array, Array]], enough: float
    ) -> None:
        self.robot, self.start, self.moving, self.target, self.enough = robot, start, moving, target, enough
        self.evaluations = 0

    def tangent(self, x: Array) -> Array:
        v = np.zeros(self.robot.nv)
        v[self.moving] = x
        return v

    def at(self, x: Array) -> Array:
        return self.robot.integrate(self.start, self.tangent(x))

    def bounds(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        low, high = np.full(self.robot.nv, -np.inf), np.full(self.robot.nv, np.inf)
        for joint in self.robot.joints:
            if joint.kind not in ("floating", "ball"):
                low[joint.v], high[joint.v] = (lower - self.start)[joint.q], (upper - self.start)[joint.q]
        return low[self.moving], high[self.moving]

    def error(self, x: Array) -> Array:
        q, parts, worst = self.at(x), [], 0.0
        self.evaluations += 1
        for frame, (T, weights) in self.target.items():
            found = kinematics.pose(self.robot, q, frame)
            error = np.concatenate([T[:3, 3] - found[:3, 3], log3(T[:3, :3] @ found[:3, :3].T)])
            counted = np.where(weights > 0, error, 0.0)
            worst = max(worst, math.hypot(*counted[:3]), math.hypot(*counted[3:]))
            parts.append(weights * error)
        if worst < self.enough:
            raise _Arrived(x)
        return np.concatenate(parts)

    def slope(self, x: Array) -> Array:
        q, parts = self.at(x), []
        for frame, (T, weights) in self.target.items():
            turn = log3(T[:3, :3] @ kinematics.pose(self.robot, q, frame)[:3, :3].T)
            J = kinematics.jacobian(self.robot, q, frame)
            J[3:] = right_jacobian_inverse(turn) @ J[3:]
            parts.append(-weights[:, None] * J)
        return np.concatenate(parts)[:, self.moving] @ self.chart(x)

    def chart(self, x: Array) -> Array:
        """Take rates of x to velocities: turns of free bodies and balls do not add up."""
        v, result = self.tangent(x), np.eye(self.robot.nv)
        for joint in self.robot.joints:
            if joint.kind in ("floating", "ball") and joint.mimic is None:
                result[joint.v, joint.v] = right_jacobian(v[joint.v])
        return result[np.ix_(self.moving, self.moving)]


def _moving(robot: Robot, frames: tuple[str, ...], lower: Array, upper: Array) -> list[int]:
    """List the v indices that move these frames and are not held by equal limits."""
    J = np.concatenate([kinematics.jacobian(robot, robot.random(3, seed=0), frame) for frame in frames], axis=1)
    used = np.abs(J).max(axis=(0, 1)) > 0
    for joint in robot.joints:
        if joint.kind not in ("floating", "ball"):
            used[joint.v] &= lower[joint.q] < upper[joint.q]
    return [int(i) for i in np.flatnonzero(used)]
