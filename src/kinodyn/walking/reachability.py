"""Whether ground that can be stepped on connects two places: a quick test that never rules out a path that exists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from kinodyn.arrays import Array
from kinodyn.terrain.height_map import HeightMap

CELL = 0.04  # [m] of the grid on which ground is connected
MAX_LAYERS = 40  # above which nothing is ruled out


def connected(ground: HeightMap, start: Array, goal: Array, *, reach: float, max_rise: float) -> bool:
    """Return whether steps of a length and a height may connect two positions (2,).

    Parameters
    ----------
    ground
        Map; places without ground are -inf.
    start, goal
        x, y [m] on the map.
    reach
        Largest distance between the ground below consecutive feet [m].
    max_rise
        Largest difference of their heights [m].

    Returns
    -------
    bool
        False only if there is no path.

    Notes
    -----
    Heights are sorted into layers as thick as the highest step, so that a step leads to the same layer or the next one.
    In two adjacent layers, ground within reach is connected: it is the same component when dilated by half of it.
    """
    factor = max(1, round(CELL / ground.cell))
    cell = factor * ground.cell
    low, high = _extremes(ground.heights, factor)
    bottom = np.nanmin(low) if np.isfinite(low).any() else 0.0
    with np.errstate(invalid="ignore"):
        first, last = np.floor((low - bottom) / max_rise), np.floor((high - bottom) / max_rise)
    count = int(np.nanmax(last)) + 1 if np.isfinite(last).any() else 0
    if not 0 < count <= MAX_LAYERS:
        return True
    layers = [(first <= k) & (k <= last) for k in range(count)]
    radius = 0.5 * reach / cell + 1.5  # the rest for positions within cells
    shape = np.array(low.shape)
    ends = [((place - ground.region[0]) / cell).astype(int).clip(0, shape - 1) for place in (start, goal)]
    return _same_component(layers, radius, *ends)


def _same_component(
    layers: list[NDArray[np.bool_]], radius: float, start: NDArray[np.int_], goal: NDArray[np.int_]
) -> bool:
    """Connect the components of each pair of adjacent layers over the layer that they share."""
    labels, total = [], 0
    for k in range(max(len(layers) - 1, 1)):
        ground = layers[k] | layers[min(k + 1, len(layers) - 1)]
        near = ndimage.distance_transform_edt(~ground) <= radius if ground.any() else ground
        found, number = ndimage.label(near, structure=np.ones((3, 3)))
        labels.append(np.where(found > 0, found + total - 1, -1))
        total += number
    pairs = []
    for shared, below, above in zip(layers[1:-1], labels, labels[1:], strict=False):
        pairs.append(np.unique(np.column_stack([below[shared], above[shared]]), axis=0))
    edges = np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=int)
    graph = coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(total, total))
    component = connected_components(graph, directed=False)[1]
    first, last = ({int(component[own[i, j]]) for own in labels if own[i, j] >= 0} for i, j in (start, goal))
    return not first or not last or bool(first & last)


def _extremes(heights: Array, factor: int) -> tuple[Array, Array]:
    """Return the least and the largest height in blocks of cells; NaN where a block has no ground."""
    nx, ny = (-(-n // factor) * factor for n in heights.shape)
    padded = np.full((nx, ny), np.nan)
    padded[: heights.shape[0], : heights.shape[1]] = np.where(np.isfinite(heights), heights, np.nan)
    blocks = padded.reshape(nx // factor, factor, ny // factor, factor)
    low = np.fmin.reduce(np.fmin.reduce(blocks, axis=3), axis=1)
    high = np.fmax.reduce(np.fmax.reduce(blocks, axis=3), axis=1)
    return np.asarray(low), np.asarray(high)
