"""Spatial inertia of a rigid body, linear first, and its change of frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, broadcast, numbers, symmetric
from kinodyn.errors import InputError
from kinodyn.spatial.cross import skew_matrix
from kinodyn.spatial.poses import adjoint_matrix, inverse_pose


def inertia_matrix(mass: ArrayLike, com: ArrayLike, inertia: ArrayLike) -> Array:
    """Return the spatial inertia of a body about the origin of its frame, linear first.

    Parameters
    ----------
    mass
        Masses `(...)` [kg].
    com
        Centres of mass `(..., 3)` in the frame [m].
    inertia
        Rotational inertias `(..., 3, 3)` about the CoM, in the frame's axes [kg m^2].

    Returns
    -------
    I : (..., 6, 6) array
        Maps the body's twist in the frame to its momentum: linear [kg m/s], then angular about the origin [kg m^2/s].

    Examples
    --------
    >>> print(inertia_matrix(2, [0, 0, 1], np.zeros((3, 3)))[3:, 3:])  # a point mass 1 m from the origin
    [[2. 0. 0.]
     [0. 2. 0.]
     [0. 0. 0.]]
    """
    m, c, I_com = broadcast(
        (numbers("mass", mass), 0), (numbers("com", com, 3), 1), (symmetric("inertia", inertia, 3), 2)
    )
    if (m < 0).any():
        raise InputError(f"mass must be nonnegative [kg], got {m.min()}")
    m = m[..., None, None]
    C = skew_matrix(c)
    spatial = np.zeros((*c.shape[:-1], 6, 6))
    spatial[..., :3, :3] = m * np.eye(3)
    spatial[..., :3, 3:] = -m * C
    spatial[..., 3:, :3] = m * C
    spatial[..., 3:, 3:] = I_com - m * (C @ C)
    return spatial


def move_inertia(T_a_b: MatrixLike, inertia_b: ArrayLike) -> Array:
    """Transform spatial inertias from frame b to frame a.

    Parameters
    ----------
    T_a_b : (..., 4, 4)
    inertia_b
        Spatial inertias `(..., 6, 6)` in frame b.

    Returns
    -------
    inertia_a : (..., 6, 6) array
        `X^T I X` with X = `adjoint(T_b_a)`: the kinetic energy stays the same.

    Examples
    --------
    >>> ball = inertia_matrix(2, [0, 0, 0], 0.1 * np.eye(3))
    >>> T_a_b = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 3], [0, 0, 0, 1]]
    >>> bool(np.allclose(move_inertia(T_a_b, ball), inertia_matrix(2, [0, 0, 3], 0.1 * np.eye(3))))
    True
    """
    T, I_b = broadcast((as_pose(T_a_b, "T_a_b"), 2), (symmetric("inertia_b", inertia_b, 6), 2))
    X_b_a = adjoint_matrix(inverse_pose(T))
    moved = np.swapaxes(X_b_a, -2, -1) @ I_b @ X_b_a
    # The products round differently on the two sides of the diagonal.
    return (moved + np.swapaxes(moved, -2, -1)) / 2
