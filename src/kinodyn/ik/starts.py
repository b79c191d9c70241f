"""Starts of numeric inverse kinematics: the middle of the limits, then a quasi-random sequence within them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

INFINITE_LIMIT = 1e30  # stands for an infinite limit: the core takes finite numbers only
LIMIT_TOLERANCE = 1e-9  # from a limit, within which a coordinate counts as at it [rad or m]
MAX_PARALLEL_STARTS = 11  # additional starts of a single target, solved together in the core


@dataclass(frozen=True, eq=False)
class Bounds:
    """The limits of a robot (nq,) in the form the solver needs, computed once for each robot."""

    lower: Array  # finite, for the core
    upper: Array
    near_lower: Array  # at or below: the coordinate is at its lower limit
    near_upper: Array
    low: Array  # range of the starts
    high: Array
    middle: Array
    fixed: NDArray[np.intp]  # coordinates of floating and ball joints, which starts do not change
    periodic: NDArray[np.bool_]  # coordinates with the same pose after a whole turn

    def active(self, q: Array) -> NDArray[np.bool_]:
        """Tell which coordinates are at a limit."""
        at: NDArray[np.bool_] = (q <= self.near_lower) | (q >= self.near_upper)
        return at

    def wrapped(self, q: Array) -> Array:
        """Add whole turns that bring angles within their limits, where possible."""
        turns = np.ceil((self.lower - LIMIT_TOLERANCE - q) / (2 * np.pi)) * self.periodic
        inside = q + 2 * np.pi * turns
        moved = self.periodic & ((q < self.lower) | (q > self.upper)) & (inside <= self.upper + LIMIT_TOLERANCE)
        return np.asarray(np.where(moved, inside, q))


_KNOWN: WeakKeyDictionary[Robot, Bounds] = WeakKeyDictionary()


def bounds_of(robot: Robot) -> Bounds:
    """Return the bounds of a robot, cached."""
    known = _KNOWN.get(robot)
    if known is not None:
        return known
    low, high = robot.sampling_range()
    middle, fixed, periodic = 0.5 * (low + high), np.zeros(robot.nq, dtype=bool), np.zeros(robot.nq, dtype=bool)
    for joint in robot.joints:
        if joint.kind in ("floating", "ball"):
            fixed[joint.q] = True
        elif joint.mimic is None and joint.kind in ("revolute", "continuous"):
            periodic[joint.q] = True
    for joint in robot.joints:
        while joint.mimic is not None:  # a whole turn of the leader need not be one of its mimic joint
            joint = robot.joint(joint.mimic.joint)
            periodic[joint.q] = False
    middle[fixed] = robot.neutral()[fixed]
    lower, upper = np.maximum(robot.limits.lower, -INFINITE_LIMIT), np.minimum(robot.limits.upper, INFINITE_LIMIT)
    near = lower + LIMIT_TOLERANCE, upper - LIMIT_TOLERANCE
    return _KNOWN.setdefault(robot, Bounds(lower, upper, *near, low, high, middle, np.flatnonzero(fixed), periodic))


def initial_start(robot: Robot, bounds: Bounds, q0: ArrayLike | None) -> Array:
    """Return q0 (..., nq), checked, or the middle of the limits."""
    if q0 is None:
        return bounds.middle
    return configuration(robot, q0, "q0")


def configuration(robot: Robot, q: ArrayLike, name: str) -> Array:
    """Return `q` as numbers (..., nq), or raise an error that calls it `name`."""
    try:
        result = np.asarray(q, dtype=float)
    except (TypeError, ValueError) as cause:
        raise InputError(f"{name} must be numbers of shape (..., {robot.nq}), got {q!r}") from cause
    if result.ndim < 1 or result.shape[-1] != robot.nq:
        raise InputError(f"{name} must have shape (..., {robot.nq}), got {result.shape}")
    return result


class QuasiRandomStarts:
    """A low-discrepancy sequence of starts within the limits: multiples of the generalised golden ratio.

    M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018.
    """

    def __init__(self, bounds: Bounds, seed: int, skip: int = 0) -> None:
        self.bounds = bounds
        self.step, first = _golden(len(bounds.middle), seed)
        self.next = (first + skip * self.step) % 1.0

    def draw(self, start: Array) -> Array:
        """Draw one point for each row of `start` (n, nq), keeping its floating and ball joints."""
        if len(start) == 0:
            return start
        points = (self.next + np.arange(1, len(start) + 1)[:, None] * self.step) % 1.0
        self.next = points[-1]
        q: Array = self.bounds.low + points * (self.bounds.high - self.bounds.low)
        if len(self.bounds.fixed):
            q[:, self.bounds.fixed] = start[:, self.bounds.fixed]
        return q


def parallel_starts(bounds: Bounds, start: Array, count: int, seed: int) -> Array:
    """Stack one start (1, nq) and the first `count` quasi-random ones, at most MAX_PARALLEL_STARTS: (m, nq)."""
    rows: Array = _first_points(bounds, seed)[: 1 + count].copy()
    rows[0] = start[0]
    if len(bounds.fixed):
        rows[1:, bounds.fixed] = start[:, bounds.fixed]
    return rows


@lru_cache(maxsize=64)
def _first_points(bounds: Bounds, seed: int) -> Array:
    """Draw the first quasi-random points after a row reserved for another start: (1 + MAX_PARALLEL_STARTS, nq)."""
    middle = np.repeat(bounds.middle[None], MAX_PARALLEL_STARTS, axis=0)
    rows = np.concatenate([middle[:1], QuasiRandomStarts(bounds, seed).draw(middle)])
    rows.flags.writeable = False
    return rows


@lru_cache(maxsize=256)
def _golden(dimension: int, seed: int) -> tuple[Array, Array]:
    """Compute the step of the sequence and the point before its first (dimension,)."""
    ratio = 2.0
    for _ in range(64):  # the root of x^(d + 1) = x + 1 above 1
        ratio = (1.0 + ratio) ** (1.0 / (dimension + 1))
    step, first = ratio ** -np.arange(1.0, dimension + 1), np.random.default_rng(seed).random(dimension)
    step.flags.writeable = first.flags.writeable = False
    return step, first
