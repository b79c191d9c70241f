"""Motion of the base in frames in which nothing else places it."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded
from scipy.ndimage import binary_dilation, maximum_filter1d, uniform_filter1d
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array

LIFTED = 3  # frames before and after one that is lifted out of the ground
DIFFERENCE = (1.0, -2.0, 1.0)  # second difference over time


def lifts(low: Array, given: NDArray[np.bool_]) -> Array:
    """Return by how much the base is lifted, so that no point is below the ground.

    Frames around are lifted as well, so that the motion stays smooth, but not those in which the pose is given.

    Parameters
    ----------
    low
        Depth of the lowest point (frames,) [m].
    given
        In which frames (frames,) the base is lifted by no more than that.

    Returns
    -------
    (frames,)
        [m]
    """
    lift = maximum_filter1d(low, 2 * LIFTED + 1, mode="nearest")
    lift = uniform_filter1d(lift, 2 * LIFTED + 1, mode="nearest")
    return np.where(given, low, lift)


def between(base: Array, placed: Array, given: NDArray[np.bool_], smoothing: float) -> Array:
    """Return poses that are `placed` in frames in which they are given, and follow `base` smoothly in the others.

    There, the difference from `base` is interpolated, and constant before the first and after the last frame that is
    given; second differences over time are then penalised.

    Parameters
    ----------
    base, placed
        Positions and quaternions (7, frames).
    given
        In which frames (frames,) poses are those of `placed`.
    smoothing
        Weight of second differences.

    Returns
    -------
    (7, frames)
    """
    result = placed.copy()
    at = np.flatnonzero(binary_dilation(~given, iterations=2))  # frames farther away do not matter
    part, fixed = _followed(base[:, at], placed[:, at], given[at], at), given[at]
    free = at[~fixed]
    signs = np.einsum("kt,kt->t", part[3:, 1:], part[3:, :-1]) < 0.0
    part[3:, 1:] *= np.where(np.cumsum(signs) % 2 == 1, -1.0, 1.0)
    result[:, free] = smoothed(part, ~fixed, smoothing)[:, ~fixed]
    result[3:, free] /= np.linalg.norm(result[3:, free], axis=0)
    return np.asarray(result)


def _followed(base: Array, placed: Array, given: NDArray[np.bool_], time: NDArray[np.intp]) -> Array:
    """Add to `base` (7, n) what it lacks of what is given, interpolated over time (n,)."""
    if not given.any():
        return np.asarray(base.copy())
    free, result = ~given, placed.copy()
    turns = Rotation.from_quat(base[3:].T)
    turn = (Rotation.from_quat(placed[3:, given].T) * turns[given].inv()).as_rotvec().T
    lack = np.vstack([placed[:3, given] - base[:3, given], turn])
    shift = np.stack([np.interp(time[free], time[given], row) for row in lack])
    result[:3, free] = base[:3, free] + shift[:3]
    result[3:, free] = (Rotation.from_rotvec(shift[3:].T) * turns[free]).as_quat().T
    return np.asarray(result)


def smoothed(rows: Array, free: NDArray[np.bool_], strength: float) -> Array:
    """Minimise |x - rows|^2 + strength |second differences of x|^2 over the frames that are free; others stay.

    Parameters
    ----------
    rows
        (n, frames).
    free
        (frames,).
    strength
        Weight of second differences.

    Returns
    -------
    (n, frames)
    """
    n = rows.shape[1]
    if n < len(DIFFERENCE):
        return rows
    bands = np.zeros((3, n))  # of 1 + strength D^T D: its diagonal, and the two below
    bands[0] = 1.0
    for first, second in combinations_with_replacement(range(3), 2):
        bands[second - first, first : n - 2 + first] += strength * DIFFERENCE[first] * DIFFERENCE[second]
    bands[0, ~free] = 1.0
    right = rows.copy()
    for below in (1, 2):  # rows of other frames become those of the identity
        coupling = bands[below, : n - below].copy()
        right[:, :-below] -= np.where(free[:-below] & ~free[below:], coupling, 0.0) * rows[:, below:]
        right[:, below:] -= np.where(~free[:-below] & free[below:], coupling, 0.0) * rows[:, :-below]
        bands[below, : n - below] = np.where(free[:-below] & free[below:], coupling, 0.0)
    return np.asarray(solveh_banded(bands, right.T, lower=True, check_finite=False).T)
