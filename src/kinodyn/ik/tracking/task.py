"""One frame that should be somewhere: its error, its Jacobian, and the limits of the joints that move it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.description.types import Array
from kinodyn.robot import Robot
from kinodyn.spatial import right_jacobian_inverse
from kinodyn.spatial.lie import log_rotation

ZERO = 1e-9  # singular values below this share of the greatest are no motion at all

Mask = NDArray[np.bool_]


class Inverse(NamedTuple):
    """A Jacobian taken apart: `pinv` (n, c, m), its singular `values` (n, r), and `rows` (n, r, c), which it sees."""

    pinv: Array
    values: Array
    rows: Array


class FrameTask:
    """A frame of a robot and the directions that count, for rows of configurations (n, nq).

    `columns` are the places in v of the c joints that move the frame; `lower` and `upper` (c,) their limits; `rank` is
    how many of the m directions they can serve at a configuration that is not singular.
    """

    def __init__(self, robot: Robot, frame: str, wanted: Mask, limits: bool) -> None:
        self.robot, self.frame, self.wanted = robot, frame, wanted
        self.directions = np.flatnonzero(wanted)
        # With some axes free the rotation that is left may be large, and its rate is then not the angular velocity.
        self.partial = bool(wanted[3:].any() and not wanted[3:].all())
        samples = _core.jacobian(robot, robot.random(8, seed=0), frame, "aligned", None)[:, self.directions]
        self.columns = np.flatnonzero(np.abs(samples).max(axis=(0, 1)) > 0.0)
        found = np.linalg.svd(samples[:, :, self.columns], compute_uv=False)
        self.rank = int((found > ZERO * found[:, :1]).sum(axis=1).max()) if found.size else 0
        self.redundancy = len(self.columns) - self.rank
        self._lay_out(limits)

    def _lay_out(self, limits: bool) -> None:
        robot = self.robot
        places, names = np.full(robot.nv, -1), np.full(robot.nv, "", dtype=object)
        for joint in robot.joints:
            if joint.mimic is None:
                names[joint.v] = joint.name
                if joint.q.stop - joint.q.start == joint.v.stop - joint.v.start:
                    places[joint.v] = np.arange(joint.q.start, joint.q.stop)
        self.places, self.names = places[self.columns], names[self.columns]
        bounded = (self.places >= 0) & limits
        self.lower = np.where(bounded, robot.limits.lower[self.places], -np.inf)
        self.upper = np.where(bounded, robot.limits.upper[self.places], np.inf)
        width = self.upper - self.lower
        self.ranged = np.isfinite(width) & (width > 0.0)
        self.middle = np.where(self.ranged, 0.5 * (self.lower + self.upper), 0.0)
        self.half = np.where(self.ranged, 0.5 * width, 1.0)

    def values(self, q: Array) -> Array:
        """Read the coordinates (n, c) of the joints that move the frame; 0 for those of free bodies and balls."""
        return np.where(self.places >= 0, q[:, self.places], 0.0)

    def move(self, q: Array, step: Array) -> Array:
        """Move the joints by `step` (n, c)."""
        v = np.zeros((len(q), self.robot.nv))
        v[:, self.columns] = step
        return self.robot.integrate(q, v)

    def step(self, q0: Array, q1: Array) -> Array:
        """Measure the motion (n, c) between configurations."""
        return self.robot.difference(q0, q1)[:, self.columns]

    def error(self, q: Array, T: Array) -> tuple[Array, Array]:
        """Measure what is left to targets (n, 4, 4): as a twist (n, m) in world axes, as metres and radians (n, 2)."""
        found = _core.pose(self.robot, q, self.frame, None)
        error = np.empty((len(q), 6))
        error[:, :3] = T[:, :3, 3] - found[:, :3, 3]
        if not self.wanted[3:].any():
            error[:, 3:] = 0.0
        elif self.partial:
            error[:, 3:] = log_rotation(T[:, :3, :3] @ np.swapaxes(found[:, :3, :3], -1, -2))
        else:
            error[:, 3:] = _turn(T[:, :3, :3] @ np.swapaxes(found[:, :3, :3], -1, -2))
        squares = np.where(self.wanted, error, 0.0) ** 2
        residual = np.sqrt(np.stack([squares[:, :3].sum(axis=1), squares[:, 3:].sum(axis=1)], axis=1))
        return error[:, self.directions], residual

    def jacobian(self, q: Array, T: Array) -> Array:
        """Compute how the error shrinks with motion of the joints: (n, m, c)."""
        J = _core.jacobian(self.robot, q, self.frame, "aligned", None)
        if self.partial:
            found = _core.pose(self.robot, q, self.frame, None)
            left = log_rotation(T[:, :3, :3] @ np.swapaxes(found[:, :3, :3], -1, -2))
            J[:, 3:] = right_jacobian_inverse(left) @ J[:, 3:]
        return np.asarray(J[:, self.directions[:, None], self.columns])

    def invert(self, J: Array, damping: float = 0.0) -> Inverse:
        """Take Jacobians (n, m, c) apart, up to the rank that the task has; `damping` is a share of the greatest."""
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        U, s, rows = U[:, :, : self.rank], s[:, : self.rank], Vt[:, : self.rank]
        floor = s[:, :1] * max(damping, 1e-12) + 1e-300
        inverse = s / (s * s + floor * floor)
        pinv = np.swapaxes(rows, 1, 2) @ (inverse[:, :, None] * np.swapaxes(U, 1, 2))
        return Inverse(pinv, s, rows)

    def beyond(self, q: Array, slack: float = 0.0) -> Mask:
        """Tell (n, c) which joints are beyond their limits."""
        values = self.values(q)
        return np.asarray((values > self.upper + slack) | (values < self.lower - slack))

    def clamp(self, q: Array, frozen: Mask) -> Array:
        """Put the joints that are `frozen` (n, c) at the limits that they would pass, as far as they are beyond."""
        q = q.copy()
        inside = np.clip(self.values(q), self.lower, self.upper)
        row, column = np.nonzero(frozen & (self.places >= 0))
        q[row, self.places[column]] = inside[row, column]
        return q


def _turn(R: Array) -> Array:
    """Compute the rotation vectors (n, 3) of rotations (n, 3, 3), as `log_rotation` does but in less time."""
    axis = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    sine = np.sqrt((axis * axis).sum(axis=1))
    angle = np.arctan2(sine, 0.5 * (R[:, 0, 0] + R[:, 1, 1] + R[:, 2, 2] - 1.0))
    small = sine < 1e-9
    turn = axis * np.where(small, 1.0, angle / np.where(small, 1.0, sine))[:, None]
    half = angle > 3.0  # near half a turn the sine says little about the axis
    if half.any():
        turn[half] = log_rotation(R[half])
    return np.asarray(turn)
