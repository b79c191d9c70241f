"""Quaternions [x y z w] over any batch axes, where SciPy takes one batch axis at most."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array


def rotation_matrix(quaternion: Array) -> Array:
    """Return the rotation `(..., 3, 3)` of unit quaternions `(..., 4)`."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def roll_pitch_yaw(quaternion: Array) -> Array:
    """Return angles `(..., 3)` with R = Rz(yaw) Ry(pitch) Rx(roll), pitch between -pi/2 and pi/2.

    With h = pitch / 2: (w + y, z - x) is cos h + sin h at the angle (yaw - roll) / 2, and (w - y, z + x) is
    cos h - sin h at the angle (yaw + roll) / 2. This stays exact where pitch is a right angle, when only one of the
    two angles means anything and the other may be any.
    """
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    half_difference, half_sum = np.arctan2(z - x, w + y), np.arctan2(z + x, w - y)
    pitch = 2 * np.arctan2(np.hypot(z - x, w + y), np.hypot(z + x, w - y)) - np.pi / 2
    roll, yaw = (
        np.remainder(a + np.pi, 2 * np.pi) - np.pi for a in (half_sum - half_difference, half_sum + half_difference)
    )
    return np.stack([roll, pitch, yaw], axis=-1)


def quaternion_of_rpy(angles: Array) -> Array:
    """Return unit quaternions `(..., 4)` of R = Rz(yaw) Ry(pitch) Rx(roll), from `(..., 3)` roll, pitch, yaw."""
    (cr, cp, cy), (sr, sp, sy) = (np.moveaxis(f(angles / 2), -1, 0) for f in (np.cos, np.sin))
    x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
    z, w = cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
    return np.stack([x, y, z, w], axis=-1)
