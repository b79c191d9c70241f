"""Conversion of all one-coordinate joints at once by index arrays, mimic followers included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.model.chain import Leader


@dataclass(frozen=True)
class Scalar:
    """Where the other engine stores a joint with one coordinate, and whether as (cos, sin)."""

    leader: Leader
    follows: bool
    their_q: int
    their_v: int
    circular: bool = False


class Scalars:
    """Copies between kinodyn's order and the other engine's.

    A joint's position is multiplier * q[leader] + offset: 1 and 0 for independent joints, the only ones that are
    read in the other direction.
    """

    def __init__(self, joints: Sequence[Scalar]) -> None:
        self._multiplier = np.array([joint.leader.multiplier for joint in joints])
        self._offset = np.array([joint.leader.offset for joint in joints])
        self._q = np.array([joint.leader.joint.q.start for joint in joints], dtype=np.intp)
        self._v = np.array([joint.leader.joint.v.start for joint in joints], dtype=np.intp)
        self._their_q = np.array([joint.their_q for joint in joints], dtype=np.intp)
        self._their_v = np.array([joint.their_v for joint in joints], dtype=np.intp)
        self._circular = np.array([joint.circular for joint in joints], dtype=bool)
        self._own = np.array([not joint.follows for joint in joints], dtype=bool)
        self.own_q, self.own_v = self._q[self._own], self._v[self._own]
        self.their_own_q, self.their_own_v = self._their_q[self._own], self._their_v[self._own]

    @property
    def circles(self) -> list[slice]:
        """Locate the pairs (cos, sin) in the other engine's positions."""
        return [slice(int(start), int(start) + 2) for start in self._their_q[self._circular]]

    def q_to(self, q: Array, x: Array) -> None:
        """Write kinodyn's positions `q` into the other engine's `x`."""
        position = self._multiplier * q[..., self._q] + self._offset
        straight, circular = ~self._circular, self._circular
        x[..., self._their_q[straight]] = position[..., straight]
        x[..., self._their_q[circular]] = np.cos(position[..., circular])
        x[..., self._their_q[circular] + 1] = np.sin(position[..., circular])

    def q_from(self, x: Array, q: Array) -> None:
        """Write the other engine's positions `x` into kinodyn's `q`."""
        straight, circular = self._own & ~self._circular, self._own & self._circular
        q[..., self._q[straight]] = x[..., self._their_q[straight]]
        start = self._their_q[circular]
        q[..., self._q[circular]] = np.arctan2(x[..., start + 1], x[..., start])

    def v_to(self, v: Array, w: Array) -> None:
        """Write kinodyn's velocities or accelerations `v` into the other engine's `w`."""
        w[..., self._their_v] = self._multiplier * v[..., self._v]

    def v_from(self, w: Array, v: Array) -> None:
        """Write the other engine's velocities or accelerations `w` into kinodyn's `v`."""
        v[..., self._v[self._own]] = w[..., self._their_v[self._own]]

    def tau_to(self, tau: Array, t: Array) -> None:
        """Write kinodyn's efforts `tau` into the other engine's `t`; followers get none."""
        t[..., self._their_v[self._own]] = tau[..., self._v[self._own]]

    def tau_from(self, t: Array, tau: Array) -> None:
        """Write the other engine's efforts `t` into kinodyn's `tau`; a follower's acts on its leader, multiplied."""
        tau[..., self._v[self._own]] = t[..., self._their_v[self._own]]
        for i in np.flatnonzero(~self._own):
            tau[..., self._v[i]] += self._multiplier[i] * t[..., self._their_v[i]]
