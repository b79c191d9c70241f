"""A quadratic programme as it is worked on: checked, all rows in one stack, in units in which its numbers are near 1.

With x = d y, rows i divided by r_i: min 1/2 y'Hy + g'y subject to lower <= G y <= upper. Every variable with a
curvature has curvature 1, and every row length 1, whatever units it came in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers, shape_of, symmetric
from kinodyn.errors import InputError

NEGATIVE = 1e-9  # curvature below minus this share of the largest is no rounding


@dataclass(frozen=True)
class Problem:
    """A programme in scaled numbers: first one row for each bounded variable, then the rows of A."""

    H: Array  # (n, n)
    g: Array  # (n,)
    G: Array  # (m, n)
    lower: Array  # (m,), -inf where there is none
    upper: Array
    d: Array  # (n,) x = d y
    r: Array  # (m,) rows were divided by this
    c: float  # and the cost by this

    def outside(self, y: Array) -> Array:
        """Return how far (m,) rows are above their upper side, or below the lower one as a negative number."""
        at = self.G @ y
        return np.maximum(at - self.upper, 0.0) - np.maximum(self.lower - at, 0.0)

    def row_scale(self, y: Array) -> Array:
        """Return of what size (m,) the numbers are that meet in each row, to judge rounding by."""
        size: Array = np.abs(self.G) @ np.abs(y)
        filled = self.G.any(axis=1)  # nothing is rounded in a row of zeros
        return size + 1e-6 * float(np.linalg.norm(y)) * filled + 1e-9


def finite(values: Array) -> Array:
    """Return values with 0 for what is infinite."""
    return np.where(np.isfinite(values), values, 0.0)


def scaled(H: Array, g: Array, A: Array, lower: Array, upper: Array) -> Problem:
    """Bring a programme whose rows are all in A to scaled numbers."""
    curvature = np.diag(H)
    d = np.where(curvature > 0, 1.0 / np.sqrt(np.where(curvature > 0, curvature, 1.0)), 1.0)
    G = A * d
    length = np.linalg.norm(G, axis=1)
    r = np.where(length > 0, length, 1.0)
    c = 1.0 if (curvature > 0).any() else float(np.abs(g).max(initial=0.0)) or 1.0
    return Problem(H * d[:, None] * d / c, g * d / c, G / r[:, None], lower / r, upper / r, d, r, c)


def checked_cost(H: ArrayLike, g: ArrayLike) -> tuple[Array, Array]:
    """Return H (n, n), symmetric and without negative curvature, and g (n,), or raise."""
    shape = shape_of(H)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InputError(f"H must be a square matrix (n, n) with n above 0, got shape {shape}")
    matrix = symmetric("H", H, shape[0])
    matrix = 0.5 * (matrix + matrix.T)
    return check_convex(matrix), vector("g", g, shape[0])


def check_convex(H: Array) -> Array:
    """Return H, or raise where some direction has negative curvature: what it asks for would have no minimum."""
    curvature = np.diag(H)
    size = np.sqrt(np.where(curvature > 0, curvature, max(float(curvature.max(initial=0.0)), 1e-300)))
    unit = H / size[:, None] / size
    try:
        np.linalg.cholesky(unit + NEGATIVE * len(H) * np.eye(len(H)))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(unit)[0])
        raise InputError(
            f"H has negative curvature, {least:.3g} of its diagonal; a convex programme needs H positive semidefinite"
        ) from None
    return H


def vector(what: str, value: ArrayLike, size: int) -> Array:
    """Return finite numbers (size,), or raise."""
    array = numbers(what, value, size)
    if array.ndim != 1:
        raise InputError(f"{what} must have shape ({size},), got {array.shape}; programmes are solved one at a time")
    return array


def matrix(what: str, value: ArrayLike | None, columns: int) -> Array:
    """Return finite numbers (m, columns), none at all for None, or raise."""
    if value is None:
        return np.zeros((0, columns))
    array = numbers(what, value, columns)
    if array.ndim != 2:
        raise InputError(f"{what} must have shape (m, {columns}), got {array.shape}")
    return array


def sides(names: tuple[str, str], lower: ArrayLike | None, upper: ArrayLike | None, size: int) -> tuple[Array, Array]:
    """Return lower and upper limits (size,), infinite where there is none, or raise."""
    low = _side(names[0], lower, size, -np.inf)
    high = _side(names[1], upper, size, np.inf)
    crossed = np.flatnonzero(low > high)
    if len(crossed):
        i = crossed[0]
        raise InputError(f"{names[0]}[{i}] = {low[i]:g} is above {names[1]}[{i}] = {high[i]:g}; exchange them")
    if (low == np.inf).any() or (high == -np.inf).any():
        raise InputError(f"{names[0]} must not be +inf nor {names[1]} -inf: nothing could lie within")
    return low, high


def _side(what: str, value: ArrayLike | None, size: int, default: float) -> Array:
    if value is None:
        return np.full(size, default)
    try:
        given = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as cause:
        raise InputError(f"{what} is {value!r}; give numbers of shape ({size},)") from cause
    if given.ndim == 0:
        given = np.full(size, float(given))
    if np.isnan(given).any():
        raise InputError(f"{what} has a NaN; give numbers, -inf or inf where there is no limit")
    infinite = np.isinf(given)
    return np.where(infinite, given, vector(what, np.where(infinite, 0.0, given), size))
