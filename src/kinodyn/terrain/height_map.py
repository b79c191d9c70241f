"""A map of heights on a grid of square cells, as a planner sees the terrain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import ndimage

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, nonnegative, numbers, positive, vector
from kinodyn.display import displayed
from kinodyn.errors import InputError

MAX_CELLS = 8_000_000
MAX_HEIGHT = 1e4  # [m]
SMOOTHING = 5  # cells of the median filter that removes noise from a map


@displayed
class HeightMap:
    """Heights of the ground in square cells.

    Parameters
    ----------
    heights : (nx, ny)
        Height of each cell [m]; -inf where there is no ground.
    cell
        Side of a cell [m].
    origin
        x, y [m] of the centre of the first cell.

    Attributes
    ----------
    heights, cell, origin
        As given.
    """

    @check_types
    def __init__(self, heights: ArrayLike, *, cell: float, origin: ArrayLike = (0.0, 0.0)) -> None:
        try:
            grid = np.array(heights, dtype=float)
        except (TypeError, ValueError, OverflowError) as cause:
            raise InputError(f"heights must be numbers (nx, ny), got {heights!r}") from cause
        if grid.ndim != 2 or grid.size == 0 or grid.size > MAX_CELLS:
            raise InputError(f"heights must be (nx, ny) with 1 to {MAX_CELLS} cells, got shape {grid.shape}")
        if np.isnan(grid).any() or (grid > MAX_HEIGHT).any() or (np.isfinite(grid) & (grid < -MAX_HEIGHT)).any():
            raise InputError(
                f"heights must be within {MAX_HEIGHT:g} m, or -inf where there is no ground; some are NaN or beyond"
            )
        self.heights: Array = grid
        self.cell, self.origin = positive("cell", cell), vector("origin", origin, 2).copy()

    def __repr__(self) -> str:
        nx, ny = self.heights.shape
        return f"HeightMap({nx} x {ny} cells of {self.cell:g} m, from {np.round(self.region[0], 3).tolist()})"

    @property
    def region(self) -> Array:
        """Least and largest x, y (2, 2) of its cells [m]."""
        low = self.origin - 0.5 * self.cell
        return np.array([low, low + self.cell * np.array(self.heights.shape)])

    def contains(self, xy: ArrayLike) -> Any:
        """Return whether positions are on the map.

        Parameters
        ----------
        xy
            (..., 2) [m]

        Returns
        -------
        (...) of bool
        """
        places, (low, high) = numbers("xy", xy, 2), self.region
        return ((places >= low) & (places < high)).all(axis=-1)

    def height(self, xy: ArrayLike) -> Array:
        """Look up the height of the cell below positions.

        Parameters
        ----------
        xy
            (..., 2) [m]

        Returns
        -------
        (...)
            [m]; -inf where there is no ground, and beyond the map.
        """
        places = numbers("xy", xy, 2)
        index = np.floor((places - self.region[0]) / self.cell)
        inside = ((index >= 0) & (index < self.heights.shape)).all(axis=-1)
        i, j = np.moveaxis(np.where(inside[..., None], index, 0).astype(int), -1, 0)
        result: Array = np.where(inside, self.heights[i, j], -np.inf)
        return result

    def disturbed(self, noise: float = 0.0, offset: float = 0.0, seed: int = 0) -> HeightMap:
        """Return a map with simulated errors.

        Parameters
        ----------
        noise
            Standard deviation of the height of each cell [m].
        offset
            Added to all heights [m].
        seed
            Seed of the noise.

        Returns
        -------
        HeightMap
        """
        shift = float(numbers("offset", offset))
        errors = nonnegative("noise", noise) * np.random.default_rng(seed).standard_normal(self.heights.shape)
        return HeightMap(self.heights + errors + shift, cell=self.cell, origin=self.origin)

    def smoothed(self) -> HeightMap:
        """Return the map with the median of 5 by 5 cells: noise shrinks, edges and levels stay."""
        low = float(np.min(self.heights, initial=0.0, where=np.isfinite(self.heights))) - 1.0
        solid = np.where(np.isfinite(self.heights), self.heights, low)
        median = ndimage.median_filter(solid, SMOOTHING, mode="nearest")
        return HeightMap(np.where(np.isfinite(self.heights), median, -np.inf), cell=self.cell, origin=self.origin)

    @check_types
    def coarser(self, factor: int) -> HeightMap:
        """Return a map with larger cells that have the largest height of the cells in them.

        Parameters
        ----------
        factor
            Cells along each side of a larger cell.

        Returns
        -------
        HeightMap
        """
        most = max(self.heights.shape)
        rows, columns = (-(-n // integer("factor", factor, least=1, most=most)) for n in self.heights.shape)
        padded = np.full((rows * factor, columns * factor), -np.inf)
        padded[: len(self.heights), : self.heights.shape[1]] = self.heights
        blocks = padded.reshape(rows, factor, columns, factor).max(axis=(1, 3))
        return HeightMap(blocks, cell=factor * self.cell, origin=self.origin + 0.5 * (factor - 1) * self.cell)

    def highest(self, radius: float) -> HeightMap:
        """Return the largest height within a distance of each cell.

        Parameters
        ----------
        radius
            [m]

        Returns
        -------
        HeightMap
        """
        reach = int(np.ceil(nonnegative("radius", radius) / self.cell))
        reach = min(reach, max(self.heights.shape))
        # rows of a disc, one after the other: a maximum along a row is fast for any length
        found = np.full_like(self.heights, -np.inf)
        rows = len(found)
        for row in range(-reach, reach + 1):
            half = int(np.floor(np.sqrt(max(reach**2 - row**2, 0.0))))
            along = ndimage.maximum_filter1d(self.heights, 2 * half + 1, axis=1, mode="constant", cval=-np.inf)
            shifted = np.full_like(found, -np.inf)
            source = slice(max(row, 0), rows + min(row, 0))
            target = slice(max(-row, 0), rows + min(-row, 0))
            shifted[target] = along[source]
            np.maximum(found, shifted, out=found)
        return HeightMap(found, cell=self.cell, origin=self.origin)


def checked_region(region: ArrayLike, cell: float) -> tuple[Array, tuple[int, int]]:
    """Return the lower corner (2,) of a region and the number of its cells, or raise InputError."""
    corners, side = numbers("region", region, 2), positive("cell", cell)
    if corners.shape != (2, 2) or not (corners[1] > corners[0]).all():
        raise InputError(f"region must be the least and the largest x, y, got {np.asarray(region).tolist()}")
    count = np.ceil((corners[1] - corners[0]) / side)
    if not count.prod() <= MAX_CELLS:
        raise InputError(
            f"the map would have {count.prod():.3g} cells, at most {MAX_CELLS} are allowed: use larger cells than "
            f"{side:g} m or a smaller region than {np.round(corners, 3).tolist()}"
        )
    return corners[0], (int(count[0]), int(count[1]))
