"""Corners of paths: points where a trajectory stops and continues in another direction, such as backwards.

A path has no tangent there, and no motion along it can pass without stopping: each part is a separate path.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from kinodyn.arrays import Array
from kinodyn.trajectory.base import JointTrajectory

SLOW = 1e-3  # fraction of the largest speed below which a stop is searched
STOPPED = 1e-6  # fraction of the largest speed that counts as a stop
MIN_ANGLE = 0.02  # between the directions before and after a stop [rad]
SAMPLES = 20001


def sample(path: JointTrajectory) -> tuple[Array, Array]:
    """Return times (n,) that include the knots [s], and the norm of the velocity at them (n,)."""
    t = np.union1d(np.linspace(0.0, path.duration, SAMPLES), path.knots)
    return t, np.linalg.norm(path(t, 1), axis=1)


def find_corners(path: JointTrajectory) -> list[float]:
    """Find the times at which a trajectory stops and changes its direction [s], in order, ends excluded.

    Parameters
    ----------
    path

    Returns
    -------
    list of float
    """
    t, speed = sample(path)
    fastest = float(speed.max(initial=0.0))
    low = _minima(speed)
    found = []
    for begin, end in zip(low[:-1:2], low[1::2], strict=True):
        before, after = _slow_interval(speed, int(begin), int(end), SLOW * fastest)
        if before < 0 or after >= len(t):
            continue
        stop = _slowest(path, float(t[max(begin - 1, 0)]), float(t[min(end + 1, len(t) - 1)]))
        if np.linalg.norm(path(stop, 1)) <= STOPPED * fastest and _angle(path, t[before], t[after]) > MIN_ANGLE:
            found.append(stop)
    return found


def _minima(speed: Array) -> list[int]:
    """Return the first and the last index of each local minimum, alternately; plateaus count once."""
    falls = np.concatenate([[False], speed[1:] < speed[:-1]])
    rises = np.concatenate([speed[:-1] < speed[1:], [False]])
    indices: list[int] = []
    for first in np.flatnonzero(falls):
        last = int(first)
        while last + 1 < len(speed) and speed[last + 1] == speed[first]:
            last += 1
        if rises[last]:
            indices += [int(first), last]
    return indices


def _slow_interval(speed: Array, first: int, last: int, limit: float) -> tuple[int, int]:
    """Widen a minimum until the speed exceeds the limit on both sides; -1 or n if it never does."""
    while first >= 0 and speed[first] <= limit:
        first -= 1
    while last < len(speed) and speed[last] <= limit:
        last += 1
    return first, last


def _slowest(path: JointTrajectory, begin: float, end: float) -> float:
    """Find the time of the least speed between two times, to rounding; of an interval of zero speed some time in it."""
    found = minimize_scalar(
        lambda at: float(np.linalg.norm(path(at, 1))), bounds=(begin, end), method="bounded", options={"xatol": 1e-15}
    )
    return float(found.x)


def _angle(path: JointTrajectory, before: float, after: float) -> float:
    """Return the angle between the velocities at two times [rad]."""
    first, second = path(before, 1), path(after, 1)
    cosine = first @ second / (np.linalg.norm(first) * np.linalg.norm(second))
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))
