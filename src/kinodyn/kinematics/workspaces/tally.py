"""Counting in voxels: positions become whole numbers, whole numbers are counted, the counts become a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError

SPAN = 2**17  # voxels on each axis that a key has room for; three axes and MOST_DIRECTIONS fit into 63 bits
MOST_DIRECTIONS = 2000
LARGEST_GRID = 50_000_000

Keys = NDArray[np.int64]


def voxel_keys(away: Array, edge: float) -> Keys:
    """Number the voxels that positions (n, 3), relative to the centre, fall into.

    The centre is in the middle of a voxel, so that rounding keeps an arm in a plane in one layer.
    """
    place = np.floor(away / edge + 0.5) + SPAN // 2
    if (place < 1).any() or (place >= SPAN - 1).any():
        raise InputError(
            f"resolution {edge:.3g} m is too fine for a reach of {np.abs(away).max():.3g} m; take a larger one"
        )
    x, y, z = place.astype(np.int64).T
    return np.asarray((x * SPAN + y) * SPAN + z)


def spread(n: int) -> Array:
    """Spread n unit vectors (n, 3) evenly over the sphere, along a spiral that turns by the golden angle."""
    i = np.arange(n)
    z = 1.0 - (2 * i + 1) / n
    turn = np.pi * (3.0 - np.sqrt(5.0)) * i
    radius = np.sqrt(1.0 - z * z)
    return np.stack([radius * np.cos(turn), radius * np.sin(turn), z], axis=1)


def dense(keys: Keys, views: Keys | None, directions: int) -> tuple[Array, Keys, Keys]:
    """Lay out what was counted as grids with an empty rim: the corner (3,) in voxels, samples and directions by voxel.

    `views` number pairs of voxel and direction; without them the last grid is empty.
    """
    voxels, count = np.unique(keys, return_counts=True)
    places = _places(voxels)
    corner = places.min(axis=0) - 1
    shape = tuple(int(size) for size in places.max(axis=0) - corner + 2)
    if np.prod([float(size) for size in shape]) > LARGEST_GRID:
        raise InputError(f"the grid would have {shape} voxels, more than {LARGEST_GRID}; take a larger resolution")
    counts = np.zeros(shape, dtype=np.int64)
    counts[tuple((places - corner).T)] = count
    if views is None:
        return corner - SPAN // 2.0, counts, np.zeros((0, 0, 0), dtype=np.int64)
    seen = np.zeros(shape, dtype=np.int64)
    voxels, count = np.unique(np.unique(views) // directions, return_counts=True)
    seen[tuple((_places(voxels) - corner).T)] = count
    return corner - SPAN // 2.0, counts, seen


def _places(keys: Keys) -> Keys:
    return np.stack([keys // SPAN**2, keys // SPAN % SPAN, keys % SPAN], axis=1)
