"""Conversion of states between kinodyn and another engine with the same robot.

In every engine the velocity is v' = B(q) v, block by block, with orthogonal blocks for joints with several coordinates
and scalars for the others. So accelerations are a' = B a + (dB/dt) v, and efforts, which have the same power in both,
are tau = B^T tau'.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import broadcast, numbers, unit_vectors
from kinodyn.display import displayed
from kinodyn.model.convert.blocks import Block
from kinodyn.model.convert.scalars import Scalars


@displayed
class Converter:
    """Converts states of one robot to another engine (`..._to`) and back (`..._from`).

    In every method `q` and `v` are kinodyn's, even if the last argument is the other engine's. All arguments accept
    leading batch axes, which broadcast; results are new arrays. A joint that follows another (mimic) has coordinates of
    its own in some engines: they are filled in by `..._to` and ignored by `..._from`, except for its effort, which is
    added to its leader's; efforts of `tau_to` are all on the leader.

    Parameters
    ----------
    robot_size, their_size
        Lengths (nq, nv) of kinodyn's and of the other engine's positions and velocities.
    scalars
        Joints with one coordinate.
    blocks
        Joints with several coordinates.

    Attributes
    ----------
    nq, nv : int
        Lengths of the other engine's positions and velocities.
    """

    @check_types
    def __init__(
        self, robot_size: tuple[int, int], their_size: tuple[int, int], scalars: Scalars, blocks: Sequence[Block]
    ):
        self._nq, self._nv = robot_size
        self.nq, self.nv = their_size
        self.scalars, self.blocks = scalars, tuple(blocks)

    def q_to(self, q: ArrayLike) -> Array:
        """Convert positions to the other engine's.

        Parameters
        ----------
        q : (..., robot.nq)

        Returns
        -------
        x : (..., nq) array
        """
        q = self._own_position(q)
        x = np.zeros((*q.shape[:-1], self.nq))
        self.scalars.q_to(q, x)
        for block in self.blocks:
            x[..., block.their_q] = block.q_to(q[..., block.q])
        return x

    def q_from(self, x: ArrayLike) -> Array:
        """Convert the other engine's positions to kinodyn's.

        Parameters
        ----------
        x
            Positions `(..., nq)` of the other engine.

        Returns
        -------
        q : (..., robot.nq) array
            An angle that the engine stores as cosine and sine is between -pi and pi.
        """
        x = numbers("the other engine's positions", x, self.nq)
        for place in (*self.scalars.circles, *(block.their_unit for block in self.blocks)):
            _check_unit("the other engine's positions", x, place)
        q = np.zeros((*x.shape[:-1], self._nq))
        self.scalars.q_from(x, q)
        for block in self.blocks:
            q[..., block.q] = block.q_from(x[..., block.their_q])
        return q

    def v_to(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Convert velocities to the other engine's.

        Parameters
        ----------
        q, v : (..., robot.nq), (..., robot.nv)

        Returns
        -------
        w : (..., nv) array
        """
        q, v = broadcast((self._own_position(q), 1), (numbers("v", v, self._nv), 1))
        return self._push(q, v)

    def v_from(self, q: ArrayLike, w: ArrayLike) -> Array:
        """Convert the other engine's velocities to kinodyn's.

        Parameters
        ----------
        q : (..., robot.nq)
        w
            Velocities `(..., nv)` of the other engine.

        Returns
        -------
        v : (..., robot.nv) array
        """
        q, w = broadcast((self._own_position(q), 1), (numbers("the other engine's velocities", w, self.nv), 1))
        return self._pull(q, w)

    def a_to(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Convert accelerations to the other engine's.

        Parameters
        ----------
        q, v : (..., robot.nq), (..., robot.nv)
        a
            Accelerations `(..., robot.nv)`, the time derivative of v.

        Returns
        -------
        b : (..., nv) array
        """
        q, v, a = broadcast((self._own_position(q), 1), (numbers("v", v, self._nv), 1), (numbers("a", a, self._nv), 1))
        b = self._push(q, a)
        for block in self.blocks:
            b[..., block.their_v] += block.drift(q[..., block.q], v[..., block.v])
        return b

    def a_from(self, q: ArrayLike, v: ArrayLike, b: ArrayLike) -> Array:
        """Convert the other engine's accelerations to kinodyn's.

        Parameters
        ----------
        q, v : (..., robot.nq), (..., robot.nv)
        b
            Accelerations `(..., nv)` of the other engine.

        Returns
        -------
        a : (..., robot.nv) array
        """
        theirs = numbers("the other engine's accelerations", b, self.nv)
        q, v, theirs = broadcast((self._own_position(q), 1), (numbers("v", v, self._nv), 1), (theirs, 1))
        turned = theirs.copy()
        for block in self.blocks:
            turned[..., block.their_v] -= block.drift(q[..., block.q], v[..., block.v])
        return self._pull(q, turned)

    def tau_to(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Convert generalised forces to the other engine's, with the same power.

        Parameters
        ----------
        q : (..., robot.nq)
        tau
            Generalised forces `(..., robot.nv)`.

        Returns
        -------
        t : (..., nv) array
        """
        q, tau = broadcast((self._own_position(q), 1), (numbers("tau", tau, self._nv), 1))
        t = np.zeros((*tau.shape[:-1], self.nv))
        self.scalars.tau_to(tau, t)
        for block in self.blocks:
            t[..., block.their_v] = matvec(block.rate(q[..., block.q]), tau[..., block.v])
        return t

    def tau_from(self, q: ArrayLike, t: ArrayLike) -> Array:
        """Convert the other engine's generalised forces to kinodyn's; those of mimic followers act on their leaders.

        Parameters
        ----------
        q : (..., robot.nq)
        t
            Generalised forces `(..., nv)` of the other engine.

        Returns
        -------
        tau : (..., robot.nv) array
        """
        q, t = broadcast((self._own_position(q), 1), (numbers("the other engine's efforts", t, self.nv), 1))
        tau = np.zeros((*t.shape[:-1], self._nv))
        self.scalars.tau_from(t, tau)
        for block in self.blocks:
            tau[..., block.v] = _transposed_times(block.rate(q[..., block.q]), t[..., block.their_v])
        return tau

    def _own_position(self, q: ArrayLike) -> Array:
        own = numbers("q", q, self._nq)
        for place in (block.own_unit for block in self.blocks):
            _check_unit("q", own, place)
        return own

    def _push(self, q: Array, v: Array) -> Array:
        w = np.zeros((*v.shape[:-1], self.nv))
        self.scalars.v_to(v, w)
        for block in self.blocks:
            w[..., block.their_v] = matvec(block.rate(q[..., block.q]), v[..., block.v])
        return w

    def _pull(self, q: Array, w: Array) -> Array:
        v = np.zeros((*w.shape[:-1], self._nv))
        self.scalars.v_from(w, v)
        for block in self.blocks:
            v[..., block.v] = _transposed_times(block.rate(q[..., block.q]), w[..., block.their_v])
        return v


def _check_unit(what: str, x: Array, place: slice | None) -> None:
    """Raise unless the numbers of `x` at `place` along the last axis have norm 1."""
    if place is not None:
        unit_vectors(f"{what}, numbers {place.start} to {place.stop - 1},", x[..., place], place.stop - place.start)


def _transposed_times(B: Array, w: Array) -> Array:
    product: Array = np.einsum("...ij,...i->...j", B, w)
    return product
