"""Paths that are free only on the exact shapes: edges are verified on them, and the path is shortened by such edges."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Query

SHORTCUT_SAMPLES = 32  # pairs of points between which shortcuts are tried at once
SHORTCUT_CHECKS = 2  # the most promising of these, checked on the exact shapes
MIN_GAIN = 1e-3  # of a shortcut, relative to the length of the path

Connect = Callable[[Array, Array], Array | None]


class ExactEdges:
    """Straight motions between configurations (nq,): most are rejected by smaller spheres, others by exact shapes.

    Parameters
    ----------
    checks
        Checks on the exact shapes; after their deadline no motion is reported free.
    query
        Collision query with reduced spheres, and with the joints that move.
    resolution
        Resolution of the continuous checks [m].
    """

    def __init__(self, checks: ExactChecks, query: Query, resolution: float) -> None:
        self.checks, self.query, self.resolution = checks, query, resolution

    def free(self, q0: Array, q1: Array) -> bool:
        """Return whether a motion is free throughout."""
        if self.checks.colliding(self.query.robot.interpolate(q0, q1, 0.5)):
            return False
        return self.checks.motion_free(q0, q1, self.resolution)

    def path_free(self, path: Array) -> bool:
        """Return whether all motions of a path (n, nq) between free ends are free."""
        # most paths that are not free are so at a vertex or in the middle of an edge, which takes less time to find
        middles = self.query.robot.interpolate(path[:-1], path[1:], 0.5)
        for q in (*path[1:-1], *middles):
            if time.perf_counter() > self.checks.end or self.checks.colliding(q):
                return False
        return all(self.checks.motion_free(a, b, self.resolution) for a, b in zip(path, path[1:], strict=False))

    def may_be_free(self, q0: Array, q1: Array) -> NDArray[np.bool_]:
        """Return which motions (..., nq) are free for the smaller spheres."""
        return self.query.motion_free(q0, q1, self.resolution)

    def shortened(self, path: Array, failures: int, seed: int) -> Array:
        """Shorten a free path (n, nq).

        Parameters
        ----------
        path
        failures
            Rounds in a row without a shortcut that end the search.
        seed
            Seed of the random number generator.
        """

        def connect(a: Array, b: Array) -> Array | None:
            return np.array([a, b]) if self.may_be_free(a, b) and self.free(a, b) else None

        path = without_vertices(self.query.robot.difference, path, connect, self.checks.end)
        rng, failed = np.random.default_rng(seed), 0
        while len(path) > 2 and failed < failures and time.perf_counter() < self.checks.end:
            shorter = self._shortcut(path, rng)
            failed = failed + 1 if shorter is None else 0
            path = path if shorter is None else shorter
        return path

    def _shortcut(self, path: Array, rng: np.random.Generator) -> Array | None:
        """Connect two random points of a path; None if none of the connections tried is free."""
        robot = self.query.robot
        edges = np.linalg.norm(robot.difference(path[:-1], path[1:]), axis=1)
        ends = np.cumsum(edges)
        along = np.sort(rng.uniform(0.0, ends[-1], (SHORTCUT_SAMPLES, 2)), axis=1)
        edge = np.minimum(np.searchsorted(ends, along), len(edges) - 1)
        part = 1.0 - (ends[edge] - along) / edges[edge]
        points = robot.interpolate(path[edge], path[edge + 1], part)
        gain = along[:, 1] - along[:, 0] - np.linalg.norm(robot.difference(points[:, 0], points[:, 1]), axis=1)
        chosen = np.flatnonzero((edge[:, 0] < edge[:, 1]) & (gain > MIN_GAIN * ends[-1]))
        chosen = chosen[self.may_be_free(points[chosen, 0], points[chosen, 1])] if len(chosen) else chosen
        for k in chosen[np.argsort(-gain[chosen])][:SHORTCUT_CHECKS]:
            if self.free(points[k, 0], points[k, 1]):
                return np.vstack([path[: edge[k, 0] + 1], points[k], path[edge[k, 1] + 1 :]])
        return None


def without_vertices(difference: Callable[[Array, Array], Array], path: Array, connect: Connect, end: float) -> Array:
    """Replace parts of a path between its vertices, the longest first, while there is time.

    Parameters
    ----------
    difference
        Tangent vectors between configurations, for lengths.
    path : (n, nq)
    connect
        Returns a free path between two configurations, None if there is none.
    end
        Deadline on the clock of `time.perf_counter` [s].
    """
    first = 0
    while first + 2 < len(path):
        for last in range(len(path) - 1, first + 1, -1):
            if time.perf_counter() > end:
                return path
            part = connect(path[first], path[last])
            longest = (1.0 + 1e-9) * _length(difference, path[first : last + 1])
            if part is not None and len(part) < last - first + 1 and _length(difference, part) <= longest:
                path = np.vstack([path[:first], part, path[last + 1 :]])
                break
        first += 1
    return path


def _length(difference: Callable[[Array, Array], Array], path: Array) -> float:
    return float(np.linalg.norm(difference(path[:-1], path[1:]), axis=1).sum())
