"""Poses of objects in all accepted forms, validated in a microsecond."""

from __future__ import annotations

from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array, HasMatrix, MatrixLike, frozen
from kinodyn.checks import MAX_MAGNITUDE, as_rotation, one_pose, shape_of, vector
from kinodyn.spatial import from_quaternion

# (4, 4), a RigidTransform, a pair of position and rotation, or None for the origin
Pose: TypeAlias = MatrixLike | tuple[ArrayLike, ArrayLike | HasMatrix | None] | None

IDENTITY = frozen(np.eye(4))


def object_pose(pose: Pose) -> Array:
    """Return a pose as a read-only array (4, 4)."""
    if type(pose) is np.ndarray and pose.shape == (4, 4) and pose.dtype == np.float64 and _core.are_poses(pose):
        return frozen(pose.copy())  # the common case; other input is validated below
    if pose is None:
        return IDENTITY
    if isinstance(pose, tuple) and len(pose) == 2:
        return _pair(*pose)
    T = one_pose("pose", cast(MatrixLike, pose))
    return frozen(T.copy())


def placed_at(position: ArrayLike) -> Array:
    """Return the pose (4, 4), without rotation, at a position (3,)."""
    T = IDENTITY.copy()
    if _is_plain(position):
        T[:3, 3] = position
    else:
        p = vector("position", position, 3)
        T[:3, 3] = p
    return frozen(T)


def _is_plain(position: ArrayLike) -> bool:
    """Return quickly whether a position is a tuple of three finite floats."""
    if not isinstance(position, tuple) or len(position) != 3:
        return False
    x, y, z = position
    return type(x) is type(y) is type(z) is float and abs(x) + abs(y) + abs(z) <= MAX_MAGNITUDE


def _pair(position: ArrayLike, rotation: ArrayLike | HasMatrix | None) -> Array:
    T = placed_at(position)
    if rotation is None:
        return T
    T = T.copy()
    matrix = rotation.as_matrix() if hasattr(rotation, "as_matrix") else rotation
    T[:3, :3] = from_quaternion(matrix) if shape_of(matrix) == (4,) else as_rotation(matrix)
    return frozen(T)
