"""Exponential and logarithm on SO(3) and SE(3), accurate at angle 0 and at angle pi."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, cos, sin, sqrt
from typing import Any

import numpy as np
from numpy.lib import NumpyVersion
from numpy.typing import ArrayLike
from scipy import __version__ as scipy_version
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, as_rotation, numbers
from kinodyn.spatial.jacobians import left_jacobian3, left_jacobian3_inverse

SMALL_ANGLE = 1e-3  # [rad] below which a series of three terms is exact to rounding

# `as_rotation` validates matrices; SciPy 1.17 and later validates them again, which takes ten times the conversion.
_CHECKED: dict[str, Any] = {"assume_valid": True} if NumpyVersion(scipy_version) >= "1.17.0" else {}


def exp3(rotation_vector: ArrayLike) -> Array:
    """Return the rotation matrices of rotation vectors: the exponential map of SO(3).

    Parameters
    ----------
    rotation_vector
        Vectors `(..., 3)` [rad] of any length.

    Returns
    -------
    R : (..., 3, 3) array

    Examples
    --------
    >>> print(exp3([0, 0, np.pi / 2]).round(6) + 0.0)
    [[ 0. -1.  0.]
     [ 1.  0.  0.]
     [ 0.  0.  1.]]
    """
    return exp_rotation_vector(numbers("rotation_vector", rotation_vector, 3))


def log3(rotation: MatrixLike) -> Array:
    """Return the rotation vectors of rotations: the logarithm of SO(3).

    Parameters
    ----------
    rotation : (..., 3, 3), SciPy Rotation, or (..., 4, 4)

    Returns
    -------
    rotation_vector : (..., 3) array
        [rad], of norm at most pi. At a half turn both signs are valid; one of them is returned.

    Examples
    --------
    >>> print(log3(np.diag([-1, 1, -1])))
    [0.         3.14159265 0.        ]
    """
    return log_rotation(as_rotation(rotation))


def exp(twist: ArrayLike) -> Array:
    """Return the poses reached from identity by a constant twist in one unit of time: the exponential map of SE(3).

    Parameters
    ----------
    twist
        Twists `(..., 6)`, linear [m] then angular [rad], the rotation of any length.

    Returns
    -------
    T : (..., 4, 4) array

    Examples
    --------
    >>> print(exp([np.pi / 2, 0, 0, 0, 0, np.pi / 2])[:3, 3].round(6))
    [1. 1. 0.]
    """
    return exp_twist(numbers("twist", twist, 6))


def log(pose: MatrixLike) -> Array:
    """Return the twists that reach poses from identity in one unit of time: the logarithm of SE(3).

    Parameters
    ----------
    pose : (..., 4, 4)

    Returns
    -------
    twist : (..., 6) array
        Linear [m] then angular [rad], the angular part of norm at most pi.

    Examples
    --------
    >>> print(log(exp([1, 2, 3, 0, 0, np.pi])))
    [1.         2.         3.         0.         0.         3.14159265]
    """
    return log_pose(as_pose(pose))


def exp_rotation_vector(phi: Array) -> Array:
    """Return `exp3` without validation."""
    if phi.ndim == 1:
        return exp_one(phi)
    return through_scipy(phi, 1, (3, 3), lambda flat: Rotation.from_rotvec(flat).as_matrix())


def log_rotation(R: Array) -> Array:
    """Return `log3` without validation."""
    if R.ndim == 2:
        return log_one(R)
    return through_scipy(R, 2, (3,), lambda flat: rotation_of(flat).as_rotvec())


def exp_one(phi: Array) -> Array:
    """Return the rotation (3, 3) of one rotation vector (3,), by a unit quaternion in plain floats."""
    x, y, z = phi.tolist()
    squared = x * x + y * y + z * z
    angle = sqrt(squared)
    scale = 0.5 - squared / 48.0 + squared * squared / 3840.0 if angle < SMALL_ANGLE else sin(0.5 * angle) / angle
    w, x, y, z = cos(0.5 * angle), scale * x, scale * y, scale * z
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def log_one(R: Array) -> Array:
    """Return the rotation vector (3,) of one rotation (3, 3), by the quaternion of largest pivot in plain floats.

    S. W. Shepperd, "Quaternion from rotation matrix", 1978.
    """
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    trace = a + e + i
    pivot = max(trace, a, e, i)
    if pivot == trace:
        w, x, y, z = 1.0 + trace, h - f, c - g, d - b
    elif pivot == a:
        w, x, y, z = h - f, 1.0 - trace + 2.0 * a, b + d, c + g
    elif pivot == e:
        w, x, y, z = c - g, b + d, 1.0 - trace + 2.0 * e, f + h
    else:
        w, x, y, z = d - b, c + g, f + h, 1.0 - trace + 2.0 * i
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine, norm = sqrt(x * x + y * y + z * z), sqrt(w * w + x * x + y * y + z * z)
    angle = 2.0 * atan2(sine, w)
    # of the unit quaternion, the angle divided by the sine of its half
    scale = 2.0 + angle**2 / 12.0 + 7.0 * angle**4 / 2880.0 if angle < SMALL_ANGLE else angle * norm / sine
    return np.array([x, y, z]) * (scale / norm)


def exp_twist(xi: Array) -> Array:
    """Return `exp` without validation."""
    T = np.zeros((*xi.shape[:-1], 4, 4))
    T[..., :3, :3] = exp_rotation_vector(xi[..., 3:])
    T[..., :3, 3] = (left_jacobian3(xi[..., 3:]) @ xi[..., :3, None])[..., 0]
    T[..., 3, 3] = 1.0
    return T


def log_pose(T: Array) -> Array:
    """Return `log` without validation."""
    phi = log_rotation(T[..., :3, :3])
    rho = (left_jacobian3_inverse(phi) @ T[..., :3, 3, None])[..., 0]
    return np.concatenate([rho, phi], axis=-1)


def rotation_of(R: Array) -> Rotation:
    """Return the SciPy `Rotation` of matrices `(n, 3, 3)` without validation."""
    return Rotation.from_matrix(R, **_CHECKED)


def through_scipy(array: Array, rank: int, core: tuple[int, ...], convert: Callable[[Array], Array]) -> Array:
    """Apply `convert`, which accepts one batch axis, over all batch axes: all but the last `rank` axes, the core.

    SciPy's rotations accept several batch axes only from 1.17 on, and never a read-only array: hence the copy.
    """
    batch = array.shape[: array.ndim - rank]
    if array.size == 0:
        return np.zeros((*batch, *core))
    flat = np.array(array, dtype=np.float64).reshape(-1, *array.shape[array.ndim - rank :])
    return np.asarray(convert(flat), dtype=np.float64).reshape(*batch, *core)
