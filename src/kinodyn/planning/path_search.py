"""Search for a path between configurations: on spheres first, on the exact shapes where spheres are too large."""

from __future__ import annotations

import time
from itertools import count
from typing import NamedTuple

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.distance import distance
from kinodyn.collision.spheres import RESOLUTION
from kinodyn.planning.anytime import MAX_SHORTCUT_FAILURES, improve
from kinodyn.planning.escape import escape
from kinodyn.planning.exact_paths import ExactEdges
from kinodyn.planning.goals import GOAL_TIME_FRACTION, Goal, goal_configurations
from kinodyn.planning.planners import Search, search_named
from kinodyn.planning.problem import Problem
from kinodyn.planning.result import Plan
from kinodyn.planning.search import Found, SearchProblem
from kinodyn.planning.settings import PlannerSettings

MAX_MEASURED = 256  # goals, nearest first, of which those whose spheres overlap least are tried first
MAX_ESCAPES = 8  # goals from which a motion to free spheres is searched
ESCAPE_TIME_FRACTION = 0.2  # fraction of the remaining time for motions from the ends to where spheres are free
SPHERES_TIME_FRACTION = 0.3  # fraction of the time budget before the exact shapes decide
RADIUS_REDUCTIONS = (0.25 * RESOLUTION, 0.5 * RESOLUTION, RESOLUTION)  # [m] of spheres where exact shapes decide
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
        self.run, self.anytime = search_named(planner), planner == "anytime"

    def plan(self, goal: Goal, time_budget: float) -> Plan:
        """Plan to a goal; a part of the time budget [s] is for configurations that reach it."""
        problem = self.problem
        colliding = problem.colliding(problem.start)
        if colliding is not None:
            return problem.collision("start", colliding)
        by = problem.end - (1.0 - GOAL_TIME_FRACTION) * time_budget
        free, group = problem.query.free, problem.group
        goals = goal_configurations(problem.robot, goal, problem.start, group, free, by, self.seed)
        if goals.reason:
            return problem.result("out_of_reach", goals.reason)
        q = self.least_touching_first(goals.q)
        found = self.on_spheres(q)
        if found is None or (found.path is None and not found.interrupted):
            earlier = found
            found = self.on_exact_shapes(q) or found
            if found is not None:
                if found.path is None:
                    found.planning_time = time.perf_counter() - problem.begin
                found.iterations += earlier.iterations if earlier is not None and earlier is not found else 0
        if found is None:
            return self.unreached_goal(q)
        if found.interrupted:
            return problem.result("interrupted", f"stopped after {found.planning_time:.3g} s", found)
        if found.path is None:
            return problem.result("no_path", f"no path was found within {time_budget:g} s", found)
        return problem.result("solved", "", found)

    def least_touching_first(self, goals: Array) -> Array:
        """Return the goals (n, nq), where no spheres are free those first whose spheres overlap least."""
        problem = self.problem
        if len(goals) < 2 or problem.query.free(goals).any():
            return goals
        goals = goals[:MAX_MEASURED]
        allowed, fine = problem.allowed, problem.resolution
        measured = distance(problem.robot, goals, problem.snapshot, allowed=allowed, resolution=fine).distance
        return goals[np.argsort(-measured, kind="stable")]

    def on_spheres(self, goals: Array) -> Found | None:
        """Search between configurations whose spheres are free; None if there are none next to the ends."""
        start, now = self.problem.start, time.perf_counter()
        by = now + ESCAPE_TIME_FRACTION * (self.problem.end - now)
        starts = [End(start, start)] if self.problem.start_free else self.ends(start[None], by)
        goal_ends = self.ends(goals, by) if starts else []
        if not starts or not goal_ends:
            return None
        share = SPHERES_TIME_FRACTION if exact.is_available() else 1.0
        return self.search(starts[0], goal_ends, share)

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

    def search(self, start: End, goals: list[End], share: float) -> Found:
        """Search for a path within a fraction of the remaining time; an anytime planner uses all of it."""
        end, columns = self.problem.end, self.problem.columns
        inner = start.free[columns], np.array([goal.free[columns] for goal in goals])
        bounds, left = self.problem.sampling_bounds(inner), max(end - time.perf_counter(), 0.0)
        query = SearchProblem(self.problem.query, self.settings, inner, bounds, share * left, self.seed)
        found = self.run(query)
        if self.anytime and found.path is not None:
            found = improve(query, found, end)
        if found.path is not None:
            k = _nearest(inner[1], found.path[-1])
            goal = goals[k]
            found.path[0], found.path[-1] = inner[0], inner[1][k]
            before = [start.q[columns]] if start.q is not start.free else []
            after = [goal.q[columns]] if goal.q is not goal.free else []
            found.path = np.vstack([*before, found.path, *after]) if before or after else found.path
        return found

    def on_exact_shapes(self, goals: Array) -> Found | None:
        """Search with smaller spheres, and verify each path on the exact shapes; None if no goal is free."""
        problem, checks, settings = self.problem, self.problem.exact, self.settings
        if checks is None:
            return None
        free = []
        for goal in goals[:MAX_ESCAPES]:
            if not checks.can_decide(goal):
                break
            free += [] if checks.colliding(goal) else [goal]
        if not free:
            return None
        ends = problem.start[problem.columns], np.array(free)[:, problem.columns]
        bounds = problem.sampling_bounds(ends)
        for attempt in count():
            shrink = RADIUS_REDUCTIONS[attempt % len(RADIUS_REDUCTIONS)]
            share = FIRST_SEARCH_TIME * 2.0 ** (attempt // len(RADIUS_REDUCTIONS))
            query = problem.spheres(shrink)
            left = max(min(problem.end - time.perf_counter(), share), 0.0)
            found = self.run(SearchProblem(query, settings, ends, bounds, left, self.seed + attempt, simplify=False))
            if found.path is not None:
                found.path[0], found.path[-1] = ends[0], ends[1][_nearest(ends[1], found.path[-1])]
                edges = ExactEdges(checks, query, settings.resolution)
                if edges.path_free(problem.full(found.path)):
                    found.planning_time = time.perf_counter() - problem.begin
                    return self.shortened_exactly(edges, found)
                found.path = None
            if found.interrupted or time.perf_counter() > problem.end:
                return found
        raise AssertionError("unreachable")

    def shortened_exactly(self, edges: ExactEdges, found: Found) -> Found:
        """Shorten a path that is free on the exact shapes."""
        assert found.path is not None
        begin, failures = time.perf_counter(), self.settings.shortcut_failures
        failures = max(MAX_SHORTCUT_FAILURES, failures) if self.anytime else failures
        shortened = edges.shortened(self.problem.full(found.path), failures, self.seed)
        found.path = shortened[:, self.problem.columns]
        found.simplification_time += time.perf_counter() - begin
        return found

    def unreached_goal(self, goals: Array) -> Plan:
        colliding = self.problem.colliding(goals[0])
        if colliding is not None:
            return self.problem.collision("goal", colliding)
        return self.problem.result("no_path", "no motion leads to the goal from where the robot's spheres are free")


def _nearest(goals: Array, q: Array) -> int:
    """Return the index of the goal (n, dofs) nearest to q; the search works in float32."""
    return int(np.argmin(np.linalg.norm(goals - q, axis=1))) if len(goals) > 1 else 0
