"""Poses on the command line: a position, and roll, pitch, yaw or a quaternion."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinodyn import tables
from kinodyn.arrays import Array
from kinodyn.cli import args, files
from kinodyn.errors import InputError

POSE_COLUMNS = ("x", "y", "z", "qx", "qy", "qz", "qw")
ANGLES = ("roll [rad]", "pitch [rad]", "yaw [rad]")


def parts(T: Array) -> tuple[Array, Array, Array]:
    """Split poses (..., 4, 4) into positions (..., 3), quaternions xyzw (..., 4) and roll, pitch, yaw (..., 3)."""
    from scipy.spatial.transform import Rotation

    batch = T.shape[:-2]
    R = T[..., :3, :3]
    rotation = Rotation.from_matrix(R.reshape(-1, 3, 3))
    cos_pitch = np.hypot(R[..., 0, 0], R[..., 1, 0])
    locked = cos_pitch < 1e-9  # gimbal lock: the rotation is reported as roll, yaw is zero
    roll = np.where(locked, np.arctan2(-R[..., 1, 2], R[..., 1, 1]), np.arctan2(R[..., 2, 1], R[..., 2, 2]))
    yaw = np.where(locked, 0.0, np.arctan2(R[..., 1, 0], R[..., 0, 0]))
    angles = np.stack([roll, np.arctan2(-R[..., 2, 0], cos_pitch), yaw], axis=-1)
    return T[..., :3, 3], rotation.as_quat().reshape(*batch, 4), angles


def read_pose(position: str, rpy: str | None, quaternion: str | None) -> Array:
    """Parse one pose (4, 4); without an orientation the rotation is the identity."""
    if rpy is not None and quaternion is not None:
        raise InputError("--rpy and --quaternion both give the orientation; use one of them")
    values = [args.numbers(position, "--position", (3,))]
    values += [] if rpy is None else [args.numbers(rpy, "--rpy", (3,))]
    values += [] if quaternion is None else [args.numbers(quaternion, "--quaternion", (4,))]
    return pose_from_numbers(np.concatenate(values), "--quaternion")


def pose_from_numbers(values: Array, what: str) -> Array:
    """Make a pose (4, 4) of a position (3,), with roll, pitch, yaw (6,) or with a quaternion x y z w (7,)."""
    from scipy.spatial.transform import Rotation

    T = np.eye(4)
    T[:3, 3] = values[:3]
    if len(values) == 6:
        T[:3, :3] = Rotation.from_euler("xyz", values[3:]).as_matrix()
    elif len(values) == 7:
        norm = float(np.linalg.norm(values[3:]))
        if abs(norm - 1.0) > 1e-3:
            raise InputError(f"{what} must have a quaternion of norm 1, got {norm:.4g}; the order is x y z w")
        T[:3, :3] = Rotation.from_quat(values[3:]).as_matrix()
    return T


def read_poses(path: Path, frame: str) -> Array:
    """Read poses (n, 4, 4) from a file: an array `T`, or columns x y z qx qy qz qw, plain or as `<frame>.x`, ..."""
    from scipy.spatial.transform import Rotation

    columns = files.read_columns(path)
    whole = columns.get("T", columns.get(f"{frame}.T"))
    if whole is not None and whole.shape[-2:] == (4, 4):
        T = np.asarray(whole, dtype=float).reshape(-1, 4, 4)
        _check_rows(path, T.reshape(-1, 16))
        return T
    found = tables.stack(columns, frame, POSE_COLUMNS)
    if found is None or found.shape[-1] != 7:
        raise InputError(
            f"{path} needs an array T (n, 4, 4) or columns {', '.join(POSE_COLUMNS)}; "
            f"it has: {', '.join(list(columns)[:10])}"
        )
    found = found.reshape(-1, 7)
    _check_rows(path, found)
    T = np.tile(np.eye(4), (len(found), 1, 1))
    T[:, :3, :3], T[:, :3, 3] = Rotation.from_quat(found[:, 3:]).as_matrix(), found[:, :3]
    return T


def _check_rows(path: Path, rows: Array) -> None:
    """Raise InputError for a file without rows and for the first row that is not a pose."""
    if len(rows) == 0:
        raise InputError(f"{path} has no rows")
    bad = ~np.isfinite(rows).all(axis=1)
    if rows.shape[1] == 7:
        bad |= ~(np.abs(np.linalg.norm(rows[:, 3:], axis=1) - 1.0) < 1e-3)
    if bad.any():
        raise InputError(
            f"row {int(bad.argmax())} of {path} is not a pose: {rows[bad.argmax()].tolist()}; "
            "numbers must be finite and quaternions must have norm 1"
        )
