"""Voxel counting: positions are mapped to integer keys, which are counted and converted to dense grids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError

KEY_SPAN = 2**17  # voxels per axis that a key can number; three axes and MAX_DIRECTIONS fit into 63 bits
MAX_DIRECTIONS = 2000
MAX_VOXELS = 50_000_000
MIN_MERGED = 2**20  # keys that are collected at least before they are sorted

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


class KeyCounts:
    """How often keys have occurred.

    Keys are collected and merged when there are as many new ones as there are distinct ones, so that a key is sorted a
    bounded number of times however many follow.
    """

    def __init__(self) -> None:
        self._keys, self._counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._pending: list[tuple[Keys, Keys | None]] = []
        self._waiting = 0

    def add(self, keys: Keys, counts: Keys | None = None) -> None:
        """Add keys, which may repeat, each `counts` times or once."""
        self._pending.append((keys, counts))
        self._waiting += len(keys)
        if self._waiting > max(MIN_MERGED, len(self._keys)):
            self._merge()

    def totals(self) -> tuple[Keys, Keys]:
        """Return the distinct keys, ascending, and the count of each."""
        self._merge()
        return self._keys, self._counts

    def _merge(self) -> None:
        single = [keys for keys, counts in self._pending if counts is None]
        parts = [_totals(np.concatenate(single))] if single else []
        parts += [(keys, counts) for keys, counts in self._pending if counts is not None]
        self._pending, self._waiting = [], 0
        if not parts:
            return
        keys = np.concatenate([self._keys, *(part for part, _ in parts)])
        counts = np.concatenate([self._counts, *(part for _, part in parts)])
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        first = _first_of_each(keys)
        self._keys, self._counts = keys[first], np.add.reduceat(counts, first) if len(first) else counts


def _totals(keys: Keys) -> tuple[Keys, Keys]:
    """Return distinct keys, ascending, and how often each occurs."""
    ordered = np.sort(keys)
    first = _first_of_each(ordered)
    return ordered[first], np.diff(first, append=len(ordered))


def _first_of_each(ordered: Keys) -> NDArray[np.intp]:
    """Return the index of the first of each group of equal keys."""
    changes: NDArray[np.intp] = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.concatenate([np.zeros(min(1, len(ordered)), dtype=np.intp), changes])


class VoxelCounts:
    """Samples per voxel, and the distinct pairs of voxel and direction that were observed."""

    def __init__(self) -> None:
        self._voxels, self._views = KeyCounts(), KeyCounts()

    def add(self, voxels: Keys, counts: Keys | None, views: Keys) -> None:
        """Add samples, one each: keys may repeat; or totals: `counts` of samples in `voxels`, seen in `views`."""
        self._voxels.add(voxels, counts)
        # totals are ascending, and stable sorting, which keys with counts take, is ten times as fast for them
        self._views.add(views, None if counts is None else np.ones(len(views), dtype=np.int64))

    def voxels(self) -> tuple[Keys, Keys]:
        """Return the keys of the voxels (n,), ascending, and the samples in each (n,)."""
        return self._voxels.totals()

    def views(self) -> Keys:
        """Return the keys of the pairs (m,), voxel * directions + direction, ascending."""
        return self._views.totals()[0]


def dense_grids(found: VoxelCounts, directions: int, dexterous: bool) -> tuple[Array, Keys, Keys]:
    """Create grids with an empty border: the corner (3,) in voxels, samples and distinct directions per voxel.

    The last grid is empty unless `dexterous`.
    """
    keys, samples = found.voxels()
    places = _places(keys)
    corner = places.min(axis=0) - 1
    shape = tuple(int(size) for size in places.max(axis=0) - corner + 2)
    if np.prod([float(size) for size in shape]) > MAX_VOXELS:
        raise InputError(f"the grid would have {shape} voxels, more than {MAX_VOXELS}; use a larger resolution")
    counts = np.zeros(shape, dtype=np.int64)
    counts[tuple((places - corner).T)] = samples
    if not dexterous:
        return corner - KEY_SPAN // 2.0, counts, np.zeros((0, 0, 0), dtype=np.int64)
    seen = np.zeros(shape, dtype=np.int64)
    voxels, count = _totals(found.views() // directions)
    seen[tuple((_places(voxels) - corner).T)] = count
    return corner - KEY_SPAN // 2.0, counts, seen


def _places(keys: Keys) -> Keys:
    return np.stack([keys // KEY_SPAN**2, keys // KEY_SPAN % KEY_SPAN, keys % KEY_SPAN], axis=1)
