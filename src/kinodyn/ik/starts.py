"""Starts of numeric inverse kinematics: the middle of the limits, then a quasi-random sequence within them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.space import SearchSpace
from kinodyn.model.robot import Robot

MAX_PARALLEL_STARTS = 11  # additional starts of a single target, solved together in the core


def initial_start(robot: Robot, space: SearchSpace, q0: ArrayLike | None) -> Array:
    """Validate and return q0 (..., nq), or return the middle of the limits."""
    if q0 is None:
        return space.middle
    return configuration(robot, q0, "q0")


def configuration(robot: Robot, q: ArrayLike, name: str) -> Array:
    """Return `q` as numbers (..., nq), or raise an error that calls it `name`."""
    try:
        result = np.asarray(q, dtype=float)
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"{name} must be numbers of shape (..., {robot.nq}), got {q!r}") from cause
    if result.ndim < 1 or result.shape[-1] != robot.nq:
        raise InputError(f"{name} must have shape (..., {robot.nq}), got {result.shape}")
    return result


class QuasiRandomStarts:
    """A low-discrepancy sequence of starts within the limits: multiples of the generalised golden ratio.

    M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018.
    """

    def __init__(self, space: SearchSpace, seed: int, skip: int = 0) -> None:
        self.space, self.drawn = space, np.flatnonzero(space.drawn)
        self.step, first = _additive_recurrence(len(self.drawn), seed)
        self.next = (first + skip * self.step) % 1.0

    def draw(self, start: Array) -> Array:
        """Draw one point for each row of `start` (n, nq), whose other coordinates are kept."""
        if len(start) == 0:
            return start
        points = (self.next + np.arange(1, len(start) + 1)[:, None] * self.step) % 1.0
        self.next = points[-1]
        q, low, high = np.array(start), self.space.low[self.drawn], self.space.high[self.drawn]
        q[:, self.drawn] = low + points * (high - low)
        return q


def parallel_starts(space: SearchSpace, start: Array, count: int, seed: int) -> Array:
    """Stack one start (1, nq) and the first `count` quasi-random ones, at most MAX_PARALLEL_STARTS: (m, nq)."""
    points, kept = _first_points(space, seed)
    rows: Array = points[: 1 + count].copy()
    if kept is None:
        rows[0] = start[0]
    else:
        np.copyto(rows, start, where=kept[: 1 + count])
    return rows


@lru_cache(maxsize=64)
def _first_points(space: SearchSpace, seed: int) -> tuple[Array, NDArray[np.bool_] | None]:
    """Draw the first quasi-random points after a row reserved for another start: (1 + MAX_PARALLEL_STARTS, nq).

    Returns the points, and a mask of the entries that are not drawn; None for the first row alone.
    """
    points = np.repeat(space.middle[None], 1 + MAX_PARALLEL_STARTS, axis=0)
    points[1:] = QuasiRandomStarts(space, seed).draw(points[1:])
    points.flags.writeable = False
    if space.drawn.all():
        return points, None
    kept = np.repeat(~space.drawn[None], len(points), axis=0)
    kept[0] = True
    kept.flags.writeable = False
    return points, kept


@lru_cache(maxsize=256)
def _additive_recurrence(dimension: int, seed: int) -> tuple[Array, Array]:
    """Compute the step of the sequence and the point before its first (dimension,)."""
    ratio = 2.0
    for _ in range(64):  # the root of x^(d + 1) = x + 1 above 1
        ratio = (1.0 + ratio) ** (1.0 / (dimension + 1))
    step, first = ratio ** -np.arange(1.0, dimension + 1), np.random.default_rng(seed).random(dimension)
    step.flags.writeable = first.flags.writeable = False
    return step, first
