"""Validation of target poses."""

from __future__ import annotations

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array, MatrixLike
from kinodyn.spatial import as_pose

FLOAT64 = np.dtype(np.float64)
EXACT = 1e-14  # of a rotation matrix


def target_poses(T: MatrixLike, what: str) -> Array:
    """Validate poses (..., 4, 4) and return them as a contiguous array; error messages call them `what`."""
    # the core's check is fast; `as_pose` explains what is wrong
    if isinstance(T, np.ndarray) and T.dtype == FLOAT64 and T.flags.c_contiguous and T.shape[-2:] == (4, 4):
        poses: Array = T
        if _core.are_poses(poses):
            return poses
    return np.ascontiguousarray(as_pose(T, what))


def orthonormal(T: Array) -> Array:
    """Return poses (..., 4, 4) with the nearest rotations: those of single precision are off by 1e-7."""
    if _deviation(T) < EXACT:
        return T
    result: Array = T.copy()
    for _ in range(2):  # each step of Newton's method for the polar decomposition squares the error
        R = result[..., :3, :3]
        result[..., :3, :3] = R @ (1.5 * np.eye(3) - 0.5 * np.swapaxes(R, -1, -2) @ R)
    result[..., 3, :] = (0.0, 0.0, 0.0, 1.0)
    return result


def _deviation(T: Array) -> float:
    """Return the largest entry of R R^T - 1; by rows, since products of many small matrices are slow."""
    rows = [T[..., i, :3] for i in range(3)]
    products = [np.einsum("...i,...i->...", rows[i], rows[j]) - (i == j) for i in range(3) for j in range(i + 1)]
    return max(float(np.abs(each).max(initial=0.0)) for each in products)
