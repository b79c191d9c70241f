"""Rates of orientation parameters to and from angular velocity.

Each `..._rates_matrix(x)` is the E in `omega = E @ rates`; each `..._rates(x, omega)` goes back. `reference` says in
which axes omega is: "world" or, which for an angular velocity is the same, "aligned"; or "local".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike, Reference
from kinodyn.checks import as_rotation, broadcast, check_reference, numbers, unit_vectors
from kinodyn.errors import InputError, SingularError
from kinodyn.spatial.cross import skew_matrix
from kinodyn.spatial.jacobians import left_jacobian3, left_jacobian3_inverse
from kinodyn.spatial.lie import log3
from kinodyn.spatial.rotations import as_euler, as_quaternion, euler_axes, turn

# Volume spanned by the three Euler axes, the cosine or sine of the middle angle, below which rates are not given.
_GIMBAL_LOCK = 1e-8


def euler_rates_matrix(angles: ArrayLike, order: str = "ZYX", reference: Reference = "world") -> Array:
    """Return E `(..., 3, 3)` with `omega = E @ rates` for Euler angles `(..., 3)` [rad] of any order.

    The columns of E are the three axes about which the angles turn, as the turns before have left them.

    Example
    -------
    >>> print(euler_rates_matrix([0, np.pi / 2, 0], "ZYX").round(6) + 0.0)  # gimbal lock: first and last axis are one
    [[ 0.  0.  0.]
     [ 0.  1.  0.]
     [ 1.  0. -1.]]
    """
    check_reference(reference)
    i, j, k = euler_axes(order)
    a = numbers("angles", angles, 3)
    axes = np.eye(3)
    R_first = turn(i, a[..., 0])
    R_second = R_first @ turn(j, a[..., 1])
    columns = np.broadcast_to(axes[i], a.shape), R_first @ axes[j], R_second @ axes[k]
    E_world: Array = np.stack(columns, axis=-1)
    if reference != "local":
        return E_world
    R = R_second @ turn(k, a[..., 2])
    return np.swapaxes(R, -2, -1) @ E_world


def euler_rates(angles: ArrayLike, omega: ArrayLike, order: str = "ZYX", reference: Reference = "world") -> Array:
    """Return the rates `(..., 3)` [rad/s] of Euler angles `(..., 3)` at angular velocity `omega` `(..., 3)` [rad/s].

    Raises `SingularError` at gimbal lock, where no rates give an omega that turns about the axis that is lost.

    Example
    -------
    >>> print(euler_rates([0.3, 0, 0], [0, 0, 2]))
    [2. 0. 0.]
    """
    E = euler_rates_matrix(angles, order, reference)
    w = numbers("omega", omega, 3)
    E, w = broadcast((E, 2), (w, 1))
    return (_euler_inverse(E, order) @ w[..., None])[..., 0]


def quaternion_rates_matrix(quaternion: ArrayLike, reference: Reference = "world") -> Array:
    """Return E `(..., 3, 4)` with `omega = E @ rates` for unit quaternions `(..., 4)`, x y z w.

    A part of the rates along the quaternion, which would change its norm, gives no omega.
    """
    check_reference(reference)
    q = unit_vectors("quaternion", quaternion, 4)
    return 4 * np.swapaxes(_quaternion_map(q, reference), -2, -1)


def quaternion_rates(quaternion: ArrayLike, omega: ArrayLike, reference: Reference = "world") -> Array:
    """Return the time derivative `(..., 4)` of unit quaternions `(..., 4)` at angular velocity `(..., 3)` [rad/s].

    Example
    -------
    >>> print(quaternion_rates([0, 0, 0, 1], [0, 0, 2]))
    [0. 0. 1. 0.]
    """
    check_reference(reference)
    q, w = broadcast((unit_vectors("quaternion", quaternion, 4), 1), (numbers("omega", omega, 3), 1))
    return (_quaternion_map(q, reference) @ w[..., None])[..., 0]


def rotation_vector_rates_matrix(rotation_vector: ArrayLike, reference: Reference = "world") -> Array:
    """Return E `(..., 3, 3)` with `omega = E @ rates` for rotation vectors `(..., 3)` [rad]."""
    check_reference(reference)
    phi = numbers("rotation_vector", rotation_vector, 3)
    return left_jacobian3(-phi if reference == "local" else phi)


def rotation_vector_rates(rotation_vector: ArrayLike, omega: ArrayLike, reference: Reference = "world") -> Array:
    """Return the time derivative `(..., 3)` of rotation vectors `(..., 3)` at angular velocity `(..., 3)` [rad/s].

    Raises `SingularError` at whole turns, where there is none.
    """
    check_reference(reference)
    phi, w = numbers("rotation_vector", rotation_vector, 3), numbers("omega", omega, 3)
    phi, w = broadcast((phi, 1), (w, 1))
    return (left_jacobian3_inverse(-phi if reference == "local" else phi) @ w[..., None])[..., 0]


def analytic_map(rotation: MatrixLike, parameters: str = "ZYX") -> Array:
    """Return the matrices that take an angular velocity in world axes to rates of orientation parameters.

    With the Jacobian in the aligned reference, blockdiag(I, map) @ J is the analytic Jacobian.

    Raises `SingularError` at gimbal lock. Rotation vector and quaternion have a map everywhere, though they change
    sign as a rotation passes a half turn.

    Parameters
    ----------
    rotation
        Rotations `(..., 3, 3)`, a SciPy `Rotation`, or poses in any form.
    parameters
        An order of Euler angles such as "ZYX", giving `(..., 3, 3)`; "rotation_vector", `(..., 3, 3)`; or
        "quaternion", `(..., 4, 3)`: x y z w. The parameters are those of `as_euler`, `log3` and `as_quaternion`.

    Example
    -------
    >>> print(analytic_map(np.eye(3), "ZYX"))
    [[0. 0. 1.]
     [0. 1. 0.]
     [1. 0. 0.]]
    """
    if parameters == "quaternion":
        return _quaternion_map(as_quaternion(rotation), "world")
    if parameters == "rotation_vector":
        return left_jacobian3_inverse(log3(rotation))
    try:
        euler_axes(parameters)
    except InputError as cause:
        raise InputError(
            f'parameters is {parameters!r}; give "quaternion", "rotation_vector" or an order such as "ZYX"'
        ) from cause
    E = euler_rates_matrix(as_euler(as_rotation(rotation), parameters), parameters)
    return _euler_inverse(E, parameters)


def _euler_inverse(E: Array, order: str) -> Array:
    """Invert E, or raise and say how many of how many orientations are at gimbal lock."""
    locked = np.abs(np.linalg.det(E)) < _GIMBAL_LOCK
    if locked.any():
        raise SingularError(
            f"{int(locked.sum())} of {locked.size} orientations are at the gimbal lock of {order}, where its rates are"
            " not determined; use another order, quaternions or rotation vectors there"
        )
    return np.asarray(np.linalg.inv(E), dtype=np.float64)


def _quaternion_map(q: Array, reference: Reference) -> Array:
    """Return the `(..., 4, 3)` of rates = map @ omega: half the product of omega and q, or of q and a local omega."""
    sign = 1.0 if reference == "local" else -1.0
    top = q[..., 3, None, None] * np.eye(3) + sign * skew_matrix(q[..., :3])
    return np.concatenate([top, -q[..., None, :3]], axis=-2) / 2
