"""Search for a path between configurations: on spheres first, on the exact shapes where spheres are too coarse.

Both alternate, with twice the effort in each round. Effort is counted in checked motions, not in seconds: the same seed
gives the same path on a slow machine, if the time budget suffices.
"""

from __future__ import annotations

import time
from itertools import count
from typing import NamedTuple

import numpy as np

from kinodyn.arrays import Array
from kinodyn.checks import instance
from kinodyn.collision import exact
from kinodyn.collision.distance import distance
from kinodyn.collision.spheres import RESOLUTION
from kinodyn.planning.anytime import MAX_SHORTCUT_FAILURES, improve
from kinodyn.planning.escape import escape
from kinodyn.planning.exact_paths import ExactEdges
from kinodyn.planning.goals import GOAL_TIME_FRACTION, Goal, goal_configurations
from kinodyn.planning.planners import NATIVE, Search, search_named
from kinodyn.planning.problem import Problem
from kinodyn.planning.result import Plan
from kinodyn.planning.search import UNLIMITED, Found, SearchProblem
from kinodyn.planning.settings import PlannerSettings

MAX_MEASURED = 256  # goals, nearest first, of which those whose spheres overlap least are tried first
MAX_ESCAPES = 8  # goals from which a motion to free spheres is searched
ESCAPE_TIME_FRACTION = 0.2  # fraction of the remaining time for motions from the ends to where spheres are free
RADIUS_REDUCTIONS = (0.25 * RESOLUTION, 0.5 * RESOLUTION, RESOLUTION)  # [m] of spheres where exact shapes decide
FIRST_CHECKS = 8000  # motions that the first search on spheres checks; doubled in each further round
EXACT_FRACTION = 0.25  # of these for each search with reduced spheres
MAX_DOUBLINGS = 40
LOCAL_FRACTION = 0.5  # of the samples after the first round, around nodes of the trees
# of searches that do not count their checks:
SPHERES_TIME_FRACTION = 0.3  # fraction of the time budget before the exact shapes decide
FIRST_SEARCH_TIME = 0.02  # [s] of the first search with each reduction; doubled in each further round


class End(NamedTuple):
    """A configuration (nq,) and one nearby whose spheres are free, most often the same."""

    q: Array
    free: Array


class PathSearch:
    """A search for a path of a problem.

    Parameters
    ----------
    problem
    planner
        See `plan`.
    settings
    seed
        Seed of the random number generator.
    """

    def __init__(self, problem: Problem, planner: str | Search, settings: PlannerSettings, seed: int) -> None:
        self.problem, self.settings, self.seed = problem, settings, seed
        self.run, self.anytime, self.counts = search_named(planner), planner == "anytime", planner in list(NATIVE)
        self.iterations = 0  # of searches without a path

    def plan(self, goal: Goal, time_budget: float) -> Plan:
        """Plan to a goal; a part of the time budget [s] is for configurations that reach it."""
        try:
            return self._plan(goal, time_budget)
        except KeyboardInterrupt:
            return self._interrupted(Found(None))

    def _plan(self, goal: Goal, time_budget: float) -> Plan:
        problem = self.problem
        colliding = problem.colliding(problem.start)
        if colliding is not None:
            return problem.result(*colliding.outcome("start"))
        by = problem.end - (1.0 - GOAL_TIME_FRACTION) * time_budget
        free, group = problem.query.free, problem.group
        goals = goal_configurations(problem.robot, goal, problem.start, group, free, by, self.seed)
        if goals.reason:
            return problem.result("out_of_reach", goals.reason)
        q = self.least_touching_first(goals.q)
        found = self.rounds(q)
        if found is None:
            return self.unreached_goal(q)
        found.iterations += self.iterations
        if found.interrupted:
            return self._interrupted(found)
        if found.path is None:
            found.planning_time = time.perf_counter() - problem.begin
            return problem.result("no_path", f"no path was found within {time_budget:g} s", found)
        return problem.result("solved", "", found)

    def _interrupted(self, found: Found) -> Plan:
        seconds = time.perf_counter() - self.problem.begin
        return self.problem.result("interrupted", f"stopped after {seconds:.3g} s", found)

    def least_touching_first(self, goals: Array) -> Array:
        """Return the goals (n, nq), where no spheres are free those first whose spheres overlap least."""
        problem = self.problem
        if len(goals) < 2 or problem.query.free(goals).any():
            return goals
        goals = goals[:MAX_MEASURED]
        allowed, fine = problem.allowed, problem.resolution
        measured = distance(problem.robot, goals, problem.snapshot, allowed=allowed, resolution=fine).distance
        return goals[np.argsort(-measured, kind="stable")]

    def rounds(self, goals: Array) -> Found | None:
        """Search on spheres and on the exact shapes in turn; None if no goal can be reached on either."""
        between, exact_goals, last = self.free_ends(goals), None, None
        for k in count():
            found = None
            if between is not None and (k == 0 or self.counts):
                found = self.search(*between, k)
                if self._is_final(found):
                    return found
            if k == 0 and self.problem.exact is not None:
                exact_goals = self.exactly_free(goals)
            if exact_goals is not None:
                found = self.on_exact_shapes(exact_goals, k)
                if self._is_final(found):
                    return found
            if found is None:
                return last
            last = found
        raise AssertionError("unreachable")

    def _is_final(self, found: Found) -> bool:
        """Return whether a search is the last one; otherwise its iterations count."""
        final = found.path is not None or found.interrupted or time.perf_counter() > self.problem.end
        self.iterations += 0 if final else found.iterations
        return final

    def free_ends(self, goals: Array) -> tuple[End, list[End]] | None:
        """Return the start and goals, with configurations nearby whose spheres are free; None if there are none."""
        start, now = self.problem.start, time.perf_counter()
        by = now + ESCAPE_TIME_FRACTION * (self.problem.end - now)
        starts = [End(start, start)] if self.problem.start_free else self.ends(start[None], by)
        goal_ends = self.ends(goals, by) if starts else []
        return (starts[0], goal_ends) if starts and goal_ends else None

    def ends(self, q: Array, by: float) -> list[End]:
        """Return the configurations (n, nq) that are free, each with one nearby whose spheres are free."""
        problem, resolution = self.problem, self.settings.resolution
        free = problem.query.free(q).tolist()
        if any(free):
            return [End(row, row) for row, is_free in zip(q, free, strict=True) if is_free]
        found = []
        for row in q[:MAX_ESCAPES]:
            if problem.exact is None or not problem.exact.can_decide(row):
                break
            if not problem.exact.colliding(row):
                near = escape(problem.exact, problem.query, row, problem.columns, problem.limits, resolution, by)
                found += [] if near is None else [End(row, near)]
        return found

    def _found(self, given: SearchProblem) -> Found:
        """Run the search; a caller's own one may return anything."""
        found = self.run(given)
        instance("the result of planner", found, Found, "a Found")
        return found

    def search(self, start: End, goals: list[End], k: int) -> Found:
        """Search for a path on spheres in a round; an anytime planner uses all of the time if there is one."""
        end, columns = self.problem.end, self.problem.columns
        inner = start.free[columns], np.array([goal.free[columns] for goal in goals])
        bounds, left = self.problem.sampling_bounds(inner), max(end - time.perf_counter(), 0.0)
        checks = UNLIMITED
        if exact.is_available():
            left *= 1.0 if self.counts else SPHERES_TIME_FRACTION
            checks = FIRST_CHECKS * 2 ** min(k, MAX_DOUBLINGS)
        query, seed = self.problem.spheres(bounds=bounds), self.seed + k
        given = SearchProblem(
            query, self.settings, inner, bounds, left, seed, max_checks=checks, local_fraction=_local(k)
        )
        found = self._found(given)
        if self.anytime and found.path is not None:
            found = improve(given, found, end)
        if found.path is not None:
            nearest = _nearest(inner[1], found.path[-1])
            goal = goals[nearest]
            found.path[0], found.path[-1] = inner[0], inner[1][nearest]
            before = [start.q[columns]] if start.q is not start.free else []
            after = [goal.q[columns]] if goal.q is not goal.free else []
            found.path = np.vstack([*before, found.path, *after]) if before or after else found.path
        return found

    def exactly_free(self, goals: Array) -> Array | None:
        """Return those goals (n, nq) that are free on the exact shapes, None if there are none."""
        checks, free = self.problem.exact, []
        assert checks is not None
        for goal in goals[:MAX_ESCAPES]:
            if not checks.can_decide(goal):
                break
            free += [] if checks.colliding(goal) else [goal]
        return np.array(free) if free else None

    def on_exact_shapes(self, goals: Array, k: int) -> Found:
        """Search with smaller spheres in a round, and verify each path on the exact shapes."""
        problem, checks, settings = self.problem, self.problem.exact, self.settings
        assert checks is not None
        ends = problem.start[problem.columns], goals[:, problem.columns]
        bounds, found, iterations = problem.sampling_bounds(ends), Found(None), 0
        for i, shrink in enumerate(RADIUS_REDUCTIONS):
            query = problem.spheres(shrink, bounds)
            left = problem.end - time.perf_counter()
            effort = 2 ** min(k, MAX_DOUBLINGS)
            seconds = max(left if self.counts else min(left, FIRST_SEARCH_TIME * effort), 0.0)
            seed, limit = self.seed + k * len(RADIUS_REDUCTIONS) + i, int(EXACT_FRACTION * FIRST_CHECKS) * effort
            given = SearchProblem(
                query, settings, ends, bounds, seconds, seed, simplify=False, max_checks=limit, local_fraction=_local(k)
            )
            found = self._found(given)
            iterations += found.iterations
            found.iterations = iterations
            if found.path is not None:
                found.path[0], found.path[-1] = ends[0], ends[1][_nearest(ends[1], found.path[-1])]
                edges = ExactEdges(checks, query, settings.resolution)
                if edges.path_free(problem.full(found.path)):
                    found.planning_time = time.perf_counter() - problem.begin
                    return self.shortened_exactly(edges, found)
                found.path = None
            if found.interrupted or time.perf_counter() > problem.end:
                return found
        return found

    def shortened_exactly(self, edges: ExactEdges, found: Found) -> Found:
        """Shorten a path that is free on the exact shapes."""
        assert found.path is not None
        begin, failures = time.perf_counter(), self.settings.shortcut_failures
        failures = max(MAX_SHORTCUT_FAILURES, failures) if self.anytime else failures
        try:
            shortened = edges.shortened(self.problem.full(found.path), failures, self.seed)
            found.path = shortened[:, self.problem.columns]
        except KeyboardInterrupt:
            found.interrupted = True
        found.simplification_time += time.perf_counter() - begin
        return found

    def unreached_goal(self, goals: Array) -> Plan:
        colliding = self.problem.colliding(goals[0])
        if colliding is not None:
            return self.problem.result(*colliding.outcome("goal"))
        return self.problem.result("no_path", "no motion leads to the goal from where the robot's spheres are free")


def _local(k: int) -> float:
    """Return the fraction of local samples in a round: after the first one, in which uniform ones did not suffice."""
    return LOCAL_FRACTION if k > 0 else 0.0


def _nearest(goals: Array, q: Array) -> int:
    """Return the index of the goal (n, dofs) nearest to q; the search works in float32."""
    return int(np.argmin(np.linalg.norm(goals - q, axis=1))) if len(goals) > 1 else 0
