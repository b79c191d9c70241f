"""Exact checks of curves where the spheres along a path are in collision, but the exact shapes are not."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.exact_checks import CONTACT_DISTANCE, MAX_STEPS, NEAR_DISTANCE, ExactChecks
from kinodyn.collision.exact_shapes import Pair
from kinodyn.collision.query import Pairs, Query, range_of
from kinodyn.planning.curves import pieces_free, remaining, until
from kinodyn.trajectory.piecewise import PiecewisePolynomial

SAMPLES = 5  # of a piece, to find pairs whose spheres touch
MAX_DIVISIONS = 4


class ExactCurves:
    """Checks which pieces of trajectories are free: on spheres first, on the exact shapes where these touch.

    Parameters
    ----------
    query
        World and moving joints.
    allowed
        Pairs that may touch, as the query has them.
    resolution
        Resolution of the continuous checks [m].
    """

    def __init__(self, query: Query, allowed: Pairs, resolution: float) -> None:
        self.query, self.allowed, self.resolution = query, allowed, resolution
        self._known: dict[bytes, bool] = {}  # curves change corner by corner, most pieces stay

    def touching(self, q: Array) -> NDArray[np.bool_]:
        """Return at which configurations (n, nq), free on the exact shapes, the spheres touch.

        All False where coal is not installed: the spheres decide then.
        """
        return ~self.query.free(q) if exact.is_available() else np.zeros(len(q), dtype=bool)

    def pieces_free(
        self, motion: PiecewisePolynomial, pieces: NDArray[np.intp], exactly: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which pieces (n,) of a trajectory are free, those in `exactly` (n,) by the exact shapes."""
        free = pieces_free(self.query, motion, pieces, resolution=self.resolution)
        if motion.coefficients[..., motion.space.on_manifold].any():
            return free  # rates of ball and floating joints are not those of their exponential coordinates
        for k in np.flatnonzero(~free & exactly):
            piece = _piece(motion, int(pieces[k]))
            key = np.round([*piece.base[0], *piece.coefficients.ravel(), piece.duration], 12).tobytes()
            if key not in self._known:
                self._known[key] = self._free(piece, MAX_DIVISIONS)
            free[k] = self._known[key]
        return free

    def _free(self, piece: PiecewisePolynomial, depth: int) -> bool:
        """Check one polynomial; pairs whose spheres touch are followed on the exact shapes."""
        robot, q = self.query.robot, piece(np.linspace(0.0, piece.duration, SAMPLES))
        everything = self.query.of_all_joints(self.allowed, bounds=range_of(robot, q))
        checks = ExactChecks(everything, self.allowed)
        nearby = self.query.of_all_joints(self.allowed, shrink=-NEAR_DISTANCE, bounds=range_of(robot, q))
        near = list(dict.fromkeys(pair for row in q for pair in nearby.touching(row)))
        speeds = checks.speeds(_largest_rates(piece), near)
        moving = [pair for pair in near if speeds[pair] > 0.0]
        if min(checks.distances(q[0], (pair for pair in near if not speeds[pair])).values(), default=1.0) <= 0.0:
            return False
        if min((d for row in q[1:-1] for d in checks.distances(row, moving).values()), default=1.0) <= CONTACT_DISTANCE:
            return False
        allowed = self.allowed | {frozenset(pair) for pair in near}
        others = self.query.of_all_joints(allowed, bounds=range_of(robot, q))
        if bool(pieces_free(others, piece, resolution=self.resolution).all()):
            return _advance(checks, piece, moving, speeds)
        if depth == 0:
            return False
        middle = 0.5 * piece.duration
        return self._free(until(piece, middle), depth - 1) and self._free(remaining(piece, middle), depth - 1)


def _advance(checks: ExactChecks, piece: PiecewisePolynomial, pairs: list[Pair], speeds: Mapping[Pair, float]) -> bool:
    """Follow pairs by conservative advancement: while they move less than their distance, they cannot collide."""
    t = 0.0
    for _ in range(MAX_STEPS):
        distances = checks.distances(piece(t), pairs)
        if min(distances.values(), default=1.0) <= CONTACT_DISTANCE:
            return False
        if t >= piece.duration or not distances:
            return True
        t = min(piece.duration, t + min(distances[pair] / speeds[pair] for pair in pairs))
    return False


def _largest_rates(piece: PiecewisePolynomial) -> Array:
    """Return a bound (nv,) of the rates of one polynomial: the largest coefficient of its Bernstein form."""
    rates = piece.derivative(1)[:, 0] * piece.duration ** np.arange(len(piece.coefficients) - 1)[:, None]
    n = len(rates) - 1
    bernstein = [sum(comb(i, k) / comb(n, k) * rates[k] for k in range(i + 1)) for i in range(n + 1)]
    return np.asarray(np.abs(np.array(bernstein)).max(axis=0))


def _piece(motion: PiecewisePolynomial, k: int) -> PiecewisePolynomial:
    """Return one piece of a trajectory as a trajectory."""
    knots = motion.knots[k : k + 2] - motion.knots[k]
    return PiecewisePolynomial(motion.space, knots, motion.base[k : k + 1], motion.coefficients[:, k : k + 1])
