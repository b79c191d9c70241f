"""A probabilistic roadmap: free configurations, motions between neighbours, and shortest paths among them.

L. Kavraki, P. Svestka, J. Latombe, M. Overmars, "Probabilistic roadmaps for path planning in high-dimensional
configuration spaces", IEEE T-RA 12, 1996; number of neighbours of PRM*: S. Karaman, E. Frazzoli, IJRR 30, 2011; motions
are checked when a path would use them: R. Bohlin, L. Kavraki, "Path planning using lazy PRM", ICRA 2000.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from kinodyn.arrays import Array
from kinodyn.collision.query import Query
from kinodyn.planning.search import full

BLOCKED, FREE, UNKNOWN = 0, 1, 2
INFINITE_LENGTH = 1e30  # length of a motion that is not free
MAX_BATCHES = 16  # of samples, until enough are free
BATCH = 256  # motions checked between two readings of the clock


class Adjacency(NamedTuple):
    """Motions by vertex, in both directions, as compressed sparse rows; `order` are their indices, twice."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    order: NDArray[np.intp]
    lengths: Array


class Graph:
    """Vertices (n, dofs) with their motions to neighbours (m, 2), each free, blocked or unknown.

    Parameters
    ----------
    bounds
        Lower and upper limits (dofs,) of vertices.
    seed
        Seed of the random number generator.
    """

    def __init__(self, bounds: tuple[Array, Array], seed: int) -> None:
        self.bounds, self.rng = bounds, np.random.default_rng(seed)
        self.points = np.zeros((0, len(bounds[0])))
        self.is_free = np.zeros(0, dtype=bool)
        self.edges = np.zeros((0, 2), dtype=np.int64)
        self.states = np.zeros(0, dtype=np.int8)
        self.checked = 0  # motions, so far
        self._known: Adjacency | None = None

    def grow(self, query: Query, count: int, resolution: float, end: float = math.inf) -> None:
        """Add free vertices and their motions, checked in batches, until the time `end`."""
        new = self._samples(query, count, end)
        self.points = np.concatenate([self.points, new])
        self.is_free = np.concatenate([self.is_free, np.ones(len(new), dtype=bool)])
        if len(new) == 0 or len(self.points) < 2:
            return
        first = len(self.points) - len(new)
        _, near = cKDTree(self.points).query(new, k=1 + self.neighbours())
        ends = np.stack([np.repeat(np.arange(first, len(self.points)), near.shape[1]), near.ravel()], axis=1)
        ends = np.unique(np.sort(ends[(ends[:, 0] != ends[:, 1]) & (ends[:, 1] < len(self.points))], axis=1), axis=0)
        self.edges = np.concatenate([self.edges, ends])
        self.states = np.concatenate([self.states, np.full(len(ends), UNKNOWN, dtype=np.int8)])
        unknown = np.arange(len(self.edges) - len(ends), len(self.edges))
        for some in range(0, len(unknown), BATCH):
            if time.perf_counter() > end:
                return  # the others are checked when a path would use them
            self.check(query, unknown[some : some + BATCH], resolution)

    def usable(self) -> NDArray[np.bool_]:
        """Return which motions are not known to be blocked."""
        return np.asarray((self.states != BLOCKED) & self.is_free[self.edges].all(axis=1))

    def neighbours(self) -> int:
        """Return the number of neighbours of a vertex, that of PRM*."""
        n, d = len(self.points), self.points.shape[1]
        return min(n - 1, math.ceil(math.e * (1.0 + 1.0 / d) * math.log(max(n, 2))))

    def check(self, query: Query, edges: NDArray[np.intp], resolution: float) -> None:
        """Check motions by their index."""
        q0, q1 = (full(query, self.points[self.edges[edges, side]]) for side in (0, 1))
        self.states[edges] = np.where(query.motion_free(q0, q1, resolution), FREE, BLOCKED)
        self.checked += len(edges)

    def invalidate(self, query: Query, added: bool, removed: bool) -> None:
        """Check all vertices again after a change; motions become unknown.

        Free motions do so if something was added, blocked motions if something was removed.
        """
        self.is_free = query.free(full(query, self.points)) if len(self.points) else self.is_free
        self.states[((self.states == FREE) & added) | ((self.states == BLOCKED) & removed)] = UNKNOWN

    def search(self, query: Query, start: Array, goals: Array, resolution: float, end: float) -> Array | None:
        """Return the shortest path (k, dofs) from the start (dofs,) to one of the goals (n, dofs), None without one."""
        direct = query.motion_free(
            full(query, np.broadcast_to(start, goals.shape)), full(query, goals), resolution
        ).nonzero()[0]
        if len(direct):
            nearest = direct[np.linalg.norm(goals[direct] - start, axis=1).argmin()]
            return np.array([start, goals[nearest]])
        usable = self.is_free.nonzero()[0]
        if len(usable) < 2:
            return None
        tree = cKDTree(self.points[usable])
        from_start = self._connections(query, tree, usable, start, resolution)
        to_goals = []
        for goal in goals:
            if time.perf_counter() > end:
                return None
            to_goals.append(self._connections(query, tree, usable, goal, resolution))
        while time.perf_counter() < end:
            found = self._shortest(from_start, to_goals)
            if found is None:
                return None
            vertices, goal = found
            edges = self._between(vertices)
            unknown = edges[self.states[edges] == UNKNOWN]
            if len(unknown) == 0:
                return np.vstack([start, self.points[vertices], goals[goal]])
            self.check(query, unknown, resolution)
        return None

    def _samples(self, query: Query, count: int, end: float) -> Array:
        found = [np.zeros((0, self.points.shape[1]))]
        for _ in range(MAX_BATCHES):
            if sum(map(len, found)) >= count or time.perf_counter() > end:
                break
            q = self.rng.uniform(*self.bounds, (2 * count, self.points.shape[1]))
            found.append(q[query.free(full(query, q))])
        return np.concatenate(found)[:count]

    def _connections(
        self, query: Query, tree: cKDTree, usable: NDArray[np.intp], q: Array, resolution: float
    ) -> tuple[NDArray[np.intp], Array]:
        """Return the vertices that a free motion connects with q (dofs,), and their distances."""
        distances, near = tree.query(q, k=min(len(usable), 1 + self.neighbours()))
        vertices = usable[near]
        others = full(query, self.points[vertices])
        free = query.motion_free(np.broadcast_to(full(query, q), others.shape), others, resolution)
        self.checked += len(vertices)
        return vertices[free], distances[free]

    def _shortest(
        self, from_start: tuple[NDArray[np.intp], Array], to_goals: list[tuple[NDArray[np.intp], Array]]
    ) -> tuple[NDArray[np.intp], int] | None:
        """Return the vertices of the shortest path whose motions are not blocked, and the goal that it leads to."""
        n, adjacency = len(self.points), self._adjacency()
        weights = np.where(self.usable(), adjacency.lengths, INFINITE_LENGTH)
        graph = csr_array(
            (
                np.concatenate([np.concatenate([weights, weights])[adjacency.order], from_start[1]]),
                np.concatenate([adjacency.columns, from_start[0]]),
                np.append(adjacency.rows, adjacency.rows[-1] + len(from_start[0])),
            ),
            shape=(n + 1, n + 1),
        )
        distances, before = dijkstra(graph, indices=n, return_predecessors=True)
        best = (INFINITE_LENGTH, -1, -1)
        for goal, (vertices, last) in enumerate(to_goals):
            if len(vertices):
                k = int((distances[vertices] + last).argmin())
                best = min(best, (float(distances[vertices[k]] + last[k]), goal, int(vertices[k])))
        if best[0] >= INFINITE_LENGTH:
            return None
        path = [best[2]]
        while before[path[-1]] != n:
            path.append(int(before[path[-1]]))
        return np.array(path[::-1]), best[1]

    def _between(self, vertices: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the indices of the motions along a path of vertices."""
        adjacency = self._adjacency()
        first, second = vertices[:-1], vertices[1:]
        # columns of a row are sorted, so that keys are
        keys = np.repeat(np.arange(len(self.points)), np.diff(adjacency.rows)) * len(self.points) + adjacency.columns
        found = np.searchsorted(keys, first * len(self.points) + second)
        return np.asarray(adjacency.order[found] % len(self.edges))

    def _adjacency(self) -> Adjacency:
        if self._known is None or len(self._known.lengths) != len(self.edges):
            a, b = self.edges.T
            rows, columns = np.concatenate([a, b]), np.concatenate([b, a])
            order = np.lexsort((columns, rows))
            starts = np.searchsorted(rows[order], np.arange(len(self.points) + 1))
            lengths = np.linalg.norm(self.points[a] - self.points[b], axis=1)
            self._known = Adjacency(starts, columns[order], order, lengths)
        return self._known
