"""Distances between the links of a robot over a clip: which links collide, and constraint rows that keep them apart."""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.distance_query import DistanceQuery, distance_query
from kinodyn.collision.exact_distance import ExactDistances
from kinodyn.collision.query import EMPTY
from kinodyn.collision.self_contacts import self_contacts
from kinodyn.model.robot import Robot
from kinodyn.retarget.body import Body

ROWS = 10  # pairs of moving bodies that are kept apart in a frame
MARGIN = 0.004  # [m] that links are kept apart
WATCHED = 0.006  # [m] beyond the margin, up to which pairs have rows
OVERSHOOT = 0.2  # of the bound of how far spheres reach beyond shapes, that they do wherever they meet
SPREAD, SLOPE = 2, 0.005  # frames around a touch that keep apart too, by so much less each [m]
FAR = 1.0  # [m] beyond which distances are not measured

Touching = list[tuple[int, int]]  # frame, pair of links

_PAIRS: WeakKeyDictionary[Robot, _Pairs] = WeakKeyDictionary()


class _Pairs(NamedTuple):
    """Pairs of links of a robot, as they are numbered in its distances of spheres."""

    levels: Array  # (pairs,): distances of spheres at which they are taken to touch [m]
    carriers: NDArray[np.int32]  # (pairs,): those between the same two moving bodies have the same number
    contacts: NDArray[np.intp]  # number of each pair of `SelfContacts`


def touching_levels(query: DistanceQuery, body: Body, touching: NDArray[np.intp]) -> Array:
    """Return the distances (pairs,) of spheres at which pairs of links are taken to touch [m], at most zero.

    Spheres reach beyond the shapes by up to a bound, of which a share is certain to remain; and those of neighbours may
    overlap in any posture: where the shapes are apart in the upright posture, its distances are taken as free.

    Parameters
    ----------
    query
        Distances of spheres.
    body
        The robot.
    touching
        Pairs whose shapes touch in the upright posture.
    """
    upright = np.array(_core.pair_distances(query.robot, query.core, body.q, FAR))
    upright[touching] = 0.0
    return np.minimum(np.minimum(upright, 0.0), -OVERSHOOT * query.error_bounds[:-1])


class LinkClearances:
    """Measures distances of links, by spheres for the rows of a solver, by shapes for what touches.

    Parameters
    ----------
    body
        The robot.
    frames
        Frames of the clip, in whole packs.

    Attributes
    ----------
    names : list of (str, str)
        Pairs of links that are kept apart.
    """

    def __init__(self, body: Body, frames: int) -> None:
        self.robot, self._frames = body.robot, frames
        self._query: DistanceQuery = distance_query(body.robot, EMPTY)
        self._contacts = self_contacts(body.robot)
        self.names = self._query.names
        self._dofs = np.ascontiguousarray(body.v, dtype=np.int32)
        if body.robot not in _PAIRS:
            _PAIRS[body.robot] = self._find_pairs(body)
        levels, self._carriers, self._number = _PAIRS[body.robot]
        self._levels = levels[None]

    def touching(self, q: Array, at: NDArray[np.intp]) -> Touching:
        """List (frame, pair) of the links whose shapes touch, at frames `at` of q (frames, nq)."""
        frames, pairs = self._contacts.touching(q[at])
        return list(zip(at[frames].tolist(), self._number[pairs].tolist(), strict=True))

    def depths(self, q: Array, touching: Touching | None = None) -> Array:
        """Measure how deep links penetrate each other at q (frames, nq): (frames,) [m], 0 where none touch.

        Depths are those of the shapes, by coal; without coal, those of their spheres, which are larger. What touches is
        found, unless it is known.
        """
        depth, shapes = np.zeros(len(q)), ExactDistances(self._query)
        exact = find_spec("coal") is not None
        for frame, pair in self.touching(q, np.arange(len(q))) if touching is None else touching:
            name = self.names[pair]
            apart = next(shapes.of_pairs(q[frame], [name]))[1].distance if exact else self._overlaps(q[frame])[pair]
            depth[frame] = max(depth[frame], -apart)
        return depth

    def keep_apart(self, q: Array, touching: Touching, beyond: float = 0.0, share: float = 0.0) -> None:
        """Require links that touch at q (frames, nq) to be farther apart than their spheres are there.

        Parameters
        ----------
        q
            Configurations.
        touching
            Frames and pairs, see `touching`. Frames next to them must keep apart too, by less.
        beyond
            By how much the distance must grow, and the margin [m].
        share
            Of the overlap of the spheres, by which it must grow in addition.
        """
        if not touching:
            return
        if len(self._levels) == 1:
            self._levels = np.repeat(self._levels, self._frames, axis=0)
        frames, pairs = np.array(touching, dtype=np.intp).T
        known, numbers = np.unique(frames, return_inverse=True)
        level = (1.0 - share) * self._overlaps(q[known])[numbers, pairs] + beyond
        for shift in range(-SPREAD, SPREAD + 1):
            inside = (frames + shift >= 0) & (frames + shift < len(q))
            at = (frames + shift)[inside], pairs[inside]
            np.maximum.at(self._levels, at, level[inside] - SLOPE * abs(shift))

    def rows(self, q: Array, at: NDArray[np.intp], gradient: Array, bound: Array) -> None:
        """Linearise the distances of the nearest pairs: rows gradient . q >= bound.

        Parameters
        ----------
        q
            Configurations (nq, frames).
        at
            Frames whose rows are written.
        gradient
            (blocks, rows, dofs, frames of a block)
        bound
            (rows, frames), nearest pairs first.
        """
        _core.retarget_rows(
            self.robot,
            self._query.core,
            MARGIN,
            WATCHED,
            at.astype(np.int64),
            q,
            self._levels,
            self._carriers,
            self._dofs,
            gradient,
            bound,
        )

    def _overlaps(self, q: Array) -> Array:
        """Return the distances (..., pairs) of spheres that overlap at q (..., nq) [m], 0 of others."""
        return np.asarray(_core.pair_distances(self.robot, self._query.core, q, 0.0))

    def _find_pairs(self, body: Body) -> _Pairs:
        number = {frozenset(pair): k for k, pair in enumerate(self.names)}
        contacts = np.array([number[frozenset(pair)] for pair in self._contacts.names], dtype=np.intp)
        upright = contacts[self._contacts.touching(body.q[None])[1]]
        return _Pairs(touching_levels(self._query, body, upright), self._moving_bodies(body), contacts)

    def _moving_bodies(self, body: Body) -> NDArray[np.int32]:
        """Number the pairs (pairs,): those between the same two bodies, if other joints stay, share a number.

        The links of a hand have almost the same gradients: one row does for all, and leaves others to other limbs.
        """
        moving, places, carrier = set(self._dofs.tolist()), body.places, {-1: -1}
        for joint in self.robot.joints:
            own, parent = places[joint.child].body, places[joint.parent].body
            carrier[own] = own if moving & set(range(joint.v.start, joint.v.stop)) else carrier[parent]
        numbers: dict[tuple[int, ...], int] = {}
        keys = [tuple(carrier[places[name].body] for name in pair) for pair in self.names]
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)
