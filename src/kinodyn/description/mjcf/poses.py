"""Poses from MuJoCo's positions and quaternions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array


def rotation(quat_wxyz: ArrayLike) -> Array:
    """Return the `(3, 3)` rotation matrix of a quaternion in MuJoCo's order (w first)."""
    matrix: Array = Rotation.from_quat(np.roll(quat_wxyz, -1)).as_matrix()
    return matrix


def pose(position: ArrayLike, quat_wxyz: ArrayLike) -> Array:
    """Return the `(4, 4)` pose of a position [m] and a quaternion in MuJoCo's order."""
    T = translation(position)
    T[:3, :3] = rotation(quat_wxyz)
    return T


def translation(position: ArrayLike) -> Array:
    """Return the `(4, 4)` pose of a pure translation [m]."""
    T = np.eye(4)
    T[:3, 3] = position
    return T
