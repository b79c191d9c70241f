"""Single rotations in plain floats: at 1 kHz, functions that check and broadcast are too slow."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from kinodyn.arrays import Array


def rotation(vector: Array) -> Array:
    """Convert a rotation vector (3,) [rad] to a matrix (3, 3)."""
    x, y, z = vector.tolist()
    angle = sqrt(x * x + y * y + z * z)
    half = 0.5 * angle
    # sin(angle) / angle and (1 - cos(angle)) / angle^2, accurate at small angles
    a, b = (1.0, 0.5) if angle < 1e-9 else (sin(angle) / angle, 0.5 * (sin(half) / half) ** 2)
    c = cos(angle) if angle >= 1e-9 else 1.0
    return np.array(
        [
            [c + b * x * x, b * x * y - a * z, b * x * z + a * y],
            [b * x * y + a * z, c + b * y * y, b * y * z - a * x],
            [b * x * z - a * y, b * y * z + a * x, c + b * z * z],
        ]
    )


def quaternion(R: Array) -> tuple[float, float, float, float]:
    """Convert a rotation matrix to a unit quaternion x, y, z, w by its largest component (S. Shepperd, 1978)."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    parts = (a - e - i, e - a - i, i - a - e, a + e + i)
    most = parts.index(max(parts))
    x, y, z, w = (
        (1.0 + parts[0], b + d, g + c, h - f),
        (b + d, 1.0 + parts[1], f + h, c - g),
        (g + c, f + h, 1.0 + parts[2], d - b),
        (h - f, c - g, d - b, 1.0 + parts[3]),
    )[most]
    scale = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return scale * x, scale * y, scale * z, scale * w


def orthonormalised(R: Array) -> Array:
    """Remove rounding errors of a rotation matrix (3, 3) by one Newton step towards its polar factor."""
    result: Array = 1.5 * R - 0.5 * (R @ (R.T @ R))
    return result
