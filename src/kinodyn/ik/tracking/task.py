"""One frame that should be somewhere: its error, its Jacobian, and the limits of the joints that move it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.spatial import right_jacobian_inverse
from kinodyn.spatial.lie import log_rotation

ZERO = 1e-9  # singular values below this share of the greatest are no motion at all
GOAL = 1e-10  # what Newton's method aims at [m, rad]; what is good enough others decide
SLACK = 1e-9  # beyond limits, for rounding [rad or m]

Mask = NDArray[np.bool_]


class Inverse(NamedTuple):
    """A Jacobian taken apart: `pinv` (n, c, m), its singular `values` (n, r), and `rows` (n, r, c), which it sees."""

    pinv: Array
    values: Array
    rows: Array


class FrameTask:
    """A frame of a robot and the directions that count, for rows of configurations (n, nq).

    `columns` are the places in v of the c joints that move the frame, `idle` the places in q of all others; `lower` and
    `upper` (c,) are limits of the former; `rank` is how many of the m directions the joints can serve at a
    configuration that is not singular.
    """

    def __init__(self, robot: Robot, frame: str, wanted: Mask, limits: bool) -> None:
        self.robot, self.frame, self.wanted = robot, frame, wanted
        self.directions = np.flatnonzero(wanted)
        # With some axes free the rotation that is left may be large, and its rate is then not the angular velocity.
        self.partial = bool(wanted[3:].any() and not wanted[3:].all())
        samples = _core.jacobian(robot, robot.random(8, seed=0), frame, "local_world_aligned", None)[:, self.directions]
        self.columns = np.flatnonzero(np.abs(samples).max(axis=(0, 1)) > 0.0)
        if not len(self.columns):
            raise InputError(f"no joint moves frame {frame!r} in the directions asked for; give another frame")
        found = np.linalg.svd(samples[:, :, self.columns], compute_uv=False)
        self.rank = int((found > ZERO * found[:, :1]).sum(axis=1).max())
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
        moving = [robot.joint(name).q for name in dict.fromkeys(self.names)]
        self.idle = np.setdiff1d(np.arange(robot.nq), np.concatenate([np.arange(robot.nq)[part] for part in moving]))
        kinds = [robot.joint(name).kind for name in self.names]
        self.turning = np.isin(kinds, ("revolute", "continuous")) & (self.places >= 0)  # by whole turns, if they may
        bounded = (self.places >= 0) & limits
        self.lower = np.where(bounded, robot.limits.lower[self.places], -np.inf)
        self.upper = np.where(bounded, robot.limits.upper[self.places], np.inf)
        self.ranged = np.isfinite(self.lower) & np.isfinite(self.upper) & (self.lower < self.upper)
        low, high = np.where(self.ranged, self.lower, -1.0), np.where(self.ranged, self.upper, 1.0)
        self.middle, self.half = 0.5 * (low + high), 0.5 * (high - low)

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
        error = np.zeros((len(q), 6))
        np.subtract(T[:, :3, 3], found[:, :3, 3], out=error[:, :3])
        if self.wanted[3:].any():
            between = T[:, :3, :3] @ found[:, :3, :3].transpose(0, 2, 1)
            error[:, 3:] = log_rotation(between) if self.partial else _turn(between)
        error *= self.wanted
        residual = np.sqrt(np.add.reduceat(error * error, (0, 3), axis=1))
        return error if len(self.directions) == 6 else error[:, self.directions], residual

    def jacobian(self, q: Array, T: Array) -> Array:
        """Compute how the error shrinks with motion of the joints: (n, m, c)."""
        J = _core.jacobian(self.robot, q, self.frame, "local_world_aligned", None)
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

    def change(self, q0: Array, J0: Array, pinv: Array, q1: Array, J1: Array, frozen: Mask) -> Array:
        """Measure norm(J0^+ (J1 - J0)) (n,) of steps from q0 to q1, `frozen` (n, c) joints left out.

        In world axes or, if that is less, in those of the frame: errors can be written in either, and one of them is
        enough. A turn of the whole arm changes nothing in the one, a turn of the last joint little in the other.
        """
        free = ~frozen[:, None]
        change = _size(pinv @ ((J1 - J0) * free))
        if len(self.directions) not in (3, 6) or self.wanted[:3].any() != self.wanted[:3].all() or self.partial:
            return change
        R0, R1 = (_core.pose(self.robot, q, self.frame, None)[:, :3, :3] for q in (q0, q1))
        turned = (R0 @ R1.transpose(0, 2, 1))[:, None] @ J1.reshape(len(J1), -1, 3, J1.shape[-1])
        return np.minimum(change, _size(pinv @ ((turned.reshape(J1.shape) - J0) * free)))

    def settle(self, q: Array, T: Array, frozen: Mask, damping: float = 0.0) -> tuple[Array, Array]:
        """Come down from q to poses T by Newton's method, `frozen` (n, c) joints held: q (n, nq) and its residual.

        The Jacobian is that of every second iteration; damped, of each.
        """
        error, residual = self.error(q, T)
        for i in range(10):
            if residual.max() <= GOAL:
                break
            if i % 2 == 0 or damping:
                pinv = self.invert(self.jacobian(q, T) * ~frozen[:, None], damping).pinv
            q = self.move(q, shortened((pinv @ error[..., None])[..., 0]))
            error, residual = self.error(q, T)
        return q, residual

    def beyond(self, q: Array, slack: float = 0.0) -> Mask:
        """Tell (n, c) which joints are beyond their limits."""
        values = self.values(q)
        return np.asarray((values > self.upper + slack) | (values < self.lower - slack))

    def hold(self, q: Array, frozen: Mask, values: Array) -> Array:
        """Put the joints that are `frozen` (n, c) where `values` (n, c) say, or at the limit that these would pass."""
        q, inside = q.copy(), np.clip(values, self.lower, self.upper)
        row, column = np.nonzero(frozen & (self.places >= 0))
        q[row, self.places[column]] = inside[row, column]
        return q


def _size(matrices: Array) -> Array:
    return np.asarray(np.sqrt((matrices * matrices).sum(axis=(1, 2))))


def shortened(step: Array) -> Array:
    """Cut steps (n, c) to a length of 1, so that a step that fails stays where numbers are small."""
    length = np.sqrt((step * step).sum(axis=1, keepdims=True))
    return np.asarray(step / np.maximum(1.0, length))


def _turn(R: Array) -> Array:
    """Compute the rotation vectors (n, 3) of rotations (n, 3, 3), as `log_rotation` does but in less time."""
    flat = R.reshape(-1, 9)
    axis = 0.5 * (flat[:, (7, 2, 3)] - flat[:, (5, 6, 1)])
    sine = np.sqrt(np.einsum("ij,ij->i", axis, axis))
    angle = np.arctan2(sine, 0.5 * (flat[:, 0] + flat[:, 4] + flat[:, 8] - 1.0))
    turn = axis * (angle / np.maximum(sine, 1e-300))[:, None]  # without rotation both are 0
    half = angle > 3.0  # near half a turn the sine says little about the axis
    if half.any():
        turn[half] = log_rotation(R[half])
    return np.asarray(turn)
