"""Unit quaternions x y z w over any batch axes: product, inverse, rotation of a vector, interpolation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import broadcast, numbers, unit_vectors


def quaternion_product(left: ArrayLike, right: ArrayLike) -> Array:
    """Multiply unit quaternions; the rotation of the product is that of `left` times that of `right`.

    Parameters
    ----------
    left, right : (..., 4)

    Returns
    -------
    quaternion : (..., 4) array

    Examples
    --------
    >>> print(quaternion_product([1, 0, 0, 0], [0, 1, 0, 0]))
    [0. 0. 1. 0.]
    """
    a, b = unit_vectors("left", left, 4), unit_vectors("right", right, 4)
    return product(*broadcast((a, 1), (b, 1)))


def quaternion_inverse(quaternion: ArrayLike) -> Array:
    """Return the quaternions of the inverse rotations.

    Parameters
    ----------
    quaternion : (..., 4)

    Returns
    -------
    inverse : (..., 4) array
    """
    return conjugate(unit_vectors("quaternion", quaternion, 4))


def quaternion_rotate(quaternion: ArrayLike, vector: ArrayLike) -> Array:
    """Rotate vectors by unit quaternions.

    Parameters
    ----------
    quaternion : (..., 4)
    vector : (..., 3)

    Returns
    -------
    rotated : (..., 3) array

    Examples
    --------
    >>> print(quaternion_rotate([0, 0, 1, 0], [1, 2, 3]))
    [-1. -2.  3.]
    """
    q, v = broadcast((unit_vectors("quaternion", quaternion, 4), 1), (numbers("vector", vector, 3), 1))
    half = np.cross(q[..., :3], v)
    return v + 2 * (q[..., 3:] * half + np.cross(q[..., :3], half))


def slerp(q0: ArrayLike, q1: ArrayLike, s: ArrayLike) -> Array:
    """Interpolate unit quaternions at constant angular velocity along the shorter arc.

    Parameters
    ----------
    q0, q1
        Unit quaternions `(..., 4)`, x y z w, at the start and at the end.
    s
        Fractions `(...)`: 0 is `q0`, 1 the rotation of `q1`; values outside extrapolate about the same axis.

    Returns
    -------
    quaternion : (..., 4) array
        Continuous with `q0`: at s = 1 it is -q1 if that is nearer to `q0` than q1.

    Examples
    --------
    >>> print(slerp([0, 0, 0, 1], [0, 0, 1, 0], [0, 1 / 3, 1]).round(6))
    [[0.       0.       0.       1.      ]
     [0.       0.       0.5      0.866025]
     [0.       0.       1.       0.      ]]
    """
    start, end = unit_vectors("q0", q0, 4), unit_vectors("q1", q1, 4)
    start, end, part = broadcast((start, 1), (end, 1), (numbers("s", s), 0))
    relative = product(conjugate(start), end)
    relative = np.where(relative[..., 3:] < 0, -relative, relative)
    sine = np.linalg.norm(relative[..., :3], axis=-1)
    half_angle = part * np.arctan2(sine, relative[..., 3])
    moves = sine > 0
    along = np.where(moves, np.sin(half_angle) / np.where(moves, sine, 1.0), 0.0)
    step = np.concatenate([along[..., None] * relative[..., :3], np.cos(half_angle)[..., None]], axis=-1)
    return product(start, step)


def product(a: Array, b: Array) -> Array:
    """Multiply quaternions of any norm, without checks."""
    u, v = a[..., :3], b[..., :3]
    vector = a[..., 3:] * v + b[..., 3:] * u + np.cross(u, v)
    return np.concatenate([vector, a[..., 3:] * b[..., 3:] - (u * v).sum(axis=-1, keepdims=True)], axis=-1)


def conjugate(q: Array) -> Array:
    """Negate the vector part."""
    return q * (-1.0, -1.0, -1.0, 1.0)
