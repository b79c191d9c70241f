"""Piecewise quintic polynomials through positions, velocities and accelerations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kinodyn.arrays import Array

PEAK_ACCELERATION = 5.77  # of a quintic from rest to rest, in distances per squared duration: 10 / sqrt(3)
SAMPLES = np.linspace(0.0, 1.0, 65)  # of each piece, in the search for its minimum
POWERS = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4], [0, 0, 0, 1, 2, 3]])
FACTORS = np.array([[1.0, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20]])

CoordinateState = tuple[float, float, float]  # position, velocity and acceleration of one coordinate
Coefficients = tuple[float, float, float, float, float, float]


class PiecewiseQuintic:
    """Quintic polynomials between times, through the states of k coordinates at each of them.

    It is built from plain floats, because a controller makes a new one whenever a step changes.
    """

    def __init__(self, times: Sequence[float], knots: Sequence[Sequence[CoordinateState]]) -> None:
        self._times = list(times)
        self._pieces: list[list[Coefficients]] = [
            [_coefficients(a, b, t1 - t0) for a, b in zip(first, last, strict=True)]
            for first, last, t0, t1 in zip(knots, knots[1:], self._times, self._times[1:], strict=False)
        ]

    def spliced(self, t: float, new: PiecewiseQuintic) -> PiecewiseQuintic:
        """Keep the part before t, and continue with other polynomials that begin there."""
        keep = bisect_left(self._times, t, 0, len(self._times) - 1)
        joined = PiecewiseQuintic((), ())
        joined._times = self._times[:keep] + new._times
        joined._pieces = self._pieces[:keep] + new._pieces
        return joined

    def at(self, t: float) -> list[CoordinateState]:
        """Evaluate position, velocity and acceleration of each coordinate at one time, in plain floats."""
        k = bisect_right(self._times, t, 1, len(self._times) - 1) - 1
        s = t - self._times[k]
        return [
            (
                ((((f * s + e) * s + d) * s + c) * s + b) * s + a,
                (((5 * f * s + 4 * e) * s + 3 * d) * s + 2 * c) * s + b,
                ((20 * f * s + 12 * e) * s + 6 * d) * s + 2 * c,
            )
            for a, b, c, d, e, f in self._pieces[k]
        ]

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """Times (n,), and coefficients (pieces, 6, k)."""
        return np.array(self._times), np.array(self._pieces).transpose(0, 2, 1)

    def __call__(self, t: Array) -> Array:
        """Evaluate position, velocity and acceleration (..., 3, k) at times (...)."""
        times, coefficients = self._table
        k = times[1:-1].searchsorted(t, side="right")
        s = np.asarray(t - times[k])[..., None, None]
        result: Array = (FACTORS * s**POWERS) @ coefficients[k]
        return result

    @property
    def spans(self) -> list[tuple[float, Coefficients]]:
        """Duration [s] of each piece, and its coefficients of the first coordinate."""
        pairs = zip(self._times, self._times[1:], self._pieces, strict=False)
        return [(t1 - t0, piece[0]) for t0, t1, piece in pairs]


def minima(curves: Sequence[PiecewiseQuintic]) -> list[float]:
    """Find the least sampled position of the first coordinate of each curve, of all of them at once."""
    spans = [curve.spans for curve in curves]
    h, coefficients = zip(*(span for each in spans for span in each), strict=True)
    s = np.array(h)[:, None] * SAMPLES
    a, b, c, d, e, f = np.array(coefficients).T[..., None]
    least = (((((f * s + e) * s + d) * s + c) * s + b) * s + a).min(axis=1)
    starts = np.cumsum([0, *(len(each) for each in spans[:-1])])
    found: list[float] = np.minimum.reduceat(least, starts).tolist()
    return found


def at_rest(position: float) -> CoordinateState:
    """Return the state of a coordinate without velocity and acceleration."""
    return position, 0.0, 0.0


def _coefficients(first: CoordinateState, last: CoordinateState, h: float) -> Coefficients:
    """Compute the polynomial from one state to another in the time h."""
    (x0, v0, a0), (x1, v1, a1) = first, last
    d0 = x1 - x0 - v0 * h - 0.5 * a0 * h**2
    d1 = (v1 - v0 - a0 * h) * h
    d2 = (a1 - a0) * h**2
    return (
        x0,
        v0,
        0.5 * a0,
        (10 * d0 - 4 * d1 + 0.5 * d2) / h**3,
        (-15 * d0 + 7 * d1 - d2) / h**4,
        (6 * d0 - 3 * d1 + 0.5 * d2) / h**5,
    )
