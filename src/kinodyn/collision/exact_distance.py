"""Smallest distances and contacts on the exact shapes, by coal, for pairs whose spheres are near each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core, kinematics
from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.distance_query import DistanceQuery, Pair
from kinodyn.collision.exact import ExactDistance
from kinodyn.collision.exact_shapes import ExactShapes

NO_BOUND = 1e30  # [m] bound that includes all pairs


class ExactResults(NamedTuple):
    """The fields of a `Distance`."""

    distance: Array
    names: NDArray[np.str_]
    points: Array
    gradient: Array
    error_bound: Array


class _Nearest(NamedTuple):
    pair: Pair
    found: ExactDistance


class ExactDistances:
    """Distances of the pairs of a query on the exact shapes."""

    def __init__(self, query: DistanceQuery) -> None:
        self.query, self.robot = query, query.robot

    def smallest(self, q: Array, bound: float) -> ExactResults:
        """Return the smallest distance at configurations (..., nq), `bound` [m] if there is none below."""
        states = q.reshape(-1, self.robot.nq)
        found = [self._nearest(state, bound) for state in states]
        rows = zip(states, found, strict=True)
        batch = q.shape[:-1]
        return ExactResults(
            np.array([bound if near is None else near.found.distance for near in found]).reshape(batch),
            np.array([("", "") if near is None else near.pair for near in found], dtype=np.str_).reshape(*batch, 2),
            np.array([np.full((2, 3), np.nan) if near is None else near.found.points for near in found]).reshape(
                *batch, 2, 3
            ),
            np.array([self._gradient(state, near) for state, near in rows]).reshape(*batch, self.robot.nv),
            np.zeros(batch),
        )

    def touching(self, q: Array) -> Iterator[tuple[Pair, exact.Contact]]:
        """Yield the deepest contact of each pair that collides at one configuration (nq,)."""
        shapes = self._shapes(q)
        for pair in self.query.pairs_within(q, 0.0):
            contacts = exact.contacts(*shapes.of_pair(pair))
            if contacts:
                yield pair, max(contacts, key=lambda contact: contact.depth)

    def of_pairs(self, q: Array, pairs: Iterable[Pair]) -> Iterator[tuple[Pair, ExactDistance]]:
        """Yield the distance of each of some pairs at one configuration (nq,)."""
        shapes = self._shapes(q)
        for pair in pairs:
            yield pair, exact.distance(*shapes.of_pair(pair))

    def is_within(self, q: Array, pair: Pair, margin: float) -> bool:
        """Return whether two links are nearer than a margin [m] at one configuration (nq,)."""
        shapes = self._shapes(q)
        return exact.collide(*shapes.of_pair(pair), margin=margin)

    def _nearest(self, q: Array, bound: float) -> _Nearest | None:
        lower = np.asarray(_core.pair_distances(self.robot, self.query.core, q, min(bound, NO_BOUND)))
        shapes, best, known = self._shapes(q), bound, set[Pair]()
        result = None
        for k in np.argsort(lower, kind="stable"):
            # spheres bound the distance from below, but not the depth of a penetration
            if lower[k] >= max(best, 0.0):
                break
            pair = self.query.names[k]
            if pair in known:
                continue
            known.add(pair)
            found = exact.distance(*shapes.of_pair(pair))
            if found.distance < best:
                best, result = found.distance, _Nearest(pair, found)
        return result

    def _gradient(self, q: Array, near: _Nearest | None) -> Array:
        gradient = np.zeros(self.robot.nv)
        if near is None:
            return gradient
        normal = near.found.normal
        for name, point, sign in zip(near.pair, near.found.points, (1.0, -1.0), strict=True):
            frame = self._frame(name)
            if frame is not None:
                J = kinematics.jacobian(self.robot, q, frame)
                arm = point - kinematics.pose(self.robot, q, frame)[:3, 3]
                gradient += sign * (normal @ J[:3] + np.cross(arm, normal) @ J[3:])
        return gradient

    def _shapes(self, q: Array) -> ExactShapes:
        return ExactShapes(self.robot, self.query.snapshot, q)

    def _frame(self, name: str) -> str | None:
        """Return the frame that a link or an object moves with; None if it is fixed in the world."""
        return self.query.snapshot[name].attached_to if name in self.query.snapshot else name
