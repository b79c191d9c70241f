"""Velocity and acceleration from rates of exponential coordinates, on SO(3) and SE(3).

A curve R(t) = R0 exp(x(t)) has the velocity v = J(x) dx in its own axes, J the right Jacobian of exp; its acceleration
is J ddx + (dJ/dt) dx. With A = -ad(x), whose eigenvalues are 0 and twice +-i angle, J = I + c1 A + c2 A^2 + c3 A^3 +
c4 A^4, and the c are functions of the squared angle alone. Only products with vectors are formed.

Reference: T. D. Barfoot, "State Estimation for Robotics", 2017, section 7.1.5 and appendix; the derivative of J is not
taken from there.
"""

from __future__ import annotations

import math

import numpy as np

from kinodyn.arrays import Array
from kinodyn.spatial.cross import skew_matrix

SERIES_BELOW = 4.0  # squared angle [rad^2]
# f_n(x) = 1/n! - x/(n+2)! + x^2/(n+4)! - ... for n = 2 ... 7, one in each column; enough terms for x up to 4
_TERMS = np.array([[(-1.0) ** k / math.factorial(n + 2 * k) for n in range(2, 8)] for k in range(14)])
_POWERS = np.arange(14.0)


def velocity(x: Array, dx: Array) -> Array:
    """Compute J(x) dx: the velocity in body axes from rates dx (..., 3 or 6) of coordinates x."""
    c, _ = _coefficients(_squared_angle(x))
    A, w = _minus_ad(x), dx[..., None]
    result = w
    for i in range(4):
        w = A @ w
        result = result + c[..., i, None, None] * w
    return np.asarray(result[..., 0])


def acceleration(x: Array, dx: Array, ddx: Array) -> Array:
    """Compute J(x) ddx + (dJ/dt) dx, the time derivative of `velocity`."""
    c, slopes = _coefficients(_squared_angle(x))
    rate = 2.0 * (x[..., -3:] * dx[..., -3:]).sum(axis=-1)[..., None] * slopes
    A, dA, w, u = _minus_ad(x), _minus_ad(dx), dx[..., None], ddx[..., None]
    result = u
    for i in range(4):
        u = A @ u + dA @ w
        w = A @ w
        result = result + c[..., i, None, None] * u + rate[..., i, None, None] * w
    return np.asarray(result[..., 0])


def _squared_angle(x: Array) -> Array:
    return np.asarray((x[..., -3:] ** 2).sum(axis=-1))


def _minus_ad(x: Array) -> Array:
    """Return the matrix of minus the bracket with x, a rotation vector (..., 3) or a twist (..., 6), linear first."""
    angular = skew_matrix(-x[..., -3:])
    if x.shape[-1] == 3:
        return angular
    matrix = np.zeros((*x.shape[:-1], 6, 6))
    matrix[..., :3, :3] = matrix[..., 3:, 3:] = angular
    matrix[..., :3, 3:] = skew_matrix(-x[..., :3])
    return matrix


def _coefficients(squared: Array) -> tuple[Array, Array]:
    """Return c1 ... c4 (..., 4) and their derivatives by the squared angle.

    J is 1 + A g(A^2) + A^2 h(A^2) with g = f2, h = f3 at minus their argument. Both are expanded to first order about
    A^2 = -angle^2, which is exact since (A^2 + angle^2)^2 A = 0; and f_n' = (n f_(n+2) - f_(n+1)) / 2.
    """
    f2, f3, f4, f5, f6, f7 = np.moveaxis(_stumpff(squared), -1, 0)
    df2, df3, df4, df5 = (2 * f4 - f3) / 2, (3 * f5 - f4) / 2, (4 * f6 - f5) / 2, (5 * f7 - f6) / 2
    ddf2, ddf3 = (2 * df4 - df3) / 2, (3 * df5 - df4) / 2
    c = np.stack([f2 - squared * df2, f3 - squared * df3, -df2, -df3], axis=-1)
    slopes = np.stack([-squared * ddf2, -squared * ddf3, -ddf2, -ddf3], axis=-1)
    return c, slopes


def _stumpff(squared: Array) -> Array:
    """Return f_2 ... f_7 (..., 6): by series at small angles, by f_(n+2) = (1/n! - f_n) / angle^2 at larger ones."""
    small = squared < SERIES_BELOW
    series = np.asarray(np.where(small, squared, 0.0)[..., None] ** _POWERS @ _TERMS)
    if small.all():
        return series
    x = np.where(small, 1.0, squared)
    angle = np.sqrt(x)
    f2, f3 = 2 * np.sin(angle / 2) ** 2 / x, (1 - np.sin(angle) / angle) / x
    f4, f5 = (1 / 2 - f2) / x, (1 / 6 - f3) / x
    large = np.stack([f2, f3, f4, f5, (1 / 24 - f4) / x, (1 / 120 - f5) / x], axis=-1)
    return np.where(small[..., None], series, large)
