"""Whether acceptable footholds connect two places: a quick test that never rules out a path that exists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from kinodyn.arrays import Array
from kinodyn.terrain.height_map import HeightMap

CELL = 0.04  # [m] largest cell of the grid on which ground is connected
CELLS_IN_PASSAGE = 2.5  # of that grid, in the narrowest passage between walls
LAYERS = 4  # into which heights within one step are sorted
MAX_LAYERS = 400  # above which nothing is ruled out


def connected(
    ground: HeightMap, start: Array, goal: Array, *, reach: float, max_rise: float, passage: float = np.inf
) -> bool:
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
        Largest difference of their heights; ground that is higher than both feet by more than this is a wall [m].
    passage
        Width of the narrowest passage between walls that a foot needs [m].

    Returns
    -------
    bool
        False only if there is no path.

    Notes
    -----
    Heights are sorted into layers, four for the highest step, so that a step leads to a layer among the next four. In
    five consecutive layers, ground within reach is connected: it is the same component when dilated by half of it. What
    is higher than all ground of these layers by another step is a wall, which the line between two feet does not cross.
    """
    factor = max(1, int(min(CELL, passage / CELLS_IN_PASSAGE) / ground.cell + 1e-9))
    cell, thickness = factor * ground.cell, max_rise / LAYERS
    low, high = _extremes(ground.heights, factor)
    bottom = np.nanmin(low) if np.isfinite(low).any() else 0.0
    with np.errstate(invalid="ignore"):
        first, last = np.floor((low - bottom) / thickness), np.floor((high - bottom) / thickness)
    count = int(np.nanmax(last)) + 1 if np.isfinite(last).any() else 0
    if not 0 < count <= MAX_LAYERS:
        return True
    layers = [(first == k) | (last == k) for k in range(count)]
    radius = 0.5 * reach / cell + 1.5  # the rest for positions within cells
    tops = [max(_largest(low, first == k), _largest(high, last == k)) for k in range(count)]
    labels = _components(layers, [high > max(tops[k : k + LAYERS + 1]) + max_rise for k in range(count)], radius)
    shape = np.array(low.shape)
    ends = [((place - ground.region[0]) / cell).astype(int).clip(0, shape - 1) for place in (start, goal)]
    return _same_component(layers, labels, *ends)


def _components(
    layers: list[NDArray[np.bool_]], walls: list[NDArray[np.bool_]], radius: float
) -> list[NDArray[np.int_]]:
    """Label the components of the ground in each window of layers, dilated by a radius [cells]; -1 elsewhere."""
    labels: list[NDArray[np.int_]] = []
    total = 0
    for k in range(max(len(layers) - LAYERS, 1)):
        if k > 0 and not layers[k - 1].any() and not layers[k + LAYERS].any():
            labels.append(labels[-1])  # the same ground as in the window before
            continue
        ground = np.logical_or.reduce(layers[k : k + LAYERS + 1])
        near = ndimage.distance_transform_edt(~ground) <= radius if ground.any() else ground
        found, number = ndimage.label(near & ~walls[k], structure=np.ones((3, 3)))
        labels.append(np.where(found > 0, found + total - 1, -1))
        total += number
    return labels


def _same_component(
    layers: list[NDArray[np.bool_]],
    labels: list[NDArray[np.int_]],
    start: NDArray[np.int_],
    goal: NDArray[np.int_],
) -> bool:
    """Connect the components of consecutive windows over the layers that they share."""
    pairs = []
    for k, (below, above) in enumerate(zip(labels, labels[1:], strict=False)):
        shared = np.logical_or.reduce(layers[k + 1 : k + LAYERS + 1]) & (below >= 0) & (above >= 0)
        if below is not above:
            pairs.append(np.unique(np.column_stack([below[shared], above[shared]]), axis=0))
    edges = np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=int)
    total = max(int(own.max()) for own in labels) + 1
    graph = coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(total, total))
    component = connected_components(graph, directed=False)[1]
    first, last = ({int(component[own[i, j]]) for own in labels if own[i, j] >= 0} for i, j in (start, goal))
    return not first or not last or bool(first & last)


def _largest(values: Array, where: NDArray[np.bool_]) -> float:
    return float(values[where].max(initial=-np.inf))


def _extremes(heights: Array, factor: int) -> tuple[Array, Array]:
    """Return the least and the largest height in blocks of cells; NaN where a block has no ground."""
    nx, ny = (-(-n // factor) * factor for n in heights.shape)
    padded = np.full((nx, ny), np.nan)
    padded[: heights.shape[0], : heights.shape[1]] = np.where(np.isfinite(heights), heights, np.nan)
    blocks = padded.reshape(nx // factor, factor, ny // factor, factor)
    low = np.fmin.reduce(np.fmin.reduce(blocks, axis=3), axis=1)
    high = np.fmax.reduce(np.fmax.reduce(blocks, axis=3), axis=1)
    return np.asarray(low), np.asarray(high)
