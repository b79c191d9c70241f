"""Rigid transforms: construction, inverse, and their action on twists and wrenches.

`T_a_b` maps coordinates in b to a. Composition is `T_a_b @ T_b_c`, which NumPy broadcasts over batch axes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike, Reference
from kinodyn.checks import as_pose, as_rotation, broadcast, check_reference, numbers
from kinodyn.errors import InputError
from kinodyn.spatial.cross import skew_matrix
from kinodyn.spatial.lie import exp_twist, log_pose
from kinodyn.spatial.rotations import from_quaternion


def pose(
    translation: ArrayLike = (0.0, 0.0, 0.0),
    rotation: MatrixLike | None = None,
    *,
    quaternion: ArrayLike | None = None,
) -> Array:
    """Build poses from a position and a rotation; either may be left out.

    Parameters
    ----------
    translation
        Positions `(..., 3)` [m].
    rotation
        Matrices `(..., 3, 3)` or a SciPy `Rotation`.
    quaternion
        Instead of `rotation`: unit quaternions `(..., 4)`, x y z w.

    Returns
    -------
    T : (..., 4, 4) array

    Examples
    --------
    >>> print(pose([1, 2, 3], quaternion=[0, 0, 1, 0]) + 0.0)
    [[-1.  0.  0.  1.]
     [ 0. -1.  0.  2.]
     [ 0.  0.  1.  3.]
     [ 0.  0.  0.  1.]]
    """
    if rotation is not None and quaternion is not None:
        raise InputError("both rotation and quaternion are given; pass only one of them")
    if quaternion is not None:
        R = from_quaternion(quaternion)
    else:
        R = np.eye(3) if rotation is None else as_rotation(rotation)
    p, R = broadcast((numbers("translation", translation, 3), 1), (R, 2))
    T = np.zeros((*p.shape[:-1], 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1.0
    return T


def inverse(T_a_b: MatrixLike) -> Array:
    """Return `T_b_a` of the poses `T_a_b`.

    Parameters
    ----------
    T_a_b : (..., 4, 4)

    Returns
    -------
    T_b_a : (..., 4, 4) array

    Examples
    --------
    >>> print(inverse(pose([1, 2, 3]))[:3, 3])
    [-1. -2. -3.]
    """
    return inverse_pose(as_pose(T_a_b, "T_a_b"))


def adjoint(T_a_b: MatrixLike) -> Array:
    """Return the adjoint matrices, which map twists, linear first, from frame b to frame a.

    The twist of a body in frame a is the velocity of its point at the origin of a, then its angular velocity, both in
    the axes of a.

    Parameters
    ----------
    T_a_b : (..., 4, 4)

    Returns
    -------
    X_a_b : (..., 6, 6) array
        Its transpose maps wrenches from a to b.
    """
    return adjoint_matrix(as_pose(T_a_b, "T_a_b"))


def move_twist(T_a_b: MatrixLike, twist_b: ArrayLike) -> Array:
    """Transform twists from frame b to frame a.

    Parameters
    ----------
    T_a_b : (..., 4, 4)
    twist_b
        Twists `(..., 6)`, linear first, in frame b.

    Returns
    -------
    twist_a : (..., 6) array

    Examples
    --------
    >>> print(move_twist(pose([0, 1, 0]), [0, 0, 0, 0, 0, 2]))  # a rotation about an axis 1 m away
    [2. 0. 0. 0. 0. 2.]
    """
    T, twist = broadcast((as_pose(T_a_b, "T_a_b"), 2), (numbers("twist_b", twist_b, 6), 1))
    return (adjoint_matrix(T) @ twist[..., None])[..., 0]


def move_wrench(T_a_b: MatrixLike, wrench_b: ArrayLike) -> Array:
    """Transform wrenches from frame b to frame a.

    Parameters
    ----------
    T_a_b : (..., 4, 4)
    wrench_b
        Wrenches `(..., 6)` in frame b: force [N], then moment about the origin of b [N m].

    Returns
    -------
    wrench_a : (..., 6) array
        The power is invariant: `move_wrench(T, f) @ move_twist(T, v)` equals `f @ v`.

    Examples
    --------
    >>> print(move_wrench(pose([2, 0, 0]), [0, 0, 10, 0, 0, 0]))  # a force at a lever arm of 2 m
    [  0.   0.  10.   0. -20.   0.]
    """
    T, wrench = broadcast((as_pose(T_a_b, "T_a_b"), 2), (numbers("wrench_b", wrench_b, 6), 1))
    X_b_a = adjoint_matrix(inverse_pose(T))
    return (np.swapaxes(X_b_a, -2, -1) @ wrench[..., None])[..., 0]


def pose_error(T_from: MatrixLike, T_to: MatrixLike, reference: Reference = "local_world_aligned") -> Array:
    """Return the constant twist that moves one pose to another in one unit of time.

    Parameters
    ----------
    T_from, T_to
        Poses `(..., 4, 4)` in the world.
    reference
        As for Jacobians: "local" is expressed in `T_from`, so that `T_to = T_from exp(error)`; "world" at the world's
        origin, so that `T_to = exp(error) T_from`; "local_world_aligned" at the origin of `T_from` in world axes.

    Returns
    -------
    error : (..., 6) array
        Linear [m] then angular [rad]. The motion is a screw, so the linear part is the difference of positions only if
        there is no rotation.

    Examples
    --------
    >>> print(pose_error(pose([1, 0, 0]), pose([1, 2, 0])))
    [0. 2. 0. 0. 0. 0.]
    """
    check_reference(reference)
    start, end = broadcast((as_pose(T_from, "T_from"), 2), (as_pose(T_to, "T_to"), 2))
    error = log_pose(inverse_pose(start) @ end)
    if reference == "local":
        return error
    X = adjoint_matrix(start)
    if reference != "world":
        X[..., :3, 3:] = 0.0
    return (X @ error[..., None])[..., 0]


def interpolate(T0: MatrixLike, T1: MatrixLike, s: ArrayLike) -> Array:
    """Interpolate between poses along the screw that joins them, at constant twist.

    Parameters
    ----------
    T0, T1
        Poses `(..., 4, 4)` at the start and at the end.
    s
        Fractions `(...)`: 0 is `T0`, 1 is `T1`; values outside continue along the same screw.

    Returns
    -------
    T : (..., 4, 4) array

    Examples
    --------
    >>> T = interpolate(pose(), pose([2, 0, 0]), [0, 0.25, 1])
    >>> print(T[:, 0, 3])
    [0.  0.5 2. ]
    """
    start, end, part = broadcast((as_pose(T0, "T0"), 2), (as_pose(T1, "T1"), 2), (numbers("s", s), 0))
    return start @ exp_twist(part[..., None] * log_pose(inverse_pose(start) @ end))


def inverse_pose(T: Array) -> Array:
    """Return `inverse` without validation."""
    R_transposed = np.swapaxes(T[..., :3, :3], -2, -1)
    result = np.zeros_like(T)
    result[..., :3, :3] = R_transposed
    result[..., :3, 3] = -(R_transposed @ T[..., :3, 3, None])[..., 0]
    result[..., 3, 3] = 1.0
    return result


def adjoint_matrix(T: Array) -> Array:
    """Return `adjoint` without validation."""
    R = T[..., :3, :3]
    X = np.zeros((*T.shape[:-2], 6, 6))
    X[..., :3, :3] = X[..., 3:, 3:] = R
    X[..., :3, 3:] = skew_matrix(T[..., :3, 3]) @ R
    return X
