"""The search for a path: RRT-Connect in the core, in slices of time, so that Ctrl-C takes effect."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn._core import PlanningProblem
from kinodyn.arrays import Array
from kinodyn.collision.query import Query
from kinodyn.planning.settings import PlannerSettings, settings_record

INTERRUPT_INTERVAL = 0.05  # [s] of search between checks for Ctrl-C
GRACE_FRACTION = 0.1  # fraction of the time budget that may be added for the checks of a path that was found in time
UNLIMITED = 2**62
REFINEMENTS = 2  # of the step between checks, when a path turns out not to be free between them; then edges are
# checked continuously


@dataclass
class Found:
    """Outcome of a search: a path (n, dofs) of the joints that move, None if there is none."""

    path: Array | None
    iterations: int = 0
    planning_time: float = 0.0
    simplification_time: float = 0.0
    interrupted: bool = False


@dataclass(slots=True)
class SearchProblem:
    """Input of a search.

    Attributes
    ----------
    query : Query
        Collision query with the joints that move.
    settings : PlannerSettings
    ends : tuple of arrays
        Start (dofs,) and goals (n, dofs).
    bounds : tuple of arrays
        Lower and upper limits of samples (dofs,).
    time_budget : float
        Time for the whole search [s].
    seed : int
        Seed of the random number generator.
    simplify : bool
        Whether to shorten the path.
    max_checks : int
        Motions that RRT-Connect and roadmaps check before they give up.
    local_fraction : float
        Fraction of the samples that RRT-Connect draws around nodes of its trees.
    """

    query: Query
    settings: PlannerSettings
    ends: tuple[Array, Array]
    bounds: tuple[Array, Array]
    time_budget: float
    seed: int
    simplify: bool = True
    max_checks: int = UNLIMITED
    local_fraction: float = 0.0

    def core(self, settings: PlannerSettings | None = None, attempt: int = 0, finer: float = 1.0) -> PlanningProblem:
        """Return the problem of the core, with other settings or another seed if given."""
        record = settings_record(settings or self.settings, len(self.ends[0]), finer)
        return PlanningProblem(self.query.core, record, self.seed + attempt, *self.bounds, *self.ends)


def search(given: SearchProblem) -> Found:
    """Search for a path by RRT-Connect and simplify it."""
    begin, budget = time.perf_counter(), given.time_budget
    found, checks = Found(None), 0
    for attempt in count():
        problem = given.core(attempt=attempt, finer=4.0 ** min(attempt, REFINEMENTS))
        problem.continuous, problem.max_edge_checks = attempt > REFINEMENTS, given.max_checks - checks
        problem.local_fraction = given.local_fraction
        try:
            solved = _advance(problem, begin + budget)
        except KeyboardInterrupt:
            found.interrupted, solved = True, False
        checks += problem.edge_checks
        found.iterations += problem.iterations
        found.planning_time = time.perf_counter() - begin - found.simplification_time
        if not solved:
            return found
        if _is_free(problem, found, given.simplify, begin + (1.0 + GRACE_FRACTION) * budget):
            found.path = problem.path
            return found
        if time.perf_counter() > begin + budget or checks >= given.max_checks:
            return found
    return found


def full(query: Query, q: Array, columns: NDArray[np.intp] | None = None) -> Array:
    """Return the configurations (..., nq) whose moving joints are at q (..., dofs)."""
    columns = np.array(query.core.moving_q, dtype=np.intp) if columns is None else columns
    result = np.empty((*q.shape[:-1], query.robot.nq))
    result[:] = query.q
    result[..., columns] = q
    return result


def motions_free(query: Query, path: Array, settings: PlannerSettings) -> bool:
    """Return whether every motion of a path (n, dofs) is free throughout."""
    q = full(query, path)
    return bool(query.motion_free(q[:-1], q[1:], settings.resolution).all())


def shortened(given: SearchProblem, found: Found, end: float) -> Found:
    """Shorten a path from another planner, until the time `end`."""
    problem = given.core()
    assert found.path is not None
    problem.set_path(found.path)
    if _is_free(problem, found, True, end):
        found.path = problem.path
    return found


def _advance(problem: PlanningProblem, end: float) -> bool:
    while True:
        left = end - time.perf_counter()
        if _core.rrt_connect(problem, min(max(left, 0.0), INTERRUPT_INTERVAL)):
            return True
        if left <= INTERRUPT_INTERVAL or problem.edge_checks >= problem.max_edge_checks:
            return False


def _is_free(problem: PlanningProblem, found: Found, simplify: bool, end: float) -> bool:
    """Return whether the shortened path is free between checks too."""
    begin = time.perf_counter()
    if not simplify:
        return _core.path_blocked(problem, max(end - begin, 0.0)) < 0
    blocked = _core.shorten_path(problem, max(end - begin, 0.0))
    found.simplification_time += time.perf_counter() - begin
    return blocked < 0
