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

ROWS = 10  # pairs of links that are kept apart in a frame
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

    def touching(self, q: Array, at: NDArray[np.intp]) -> Touching:
        """List (frame, pair, distance of spheres) of the pairs of links that touch at frames `at` of q (frames, nq)."""
        found = _core.nearest_pairs(self.robot, self.query.core, q[at], 0.0, ROWS)
        pairs = found.pair.astype(np.intp)
        frames, k = np.nonzero((pairs >= 0) & (found.distance - self.baseline[pairs] < -MAX_TOUCH))
        return list(
            zip(at[frames].tolist(), pairs[frames, k].tolist(), found.distance[frames, k].tolist(), strict=True)
        )

    def calibrated(self, q: Array, touching: Touching) -> Touching:
        """Take pairs as free whose spheres touch, but whose shapes do not where they touch most; list the others."""
        if not touching or find_spec("coal") is None:
            return touching
        shapes, worst = ExactDistances(self.query), dict[int, tuple[float, int]]()
        for frame, pair, apart in touching:
            worst[pair] = min(worst.get(pair, (0.0, 0)), (apart, frame))
        for pair, (apart, frame) in worst.items():
            if not shapes.is_within(q[frame], self.query.names[pair], MARGIN):
                self.baseline[pair] = apart - MAX_TOUCH
        return [entry for entry in touching if entry[2] - self.baseline[entry[1]] < -MAX_TOUCH]

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Linearise the distances of the nearest pairs at q (n, nq): rows gradient . q >= bound.

        Returns gradients (n, rows, dofs) and bounds (rows, n), `UNUSED` where there are fewer pairs.
        """
        found = _core.nearest_pairs(self.robot, self.query.core, q, MARGIN + WATCHED, ROWS)
        pair = found.pair.astype(np.intp)
        near = pair >= 0
        used = max(int(near.sum(axis=1).max()), 1)
        gradient, near = np.take(found.gradient[:, :used], self._dofs, axis=2), near[:, :used]
        value = (gradient @ self._coordinates(q)[:, :, None])[..., 0]
        margin = MARGIN + np.minimum(0.0, self.baseline[pair[:, :used]])
        bound = np.where(near, margin - found.distance[:, :used] + value, UNUSED)
        return gradient, np.ascontiguousarray(bound.T)

    def _coordinates(self, q: Array) -> Array:
        """Return the positions (frames, dofs) of joints with one coordinate; zero for the others."""
        result = np.zeros((len(q), len(self._dofs)))
        place = {int(v): k for k, v in enumerate(self._dofs)}
        for joint in self.robot.joints:
            if joint.v.stop - joint.v.start == 1 and joint.v.start in place:
                result[:, place[joint.v.start]] = q[:, joint.q.start]
        return result
