"""All ways at once, for arms without redundancy: a layered graph of all solutions, and the way that comes farthest.

Nodes are the solutions of each sample within limits, edges the motions from one sample to the next that stay on the
path. In a singularity more than one edge leaves a node; the follower takes one of them, the graph all. It is searched
layer by layer from where the robot stands, so only nodes that can be reached are ever held.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from kinodyn.arrays import Array
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
    """Edges into one sample: the path `of` each (m,), sorted, where it ends, and the edge before it, its `parent`.

    `step` (m, c) is its motion and `length` (m,) that of the path; where the path stands still, both are still those
    of the edge before, and NaN at the start. `motion` (m,) is summed up. `known` ones end on the way that was given;
    `crossed` tells that a singularity lies on the edge.
    """

    of: Rows
    q: Array
    parent: Rows
    step: Array
    length: Array
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
        screws = log_pose(np.linalg.inv(paths[:, :-1]) @ paths[:, 1:])
        self.between = paths[:, :-1, None] @ exp_twist(SHARES[:, None] * screws[:, :, None])
        shift = paths[:, 1:, :3, 3] - paths[:, :-1, :3, 3]
        turn = log_rotation(paths[:, 1:, :3, :3] @ np.swapaxes(paths[:, :-1, :3, :3], -1, -2))
        self.lengths = np.linalg.norm(np.concatenate([shift, turn], axis=-1) * self.task.wanted, axis=-1)
        self.turning = self.task.places[self.task.turning]

    def farthest(self, of: Rows, start: Array) -> tuple[Array, Mask]:
        """Find from starts (m, nq) of paths `of` (m,), sorted, the way of each that comes farthest, with least motion.

        Gives q (n, L, nq), NaN from where no edge goes on, and where (n, L) a singularity was passed.
        """
        m, c = len(of), len(self.task.columns)
        step, length, none = np.full((m, c), np.nan), np.full(m, np.nan), np.zeros(m, dtype=bool)
        layer = Layer(of, start, np.arange(m), step, length, np.zeros(m), self._known(0, of, start), none)
        layers = [layer]
        for k in range(self.paths.shape[1] - 1):
            if k % CHUNK == 0:
                sample, path, nodes = self._solutions(k, layer)
            here = sample == k + 1
            layer = self._sound(k, layer, self._edges(k, layer, path[here], nodes[here]))
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

    def _edges(self, k: int, layer: Layer, path: Rows, nodes: Array) -> Layer:
        """List the edges from the ends of a layer, at sample k, to solutions of the next: `nodes` (s, nq) and others.

        The others are where each edge leads if it goes on as it did, and the known way. Steps, limits and residuals
        are checked.
        """
        parent, node = _pairs(layer.of, path)
        known = np.flatnonzero(layer.known & np.isfinite(self.known[layer.of, k + 1, 0]))
        ends = [self._turned(layer.q[parent], nodes[node]), self._ahead(k, layer), self.known[layer.of[known], k + 1]]
        parent, q = np.concatenate([parent, np.arange(len(layer.of)), known]), np.concatenate(ends)
        sure = np.arange(len(parent)) >= len(parent) - len(known)
        step = self.task.step(layer.q[parent], q)
        short = (np.abs(step) <= self.max_step).all(axis=1) & ~self.task.beyond(q, SLACK).any(axis=1)
        kept = np.flatnonzero(short)
        parent, q, step, sure = parent[kept], q[kept], step[kept], sure[kept]
        of = layer.of[parent]
        residual = self.task.error(q, self.paths[of, k + 1])[1].max(axis=1)
        motion, length = layer.motion[parent] + np.linalg.norm(step, axis=1), self.lengths[of, k]
        edges = Layer(of, q, parent, step, length, motion, sure, sure & self.crossed[of, k + 1])
        exact = np.flatnonzero((residual <= self.search.tolerance) | sure)
        return _distinct(layer, edges.pick(exact), residual[exact])

    def _turned(self, q: Array, nodes: Array) -> Array:
        """Add the whole turns to nodes (p, nq) that bring them nearest to q (p, nq)."""
        gap = q[:, self.turning] - nodes[:, self.turning]
        nodes[:, self.turning] += 2 * np.pi * np.round(gap / (2 * np.pi))
        return nodes

    def _ahead(self, k: int, layer: Layer) -> Array:
        """Go on from the ends of a layer as it came there; in a singularity no list of solutions is complete."""
        none = np.zeros(layer.step.shape, dtype=bool)
        scale = np.minimum(self.lengths[layer.of, k] / layer.length, 2.0)
        guess = self.task.move(layer.q, np.nan_to_num(layer.step * scale[:, None]))
        return self.task.settle(guess, self.paths[layer.of, k + 1], none, damping=1e-4)[0]

    def _sound(self, k: int, layer: Layer, edges: Layer) -> Layer:
        """Keep edges that are true motions along the path: near it all the way, smooth where a singularity lies on it.

        A singularity lies where the determinant of J changes its sign; of J0^+ J for arms with less than six joints.
        """
        if not len(edges.of):
            return edges
        task, count, begin = self.task, len(edges.of), layer.q[edges.parent]
        q = task.robot.interpolate(begin[:, None], edges.q[:, None], SHARES).reshape(3 * count, -1)
        T = self.between[edges.of, k].reshape(-1, 4, 4)
        left = np.linalg.norm(task.error(q, T)[0], axis=1).reshape(count, 3).max(axis=1)
        pinv = task.invert(task.jacobian(begin, self.paths[edges.of, k])).pinv[:, None]
        J = task.jacobian(q, T).reshape(count, 3, *pinv.shape[:1:-1])
        J = np.concatenate([J, task.jacobian(edges.q, self.paths[edges.of, k + 1])[:, None]], axis=1)
        flips = (np.linalg.det(pinv @ J) <= 0.0).any(axis=1)
        good = left <= ASTRAY * edges.length + self.search.tolerance
        good &= ~flips | _smooth(edges, layer.pick(edges.parent))
        edges.crossed = np.where(edges.known, edges.crossed, flips)
        still = edges.length <= self.search.tolerance
        edges.step[still], edges.length[still] = layer.step[edges.parent[still]], layer.length[edges.parent[still]]
        edges = edges.pick(good | edges.known)
        edges.known = self._known(k + 1, edges.of, edges.q)
        return edges

    def _known(self, k: int, of: Rows, q: Array) -> Mask:
        """Tell which configurations (m, nq) are those of the known way at sample k."""
        return np.asarray((np.abs(q - self.known[of, k]) <= SAME).all(axis=1))

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


def _pairs(of: Rows, path: Rows) -> tuple[Rows, Rows]:
    """Pair each entry of `of` (m,) with all equal ones of `path` (s,), which is sorted: places in both (p,)."""
    first = np.searchsorted(path, of)
    count = np.searchsorted(path, of, side="right") - first
    parent = np.repeat(np.arange(len(of)), count)
    return parent, np.arange(len(parent)) + np.repeat(first - np.cumsum(count) + count, count)


def _distinct(layer: Layer, edges: Layer, residual: Array) -> Layer:
    """Keep of edges that begin and end alike the one of least motion, or the most exact; and of each path the best."""
    ends = np.concatenate([edges.of[:, None], edges.q, layer.q[edges.parent]], axis=1)
    key = np.unique(np.round(ends / SAME), axis=0, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((residual, ~edges.known, np.round(edges.motion / (10 * SAME)), key))
    edges = edges.pick(order[np.diff(key[order], prepend=-1) != 0])
    edges = edges.pick(np.lexsort((edges.motion, edges.of)))
    rank = np.arange(len(edges.of)) - np.searchsorted(edges.of, edges.of)
    return edges.pick(rank < MOST)


def _smooth(edges: Layer, before: Layer) -> Mask:
    """Tell which edges go on as those before, by the sample or by the length of path; the first ones do."""
    most = SMOOTH * np.linalg.norm(edges.step, axis=1)
    scaled = before.step * (edges.length / before.length)[:, None]
    gaps = [np.linalg.norm(edges.step - step, axis=1) for step in (before.step, scaled)]
    return np.asarray(np.isnan(before.length) | (np.minimum(*gaps) <= most))
