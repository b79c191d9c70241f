"""Joints with several coordinates, one class for each convention of an engine.

A block maps positions both ways; `rate` is the orthogonal matrix B(q) of v' = B v, and `drift` is (dB/dt) v. R maps
child axes to parent axes; velocities of kinodyn are in child axes, linear first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array, matvec
from kinodyn.spatial import as_euler, as_quaternion, from_euler, from_quaternion

_TO_WXYZ = [3, 0, 1, 2]
_TO_XYZW = [1, 2, 3, 0]


@dataclass(frozen=True)
class Block(ABC):
    """A joint whose coordinates are contiguous: at `q`, `v` in kinodyn, at `their_q`, `their_v` in the other engine."""

    q: slice
    v: slice
    their_q: slice
    their_v: slice

    @property
    def own_unit(self) -> slice | None:
        """Locate the unit quaternion in kinodyn's q, None if the joint has none."""
        return {7: slice(self.q.start + 3, self.q.stop), 4: self.q}.get(self.q.stop - self.q.start)

    @property
    def their_unit(self) -> slice | None:
        """Locate the numbers of norm 1 in the other engine's positions, None if there are none."""
        return None

    @abstractmethod
    def q_to(self, q: Array) -> Array:
        """Map kinodyn's coordinates of this joint to the other engine's."""

    @abstractmethod
    def q_from(self, x: Array) -> Array:
        """Map the other engine's coordinates of this joint to kinodyn's."""

    def rate(self, q: Array) -> Array:
        """Return B(q), `(..., n, n)`."""
        return np.eye(self.v.stop - self.v.start)

    def drift(self, q: Array, v: Array) -> Array:
        """Return (dB/dt) v, `(..., n)`."""
        return np.zeros_like(v)


def _linear_drift(quaternion: Array, v: Array) -> Array:
    """Return the term of d/dt (R v_linear) besides R dv_linear/dt: R (w x v_linear)."""
    turning = np.cross(v[..., 3:], v[..., :3])
    return matvec(from_quaternion(quaternion), turning)


class Same(Block):
    """A joint with the same convention on both sides: Pinocchio's free flyer and ball joint, Drake's planar joint."""

    @property
    def their_unit(self) -> slice | None:
        """See `Block`; at the same place as in kinodyn."""
        own = self.own_unit
        shift = self.their_q.start - self.q.start
        return own and slice(own.start + shift, own.stop + shift)

    def q_to(self, q: Array) -> Array:
        return q

    def q_from(self, x: Array) -> Array:
        return x


class MujocoBall(Block):
    """Quaternion with w first; angular velocity in child axes, as in kinodyn."""

    @property
    def their_unit(self) -> slice | None:
        return self.their_q

    def q_to(self, q: Array) -> Array:
        return q[..., _TO_WXYZ]

    def q_from(self, x: Array) -> Array:
        return x[..., _TO_XYZW]


class MujocoFree(Block):
    """Position, quaternion with w first; linear velocity in world axes, angular in body axes."""

    @property
    def their_unit(self) -> slice | None:
        return slice(self.their_q.start + 3, self.their_q.stop)

    def q_to(self, q: Array) -> Array:
        return np.concatenate([q[..., :3], q[..., 3:][..., _TO_WXYZ]], axis=-1)

    def q_from(self, x: Array) -> Array:
        return np.concatenate([x[..., :3], x[..., 3:][..., _TO_XYZW]], axis=-1)

    def rate(self, q: Array) -> Array:
        B = np.zeros((*q.shape[:-1], 6, 6))
        B[..., :3, :3], B[..., 3:, 3:] = from_quaternion(q[..., 3:]), np.eye(3)
        return B

    def drift(self, q: Array, v: Array) -> Array:
        linear = _linear_drift(q[..., 3:], v)
        return np.concatenate([linear, np.zeros_like(linear)], axis=-1)


class DrakeFree(Block):
    """Quaternion with w first, position; angular velocity first, both in world axes."""

    @property
    def their_unit(self) -> slice | None:
        return slice(self.their_q.start, self.their_q.start + 4)

    def q_to(self, q: Array) -> Array:
        return np.concatenate([q[..., 3:][..., _TO_WXYZ], q[..., :3]], axis=-1)

    def q_from(self, x: Array) -> Array:
        return np.concatenate([x[..., 4:], x[..., :4][..., _TO_XYZW]], axis=-1)

    def rate(self, q: Array) -> Array:
        B = np.zeros((*q.shape[:-1], 6, 6))
        B[..., :3, 3:] = B[..., 3:, :3] = from_quaternion(q[..., 3:])
        return B

    def drift(self, q: Array, v: Array) -> Array:
        linear = _linear_drift(q[..., 3:], v)
        return np.concatenate([np.zeros_like(linear), linear], axis=-1)


class DrakeBall(Block):
    """Roll, pitch and yaw about fixed axes; angular velocity in parent axes."""

    def q_to(self, q: Array) -> Array:
        return as_euler(from_quaternion(q), "ZYX")[..., ::-1]

    def q_from(self, x: Array) -> Array:
        return as_quaternion(from_euler(x[..., ::-1], "ZYX"))

    def rate(self, q: Array) -> Array:
        return from_quaternion(q)


class PinocchioPlanar(Block):
    """Position, cosine and sine of the angle; linear velocity in body axes, where kinodyn has those of the plane."""

    @property
    def their_unit(self) -> slice | None:
        return slice(self.their_q.start + 2, self.their_q.stop)

    def q_to(self, q: Array) -> Array:
        return np.concatenate([q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])], axis=-1)

    def q_from(self, x: Array) -> Array:
        return np.concatenate([x[..., :2], np.arctan2(x[..., 3:], x[..., 2:3])], axis=-1)

    def rate(self, q: Array) -> Array:
        c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
        B = np.zeros((*q.shape[:-1], 3, 3))
        B[..., 0, 0], B[..., 0, 1], B[..., 1, 0], B[..., 1, 1], B[..., 2, 2] = c, s, -s, c, 1.0
        return B

    def drift(self, q: Array, v: Array) -> Array:
        """See `Block`: body axes rotate with w, which adds -w x v_body."""
        x, y, w = np.moveaxis(matvec(self.rate(q), v), -1, 0)
        return np.stack([w * y, -w * x, np.zeros_like(w)], axis=-1)
