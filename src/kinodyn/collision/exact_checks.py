"""Exact checks where spheres are too coarse: pairs whose spheres overlap are checked on the exact shapes."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.exact_shapes import ExactShapes, Pair, named_shapes
from kinodyn.collision.query import Pairs, Query, range_of

CONTACT_DISTANCE = 1e-5  # [m] a motion that comes nearer than this counts as a collision
NEAR_DISTANCE = 1e-3  # [m] pairs of spheres within this distance are checked exactly, if spheres block a motion
MAX_STEPS = 2000  # of a motion
MAX_DIVISIONS = 6


class ExactChecks:
    """Checks of configurations and motions on spheres first, and on the exact shapes where spheres touch.

    Parameters
    ----------
    query
        Query in which all joints move.
    allowed
        Pairs that may touch, beyond those of the robot.
    end
        Deadline on the clock of `time.perf_counter` [s], after which motions are reported as not free without a check.
    """

    def __init__(self, query: Query, allowed: Pairs, end: float = np.inf) -> None:
        self.query, self.robot, self.snapshot, self.allowed = query, query.robot, query.snapshot, allowed
        self.end = end

    def distances(self, q: Array, pairs: Iterable[Pair]) -> dict[Pair, float]:
        """Return the exact distance of each pair at a configuration (nq,) [m]."""
        shapes = ExactShapes(self.robot, self.snapshot, q)
        return {pair: exact.distance(*shapes.of_pair(pair)).distance for pair in pairs}

    def has_time(self, pairs: Iterable[Pair]) -> bool:
        """Return whether the shapes of pairs are prepared for exact checks, or can be prepared before `end`."""
        names = {name for pair in pairs for name in pair}
        return exact.prepared(named_shapes(self.robot, self.snapshot, names), self.end)

    def can_decide(self, q: Array) -> bool:
        """Return whether there is time to check a configuration (nq,) on the exact shapes."""
        return time.perf_counter() < self.end and self.has_time(self.query.touching(q))

    def colliding(self, q: Array) -> dict[Pair, float]:
        """Return the pairs that collide at a configuration (nq,), with the depth of each [m]."""
        distances = self.distances(q, self.query.touching(q))
        return {pair: -distance for pair, distance in distances.items() if distance <= 0.0}

    def motion_free(self, q0: Array, q1: Array, resolution: float, depth: int = MAX_DIVISIONS) -> bool:
        """Return whether a straight motion (nq,) is free throughout.

        Pairs whose spheres touch at an end or in the middle are followed by conservative advancement on the original
        shapes: while they move less than their distance, they cannot collide. All others are checked on spheres; where
        further ones touch, the motion is divided.
        """
        if time.perf_counter() > self.end:
            return False
        middle = self.robot.interpolate(q0, q1, 0.5)
        near = self._touching(self.query, q0, middle, q1)
        if not self.has_time(near):
            return False
        if self._others_free(q0, q1, near, resolution):
            return self._advance(q0, q1, near)
        # spheres that come nearer than the resolution block the motion without touching
        bounds = range_of(self.robot, q0, q1)
        nearby = self.query.of_all_joints(self.allowed, shrink=-NEAR_DISTANCE, bounds=bounds)
        further = self._touching(nearby, q0, middle, q1)
        if len(further) > len(near) and self.has_time(further) and self._others_free(q0, q1, further, resolution):
            return self._advance(q0, q1, further)
        if depth == 0 or min(self.distances(middle, near).values(), default=1.0) <= 0.0:
            return False
        return all(self.motion_free(a, b, resolution, depth - 1) for a, b in ((q0, middle), (middle, q1)))

    def _touching(self, query: Query, *configurations: Array) -> list[Pair]:
        return list(dict.fromkeys(pair for q in configurations for pair in query.touching(q)))

    def _others_free(self, q0: Array, q1: Array, pairs: list[Pair], resolution: float) -> bool:
        """Return whether a motion is free on spheres, except for some pairs."""
        allowed = self.allowed | {frozenset(pair) for pair in pairs}
        query = self.query.of_all_joints(allowed, bounds=range_of(self.robot, q0, q1))
        return bool(query.motion_free(q0, q1, resolution))

    def _advance(self, q0: Array, q1: Array, pairs: list[Pair]) -> bool:
        speeds = self.speeds(np.abs(self.robot.difference(q0, q1)), pairs)
        # pairs that the motion does not move relative to each other are as far apart all along, however near
        if not all(distance > 0.0 for distance in self.distances(q0, (p for p in pairs if speeds[p] == 0.0)).values()):
            return False
        pairs, s = [pair for pair in pairs if speeds[pair] > 0.0], 0.0
        for _ in range(MAX_STEPS):
            distances = self.distances(self.robot.interpolate(q0, q1, s), pairs)
            if s >= 1.0 or not distances:
                return min(distances.values(), default=1.0) > 0.0
            if min(distances.values()) <= CONTACT_DISTANCE or time.perf_counter() > self.end:
                return False
            s = min(1.0, s + min(distances[pair] / speeds[pair] for pair in pairs))
        return False

    def speeds(self, v: Array, pairs: list[Pair]) -> dict[Pair, float]:
        """Return bounds of how far the parts of each pair move towards each other over a motion (nv,) [m]."""
        core, groups = self.query.core, self.query.form.groups
        moved = dict(zip(groups, core.sweeps @ v, strict=True))
        # of two links, only the joints between them count
        relative = {
            frozenset((groups[a], groups[b])): float(moves)
            for (a, b), moves in zip(core.pairs, core.pair_sweeps @ v, strict=True)
        }
        return {
            pair: relative.get(frozenset(pair), sum(float(moved.get(name, 0.0)) for name in pair)) for pair in pairs
        }
