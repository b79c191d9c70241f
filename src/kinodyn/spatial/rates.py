"""Conversion between angular velocity and rates of orientation parameters.

Each `..._rates_matrix(x)` is the E in `omega = E @ rates`; each `..._rates(x, omega)` solves for the rates. `reference`
names the axes of omega: "world" or, which is the same for an angular velocity, "local_world_aligned"; or "local".
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

# Volume spanned by the three Euler axes, the cosine or sine of the middle angle, below which E counts as singular.
_GIMBAL_LOCK = 1e-8


def euler_rates_matrix(angles: ArrayLike, order: str = "ZYX", reference: Reference = "world") -> Array:
    """Return the matrix E of `omega = E @ rates` for Euler angles of any order.

    Parameters
    ----------
    angles : (..., 3) [rad]
    order : str
    reference : "world" or "local"

    Returns
    -------
    E : (..., 3, 3) array
        Its columns are the three rotation axes, each rotated by the preceding rotations.

    Examples
    --------
    >>> print(euler_rates_matrix([0, np.pi / 2, 0], "ZYX").round(6) + 0.0)  # gimbal lock: first and last axis coincide
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
    """Return the rates of Euler angles at an angular velocity.

    Parameters
    ----------
    angles : (..., 3) [rad]
    omega : (..., 3) [rad/s]
    order : str
    reference : "world" or "local"

    Returns
    -------
    rates : (..., 3) array [rad/s]

    Raises
    ------
    SingularError
        At gimbal lock, where the rates are not determined.

    Examples
    --------
    >>> print(euler_rates([0.3, 0, 0], [0, 0, 2]))
    [2. 0. 0.]
    """
    E = euler_rates_matrix(angles, order, reference)
    w = numbers("omega", omega, 3)
    E, w = broadcast((E, 2), (w, 1))
    return (_euler_inverse(E, order) @ w[..., None])[..., 0]


def quaternion_rates_matrix(quaternion: ArrayLike, reference: Reference = "world") -> Array:
    """Return the matrix E of `omega = E @ rates` for unit quaternions.

    Parameters
    ----------
    quaternion : (..., 4)
    reference : "world" or "local"

    Returns
    -------
    E : (..., 3, 4) array
        Rates along the quaternion, which would change its norm, are in its null space.
    """
    check_reference(reference)
    q = unit_vectors("quaternion", quaternion, 4)
    return 4 * np.swapaxes(_quaternion_map(q, reference), -2, -1)


def quaternion_rates(quaternion: ArrayLike, omega: ArrayLike, reference: Reference = "world") -> Array:
    """Return the time derivative of unit quaternions at an angular velocity.

    Parameters
    ----------
    quaternion : (..., 4)
    omega : (..., 3) [rad/s]
    reference : "world" or "local"

    Returns
    -------
    rates : (..., 4) array [1/s]

    Examples
    --------
    >>> print(quaternion_rates([0, 0, 0, 1], [0, 0, 2]))
    [0. 0. 1. 0.]
    """
    check_reference(reference)
    q, w = broadcast((unit_vectors("quaternion", quaternion, 4), 1), (numbers("omega", omega, 3), 1))
    return (_quaternion_map(q, reference) @ w[..., None])[..., 0]


def rotation_vector_rates_matrix(rotation_vector: ArrayLike, reference: Reference = "world") -> Array:
    """Return the matrix E of `omega = E @ rates` for rotation vectors.

    Parameters
    ----------
    rotation_vector : (..., 3) [rad]
    reference : "world" or "local"

    Returns
    -------
    E : (..., 3, 3) array
    """
    check_reference(reference)
    phi = numbers("rotation_vector", rotation_vector, 3)
    return left_jacobian3(-phi if reference == "local" else phi)


def rotation_vector_rates(rotation_vector: ArrayLike, omega: ArrayLike, reference: Reference = "world") -> Array:
    """Return the time derivative of rotation vectors at an angular velocity.

    Parameters
    ----------
    rotation_vector : (..., 3) [rad]
    omega : (..., 3) [rad/s]
    reference : "world" or "local"

    Returns
    -------
    rates : (..., 3) array [rad/s]

    Raises
    ------
    SingularError
        At rotations by a multiple of a full turn other than zero, where the rates are not determined.
    """
    check_reference(reference)
    phi, w = numbers("rotation_vector", rotation_vector, 3), numbers("omega", omega, 3)
    phi, w = broadcast((phi, 1), (w, 1))
    return (left_jacobian3_inverse(-phi if reference == "local" else phi) @ w[..., None])[..., 0]


def analytic_map(rotation: MatrixLike, parameters: str = "ZYX") -> Array:
    """Return the matrices that map an angular velocity in world axes to rates of orientation parameters.

    With the Jacobian J in the reference "local_world_aligned", blockdiag(I, map) @ J is the analytic Jacobian.

    Parameters
    ----------
    rotation : (..., 3, 3), SciPy Rotation, or (..., 4, 4)
    parameters
        An order of Euler angles such as "ZYX", "rotation_vector", or "quaternion" (x y z w): the parameters of
        `as_euler`, `log3` and `as_quaternion`.

    Returns
    -------
    map : (..., 3, 3) array, (..., 4, 3) for "quaternion"

    Raises
    ------
    SingularError
        At gimbal lock. Rotation vector and quaternion have a map everywhere, though both change sign as a rotation
        passes a half turn.

    Examples
    --------
    >>> print(analytic_map(np.eye(3), "ZYX"))
    [[0. 0. 1.]
     [0. 1. 0.]
     [1. 0. 0.]]
    """
    if isinstance(parameters, str) and parameters == "quaternion":
        return _quaternion_map(as_quaternion(rotation), "world")
    if isinstance(parameters, str) and parameters == "rotation_vector":
        return left_jacobian3_inverse(log3(rotation))
    try:
        euler_axes(parameters)
    except InputError as cause:
        raise InputError(
            f'parameters must be "quaternion", "rotation_vector" or an order such as "ZYX", got {parameters!r}'
        ) from cause
    E = euler_rates_matrix(as_euler(as_rotation(rotation), parameters), parameters)
    return _euler_inverse(E, parameters)


def _euler_inverse(E: Array, order: str) -> Array:
    """Invert E, or raise with the number of orientations at gimbal lock."""
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
