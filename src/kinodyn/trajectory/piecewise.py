"""Piecewise polynomial trajectories."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, copied_on_access, read_only, stored
from kinodyn.checks import integer, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.trajectory.base import JointTrajectory
from kinodyn.trajectory.space import Space

MAX_ORDER = 100  # of a derivative


@displayed
@copied_on_access("base", "coefficients")
class PiecewisePolynomial(JointTrajectory):
    """A trajectory that from knot k on is integrate(base_k, x_k(t - knot_k)), each x_k a polynomial.

    Where q is a vector, q is a polynomial in time. For ball and floating joints x_k are exponential coordinates about
    the base: velocity and acceleration follow from the Jacobian of the exponential and its derivative, exactly.

    Parameters
    ----------
    space : Space
        Configuration space: of a robot, or of vectors.
    knots : (n + 1,) array
        Times at which pieces start and end [s].
    base : (n, nq) array
        Base configuration of each piece.
    coefficients : (degree + 1, n, nv) array
        Coefficients of ascending powers of the time since the start of the piece.
    """

    @check_types
    def __init__(self, space: Space, knots: Array, base: Array, coefficients: Array) -> None:
        arrays = (knots, base, coefficients)
        plain = all(isinstance(array, np.ndarray) and array.dtype == np.float64 for array in arrays)
        if not plain or knots.ndim != 1 or not len(knots):
            kinds = ", ".join(type(array).__name__ for array in arrays)
            raise InputError(f"knots (n + 1,), base and coefficients must be arrays of float64, got {kinds}")
        super().__init__(space, float(knots[-1]))
        self._knots, self.base, self.coefficients = (read_only(array.copy()) for array in arrays)
        self._derivatives = [stored(self, "coefficients")]

    @property
    def knots(self) -> Array:
        """Times (n + 1,) at which pieces start and end [s]."""
        knots: Array = self._knots.copy()
        return knots

    def derivative(self, order: int) -> Array:
        """Return the coefficients of a derivative of x.

        Parameters
        ----------
        order : int
            From 0 to 100.

        Returns
        -------
        (degree + 1 - order, n, nv) array
        """
        return np.array(self._derivative(integer("order", order, 0, MAX_ORDER)))

    def _derivative(self, order: int) -> Array:
        while len(self._derivatives) <= order:
            last = self._derivatives[-1]
            powers = np.arange(1.0, len(last))[:, None, None]
            self._derivatives.append(powers * last[1:] if len(last) > 1 else np.zeros_like(last))
        return self._derivatives[order]

    def _evaluate(self, t: Array, order: int) -> Array:
        if order == 3 and not self.space.is_vector:
            raise InputError("order 3, the jerk, needs a vector q; this robot has ball or floating joints")
        piece = np.searchsorted(self._knots[1:-1], t, side="right")
        since = (t - self._knots[piece])[..., None]
        highest = _horner(self._derivative(order), piece, since)
        if order == 0:
            return self.space.integrate(stored(self, "base")[piece], highest)
        if self.space.is_vector:
            return highest
        x = _horner(self._derivative(0), piece, since)
        if order == 1:
            return self.space.velocity(x, highest)
        return self.space.acceleration(x, _horner(self._derivative(1), piece, since), highest)

    def stretched(self, factor: float) -> PiecewisePolynomial:
        k = positive("factor", factor)
        powers = k ** -np.arange(float(len(self._derivative(0))))
        scaled = self._derivative(0) * powers[:, None, None]
        return PiecewisePolynomial(self.space, k * self._knots, stored(self, "base"), scaled)


def _horner(coefficients: Array, piece: NDArray[np.intp], since: Array) -> Array:
    result = np.array(coefficients[-1][piece])
    for row in coefficients[-2::-1]:
        result *= since
        result += row[piece]
    return result


def hermite_cubic(x1: Array, v0: Array, v1: Array, h: Array) -> Array:
    """Compute coefficients (4, ...) of the cubic from x = 0 to x1 in the time h, with rates v0 and v1 at the ends."""
    return np.stack([0.0 * x1, v0, (3 * x1 / h - 2 * v0 - v1) / h, (v0 + v1 - 2 * x1 / h) / h**2])


def hermite_quintic(x1: Array, rates0: tuple[Array, Array], rates1: tuple[Array, Array], h: Array) -> Array:
    """Compute coefficients (6, ...) of the quintic from x = 0 to x1 in the time h from two derivatives at each end."""
    (v0, a0), (v1, a1) = rates0, rates1
    D = x1 - v0 * h - a0 * h**2 / 2
    V = (v1 - v0 - a0 * h) * h
    A = (a1 - a0) * h**2 / 2
    third, fourth, fifth = 10 * D - 4 * V + A, -15 * D + 7 * V - 2 * A, 6 * D - 3 * V + A
    return np.stack([0.0 * x1, v0, a0 / 2, third / h**3, fourth / h**4, fifth / h**5])


def hermite_pieces(space: Space, times: Array, q: Array, v: Array, a: Array | None) -> PiecewisePolynomial:
    """Interpolate states (n, ...) at times (n,) by cubics, or by quintics where accelerations are given.

    With cubics the acceleration jumps at the states.
    """
    x1 = space.difference(q[:-1], q[1:])
    h = np.diff(times)[:, None]
    if a is None:
        end, _ = space.rates(x1, v[1:], 0.0 * v[1:])
        coefficients = hermite_cubic(x1, v[:-1], end, h)
    else:
        coefficients = hermite_quintic(x1, (v[:-1], a[:-1]), space.rates(x1, v[1:], a[1:]), h)
    return PiecewisePolynomial(space, times, q[:-1], coefficients)


def joined(pieces: list[PiecewisePolynomial]) -> PiecewisePolynomial:
    """Concatenate trajectories in time."""
    degree = max(len(piece.coefficients) for piece in pieces)
    rows = [np.zeros((degree, *piece.coefficients.shape[1:])) for piece in pieces]
    for row, piece in zip(rows, pieces, strict=True):
        row[: len(piece.coefficients)] = piece.coefficients
    starts = np.concatenate([[0.0], np.cumsum([piece.duration for piece in pieces])])
    knots = [piece.knots[:-1] + start for piece, start in zip(pieces, starts[:-1], strict=True)]
    base = np.concatenate([piece.base for piece in pieces])
    return PiecewisePolynomial(
        pieces[0].space, np.concatenate([*knots, starts[-1:]]), base, np.concatenate(rows, axis=1)
    )


def factorials(count: int) -> Array:
    """Compute 0!, 1!, ... (count,)."""
    return np.array([float(math.factorial(k)) for k in range(count)])
