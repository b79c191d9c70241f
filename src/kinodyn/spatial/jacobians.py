"""Jacobians of the exponential map on SO(3) and SE(3), accurate at angle 0.

All closed forms here are combinations of the functions f_n(x) = 1/n! - x/(n+2)! + x^2/(n+4)! - ... of the squared
angle x (Stumpff functions): f_0 = cos, f_1 = sin(angle)/angle, and f_n = 1/n! - x f_(n+2).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers, shape_of
from kinodyn.errors import InputError, SingularError
from kinodyn.spatial.cross import skew_matrix

# Enough terms, one in each row, for f_4 and f_5 to be exact in double precision up to angle 1.
_POWERS = np.arange(9.0)
_SERIES = np.array([[(-1.0) ** k / math.factorial(n + 2 * k) for n in (4, 5)] for k in range(9)])


def left_jacobian(vector: ArrayLike) -> Array:
    """Return the left Jacobian J of the exponential map: `exp(x + dx) = exp(J dx) exp(x)` to first order.

    Parameters
    ----------
    vector : (..., 3) [rad] or (..., 6)

    Returns
    -------
    J : (..., 3, 3) or (..., 6, 6) array
        Maps rates of x to the velocity of `exp(x)` in the world reference.

    Notes
    -----
    T. Barfoot, "State Estimation for Robotics", 2017, chapter 7.
    """
    x = _rotation_vector_or_twist(vector)
    if x.shape[-1] == 3:
        return left_jacobian3(x)
    return _block_triangle(left_jacobian3(x[..., 3:]), _coupling(x))


def left_jacobian_inverse(vector: ArrayLike) -> Array:
    """Return the inverse of `left_jacobian(vector)`.

    Parameters
    ----------
    vector : (..., 3) [rad] or (..., 6)

    Returns
    -------
    J_inverse : (..., 3, 3) or (..., 6, 6) array

    Raises
    ------
    SingularError
        At rotations by a multiple of a full turn other than zero, where J has no inverse.
    """
    x = _rotation_vector_or_twist(vector)
    J_inverse = left_jacobian3_inverse(x[..., -3:])
    if x.shape[-1] == 3:
        return J_inverse
    return _block_triangle(J_inverse, -J_inverse @ _coupling(x) @ J_inverse)


def right_jacobian(vector: ArrayLike) -> Array:
    """Return the right Jacobian J of the exponential map: `exp(x + dx) = exp(x) exp(J dx)` to first order.

    Parameters
    ----------
    vector : (..., 3) [rad] or (..., 6)

    Returns
    -------
    J : (..., 3, 3) or (..., 6, 6) array
        Maps rates of x to the velocity of `exp(x)` in the local reference.
    """
    return left_jacobian(-_rotation_vector_or_twist(vector))


def right_jacobian_inverse(vector: ArrayLike) -> Array:
    """Return the inverse of `right_jacobian(vector)`.

    Parameters
    ----------
    vector : (..., 3) [rad] or (..., 6)

    Returns
    -------
    J_inverse : (..., 3, 3) or (..., 6, 6) array

    Raises
    ------
    SingularError
        At rotations by a multiple of a full turn other than zero, where J has no inverse.
    """
    return left_jacobian_inverse(-_rotation_vector_or_twist(vector))


def _rotation_vector_or_twist(vector: ArrayLike) -> Array:
    shape = shape_of(vector)
    if shape[-1:] not in ((3,), (6,)):
        raise InputError(f"vector must be a rotation vector (..., 3) or a twist (..., 6), got shape {shape}")
    return numbers("vector", vector, shape[-1])


def left_jacobian3(phi: Array) -> Array:
    """Sum S^n / (n+1)! over n, where S = skew(phi) and S^3 = -|phi|^2 S leaves the powers 0, 1, 2."""
    f2, f3, _, _ = _stumpff(phi)
    S = skew_matrix(phi)
    return np.eye(3) + f2 * S + f3 * (S @ S)


def left_jacobian3_inverse(phi: Array) -> Array:
    """Return the inverse of `left_jacobian3`: I - S/2 + c S^2 with c = (1 - (angle/2) cot(angle/2)) / angle^2.

    In terms of f_n, c = (f3 - 2 f4) / (2 f2), which has no cancellation near angle 0.
    """
    f2, f3, f4, _ = _stumpff(phi)
    squared = (phi * phi).sum(axis=-1)
    if ((squared > 1) & (squared * f2[..., 0, 0] < 1e-12)).any():
        raise SingularError(
            "the rotation vector is a full turn, where its rates are not determined by the angular velocity;"
            " use the vector that is one turn shorter"
        )
    S = skew_matrix(phi)
    return np.eye(3) - S / 2 + (f3 - 2 * f4) / (2 * f2) * (S @ S)


def _coupling(xi: Array) -> Array:
    """Return the upper right block of the left Jacobian of SE(3), sum of S^n P S^m / (n+m+2)!, P = skew(linear part).

    The sum is the derivative of `left_jacobian3` at phi in the direction of the linear part rho, and the derivative
    of f_n with respect to angle^2 / 2 is n f_(n+2) - f_(n+1).
    """
    rho, phi = xi[..., :3], xi[..., 3:]
    f2, f3, f4, f5 = _stumpff(phi)
    P, S = skew_matrix(rho), skew_matrix(phi)
    along = (rho * phi).sum(axis=-1)[..., None, None]
    Q: Array = f2 * P + f3 * (S @ P + P @ S) + along * ((2 * f4 - f3) * S + (3 * f5 - f4) * (S @ S))
    return Q


def _block_triangle(diagonal: Array, upper: Array) -> Array:
    J = np.zeros((*diagonal.shape[:-2], 6, 6))
    J[..., :3, :3] = J[..., 3:, 3:] = diagonal
    J[..., :3, 3:] = upper
    return J


def _stumpff(phi: Array) -> tuple[Array, Array, Array, Array]:
    """Return f_2, f_3, f_4, f_5, each `(..., 1, 1)`: by series below angle 1, by sine and cosine above."""
    squared = (phi * phi).sum(axis=-1)[..., None, None]
    small = squared < 1.0
    series = np.where(small, squared, 0.0) ** _POWERS @ _SERIES
    s4, s5 = series[..., :1], series[..., 1:]
    x = np.where(small, 1.0, squared)
    angle = np.sqrt(x)
    f2, f3 = 2 * np.sin(angle / 2) ** 2 / x, (1 - np.sin(angle) / angle) / x
    f2, f3 = np.where(small, 1 / 2 - squared * s4, f2), np.where(small, 1 / 6 - squared * s5, f3)
    return f2, f3, np.where(small, s4, (1 / 2 - f2) / x), np.where(small, s5, (1 / 6 - f3) / x)
