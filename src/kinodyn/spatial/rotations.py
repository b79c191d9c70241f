"""Conversions between rotation matrices, elementary rotations, quaternions, angle-axis and Euler angles."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_rotation, broadcast, numbers, unit_vectors
from kinodyn.errors import InputError
from kinodyn.spatial.lie import exp_rotation_vector, log3, rotation_of, through_scipy

# Half-angle sines below this count as gimbal lock; the angle about the last axis is then set to 0.
_GIMBAL_LOCK = 1e-12


def rot_x(angle: ArrayLike) -> Array:
    """Return the rotations about the x axis.

    Parameters
    ----------
    angle : (...) [rad]

    Returns
    -------
    R : (..., 3, 3) array
    """
    return turn(0, numbers("angle", angle))


def rot_y(angle: ArrayLike) -> Array:
    """Return the rotations about the y axis.

    Parameters
    ----------
    angle : (...) [rad]

    Returns
    -------
    R : (..., 3, 3) array
    """
    return turn(1, numbers("angle", angle))


def rot_z(angle: ArrayLike) -> Array:
    """Return the rotations about the z axis.

    Parameters
    ----------
    angle : (...) [rad]

    Returns
    -------
    R : (..., 3, 3) array
    """
    return turn(2, numbers("angle", angle))


def from_quaternion(quaternion: ArrayLike) -> Array:
    """Return the rotations of unit quaternions.

    Parameters
    ----------
    quaternion : (..., 4)

    Returns
    -------
    R : (..., 3, 3) array
    """
    q = unit_vectors("quaternion", quaternion, 4)
    return through_scipy(q, 1, (3, 3), lambda flat: Rotation.from_quat(flat).as_matrix())


def as_quaternion(rotation: MatrixLike) -> Array:
    """Return the unit quaternions of rotations.

    Parameters
    ----------
    rotation : (..., 3, 3), SciPy Rotation, or (..., 4, 4)

    Returns
    -------
    quaternion : (..., 4) array
        x y z w. Of the two quaternions of a rotation, the one with w > 0; at a half turn, where w = 0, the one whose
        first nonzero component is positive.

    Examples
    --------
    >>> print(as_quaternion(np.diag([-1, -1, 1])) + 0.0)
    [0. 0. 1. 0.]
    """
    R = as_rotation(rotation)
    return through_scipy(R, 2, (4,), lambda flat: rotation_of(flat).as_quat(canonical=True))


def from_angle_axis(angle: ArrayLike, axis: ArrayLike) -> Array:
    """Return the rotations by an angle about an axis.

    Parameters
    ----------
    angle : (...) [rad]
    axis
        Unit vectors `(..., 3)`.

    Returns
    -------
    R : (..., 3, 3) array
    """
    angles, axes = broadcast((numbers("angle", angle), 0), (unit_vectors("axis", axis, 3), 1))
    return exp_rotation_vector(angles[..., None] * axes)


def as_angle_axis(rotation: MatrixLike) -> tuple[Array, Array]:
    """Return angle and axis of rotations.

    Parameters
    ----------
    rotation : (..., 3, 3), SciPy Rotation, or (..., 4, 4)

    Returns
    -------
    angle : (...) array
        [rad], between 0 and pi.
    axis : (..., 3) array
        Unit vectors. At angle 0 every axis is valid and x is returned; at pi the axis and its opposite are both valid.

    Examples
    --------
    >>> angle, axis = as_angle_axis(np.diag([-1, 1, -1]))
    >>> print(angle, axis)
    3.141592653589793 [0. 1. 0.]
    """
    phi = log3(rotation)
    angle: Array = np.asarray(np.linalg.norm(phi, axis=-1))
    turned = angle[..., None] > 0
    axis = np.where(turned, phi / np.where(turned, angle[..., None], 1.0), (1.0, 0.0, 0.0))
    return np.minimum(angle, np.pi), axis


def from_euler(angles: ArrayLike, order: str = "ZYX") -> Array:
    """Return the rotations of intrinsic Euler angles (about moving axes).

    Parameters
    ----------
    angles
        Euler angles `(..., 3)` [rad], each about an axis that the preceding rotations have moved.
    order
        Any of the twelve orders, most often "ZYX" or "ZYZ". "ZYX" with (yaw, pitch, roll) is
        Rz(yaw) Ry(pitch) Rx(roll), which is also roll, pitch, yaw about the fixed axes x, y, z.

    Returns
    -------
    R : (..., 3, 3) array

    Examples
    --------
    >>> bool(np.allclose(from_euler([0.1, 0.2, 0.3], "ZYZ"), rot_z(0.1) @ rot_y(0.2) @ rot_z(0.3)))
    True
    """
    i, j, k = euler_axes(order)
    a = numbers("angles", angles, 3)
    return turn(i, a[..., 0]) @ turn(j, a[..., 1]) @ turn(k, a[..., 2])


def as_euler(rotation: MatrixLike, order: str = "ZYX") -> Array:
    """Return the Euler angles of rotations: the inverse of `from_euler`.

    Parameters
    ----------
    rotation : (..., 3, 3), SciPy Rotation, or (..., 4, 4)
    order
        Order of the axes, as in `from_euler`.

    Returns
    -------
    angles : (..., 3) array
        [rad]. The middle angle is between -pi/2 and pi/2 if the three axes differ ("ZYX"), between 0 and pi if the
        first is also the last ("ZYZ"). At gimbal lock, where these bounds are reached, only the sum or the difference
        of the other two is determined: the last one is returned as 0, and `from_euler` still returns the rotation.

    Examples
    --------
    >>> print(as_euler(rot_z(0.3) @ rot_y(np.pi / 2)).round(6) + 0.0)
    [0.3      1.570796 0.      ]
    """
    i, j, k = euler_axes(order)
    other = 3 - i - j
    handed = 1.0 if (j - i) % 3 == 1 else -1.0
    q = np.moveaxis(as_quaternion(rotation), -1, 0)
    w, q_i, q_j, q_other = q[3], q[i], q[j], handed * q[other]
    if k != i:
        # Followed by a quarter turn about j, R = Ri(a) Rj(b) Rk(c) becomes Ri(a) Rj(b + pi/2) Ri(-handed c).
        w, q_i, q_j, q_other = w - q_j, q_i - q_other, q_j + w, q_other + q_i
    # Ri(a) Rj(b) Ri(c) is the quaternion cos(b/2) at angle (a + c)/2, sin(b/2) at angle (a - c)/2.
    half_sum, half_difference = np.arctan2(q_i, w), np.arctan2(q_other, q_j)
    cosine, sine = np.hypot(w, q_i), np.hypot(q_j, q_other)
    half_sum = np.where(cosine < _GIMBAL_LOCK, half_difference, half_sum)
    half_difference = np.where(sine < _GIMBAL_LOCK, half_sum, half_difference)
    first, middle, last = half_sum + half_difference, 2 * np.arctan2(sine, cosine), half_sum - half_difference
    if k != i:
        middle, last = middle - np.pi / 2, -handed * last
    return np.stack([_wrapped(first), middle, _wrapped(last)], axis=-1)


def euler_axes(order: str) -> tuple[int, int, int]:
    """Return the three axes, 0 to 2, of an order of Euler angles such as "ZYX", or raise."""
    axes = ["XYZ".find(letter) for letter in order] if isinstance(order, str) and len(order) == 3 else [-1]
    if min(axes) < 0 or axes[0] == axes[1] or axes[1] == axes[2]:
        raise InputError(
            'order must be three letters of X, Y, Z, no two neighbours equal, such as "ZYX" or "ZYZ" '
            f"(rotations about fixed axes are the same angles in reverse order), got {order!r}"
        )
    return axes[0], axes[1], axes[2]


def turn(axis: int, angle: Array) -> Array:
    """Return the rotations `(..., 3, 3)` by `angle` about the coordinate axis with index `axis`."""
    R = np.zeros((*angle.shape, 3, 3))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R[..., axis, axis] = 1.0
    R[..., j, j] = R[..., k, k] = np.cos(angle)
    R[..., k, j] = np.sin(angle)
    R[..., j, k] = -R[..., k, j]
    return R


def _wrapped(angle: Array) -> Array:
    return angle - 2 * np.pi * np.round(angle / (2 * np.pi))
