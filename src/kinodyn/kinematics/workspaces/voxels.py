"""Voxel counting: positions are mapped to integer keys, which are counted and converted to dense grids."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError

KEY_SPAN = 2**17  # voxels per axis that a key can number; three axes and MAX_DIRECTIONS fit into 63 bits
MAX_DIRECTIONS = 2000
MAX_VOXELS = 50_000_000

Keys = NDArray[np.int64]


def voxel_keys(offsets: Array, edge: float) -> Keys:
    """Number the voxels that positions (n, 3), relative to the centre, fall into.

    The centre is the middle of a voxel, so that rounding keeps a planar arm in one layer.
    """
    place = np.floor(offsets / edge + 0.5) + KEY_SPAN // 2
    if (place < 1).any() or (place >= KEY_SPAN - 1).any():
        raise InputError(
            f"resolution {edge:.3g} m is too fine for a reach of {np.abs(offsets).max():.3g} m; use a larger one"
        )
    x, y, z = place.astype(np.int64).T
    return np.asarray((x * KEY_SPAN + y) * KEY_SPAN + z)


def fibonacci_sphere(n: int) -> Array:
    """Distribute n unit vectors (n, 3) evenly over the sphere, on a spiral with the golden angle."""
    i = np.arange(n)
    z = 1.0 - (2 * i + 1) / n
    turn = np.pi * (3.0 - np.sqrt(5.0)) * i
    radius = np.sqrt(1.0 - z * z)
    return np.stack([radius * np.cos(turn), radius * np.sin(turn), z], axis=1)


@dataclass
class VoxelCounts:
    """Samples per voxel, and the distinct pairs of voxel and direction that were observed.

    Attributes
    ----------
    voxels, counts : (n,)
        Keys of the voxels, ascending, and samples in each.
    views : (m,)
        Keys of pairs, voxel * directions + direction, ascending.
    """

    voxels: Keys = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    counts: Keys = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    views: Keys = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def add(self, voxels: Keys, counts: Keys, views: Keys) -> None:
        """Add samples: `counts` of them in `voxels`, seen in `views`; keys may repeat."""
        keys, places = np.unique(np.concatenate([self.voxels, voxels]), return_inverse=True)
        total = np.zeros(len(keys), dtype=np.int64)
        np.add.at(total, places.ravel(), np.concatenate([self.counts, counts]))
        self.voxels, self.counts = keys, total
        self.views = np.unique(np.concatenate([self.views, views]))


def dense_grids(found: VoxelCounts, directions: int, dexterous: bool) -> tuple[Array, Keys, Keys]:
    """Create grids with an empty border: the corner (3,) in voxels, samples and distinct directions per voxel.

    The last grid is empty unless `dexterous`.
    """
    places = _places(found.voxels)
    corner = places.min(axis=0) - 1
    shape = tuple(int(size) for size in places.max(axis=0) - corner + 2)
    if np.prod([float(size) for size in shape]) > MAX_VOXELS:
        raise InputError(f"the grid would have {shape} voxels, more than {MAX_VOXELS}; use a larger resolution")
    counts = np.zeros(shape, dtype=np.int64)
    counts[tuple((places - corner).T)] = found.counts
    if not dexterous:
        return corner - KEY_SPAN // 2.0, counts, np.zeros((0, 0, 0), dtype=np.int64)
    seen = np.zeros(shape, dtype=np.int64)
    voxels, count = np.unique(found.views // directions, return_counts=True)
    seen[tuple((_places(voxels) - corner).T)] = count
    return corner - KEY_SPAN // 2.0, counts, seen


def _places(keys: Keys) -> Keys:
    return np.stack([keys // KEY_SPAN**2, keys // KEY_SPAN % KEY_SPAN, keys % KEY_SPAN], axis=1)
