"""Carry states between kinodyn and another engine that describes the same robot.

Whatever the engine, its velocity is v' = B(q) v, block by block, with orthogonal blocks for joints of several
coordinates and plain numbers for the others. So accelerations are a' = B a + (dB/dt) v, and efforts do the same power
in both: tau = B^T tau'.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.model.convert.blocks import Block
from kinodyn.model.convert.checks import broadcast, check_unit, checked
from kinodyn.model.convert.scalars import Scalars


class Converter:
    """Converts states of one robot to another engine (`..._to`) and back (`..._from`).

    In every method `q` and `v` are kinodyn's, also where the last argument is the other engine's. All arguments take
    leading batch axes, which broadcast; results are new arrays. A joint that follows another (mimic) has a place of
    its own in some engines: going there it is filled in, coming back it is left unread except for its effort, which
    its leader carries; efforts going there are all on the leader.

    `nq` and `nv` are the lengths of the other engine's positions and velocities.
    """

    def __init__(
        self, robot_size: tuple[int, int], their_size: tuple[int, int], scalars: Scalars, blocks: Sequence[Block]
    ):
        self._nq, self._nv = robot_size
        self.nq, self.nv = their_size
        self.scalars, self.blocks = scalars, tuple(blocks)

    def q_to(self, q: ArrayLike) -> Array:
        """Convert positions `(..., robot.nq)` to the other engine's `(..., nq)`."""
        q = self._own_position(q)
        x = np.zeros((*q.shape[:-1], self.nq))
        self.scalars.q_to(q, x)
        for block in self.blocks:
            x[..., block.their_q] = block.q_to(q[..., block.q])
        return x

    def q_from(self, x: ArrayLike) -> Array:
        """Convert the other engine's positions `(..., nq)` to `(..., robot.nq)`.

        An angle that the engine holds as cosine and sine comes back between -pi and pi.
        """
        x = checked("the other engine's positions", x, self.nq)
        for place in (*self.scalars.circles, *(block.their_unit for block in self.blocks)):
            check_unit("the other engine's positions", x, place)
        q = np.zeros((*x.shape[:-1], self._nq))
        self.scalars.q_from(x, q)
        for block in self.blocks:
            q[..., block.q] = block.q_from(x[..., block.their_q])
        return q

    def v_to(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Convert velocities `(..., robot.nv)` at `q` to the other engine's `(..., nv)`."""
        q, v = broadcast(self._own_position(q), checked("v", v, self._nv))
        return self._push(q, v)

    def v_from(self, q: ArrayLike, w: ArrayLike) -> Array:
        """Convert the other engine's velocities `(..., nv)` at `q` to `(..., robot.nv)`."""
        q, w = broadcast(self._own_position(q), checked("the other engine's velocities", w, self.nv))
        return self._pull(q, w)

    def a_to(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Convert accelerations `(..., robot.nv)`, the time derivative of v, to the other engine's `(..., nv)`."""
        q, v, a = broadcast(self._own_position(q), checked("v", v, self._nv), checked("a", a, self._nv))
        b = self._push(q, a)
        for block in self.blocks:
            b[..., block.their_v] += block.drift(q[..., block.q], v[..., block.v])
        return b

    def a_from(self, q: ArrayLike, v: ArrayLike, b: ArrayLike) -> Array:
        """Convert the other engine's accelerations `(..., nv)` to `(..., robot.nv)`."""
        theirs = checked("the other engine's accelerations", b, self.nv)
        q, v, theirs = broadcast(self._own_position(q), checked("v", v, self._nv), theirs)
        turned = theirs.copy()
        for block in self.blocks:
            turned[..., block.their_v] -= block.drift(q[..., block.q], v[..., block.v])
        return self._pull(q, turned)

    def tau_to(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Convert generalised efforts `(..., robot.nv)` to the other engine's `(..., nv)`, of the same power."""
        q, tau = broadcast(self._own_position(q), checked("tau", tau, self._nv))
        t = np.zeros((*tau.shape[:-1], self.nv))
        self.scalars.tau_to(tau, t)
        for block in self.blocks:
            t[..., block.their_v] = _times(block.rate(q[..., block.q]), tau[..., block.v])
        return t

    def tau_from(self, q: ArrayLike, t: ArrayLike) -> Array:
        """Convert the other engine's efforts `(..., nv)` to `(..., robot.nv)`; followers' efforts act on leaders."""
        q, t = broadcast(self._own_position(q), checked("the other engine's efforts", t, self.nv))
        tau = np.zeros((*t.shape[:-1], self._nv))
        self.scalars.tau_from(t, tau)
        for block in self.blocks:
            tau[..., block.v] = _transposed_times(block.rate(q[..., block.q]), t[..., block.their_v])
        return tau

    def _own_position(self, q: ArrayLike) -> Array:
        own = checked("q", q, self._nq)
        for place in (block.own_unit for block in self.blocks):
            check_unit("q", own, place)
        return own

    def _push(self, q: Array, v: Array) -> Array:
        w = np.zeros((*v.shape[:-1], self.nv))
        self.scalars.v_to(v, w)
        for block in self.blocks:
            w[..., block.their_v] = _times(block.rate(q[..., block.q]), v[..., block.v])
        return w

    def _pull(self, q: Array, w: Array) -> Array:
        v = np.zeros((*w.shape[:-1], self._nv))
        self.scalars.v_from(w, v)
        for block in self.blocks:
            v[..., block.v] = _transposed_times(block.rate(q[..., block.q]), w[..., block.their_v])
        return v


def _times(B: Array, v: Array) -> Array:
    product: Array = np.einsum("...ij,...j->...i", B, v)
    return product


def _transposed_times(B: Array, w: Array) -> Array:
    product: Array = np.einsum("...ij,...i->...j", B, w)
    return product
