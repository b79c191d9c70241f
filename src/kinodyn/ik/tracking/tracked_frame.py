"""A frame that follows a path: its error, its Jacobian, and the limits of the joints that move it."""

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

RANK_TOLERANCE = 1e-9  # singular values below this fraction of the largest count as zero
NEWTON_TOLERANCE = 1e-10  # at which Newton's method stops [m, rad]
LIMIT_TOLERANCE = 1e-9  # beyond limits, for rounding [rad or m]

Mask = NDArray[np.bool_]


class Inverse(NamedTuple):
    """Pseudo-inverse `pinv` (n, c, m) of a Jacobian, singular `values` (n, r), and its row space `rows` (n, r, c)."""

    pinv: Array
    values: Array
    rows: Array


class TrackedFrame:
    """A frame of a robot and the directions of its twist that are tracked, for configurations (n, nq).

    Attributes
    ----------
    mask : (6,) bool array
        The tracked directions; `directions` (m,) are their indices.
    columns : (c,) int array
        Velocity coordinates of the joints that move the frame; `idle` are the indices in q of all others.
    q_index : (c,) int array
        Index in q of each column; -1 for floating and ball joints.
    lower, upper : (c,) array
        Limits of the columns.
    rank : int
        Generic rank of the m rows; `redundancy` is c - rank.
    """

    def __init__(self, robot: Robot, frame: str, mask: Mask, limits: bool) -> None:
        self.robot, self.frame, self.mask = robot, frame, mask
        self.directions = np.flatnonzero(mask)
        # With some axes free the remaining rotation may be large; its rate is then not the angular velocity.
        self.partial = bool(mask[3:].any() and not mask[3:].all())
        samples = _core.jacobian(robot, robot.random(8, seed=0), frame, "local_world_aligned", None)[:, self.directions]
        self.columns = np.flatnonzero(np.abs(samples).max(axis=(0, 1)) > 0.0)
        if not len(self.columns):
            raise InputError(f"no joint moves frame {frame!r} in the tracked directions; give another frame")
        found = np.linalg.svd(samples[:, :, self.columns], compute_uv=False)
        self.rank = int((found > RANK_TOLERANCE * found[:, :1]).sum(axis=1).max())
        self.redundancy = len(self.columns) - self.rank
        self._index_joints(limits)

    def _index_joints(self, limits: bool) -> None:
        robot = self.robot
        q_index, names = np.full(robot.nv, -1), np.full(robot.nv, "", dtype=object)
        for joint in robot.joints:
            if joint.mimic is None:
                names[joint.v] = joint.name
                if joint.q.stop - joint.q.start == joint.v.stop - joint.v.start:
                    q_index[joint.v] = np.arange(joint.q.start, joint.q.stop)
        self.q_index, self.names = q_index[self.columns], names[self.columns]
        moving = [robot.joint(name).q for name in dict.fromkeys(self.names)]
        self.idle = np.setdiff1d(np.arange(robot.nq), np.concatenate([np.arange(robot.nq)[part] for part in moving]))
        kinds = [robot.joint(name).kind for name in self.names]
        self.periodic = np.isin(kinds, ("revolute", "continuous")) & (self.q_index >= 0)  # by full turns
        limited = (self.q_index >= 0) & limits
        self.lower = np.where(limited, robot.limits.lower[self.q_index], -np.inf)
        self.upper = np.where(limited, robot.limits.upper[self.q_index], np.inf)
        self.bounded = np.isfinite(self.lower) & np.isfinite(self.upper) & (self.lower < self.upper)
        low, high = np.where(self.bounded, self.lower, -1.0), np.where(self.bounded, self.upper, 1.0)
        self.middle, self.half = 0.5 * (low + high), 0.5 * (high - low)

    def values(self, q: Array) -> Array:
        """Return the coordinates (n, c) of the columns; 0 for floating and ball joints."""
        return np.where(self.q_index >= 0, q[:, self.q_index], 0.0)

    def move(self, q: Array, step: Array) -> Array:
        """Move the joints by `step` (n, c)."""
        v = np.zeros((len(q), self.robot.nv))
        v[:, self.columns] = step
        return self.robot.integrate(q, v)

    def step(self, q0: Array, q1: Array) -> Array:
        """Compute the motion (n, c) between configurations."""
        return self.robot.difference(q0, q1)[:, self.columns]

    def error(self, q: Array, T: Array) -> tuple[Array, Array]:
        """Compute the error to targets (n, 4, 4): a twist (n, m) in world axes, and metres and radians (n, 2)."""
        found = _core.pose(self.robot, q, self.frame, None)
        error = np.zeros((len(q), 6))
        np.subtract(T[:, :3, 3], found[:, :3, 3], out=error[:, :3])
        if self.mask[3:].any():
            between = T[:, :3, :3] @ found[:, :3, :3].transpose(0, 2, 1)
            error[:, 3:] = log_rotation(between) if self.partial else _rotation_vectors(between)
        error *= self.mask
        residual = np.sqrt(np.add.reduceat(error * error, (0, 3), axis=1))
        return error if len(self.directions) == 6 else error[:, self.directions], residual

    def jacobian(self, q: Array, T: Array) -> Array:
        """Compute the Jacobian (n, m, c) of the tracked directions: minus the derivative of the error."""
        J = _core.jacobian(self.robot, q, self.frame, "local_world_aligned", None)
        if self.partial:
            found = _core.pose(self.robot, q, self.frame, None)
            remaining = log_rotation(T[:, :3, :3] @ np.swapaxes(found[:, :3, :3], -1, -2))
            J[:, 3:] = right_jacobian_inverse(remaining) @ J[:, 3:]
        return np.asarray(J[:, self.directions[:, None], self.columns])

    def invert(self, J: Array, damping: float = 0.0) -> Inverse:
        """Invert Jacobians (n, m, c) of the generic rank; `damping` is relative to the largest singular value."""
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        U, s, rows = U[:, :, : self.rank], s[:, : self.rank], Vt[:, : self.rank]
        floor = s[:, :1] * max(damping, 1e-12) + 1e-300
        inverse = s / (s * s + floor * floor)
        pinv = np.swapaxes(rows, 1, 2) @ (inverse[:, :, None] * np.swapaxes(U, 1, 2))
        return Inverse(pinv, s, rows)

    def change(self, q0: Array, J0: Array, pinv: Array, q1: Array, J1: Array, frozen: Mask) -> Array:
        """Compute norm(J0^+ (J1 - J0)) (n,) of steps from q0 to q1, without the `frozen` (n, c) joints.

        In world axes or, if that is less, in those of the frame: errors can be expressed in either, and one is enough.
        A rotation of the whole arm changes nothing in the latter, one of the last joint little in the former.
        """
        free = ~frozen[:, None]
        change = _size(pinv @ ((J1 - J0) * free))
        if len(self.directions) not in (3, 6) or self.mask[:3].any() != self.mask[:3].all() or self.partial:
            return change
        R0, R1 = (_core.pose(self.robot, q, self.frame, None)[:, :3, :3] for q in (q0, q1))
        rotated = (R0 @ R1.transpose(0, 2, 1))[:, None] @ J1.reshape(len(J1), -1, 3, J1.shape[-1])
        return np.minimum(change, _size(pinv @ ((rotated.reshape(J1.shape) - J0) * free)))

    def project(self, q: Array, T: Array, frozen: Mask, damping: float = 0.0) -> tuple[Array, Array]:
        """Project q onto poses T by Newton's method with `frozen` (n, c) joints: q (n, nq) and its residual.

        The Jacobian is updated in every second iteration; with damping, in each.
        """
        error, residual = self.error(q, T)
        for i in range(10):
            if residual.max() <= NEWTON_TOLERANCE:
                break
            if i % 2 == 0 or damping:
                pinv = self.invert(self.jacobian(q, T) * ~frozen[:, None], damping).pinv
            q = self.move(q, shortened((pinv @ error[..., None])[..., 0]))
            error, residual = self.error(q, T)
        return q, residual

    def outside_limits(self, q: Array, tolerance: float = 0.0) -> Mask:
        """Return which columns (n, c) are outside their limits."""
        values = self.values(q)
        return np.asarray((values > self.upper + tolerance) | (values < self.lower - tolerance))

    def clamp(self, q: Array, frozen: Mask, values: Array) -> Array:
        """Set the `frozen` (n, c) joints to `values` (n, c), clipped to their limits."""
        q, inside = q.copy(), np.clip(values, self.lower, self.upper)
        row, column = np.nonzero(frozen & (self.q_index >= 0))
        q[row, self.q_index[column]] = inside[row, column]
        return q


def _size(matrices: Array) -> Array:
    return np.asarray(np.sqrt((matrices * matrices).sum(axis=(1, 2))))


def shortened(step: Array) -> Array:
    """Shorten steps (n, c) to a norm of at most 1, so that a failing step does not diverge."""
    length = np.sqrt((step * step).sum(axis=1, keepdims=True))
    return np.asarray(step / np.maximum(1.0, length))


def _rotation_vectors(R: Array) -> Array:
    """Compute the rotation vectors (n, 3) of rotations (n, 3, 3), like `log_rotation` but faster."""
    flat = R.reshape(-1, 9)
    axis = 0.5 * (flat[:, (7, 2, 3)] - flat[:, (5, 6, 1)])
    sine = np.sqrt(np.einsum("ij,ij->i", axis, axis))
    angle = np.arctan2(sine, 0.5 * (flat[:, 0] + flat[:, 4] + flat[:, 8] - 1.0))
    vectors = axis * (angle / np.maximum(sine, 1e-300))[:, None]  # both are 0 without rotation
    half = angle > 3.0  # near half a turn the sine is small and the axis inaccurate
    if half.any():
        vectors[half] = log_rotation(R[half])
    return np.asarray(vectors)
