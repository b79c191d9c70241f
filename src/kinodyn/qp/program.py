"""A quadratic program in the form of the solver: validated, bounds and rows stacked, slack variables for soft rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.checks import numbers, reals, shape_of, symmetric, vector
from kinodyn.errors import InputError


class Program(NamedTuple):
    """min 1/2 x'Hx + g'x subject to lower <= [x, A x] <= upper."""

    H: Array  # (n, n)
    g: Array  # (n,)
    A: Array  # (m, n)
    lower: Array  # (n + m,) bounds of x, then bounds of the rows; infinite where there is none
    upper: Array
    soft: Array | None  # (m,) weights of soft rows, inf for hard ones; None: all are hard

    def scaled(self, *, by_bounds: bool = False) -> _core.ScaledQp:
        """Scale the program, with one slack variable appended to x for each soft row.

        Parameters
        ----------
        by_bounds
            Whether the bounds determine the unit, instead of the farther of them and the unconstrained minimum.

        Raises
        ------
        InputError
            If numbers are not finite, H is not symmetric or has negative curvature, or lower exceeds upper.
        """
        whole = self if self.soft is None else self._with_slack(self.soft)
        scaled = _core.ScaledQp(whole.H, whole.g, whole.A, whole.lower, whole.upper, by_bounds)
        if not scaled.is_convex():
            least = float(np.linalg.eigvalsh(scaled.H)[0])
            raise InputError(
                f"H has negative curvature, {least:.3g} of its diagonal; a convex program needs H positive semidefinite"
            )
        return scaled

    def _with_slack(self, soft: Array) -> Program:
        n, rows = len(self.g), np.flatnonzero(np.isfinite(soft))
        k = len(rows)
        H = np.zeros((n + k, n + k))
        H[:n, :n] = self.H
        H[n:, n:] = np.diag(soft[rows])
        A = np.hstack([self.A, np.zeros((len(self.A), k))])
        A[rows, n + np.arange(k)] = 1.0
        free = np.full(k, np.inf)
        lower = np.concatenate([self.lower[:n], -free, self.lower[n:]])
        upper = np.concatenate([self.upper[:n], free, self.upper[n:]])
        return Program(H, np.concatenate([self.g, np.zeros(k)]), A, lower, upper, None)


def prepare(
    H: ArrayLike,
    g: ArrayLike,
    A: ArrayLike | None,
    row_bounds: tuple[ArrayLike | None, ArrayLike | None],
    x_bounds: tuple[ArrayLike | None, ArrayLike | None],
    soft: ArrayLike | None,
) -> tuple[Program, _core.ScaledQp]:
    """Check the parts of a program, put them together, and scale it."""
    if soft is None:  # fast path for control loops: the core reads the arrays without conversion
        scaled = _core.scale_plain(H, g, A, *x_bounds, *row_bounds)
        if scaled is not None:
            plain = Program(H, g, A, scaled.given_lower, scaled.given_upper, None)  # type: ignore[arg-type]
            return plain, scaled
    checked = program(H, g, A, row_bounds, x_bounds, soft)
    try:
        return checked, checked.scaled()
    except InputError:
        explain(checked)
        raise


def program(
    H: ArrayLike,
    g: ArrayLike,
    A: ArrayLike | None,
    row_bounds: tuple[ArrayLike | None, ArrayLike | None],
    x_bounds: tuple[ArrayLike | None, ArrayLike | None],
    soft: ArrayLike | None,
) -> Program:
    """Check the parts of a program and put them together."""
    if type(H) is not np.ndarray or H.dtype != np.float64 or not H.flags.c_contiguous or not _is_square(H):
        H = _cost(H)
    n = len(H)
    g = _vector("g", g, n)
    A = np.zeros((0, n)) if A is None else _matrix("A", A, n)
    m = len(A)
    lower, upper = _core.stack_bounds(
        _bound("x_lower", x_bounds[0], n),
        _bound("x_upper", x_bounds[1], n),
        _bound("lower", row_bounds[0], m),
        _bound("upper", row_bounds[1], m),
        n,
        m,
    )
    return Program(H, g, A, lower, upper, None if soft is None else _weights(soft, len(A)))


def explain(p: Program) -> None:
    """Raise an error that explains what is wrong with the numbers of a program, if anything is."""
    _cost(p.H)
    n = len(p.g)
    numbers("g", p.g, n)
    numbers("A", p.A, n)
    for names, part in ((("x_lower", "x_upper"), slice(0, n)), (("lower", "upper"), slice(n, None))):
        _check_bounds(names, p.lower[part], p.upper[part])


def _is_square(H: Array) -> bool:
    return H.ndim == 2 and H.shape[0] == H.shape[1] > 0


def _cost(H: ArrayLike) -> Array:
    shape = shape_of(H)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InputError(f"H must be a square matrix (n, n) with n > 0, got shape {shape}")
    return np.ascontiguousarray(symmetric("H", H, shape[0]))


def _vector(what: str, value: ArrayLike, size: int) -> Array:
    if type(value) is np.ndarray and value.shape == (size,) and value.dtype == np.float64 and value.flags.c_contiguous:
        return value
    return np.ascontiguousarray(vector(what, value, size))


def _matrix(what: str, value: ArrayLike, columns: int) -> Array:
    array = value
    if type(array) is not np.ndarray or array.dtype != np.float64 or not array.flags.c_contiguous:
        array = np.ascontiguousarray(numbers(what, value, columns))
    if array.ndim != 2 or array.shape[1] != columns:
        raise InputError(f"{what} must have shape (m, {columns}), got {array.shape}")
    return array


def _bound(what: str, value: ArrayLike | None, size: int) -> Array | None:
    if value is None or (
        type(value) is np.ndarray and value.shape == (size,) and value.dtype == np.float64 and value.flags.c_contiguous
    ):
        return value
    try:
        given = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"{what} must be numbers of shape ({size},), got {value!r}") from cause
    if given.shape not in ((), (size,)):
        raise InputError(f"{what} must be one number or ({size},), got shape {given.shape}")
    return np.full(size, given)


def _check_bounds(names: tuple[str, str], lower: Array, upper: Array) -> None:
    for name, bound in zip(names, (lower, upper), strict=True):
        if np.isnan(bound).any():
            raise InputError(f"{name} has a NaN; give numbers, -inf or inf where there is no limit")
    crossed = np.flatnonzero(lower > upper)
    if len(crossed):
        i = crossed[0]
        raise InputError(f"{names[0]}[{i}] = {lower[i]:g} is above {names[1]}[{i}] = {upper[i]:g}; exchange them")
    if (lower == np.inf).any() or (upper == -np.inf).any():
        raise InputError(f"{names[0]} must not be +inf and {names[1]} must not be -inf: the interval would be empty")


def _weights(soft: ArrayLike, rows: int) -> Array:
    weights = reals("soft", soft)
    weights = np.full(rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (rows,) or not (weights > 0).all():
        raise InputError(f"soft must be weights ({rows},) above 0, inf for hard rows, got {soft!r}")
    return weights
