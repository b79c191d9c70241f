"""Validation of target poses."""

from __future__ import annotations

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array, MatrixLike
from kinodyn.spatial import as_pose

FLOAT64 = np.dtype(np.float64)


def target_poses(T: MatrixLike, what: str) -> Array:
    """Validate poses (..., 4, 4) and return them as a contiguous array; error messages call them `what`."""
    # the core's check is fast; `as_pose` explains what is wrong
    if isinstance(T, np.ndarray) and T.dtype == FLOAT64 and T.flags.c_contiguous and T.shape[-2:] == (4, 4):
        poses: Array = T
        if _core.are_poses(poses):
            return poses
    return np.ascontiguousarray(as_pose(T, what))
