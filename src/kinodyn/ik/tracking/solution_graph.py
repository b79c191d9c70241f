"""Search over all branches, for arms without redundancy: a layered graph of all solutions of all samples.

Nodes are the solutions of each sample within limits, edges the motions from one sample to the next that stay on the
path. At a singularity more than one edge leaves a node; the follower takes one of them, the graph all. The graph grows
layer by layer from the starts, so that it contains only reachable nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.tracking.follower import MAX_PATH_DEVIATION, MAX_STEP_DEVIATION, Rows
from kinodyn.ik.tracking.starts import Search
from kinodyn.ik.tracking.tracked_frame import LIMIT_TOLERANCE, Mask
from kinodyn.spatial.lie import exp_twist, log_pose, log_rotation

CHUNK = 32  # samples whose solutions are computed together
FRACTIONS = np.array([0.25, 0.5, 0.75])  # of an edge, at which it must be on the path
NODE_TOLERANCE = 1e-4  # below which two nodes are the same [rad or m]
MAX_EDGES = 32  # edges into a sample that are kept for each path: those of least motion


@dataclass
class Layer:
    """Edges into one sample: the path `of` each (m,), sorted, its end `q` (m, nq), and its `parent` edge.

    `step` (m, c) is its motion and `length` (m,) that of the path; where the path does not move, both are those of the
    edge before, and NaN at the start. `motion` (m,) is the total up to here. `known` edges end on the given joint path;
    `crossed` ones pass a singularity.
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
        """Select edges."""
        return Layer(*(getattr(self, field.name)[at] for field in fields(self)))


class SolutionGraph:
    """The graph of each of the paths (n, L, 4, 4), with a joint path `known` (n, L, nq) that is valid up to NaN.

    `crossed` (n, L) marks where the known path passes singularities.
    """

    def __init__(self, search: Search, paths: Array, max_step: Array, known: Array, crossed: Mask) -> None:
        self.search, self.tracked, self.paths, self.max_step = search, search.tracked, paths, max_step
        self.known, self.crossed = known, crossed
        screws = log_pose(np.linalg.inv(paths[:, :-1]) @ paths[:, 1:])
        self.between = paths[:, :-1, None] @ exp_twist(FRACTIONS[:, None] * screws[:, :, None])
        shift = paths[:, 1:, :3, 3] - paths[:, :-1, :3, 3]
        rotation = log_rotation(paths[:, 1:, :3, :3] @ np.swapaxes(paths[:, :-1, :3, :3], -1, -2))
        self.lengths = np.linalg.norm(np.concatenate([shift, rotation], axis=-1) * self.tracked.mask, axis=-1)
        self.periodic = self.tracked.q_index[self.tracked.periodic]

    def farthest(self, of: Rows, start: Array) -> tuple[Array, Mask]:
        """Find the longest joint path, with least motion, of each path from starts (m, nq) of paths `of` (m,), sorted.

        Returns q (n, L, nq), NaN from where no edge continues, and where (n, L) a singularity was passed.
        """
        m, c = len(of), len(self.tracked.columns)
        step, length, none = np.full((m, c), np.nan), np.full(m, np.nan), np.zeros(m, dtype=bool)
        layer = Layer(of, start, np.arange(m), step, length, np.zeros(m), self._known(0, of, start), none)
        layers = [layer]
        for k in range(self.paths.shape[1] - 1):
            if k % CHUNK == 0:
                sample, path, nodes = self._solutions(k, layer)
            here = sample == k + 1
            layer = self._valid(k, layer, self._edges(k, layer, path[here], nodes[here]))
            if not len(layer.of):
                break
            layers.append(layer)
        return self._trace(layers)

    def _solutions(self, k: int, layer: Layer) -> tuple[Rows, Rows, Array]:
        """Compute solutions of the samples after k of the remaining paths: sample (s,), path (s,), q (s, nq)."""
        paths, first = np.unique(layer.of, return_index=True)
        samples = np.arange(k + 1, min(k + 1 + CHUNK, self.paths.shape[1]))
        path, sample = np.repeat(paths, len(samples)), np.tile(samples, len(paths))
        of, q = self.search.everywhere(self.paths[path, sample], np.repeat(layer.q[first], len(samples), axis=0))
        return sample[of], path[of], q

    def _edges(self, k: int, layer: Layer, path: Rows, nodes: Array) -> Layer:
        """Build the edges from a layer, at sample k, to solutions of the next: `nodes` (s, nq) and others.

        The others are smooth continuations of each edge, and the known path. Steps, limits and residuals are checked.
        """
        parent, node = _pairs(layer.of, path)
        known = np.flatnonzero(layer.known & np.isfinite(self.known[layer.of, k + 1, 0]))
        ends = [
            self._unwrapped(layer.q[parent], nodes[node]),
            self._continued(k, layer),
            self.known[layer.of[known], k + 1],
        ]
        parent, q = np.concatenate([parent, np.arange(len(layer.of)), known]), np.concatenate(ends)
        sure = np.arange(len(parent)) >= len(parent) - len(known)
        step = self.tracked.step(layer.q[parent], q)
        short = (np.abs(step) <= self.max_step).all(axis=1)
        kept = np.flatnonzero(short & ~self.tracked.outside_limits(q, LIMIT_TOLERANCE).any(axis=1))
        parent, q, step, sure = parent[kept], q[kept], step[kept], sure[kept]
        of = layer.of[parent]
        residual = self.tracked.error(q, self.paths[of, k + 1])[1].max(axis=1)
        motion, length = layer.motion[parent] + np.linalg.norm(step, axis=1), self.lengths[of, k]
        edges = Layer(of, q, parent, step, length, motion, sure, sure & self.crossed[of, k + 1])
        exact = np.flatnonzero((residual <= self.search.tolerance) | sure)
        return _distinct(layer, edges.pick(exact), residual[exact])

    def _unwrapped(self, q: Array, nodes: Array) -> Array:
        """Add the full turns to nodes (p, nq) that bring them nearest to q (p, nq)."""
        gap = q[:, self.periodic] - nodes[:, self.periodic]
        nodes[:, self.periodic] += 2 * np.pi * np.round(gap / (2 * np.pi))
        return nodes

    def _continued(self, k: int, layer: Layer) -> Array:
        """Continue a layer smoothly: at a singularity no list of solutions is complete."""
        none = np.zeros(layer.step.shape, dtype=bool)
        scale = np.minimum(self.lengths[layer.of, k] / layer.length, 2.0)
        guess = self.tracked.move(layer.q, np.nan_to_num(layer.step * scale[:, None]))
        return self.tracked.project(guess, self.paths[layer.of, k + 1], none, damping=1e-4)[0]

    def _valid(self, k: int, layer: Layer, edges: Layer) -> Layer:
        """Keep edges that are motions along the path: close to it throughout, and smooth across singularities.

        At a singularity the determinant of J changes its sign; that of J0^+ J for arms with fewer than six joints.
        """
        if not len(edges.of):
            return edges
        tracked, count, begin = self.tracked, len(edges.of), layer.q[edges.parent]
        q = tracked.robot.interpolate(begin[:, None], edges.q[:, None], FRACTIONS).reshape(3 * count, -1)
        T = self.between[edges.of, k].reshape(-1, 4, 4)
        deviation = np.linalg.norm(tracked.error(q, T)[0], axis=1).reshape(count, 3).max(axis=1)
        pinv = tracked.invert(tracked.jacobian(begin, self.paths[edges.of, k])).pinv[:, None]
        J = tracked.jacobian(q, T).reshape(count, 3, *pinv.shape[:1:-1])
        J = np.concatenate([J, tracked.jacobian(edges.q, self.paths[edges.of, k + 1])[:, None]], axis=1)
        flips = (np.linalg.det(pinv @ J) <= 0.0).any(axis=1)
        good = deviation <= MAX_PATH_DEVIATION * edges.length + self.search.tolerance
        good &= ~flips | _smooth(edges, layer.pick(edges.parent))
        edges.crossed = np.where(edges.known, edges.crossed, flips)
        resting = edges.length <= self.search.tolerance
        parents = edges.parent[resting]
        edges.step[resting], edges.length[resting] = layer.step[parents], layer.length[parents]
        edges = edges.pick(good | edges.known)
        edges.known = self._known(k + 1, edges.of, edges.q)
        return edges

    def _known(self, k: int, of: Rows, q: Array) -> Mask:
        """Return which configurations (m, nq) are on the known path at sample k."""
        return np.asarray((np.abs(q - self.known[of, k]) <= NODE_TOLERANCE).all(axis=1))

    def _trace(self, layers: list[Layer]) -> tuple[Array, Mask]:
        """Trace back from the last edge of each path, the one with least motion, to its start."""
        q, crossed = np.full(self.known.shape, np.nan), np.zeros(self.crossed.shape, dtype=bool)
        at = np.full(len(q), -1)  # the edge of each path in the layer, -1 before it has one
        for k in range(len(layers) - 1, -1, -1):
            layer = layers[k]
            best = np.full(len(q), -1)
            order = np.argsort(-layer.motion, kind="stable")
            best[layer.of[order]] = order  # the last one, of least motion, is kept
            at = np.where(at < 0, best, at)
            traced = np.flatnonzero(at >= 0)
            q[traced, k], crossed[traced, k] = layer.q[at[traced]], layer.crossed[at[traced]]
            at[traced] = layer.parent[at[traced]]
        return q, crossed


def _pairs(of: Rows, path: Rows) -> tuple[Rows, Rows]:
    """Pair each entry of `of` (m,) with all equal ones of `path` (s,), which is sorted: indices in both (p,)."""
    first = np.searchsorted(path, of)
    count = np.searchsorted(path, of, side="right") - first
    parent = np.repeat(np.arange(len(of)), count)
    return parent, np.arange(len(parent)) + np.repeat(first - np.cumsum(count) + count, count)


def _distinct(layer: Layer, edges: Layer, residual: Array) -> Layer:
    """Remove duplicate edges, keeping least motion and residual, and keep the best MAX_EDGES of each path."""
    ends = np.concatenate([edges.of[:, None], edges.q, layer.q[edges.parent]], axis=1)
    key = np.unique(np.round(ends / NODE_TOLERANCE), axis=0, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((residual, ~edges.known, np.round(edges.motion / (10 * NODE_TOLERANCE)), key))
    edges = edges.pick(order[np.diff(key[order], prepend=-1) != 0])
    edges = edges.pick(np.lexsort((edges.motion, edges.of)))
    rank = np.arange(len(edges.of)) - np.searchsorted(edges.of, edges.of)
    return edges.pick(rank < MAX_EDGES)


def _smooth(edges: Layer, before: Layer) -> Mask:
    """Return which edges continue those before, per sample or per length of path; first edges do."""
    most = MAX_STEP_DEVIATION * np.linalg.norm(edges.step, axis=1)
    scaled = before.step * (edges.length / before.length)[:, None]
    gaps = [np.linalg.norm(edges.step - step, axis=1) for step in (before.step, scaled)]
    return np.asarray(np.isnan(before.length) | (np.minimum(*gaps) <= most))
