"""All ways at once, for arms without redundancy: a layered graph of all solutions, and the way that comes farthest.

Nodes are the solutions of each sample within limits, edges the motions from one sample to the next that stay on the
path. In a singularity more than one edge leaves a node; the follower takes one of them, the graph all. It is searched
layer by layer from where the robot stands, so only nodes that can be reached are ever held.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from kinodyn.description.types import Array
from kinodyn.ik.tracking.follow import ASTRAY, SMOOTH, Rows
from kinodyn.ik.tracking.starts import Search
from kinodyn.ik.tracking.task import SLACK, Mask
from kinodyn.spatial.lie import exp_twist, log_pose, log_rotation

CHUNK = 32  # samples whose solutions are looked for together
SHARES = np.array([0.25, 0.5, 0.75])  # of an edge, where it must be on the path
SAME = 1e-4  # [rad or m] nearer nodes are one
MOST = 32  # edges into a sample that are kept for each path, those of least motion


@dataclass
class Layer:
    """Edges into one sample: the path `of` each (m,), where it ends, its motion `step` (m, c), the edge before it.

    `motion` (m,) is summed up from the start; `known` ones are those of the way that was given; `crossed` tells that
    a singularity lies on the edge.
    """

    of: Rows
    q: Array
    step: Array
    parent: Rows
    motion: Array
    known: Mask
    crossed: Mask

    def pick(self, at: Rows | Mask) -> Layer:
        """Take some of the edges."""
        return Layer(*(getattr(self, field.name)[at] for field in fields(self)))


class Graph:
    """The graph of each of the paths (n, L, 4, 4), next to a way (n, L, nq) that is known to be sound; NaN: no more.

    `crossed` (n, L) tells where that way passes singularities.
    """

    def __init__(self, search: Search, paths: Array, max_step: Array, known: Array, crossed: Mask) -> None:
        self.search, self.task, self.paths, self.max_step = search, search.task, paths, max_step
        self.known, self.crossed = known, crossed
        self.screws = log_pose(np.linalg.inv(paths[:, :-1]) @ paths[:, 1:])
        shift = paths[:, 1:, :3, 3] - paths[:, :-1, :3, 3]
        turn = log_rotation(paths[:, 1:, :3, :3] @ np.swapaxes(paths[:, :-1, :3, :3], -1, -2))
        self.lengths = np.linalg.norm(np.concatenate([shift, turn], axis=-1) * self.task.wanted, axis=-1)
        kinds = [self.task.robot.joint(name).kind for name in self.task.names]
        turning = np.isin(kinds, ("revolute", "continuous")) & (self.task.places >= 0)
        self.turning = self.task.places[turning]

    def farthest(self, of: Rows, start: Array) -> tuple[Array, Mask]:
        """Find from starts (m, nq) of paths `of` the way of each path that comes farthest, of those the shortest.

        Gives q (n, L, nq), NaN from where no edge goes on, and where (n, L) a singularity was passed.
        """
        m, c = len(of), len(self.task.columns)
        known = (np.abs(start - self.known[of, 0]) <= SAME).all(axis=1)
        layer = Layer(of, start, np.full((m, c), np.nan), np.arange(m), np.zeros(m), known, np.zeros(m, dtype=bool))
        layers, rows, nodes = [layer], of[:0], start[:0]
        for k in range(self.paths.shape[1] - 1):
            if k % CHUNK == 0:
                sample, rows, nodes = self._solutions(k, layer)
            layer = self._next(k, layer, rows[sample == k + 1], nodes[sample == k + 1])
            if not len(layer.of):
                break
            layers.append(layer)
        return self._trace(layers)

    def _solutions(self, k: int, layer: Layer) -> tuple[Rows, Rows, Array]:
        """List solutions of the samples after k of paths that are still followed: sample (s,), path (s,), q (s, nq)."""
        paths, first = np.unique(layer.of, return_index=True)
        samples = np.arange(k + 1, min(k + 1 + CHUNK, self.paths.shape[1]))
        path, sample = np.repeat(paths, len(samples)), np.tile(samples, len(paths))
        of, q = self.search.everywhere(self.paths[path, sample], np.repeat(layer.q[first], len(samples), axis=0))
        return sample[of], path[of], q

    def _next(self, k: int, layer: Layer, path: Rows, nodes: Array) -> Layer:
        """Find the edges from the ends of a layer, at sample k, to solutions of the next: `nodes` (s, nq) and others.

        The others are where each edge leads if it goes on as it did, and the known way.
        """
        parent, node = np.nonzero(layer.of[:, None] == path)
        known = np.flatnonzero(layer.known & np.isfinite(self.known[layer.of, k + 1, 0]))
        own = np.arange(len(layer.of))
        ends = [self._turned(layer.q[parent], nodes[node]), self._ahead(k, layer), self.known[layer.of[known], k + 1]]
        parent, q = np.concatenate([parent, own, known]), np.concatenate(ends)
        of, step = layer.of[parent], self.task.step(layer.q[parent], q)
        motion = layer.motion[parent] + np.linalg.norm(step, axis=1)
        sure = np.arange(len(parent)) >= len(parent) - len(known)
        edges = Layer(of, q, step, parent, motion, sure, sure & self.crossed[of, k + 1])
        good = (np.abs(step) <= self.max_step).all(axis=1) & ~self.task.beyond(q, SLACK).any(axis=1)
        edges = self._distinct(layer, edges.pick(good | sure))
        return self._sound(k, layer, edges)

    def _turned(self, q: Array, nodes: Array) -> Array:
        """Add the whole turns to nodes (p, nq) that bring them nearest to q (p, nq)."""
        nodes = nodes.copy()
        gap = q[:, self.turning] - nodes[:, self.turning]
        nodes[:, self.turning] += 2 * np.pi * np.round(gap / (2 * np.pi))
        return nodes

    def _ahead(self, k: int, layer: Layer) -> Array:
        """Go on from the ends of a layer as it came there; in a singularity no list of solutions is complete."""
        none = np.zeros(layer.step.shape, dtype=bool)
        guess = self.task.move(layer.q, np.nan_to_num(layer.step))
        return self.task.settle(guess, self.paths[layer.of, k + 1], none, damping=1e-4)[0]

    def _distinct(self, layer: Layer, edges: Layer) -> Layer:
        """Drop edges that begin and end where another does, and of each path all but the shortest ways."""
        ends = np.concatenate([edges.of[:, None], edges.q, layer.q[edges.parent]], axis=1)
        key = np.unique(np.round(ends / SAME), axis=0, return_inverse=True)[1].reshape(-1)
        order = np.lexsort((edges.motion, ~edges.known, key))
        edges = edges.pick(order[np.append(True, key[order][1:] != key[order][:-1])[: len(order)]])
        edges = edges.pick(np.lexsort((edges.motion, ~edges.known, edges.of)))
        rank = np.arange(len(edges.of)) - np.searchsorted(edges.of, edges.of)
        return edges.pick(rank < MOST)

    def _sound(self, k: int, layer: Layer, edges: Layer) -> Layer:
        """Keep edges that are true motions along the path: near it all the way, smooth where a singularity lies on it.

        A singularity lies where the determinant of J changes its sign; of J0^+ J for arms with less than six joints.
        """
        task, T = self.task, self.paths[edges.of, k + 1]
        near = task.error(edges.q, T)[1].max(axis=1, initial=0.0) <= self.search.tolerance
        edges = edges.pick(near | edges.known)
        if not len(edges.of):
            return edges
        count, begin, length = len(edges.of), layer.q[edges.parent], self.lengths[edges.of, k]
        between = task.robot.interpolate(begin[:, None], edges.q[:, None], SHARES).reshape(3 * count, -1)
        screws = SHARES[:, None] * self.screws[edges.of, None, k]
        T = (self.paths[edges.of, None, k] @ exp_twist(screws)).reshape(-1, 4, 4)
        left = np.linalg.norm(task.error(between, T)[0], axis=1).reshape(count, 3).max(axis=1)
        pinv = task.invert(task.jacobian(begin, self.paths[edges.of, k])).pinv[:, None]
        J = task.jacobian(between, T).reshape(count, 3, *pinv.shape[:1:-1])
        J = np.concatenate([J, task.jacobian(edges.q, self.paths[edges.of, k + 1])[:, None]], axis=1)
        flips = (np.linalg.det(pinv @ J) <= 0.0).any(axis=1)
        good = (left <= ASTRAY * length + self.search.tolerance) & (~flips | self._smooth(k, layer, edges))
        edges.crossed = np.where(edges.known, edges.crossed, flips)
        return edges.pick(good | edges.known)

    def _smooth(self, k: int, layer: Layer, edges: Layer) -> Mask:
        """Tell which edges go on as the edge before, for each sample or for the length of path; the first ones do."""
        before = layer.step[edges.parent]
        if k == 0:
            return np.ones(len(before), dtype=bool)
        scale = self.lengths[edges.of, k] / np.maximum(self.lengths[edges.of, k - 1], 1e-300)
        size = SMOOTH * np.linalg.norm(edges.step, axis=1)
        return np.asarray(
            (np.linalg.norm(edges.step - before, axis=1) <= size)
            | (np.linalg.norm(edges.step - before * scale[:, None], axis=1) <= size)
        )

    def _trace(self, layers: list[Layer]) -> tuple[Array, Mask]:
        """Go back from the last end of each path, the one with least motion, to its start."""
        q, crossed = np.full(self.known.shape, np.nan), np.zeros(self.crossed.shape, dtype=bool)
        at = np.full(len(q), -1)  # the edge of each path in the layer, -1 before it has one
        for k in range(len(layers) - 1, -1, -1):
            layer = layers[k]
            best = np.full(len(q), -1)
            order = np.argsort(-layer.motion, kind="stable")
            best[layer.of[order]] = order  # the last one stays, which is the shortest
            at = np.where(at < 0, best, at)
            mine = np.flatnonzero(at >= 0)
            q[mine, k], crossed[mine, k] = layer.q[at[mine]], layer.crossed[at[mine]]
            at[mine] = layer.parent[at[mine]]
        return q, crossed
