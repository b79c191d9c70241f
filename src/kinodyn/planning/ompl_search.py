"""OMPL's planners as a search: they use the sphere checks of kinodyn, and their paths are shortened in the same way."""

from __future__ import annotations

import time

import numpy as np

from kinodyn.arrays import Array
from kinodyn.planning.ompl import PlanningInterruptedError, plan_with_ompl
from kinodyn.planning.search import Found, SearchProblem, full, motions_free, shortened


def search_with_ompl(planner: str, given: SearchProblem) -> Found:
    """Search for a path by a planner of OMPL."""
    begin, query, settings = time.perf_counter(), given.query, given.settings
    found = Found(None)
    columns, checks = np.array(query.core.moving_q, dtype=np.intp), 0

    def is_free(q: Array) -> bool:
        nonlocal checks
        checks += 1
        return bool(query.free(full(query, q, columns)))

    def motion_free(q0: Array, q1: Array) -> bool:
        nonlocal checks
        checks += 1
        return bool(query.motion_free(full(query, q0, columns), full(query, q1, columns), settings.resolution))

    try:
        found.path = plan_with_ompl(
            planner,
            *given.ends,
            *given.bounds,
            is_free,
            motion_free,
            time_budget=max(given.time_budget, 1e-6),
            seed=given.seed,
        )
    except KeyboardInterrupt as stop:
        found.interrupted = True
        found.path = stop.path if isinstance(stop, PlanningInterruptedError) else None
    found.iterations, found.planning_time = checks, time.perf_counter() - begin
    if found.path is not None and not motions_free(query, found.path, settings):
        found.path = None
    if found.path is None or found.interrupted or not given.simplify:
        return found
    return shortened(given, found, begin + given.time_budget)
