"""Extrema of trajectories: from roots of derivatives for polynomials, from refined samples otherwise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinodyn.arrays import Array
from kinodyn.trajectory.base import JointTrajectory
from kinodyn.trajectory.piecewise import PiecewisePolynomial

NEGLIGIBLE = 1e-13  # leading coefficients below this fraction of the largest count as zero
REFINEMENTS = 9  # each narrows the interval to a quarter


def extreme_times(motion: PiecewisePolynomial, order: int) -> Array:
    """Find times (k, n, nv) that include all extrema of a derivative of x: both ends of each piece and all roots."""
    coefficients = motion.derivative(order)
    h = np.diff(motion.knots)
    slopes = np.arange(1.0, len(coefficients))[:, None, None] * coefficients[1:]
    scaled = slopes * h[:, None] ** np.arange(float(len(slopes)))[:, None, None]  # over [0, 1]
    ends = np.zeros((2, *coefficients.shape[1:]))
    ends[1] = 1.0
    return np.asarray(np.concatenate([ends, polynomial_roots(scaled)]) * h[:, None])


def polynomial_roots(coefficients: Array) -> Array:
    """Find candidates (degree, ...) within [0, 1] for real roots of polynomials (degree + 1, ...) in rising powers.

    Eigenvalues of companion matrices, clipped to [0, 1], complex ones by their real part. Callers look for extrema and
    evaluate all candidates, so candidates that are not roots are harmless.
    """
    degree, batch = len(coefficients) - 1, coefficients.shape[1:]
    flat = coefficients.reshape(degree + 1, -1) if degree >= 0 else np.zeros((1, 0))
    found = np.zeros((max(degree, 0), flat.shape[1]))
    significant = np.abs(flat) > NEGLIGIBLE * np.abs(flat).max(axis=0, initial=0.0)
    actual = np.where(significant.any(axis=0), degree - significant[::-1].argmax(axis=0), 0)
    for d in range(1, degree + 1):
        some = np.flatnonzero(actual == d)
        if not len(some):
            continue
        companion = np.zeros((len(some), d, d))
        companion[:, np.arange(1, d), np.arange(d - 1)] = 1.0
        companion[:, :, -1] = -(flat[:d, some] / flat[d, some]).T
        found[:d, some] = np.linalg.eigvals(companion).real.T
    return np.clip(found, 0.0, 1.0).reshape(max(degree, 0), *batch)


def exact_values(motion: PiecewisePolynomial, order: int) -> tuple[Array, Array]:
    """Compute times (k, n, nv) [s] and values of a derivative of x, plus the base at order 0, that include all extrema.

    Valid for vector coordinates.
    """
    since = extreme_times(motion, order)
    coefficients = motion.derivative(order)
    values = np.broadcast_to(coefficients[-1], since.shape).copy()
    for row in coefficients[-2::-1]:
        values = values * since + row
    if order == 0:
        values = values + motion.base[:, motion.space.q_index]
    return motion.knots[:-1, None] + since, values


def sampling_times(knots: Array, min_samples: int = 400) -> Array:
    """Choose sample times: both sides of each knot and at least 8 within each piece [s]."""
    marks = np.unique(knots)
    if len(marks) < 2:
        return np.array([0.0])
    count = max(8, -(-min_samples // (len(marks) - 1)))
    fraction = np.linspace(0.0, 1.0, count + 1)[:-1]
    inner = (marks[:-1, None] + fraction * np.diff(marks)[:, None]).ravel()
    before = np.nextafter(marks[1:], 0.0)
    return np.union1d(np.concatenate([inner, before]), marks[-1:])


def refined_peaks(f: Callable[[Array], Array], times: Array, candidates: int = 3) -> tuple[Array, Array]:
    """Find for each column of f(times) (n, m) the largest value (m,) and its time (m,) [s].

    The interval around the highest few samples of each column is refined. A peak narrower than the sample spacing can
    be missed.
    """
    values = f(times)
    best, columns = values.max(axis=0), np.arange(values.shape[1])
    when = times[values.argmax(axis=0)]
    padded = np.pad(values, ((1, 1), (0, 0)), constant_values=-np.inf)
    local_maxima = np.where((values >= padded[:-2]) & (values >= padded[2:]), values, -np.inf)
    count = min(candidates, len(times))
    top = np.argsort(-local_maxima, axis=0)[:count].ravel()  # (count * m,), column by column within each rank
    owner = np.tile(columns, count)
    low, high = times[np.maximum(top - 1, 0)], times[np.minimum(top + 1, len(times) - 1)]
    fraction = np.linspace(0.0, 1.0, 9)
    for _ in range(REFINEMENTS):
        at = low[:, None] + fraction * (high - low)[:, None]
        seen = f(at.ravel()).reshape(len(top), 9, -1)[np.arange(len(top)), :, owner]
        k = seen.argmax(axis=1)
        peak, place = seen.max(axis=1), at[np.arange(len(top)), k]
        for i in range(len(top)):
            if peak[i] > best[owner[i]]:
                best[owner[i]], when[owner[i]] = peak[i], place[i]
        low, high = at[np.arange(len(top)), np.maximum(k - 1, 0)], at[np.arange(len(top)), np.minimum(k + 1, 8)]
    return best, when


def peak_rates(motion: JointTrajectory, order: int) -> Array:
    """Find the largest absolute value (nv,) of velocity, acceleration or jerk over the whole duration."""
    result = np.zeros(motion.space.nv)
    exact = isinstance(motion, PiecewisePolynomial)
    if isinstance(motion, PiecewisePolynomial):
        _, values = exact_values(motion, order)
        result = np.abs(values).max(axis=(0, 1))
    if not exact or not motion.space.is_vector:
        peaks, _ = refined_peaks(lambda t: np.abs(motion(t, order)), sampling_times(motion.knots))
        some = motion.space.on_manifold if exact else slice(None)
        result[some] = peaks[some]
    return result
