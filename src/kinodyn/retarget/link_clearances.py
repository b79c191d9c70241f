"""Distances between the links of a robot over a clip: which touch, and rows that keep them apart."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.distance_query import DistanceQuery, distance_query
from kinodyn.collision.exact_distance import ExactDistances
from kinodyn.collision.query import EMPTY
from kinodyn.retarget.body import Body

ROWS = 10  # pairs of moving bodies that are kept apart in a frame
NEAREST = 24  # pairs of links among which they are chosen
UNUSED = -1e6  # bound of a row that is not used
MARGIN = 0.004  # [m] that links are kept apart
OVERSHOOT = 0.2  # of the bound of how far spheres reach beyond shapes, that they do wherever they meet
WATCHED = 0.02  # [m] beyond the margin, up to which pairs are considered
MAX_TOUCH = 0.0005  # [m] of penetration of links that is accepted

Touching: TypeAlias = list[tuple[int, int, float]]  # frame, pair of links, distance of their spheres [m]


def touching_distances(query: DistanceQuery, body: Body) -> Array:
    """Return the distances (pairs + 1,) of spheres at which pairs of links are taken to touch [m], at most zero.

    Spheres reach beyond the shapes by up to a bound, of which a share is certain to remain; and those of neighbours may
    overlap in any posture, so that the upright posture is taken as free.
    """
    upright = np.append(_core.pair_distances(query.robot, query.core, body.q, 1.0), 1.0)
    return np.asarray(np.minimum(np.minimum(upright, 0.0), -OVERSHOOT * query.error_bounds))


class LinkClearances:
    """Measures distances of links.

    Attributes
    ----------
    query : DistanceQuery
        Pairs of links that are checked.
    baseline : (pairs + 1,)
        Distances of spheres at which pairs are taken to touch [m].
    """

    def __init__(self, body: Body) -> None:
        self.robot = body.robot
        self.query: DistanceQuery = distance_query(body.robot, EMPTY)
        self.baseline = touching_distances(self.query, body)
        self._dofs = np.ascontiguousarray(body.v, dtype=np.int32)
        self._bodies = self._moving_bodies(body)

    def touching(self, q: Array, at: NDArray[np.intp]) -> Touching:
        """List (frame, pair, distance of spheres) of the pairs of links that touch at frames `at` of q (frames, nq)."""
        found = _core.nearest_pairs(self.robot, self.query.core, q[at], 0.0, NEAREST)
        pairs = found.pair.astype(np.intp)
        frames, k = np.nonzero((pairs >= 0) & (found.distance - self.baseline[pairs] < -MAX_TOUCH))
        return list(
            zip(at[frames].tolist(), pairs[frames, k].tolist(), found.distance[frames, k].tolist(), strict=True)
        )

    def confirmed(self, q: Array, touching: Touching) -> Touching:
        """List those entries whose shapes touch; pairs that are free where their spheres touch most become free."""
        if not touching or find_spec("coal") is None:
            return touching
        shapes, worst = ExactDistances(self.query), dict[int, tuple[float, int]]()
        for frame, pair, apart in touching:
            worst[pair] = min(worst.get(pair, (0.0, 0)), (apart, frame))
        for pair, (apart, frame) in worst.items():
            if not shapes.is_within(q[frame], self.query.names[pair], MARGIN):
                self.baseline[pair] = apart - MAX_TOUCH
        return [
            (frame, pair, apart)
            for frame, pair, apart in touching
            if apart - self.baseline[pair] < -MAX_TOUCH and shapes.is_within(q[frame], self.query.names[pair], 0.0)
        ]

    def smallest(self, q: Array) -> tuple[Array, NDArray[np.intp]]:
        """Measure the smallest distance of links at q (frames, nq).

        Returns
        -------
        distance : (frames,)
            From that at which their spheres are taken to touch [m]; below it, that of the shapes. Pairs whose spheres
            are more than 1 cm apart are not measured.
        pair : (frames,)
            Index of the pair, -1 if none is that near.
        """
        found = _core.nearest_pairs(self.robot, self.query.core, q, 0.01, NEAREST)
        pairs = found.pair.astype(np.intp)
        distance = found.distance - self.baseline[pairs]
        if find_spec("coal") is not None:
            shapes = ExactDistances(self.query)
            for t, k in np.argwhere((pairs >= 0) & (distance < -MAX_TOUCH)):
                name = self.query.names[pairs[t, k]]
                touches = shapes.is_within(q[t], name, 0.0)
                distance[t, k] = next(shapes.of_pairs(q[t], [name]))[1].distance if touches else 0.0
        nearest = distance.argmin(axis=1)[:, None]
        return np.take_along_axis(distance, nearest, 1)[:, 0], np.take_along_axis(pairs, nearest, 1)[:, 0]

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Linearise the distances of the nearest pairs at q (n, nq): rows gradient . q >= bound.

        Returns gradients (n, rows, dofs) and bounds (rows, n), `UNUSED` where there are fewer pairs.
        """
        found = _core.nearest_pairs(self.robot, self.query.core, q, MARGIN + WATCHED, NEAREST)
        pair = found.pair.astype(np.intp)
        order, used = self._selected(pair, found.distance)
        pair = np.take_along_axis(pair, order, axis=1)
        apart = np.take_along_axis(found.distance, order, axis=1)
        gradient = np.take(np.take_along_axis(found.gradient, order[..., None], axis=1), self._dofs, axis=2)
        value = (gradient @ self._coordinates(q)[:, :, None])[..., 0]
        bound = np.where(used, MARGIN + self.baseline[pair] - apart + value, UNUSED)
        return gradient, np.ascontiguousarray(bound.T)

    def _selected(self, pair: NDArray[np.intp], apart: Array) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Choose the nearest pair of links of each pair of moving bodies: indices (n, rows), and whether they are used.

        The links of a hand have almost the same gradients: one row does for all, and leaves others to other limbs.
        """
        count = max(int((pair >= 0).sum(axis=1).max()), 1)
        pair, apart = pair[:, :count], apart[:, :count]
        lack = np.where(pair >= 0, apart - self.baseline[pair], np.inf)
        order = np.argsort(lack, axis=1, kind="stable")
        near = np.take_along_axis(lack, order, axis=1) < np.inf
        bodies = self._bodies[np.take_along_axis(pair, order, axis=1)]
        for k in range(1, order.shape[1]):
            near[:, k] &= ~np.any(bodies[:, :k] == bodies[:, k : k + 1], axis=1)
        first = np.argsort(~near, axis=1, kind="stable")
        first = first[:, : min(max(int(near.sum(axis=1).max()), 1), ROWS)]
        return np.take_along_axis(order, first, axis=1), np.take_along_axis(near, first, axis=1)

    def _moving_bodies(self, body: Body) -> NDArray[np.intp]:
        """Number the pairs (pairs + 1,): those between the same two bodies, if other joints stay, share a number."""
        moving, places, carrier = set(self._dofs.tolist()), body.places, {-1: -1}
        for joint in self.robot.joints:
            own, parent = places[joint.child].body, places[joint.parent].body
            carrier[own] = own if moving & set(range(joint.v.start, joint.v.stop)) else carrier[parent]
        numbers: dict[tuple[int, ...], int] = {}
        keys = [tuple(carrier[places[name].body] for name in pair) for pair in self.query.names]
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys] + [len(keys)], dtype=np.intp)

    def _coordinates(self, q: Array) -> Array:
        """Return the positions (frames, dofs) of joints with one coordinate; zero for the others."""
        result = np.zeros((len(q), len(self._dofs)))
        place = {int(v): k for k, v in enumerate(self._dofs)}
        for joint in self.robot.joints:
            if joint.v.stop - joint.v.start == 1 and joint.v.start in place:
                result[:, place[joint.v.start]] = q[:, joint.q.start]
        return result
