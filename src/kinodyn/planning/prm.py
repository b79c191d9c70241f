"""Search for a path in a probabilistic roadmap, which grows while there is none."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.collision.query import Query
from kinodyn.planning.groups import search_range
from kinodyn.planning.roadmap_graph import Graph
from kinodyn.planning.search import Found, SearchProblem, shortened

GROWTH, MIN_GROWTH, MAX_VERTICES = 0.5, 200, 100_000  # vertices that are added where there is no path
FULL_TURN = 2.0 * np.pi


def roadmap_bounds(query: Query) -> tuple[Array, Array]:
    """Return the limits (dofs,) of the joints that move.

    Unlimited joints: one turn for angles, about 3 m in both directions from the configuration of the query for lengths.
    """
    columns = query.core.moving_q
    lower, upper = query.robot.limits.lower[columns], query.robot.limits.upper[columns]
    return search_range(lower, upper, np.where(_turning(query), 0.0, query.q[columns])[None])


def search_prm(given: SearchProblem) -> Found:
    """Search for a path in a new roadmap."""
    return search_graph(Graph(given.bounds, given.seed), given)


def search_graph(graph: Graph, given: SearchProblem) -> Found:
    """Search for a path in a roadmap, which grows while there is none and time is left."""
    begin, found, before = time.perf_counter(), Found(None), graph.checked
    query, ends, resolution, end = given.query, given.ends, given.settings.resolution, begin + given.time_budget
    turns = _whole_turns(query, ends[0])
    start, goals = ends[0] - turns, ends[1] - turns
    try:
        while True:
            path = graph.search(query, start, goals, resolution, end)
            exhausted = graph.checked - before >= given.max_checks or len(graph.points) >= MAX_VERTICES
            if path is not None or time.perf_counter() > end or exhausted:
                break
            graph.grow(query, max(MIN_GROWTH, int(GROWTH * len(graph.points))), resolution, end)
    except KeyboardInterrupt:
        path, found.interrupted = None, True
    found.iterations, found.planning_time = graph.checked - before, time.perf_counter() - begin
    if path is None:
        return found
    found.path = path + turns
    found.path[0], found.path[-1] = ends[0], ends[1][np.abs(goals - path[-1]).max(axis=1).argmin()]
    return shortened(replace(given, bounds=graph.bounds), found, end) if given.simplify else found


def _whole_turns(query: Query, start: Array) -> Array:
    """Return the full turns (dofs,) of joints without limits, by which the start is beyond the roadmap."""
    return np.where(_turning(query), FULL_TURN * np.rint(start / FULL_TURN), 0.0)


def _turning(query: Query) -> NDArray[np.bool_]:
    """Return which of the coordinates that move (dofs,) turn without limits."""
    turning = np.zeros(query.robot.nq, dtype=bool)
    for joint in query.robot.joints:
        if joint.kind in ("continuous", "planar") and joint.mimic is None:
            turning[joint.q.stop - 1] = not np.isfinite(query.robot.limits.upper[joint.q.stop - 1])
    return turning[query.core.moving_q]
