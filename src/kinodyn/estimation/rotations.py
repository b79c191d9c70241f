"""Single rotations, in plain floats: at a thousand updates a second, calls that check and broadcast cost too much."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from kinodyn.arrays import Array


def rotation(vector: Array) -> Array:
    """Turn a rotation vector (3,) [rad] into a matrix (3, 3)."""
    x, y, z = vector.tolist()
    angle = sqrt(x * x + y * y + z * z)
    half = 0.5 * angle
    # sin(angle) / angle and (1 - cos(angle)) / angle^2, which rounding does not spoil at small angles
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
    """Write a rotation matrix as a unit quaternion x, y, z, w; the largest part is found first (S. Shepperd, 1978)."""
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


def straightened(R: Array) -> Array:
    """Take away what rounding did to a rotation matrix (3, 3): one step of Newton's method for the polar factor."""
    result: Array = 1.5 * R - 0.5 * (R @ (R.T @ R))
    return result
