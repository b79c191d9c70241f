"""Spatial inertia of a rigid body, linear first, and the same body seen from another frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, broadcast, numbers, symmetric
from kinodyn.errors import InputError
from kinodyn.spatial.cross import skew_matrix
from kinodyn.spatial.poses import adjoint_matrix, inverse_pose


def inertia_matrix(mass: ArrayLike, com: ArrayLike, inertia: ArrayLike) -> Array:
    """Return the spatial inertia `(..., 6, 6)` of a body about the origin of its frame, linear first.

    It takes the body's twist in that frame to its momentum: linear [kg m/s], then angular about the origin [kg m^2/s].

    Parameters
    ----------
    mass
        `(...)` [kg].
    com
        Centre of mass `(..., 3)` in the frame [m].
    inertia
        Rotational inertia `(..., 3, 3)` about the centre of mass, in the frame's axes [kg m^2].

    Example
    -------
    >>> print(inertia_matrix(2, [0, 0, 1], np.zeros((3, 3)))[3:, 3:])  # a point 1 m from the origin
    [[2. 0. 0.]
     [0. 2. 0.]
     [0. 0. 0.]]
    """
    m, c, I_com = broadcast(
        (numbers("mass", mass), 0), (numbers("com", com, 3), 1), (symmetric("inertia", inertia, 3), 2)
    )
    if (m < 0).any():
        raise InputError(f"mass is {m.min()}; give 0 or more [kg]")
    m = m[..., None, None]
    C = skew_matrix(c)
    spatial = np.zeros((*c.shape[:-1], 6, 6))
    spatial[..., :3, :3] = m * np.eye(3)
    spatial[..., :3, 3:] = -m * C
    spatial[..., 3:, :3] = m * C
    spatial[..., 3:, 3:] = I_com - m * (C @ C)
    return spatial


def move_inertia(T_a_b: MatrixLike, inertia_b: ArrayLike) -> Array:
    """Return about and in frame a the spatial inertias `(..., 6, 6)` that are given in frame b.

    Kinetic energy stays the same: with X = `adjoint(T_b_a)` the result is X^T I X.

    Example
    -------
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
