"""Piecewise quintic polynomials through positions, velocities and accelerations."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from kinodyn.arrays import Array

PEAK_ACCELERATION = 5.77  # of a quintic from rest to rest, in distances per squared duration: 10 / sqrt(3)
SAMPLES = np.linspace(0.0, 1.0, 65)  # of each piece, in the search for its minimum
POWERS = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4], [0, 0, 0, 1, 2, 3]])
FACTORS = np.array([[1.0, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20]])


class PiecewiseQuintic:
    """Quintic polynomials between times, through position, velocity and acceleration (3, k) at each of them."""

    def __init__(self, times: list[float], knots: list[Array]) -> None:
        self.times = np.array(times)
        pairs = zip(knots, knots[1:], times, times[1:], strict=False)
        self.coefficients = np.array([_coefficients(a, b, t1 - t0) for a, b, t0, t1 in pairs])  # (pieces, 6, k)
        self._plain: tuple[list[float], list[list[list[float]]]] | None = None

    def spliced(self, t: float, times: list[float], knots: list[Array]) -> PiecewiseQuintic:
        """Keep the part before t, and continue through other knots."""
        keep = int(np.searchsorted(self.times[:-1], t, side="left"))
        new = PiecewiseQuintic(times, knots)
        new.coefficients = np.concatenate([self.coefficients[:keep], new.coefficients])
        new.times = np.concatenate([self.times[:keep], new.times])
        return new

    def at(self, t: float) -> list[tuple[float, float, float]]:
        """Evaluate position, velocity and acceleration of each column at one time, in plain floats."""
        if self._plain is None:
            self._plain = self.times.tolist(), self.coefficients.transpose(0, 2, 1).tolist()
        times, pieces = self._plain
        k = bisect_right(times, t, 1, len(times) - 1) - 1
        s = t - times[k]
        return [
            (
                ((((f * s + e) * s + d) * s + c) * s + b) * s + a,
                (((5 * f * s + 4 * e) * s + 3 * d) * s + 2 * c) * s + b,
                ((20 * f * s + 12 * e) * s + 6 * d) * s + 2 * c,
            )
            for a, b, c, d, e, f in pieces[k]
        ]

    def __call__(self, t: Array) -> Array:
        """Evaluate position, velocity and acceleration (..., 3, k) at times (...)."""
        k = self.times[1:-1].searchsorted(t, side="right")
        s = np.asarray(t - self.times[k])[..., None, None]
        result: Array = (FACTORS * s**POWERS) @ self.coefficients[k]
        return result

    def minimum(self) -> float:
        """Find the least sampled position of the first column."""
        pairs = zip(self.times, self.times[1:], strict=False)
        return float(min(self(t0 + (t1 - t0) * SAMPLES)[..., 0, 0].min() for t0, t1 in pairs))


def at_rest(position: float) -> Array:
    """Make a knot (3, 1) without velocity and acceleration."""
    return np.array([[position], [0.0], [0.0]])


def _coefficients(a: Array, b: Array, h: float) -> Array:
    """Compute the coefficients (6, k) with position, velocity, acceleration (3, k) a at 0 and b at h."""
    d0 = b[0] - a[0] - a[1] * h - 0.5 * a[2] * h**2
    d1 = (b[1] - a[1] - a[2] * h) * h
    d2 = (b[2] - a[2]) * h**2
    return np.array(
        [
            a[0],
            a[1],
            0.5 * a[2],
            (10 * d0 - 4 * d1 + 0.5 * d2) / h**3,
            (-15 * d0 + 7 * d1 - d2) / h**4,
            (6 * d0 - 3 * d1 + 0.5 * d2) / h**5,
        ]
    )
