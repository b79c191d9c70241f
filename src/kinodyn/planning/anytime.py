"""Anytime planning: while there is time, shorter paths are searched for, and the shortest one is kept.

A round starts a new search by RRT-Connect, with samples in the ellipsoids through which a shorter path can lead
(informed sampling: J. Gammell, S. Srinivasa, T. Barfoot, IROS 2014), simplifies the path, and combines it with the
best one so far (path hybridisation: B. Raveh, A. Enosh, D. Halperin, IEEE T-RO 27, 2011). Every other round looks for
further shortcuts of the best path instead.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import count

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.query import Query
from kinodyn.planning.search import INTERRUPT_INTERVAL, Found, SearchProblem, full
from kinodyn.planning.settings import PlannerSettings

STRAIGHT = 1e-4  # relative difference to the straight motion, below which no improvement is possible
MIN_ITERATIONS, ITERATION_FACTOR = 2000, 20  # of a round: at least, and as a multiple of those of the first path
MAX_SHORTCUT_FAILURES = 64  # failures in a row that end the search for shortcuts of the best path
MAX_SHORTENING = 0.3  # [s] of a path, after which Ctrl-C takes effect; it ends much earlier by itself
POINTS = 24  # of each path, between which crossings are tried
CROSSINGS_PER_BATCH = 16  # tried together


def improve(given: SearchProblem, found: Found, end: float) -> Found:
    """Search for shorter paths until the time `end`."""
    begin, best, settings = time.perf_counter(), found.path, given.settings
    assert best is not None
    straight = float(np.linalg.norm(given.ends[1] - given.ends[0], axis=1).min())
    limit = max(MIN_ITERATIONS, ITERATION_FACTOR * found.iterations)
    persistent = replace(settings, shortcut_failures=max(MAX_SHORTCUT_FAILURES, settings.shortcut_failures))
    try:
        for k in count() if settings.rounds is None else range(settings.rounds):
            if time.perf_counter() > end or length(best) <= (1.0 + STRAIGHT) * straight:
                break
            problem = given.core(persistent if k % 2 == 0 else settings, attempt=1 + k)
            if k % 2 == 0:
                problem.set_path(best)
            else:
                problem.length_bound, problem.max_iterations = length(best), limit
                if not _search(problem, end):
                    continue
            found.iterations += problem.iterations
            if _core.shorten_path(problem, min(max(end - time.perf_counter(), 0.0), MAX_SHORTENING)) >= 0:
                continue
            best = min(best, problem.path, key=length)
            if k % 2 == 1:
                best = crossed(given.query, best, problem.path, settings, end)
    except KeyboardInterrupt:
        found.interrupted = True
    found.path = best
    found.simplification_time += time.perf_counter() - begin
    return found


def _search(problem: _core.PlanningProblem, end: float) -> bool:
    """Search for another path up to the limit of iterations."""
    while problem.iterations < problem.max_iterations:
        left = end - time.perf_counter()
        if _core.rrt_connect(problem, min(max(left, 0.0), INTERRUPT_INTERVAL)):
            return True
        if left <= INTERRUPT_INTERVAL:
            return False
    return False


def length(path: Array) -> float:
    """Return the length of a path (n, dofs), L2 norm."""
    return float(np.sqrt(np.square(path[1:] - path[:-1]).sum(axis=1)).sum())


def crossed(query: Query, best: Array, other: Array, settings: PlannerSettings, end: float) -> Array:
    """Return the shortest path that follows one of two paths (n, dofs) up to some point and then the other.

    Both lead from one start to goals. Crossings that would make the path shorter are tried, the best first.
    """
    paths = [best, other]
    arcs = [np.concatenate([[0.0], np.sqrt(np.square(np.diff(p, axis=0)).sum(axis=1)).cumsum()]) for p in paths]
    candidates = []
    for first, second in ((0, 1), (1, 0)):
        s0 = np.linspace(0.0, arcs[first][-1], POINTS)
        s1 = np.linspace(0.0, arcs[second][-1], POINTS)
        a, b = _points(paths[first], arcs[first], s0), _points(paths[second], arcs[second], s1)
        gap = np.sqrt(np.square(a[:, None] - b[None]).sum(axis=-1))
        total = s0[:, None] + gap + (arcs[second][-1] - s1)[None]
        for i, k in np.argwhere(total < 0.999 * arcs[0][-1]):
            candidates.append((total[i, k], first, s0[i], s1[k], a[i], b[k]))
    candidates.sort(key=lambda one: one[0])
    for some in range(0, len(candidates), CROSSINGS_PER_BATCH):
        if time.perf_counter() > end:
            break
        chosen = candidates[some : some + CROSSINGS_PER_BATCH]
        q0, q1 = (full(query, np.array([one[side] for one in chosen])) for side in (4, 5))
        free = query.motion_free(q0, q1, settings.resolution)
        if free.any():
            _, first, s, t, a, b = chosen[int(free.argmax())]
            before, after = paths[first][arcs[first] < s], paths[1 - first][arcs[1 - first] > t]
            return np.vstack([before, a, b, after])
    return best


def _points(path: Array, arc: Array, s: Array) -> Array:
    """Return the points (k, dofs) at some lengths along a path."""
    return np.stack([np.interp(s, arc, column) for column in path.T], axis=1)
