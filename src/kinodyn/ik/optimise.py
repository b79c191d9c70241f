"""Bounded least squares with SciPy: one target at a time, slower than the core; an independent reference."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.optimize import least_squares

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.ik.result import CONVERGED, OUT_OF_ITERATIONS, STALLED
from kinodyn.ik.space import SearchSpace
from kinodyn.model.robot import Robot
from kinodyn.spatial import log3, right_jacobian, right_jacobian_inverse

Targets = Mapping[str, tuple[Array, Array]]  # frame -> poses (n, 16), weights (6,)


def optimise(
    robot: Robot,
    space: SearchSpace,
    start: Array,
    limits: tuple[Array, Array],
    targets: Targets,
    iterations: int,
    tolerance: float,
) -> tuple[Array, Array, Array]:
    """Minimise the weighted squared errors within the limits from each start (n, nq).

    Returns configurations (n, nq), evaluations (n,) and terminations (n,). SciPy's trust region reflective method:
    M. A. Branch, T. F. Coleman, Y. Li, 1999.
    """
    q, steps, termination = (
        np.clip(start, *limits),
        np.zeros(len(start)),
        np.full(len(start), float(OUT_OF_ITERATIONS)),
    )
    moving = _moving(robot, space, *limits)
    for row in range(len(start) if iterations else 0):
        target = {frame: (T[row].reshape(4, 4), weights) for frame, (T, weights) in targets.items()}
        if len(moving) == 0:
            termination[row] = STALLED
            continue
        errors = _Errors(robot, space, q[row], moving, target, tolerance)
        low, high = errors.bounds(*limits)
        exact = dict.fromkeys(("xtol", "ftol", "gtol"), 1e-14)
        try:
            found = least_squares(
                errors.error, np.zeros(len(moving)), errors.jacobian, (low, high), max_nfev=iterations, **exact
            )
            x, termination[row] = found.x, STALLED if found.status > 0 else OUT_OF_ITERATIONS
        except _Converged as stop:
            x, termination[row] = stop.x, CONVERGED
        q[row], steps[row] = np.clip(errors.configuration(x), *limits), errors.evaluations
    return q, steps, termination


class _Converged(Exception):  # noqa: N818
    """Stops the optimiser as soon as the target is reached, at x."""

    def __init__(self, x: Array) -> None:
        self.x = x


class _Errors:
    """Pose errors of the frames as a function of a tangent x at the start: q = start + x."""

    def __init__(
        self,
        robot: Robot,
        space: SearchSpace,
        start: Array,
        moving: list[int],
        target: dict[str, tuple[Array, Array]],
        tolerance: float,
    ) -> None:
        self.robot, self.space, self.start, self.moving = robot, space, start, moving
        self.target, self.tolerance = target, tolerance
        self.evaluations = 0

    def tangent(self, x: Array) -> Array:
        """Expand x to all velocity coordinates (nv,)."""
        v = np.zeros(self.robot.nv)
        v[self.moving] = x
        return v

    def configuration(self, x: Array) -> Array:
        """Compute the configuration (nq,) at x."""
        return self.space.integrate(self.robot, self.start, self.tangent(x))

    def bounds(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Compute the bounds of x."""
        low, high = np.full(self.robot.nv, -np.inf), np.full(self.robot.nv, np.inf)
        for joint in self.robot.joints:
            if joint.kind not in ("floating", "ball"):
                low[joint.v], high[joint.v] = (lower - self.start)[joint.q], (upper - self.start)[joint.q]
        return low[self.moving], high[self.moving]

    def error(self, x: Array) -> Array:
        """Compute the weighted errors; stop the optimiser where they are within the tolerance."""
        q, parts, worst = self.configuration(x), [], 0.0
        self.evaluations += 1
        for frame, (T, weights) in self.target.items():
            found = kinematics.pose(self.robot, q, frame)
            error = np.concatenate([T[:3, 3] - found[:3, 3], log3(T[:3, :3] @ found[:3, :3].T)])
            tracked = np.where(weights > 0, error, 0.0)
            worst = max(worst, math.hypot(*tracked[:3]), math.hypot(*tracked[3:]))
            parts.append(weights * error)
        if worst < self.tolerance:
            raise _Converged(x)
        return np.concatenate(parts)

    def jacobian(self, x: Array) -> Array:
        """Compute the derivative of the errors with respect to x."""
        q, parts = self.configuration(x), []
        for frame, (T, weights) in self.target.items():
            rotation = log3(T[:3, :3] @ kinematics.pose(self.robot, q, frame)[:3, :3].T)
            J = kinematics.jacobian(self.robot, q, frame)
            J[3:] = right_jacobian_inverse(rotation) @ J[3:]
            parts.append(-weights[:, None] * J)
        return np.concatenate(parts)[:, self.moving] @ self.rate_matrix(x)

    def rate_matrix(self, x: Array) -> Array:
        """Compute the matrix from rates of x to velocities; it differs from I for floating and ball joints."""
        v, result = self.tangent(x), np.eye(self.robot.nv)
        for joint in self.robot.joints:
            if joint.kind in ("floating", "ball") and joint.mimic is None:
                result[joint.v, joint.v] = right_jacobian(v[joint.v])
        return result[np.ix_(self.moving, self.moving)]


def _moving(robot: Robot, space: SearchSpace, lower: Array, upper: Array) -> list[int]:
    """List the dofs of the space that are not fixed by equal limits."""
    used = np.zeros(robot.nv, dtype=bool)
    used[space.dofs] = True
    for joint in robot.joints:
        if joint.kind not in ("floating", "ball"):
            used[joint.v] &= lower[joint.q] < upper[joint.q]
    return [int(i) for i in np.flatnonzero(used)]
