"""Where numeric inverse kinematics starts: the middle of the limits first, then points spread evenly within them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

ENDLESS = 1e30  # stands for an infinite limit in the core, which wants finite numbers
AT_LIMIT = 1e-9
BESIDE = 11  # starts that a target alone has in the core beside its first, taken four by four


@dataclass(frozen=True, eq=False)
class Bounds:
    """The limits of a robot (nq,), as the solver needs them, made once for each robot."""

    lower: Array  # finite, for the core
    upper: Array
    near_lower: Array  # what counts as standing at a limit
    near_upper: Array
    low: Array  # from where to where starts are drawn
    high: Array
    middle: Array
    free: NDArray[np.intp]  # coordinates of free bodies and balls, which starts leave alone
    turning: NDArray[np.bool_]  # coordinates that come to the same place after a whole turn

    def active(self, q: Array) -> NDArray[np.bool_]:
        """Tell which coordinates stand at a limit."""
        at: NDArray[np.bool_] = (q <= self.near_lower) | (q >= self.near_upper)
        return at

    def wrapped(self, q: Array) -> Array:
        """Add whole turns that bring angles within their limits, where there are such."""
        turns = np.ceil((self.lower - AT_LIMIT - q) / (2 * np.pi)) * self.turning
        inside = q + 2 * np.pi * turns
        moved = self.turning & ((q < self.lower) | (q > self.upper)) & (inside <= self.upper + AT_LIMIT)
        return np.asarray(np.where(moved, inside, q))


_KNOWN: WeakKeyDictionary[Robot, Bounds] = WeakKeyDictionary()


def bounds_of(robot: Robot) -> Bounds:
    """Look up the bounds of a robot, or make them."""
    known = _KNOWN.get(robot)
    if known is not None:
        return known
    low, high = robot.sampling_range()
    middle, free, turning = 0.5 * (low + high), np.zeros(robot.nq, dtype=bool), np.zeros(robot.nq, dtype=bool)
    for joint in robot.joints:
        if joint.kind in ("floating", "ball"):
            free[joint.q] = True
        elif joint.mimic is None and joint.kind in ("revolute", "continuous"):
            turning[joint.q] = True
    for joint in robot.joints:
        while joint.mimic is not None:  # a whole turn of the leader need not be one of its follower
            joint = robot.joint(joint.mimic.joint)
            turning[joint.q] = False
    middle[free] = robot.neutral()[free]
    lower, upper = np.maximum(robot.limits.lower, -ENDLESS), np.minimum(robot.limits.upper, ENDLESS)
    near = lower + AT_LIMIT, upper - AT_LIMIT
    return _KNOWN.setdefault(robot, Bounds(lower, upper, *near, low, high, middle, np.flatnonzero(free), turning))


def first_start(robot: Robot, bounds: Bounds, q0: ArrayLike | None) -> Array:
    """Check q0 (..., nq), or take the middle of the limits."""
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


class EvenPoints:
    """Starts that fill the limits evenly: multiples of the generalised golden ratio (M. Roberts 2018)."""

    def __init__(self, bounds: Bounds, seed: int, skip: int = 0) -> None:
        self.bounds = bounds
        self.step, first = _golden(len(bounds.middle), seed)
        self.next = (first + skip * self.step) % 1.0

    def draw(self, start: Array) -> Array:
        """Draw one point for each row of `start` (n, nq), whose free bodies and balls it keeps."""
        if len(start) == 0:
            return start
        points = (self.next + np.arange(1, len(start) + 1)[:, None] * self.step) % 1.0
        self.next = points[-1]
        q: Array = self.bounds.low + points * (self.bounds.high - self.bounds.low)
        if len(self.bounds.free):
            q[:, self.bounds.free] = start[:, self.bounds.free]
        return q


def beside(bounds: Bounds, start: Array, count: int, seed: int) -> Array:
    """Put the first `count` even points, but no more than BESIDE, under one start (1, nq): (m, nq)."""
    rows: Array = _few(bounds, seed)[: 1 + count].copy()
    rows[0] = start[0]
    if len(bounds.free):
        rows[1:, bounds.free] = start[:, bounds.free]
    return rows


@lru_cache(maxsize=64)
def _few(bounds: Bounds, seed: int) -> Array:
    """Draw the first even points under a row that is left for another start: (1 + BESIDE, nq)."""
    middle = np.repeat(bounds.middle[None], BESIDE, axis=0)
    rows = np.concatenate([middle[:1], EvenPoints(bounds, seed).draw(middle)])
    rows.flags.writeable = False
    return rows


@lru_cache(maxsize=256)
def _golden(dimension: int, seed: int) -> tuple[Array, Array]:
    """Make the step from point to point, and the point before the first (dimension,)."""
    ratio = 2.0
    for _ in range(64):  # the root of x^(d + 1) = x + 1 above 1
        ratio = (1.0 + ratio) ** (1.0 / (dimension + 1))
    step, first = ratio ** -np.arange(1.0, dimension + 1), np.random.default_rng(seed).random(dimension)
    step.flags.writeable = first.flags.writeable = False
    return step, first
