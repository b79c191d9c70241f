"""Plan motions that satisfy constraints: trees on the constraint manifold, in the core, then checks of the path."""

from __future__ import annotations

import time
from itertools import count

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.query import Query
from kinodyn.collision.spheres import RESOLUTION
from kinodyn.layouts import layout
from kinodyn.planning.constrained_goals import constrained_goals
from kinodyn.planning.constrained_space import ConstrainedSpace
from kinodyn.planning.exact_paths import without_vertices
from kinodyn.planning.goals import GOAL_TIME_FRACTION, Goal
from kinodyn.planning.result import Plan, Status
from kinodyn.planning.settings import PlannerSettings

INTERRUPT_INTERVAL = 0.05  # [s] after which Ctrl-C takes effect
STEP = 0.3  # [rad or m] longest motion between vertices, L2 norm; shorter where the constraints need it
RANGE = 3.0  # [rad or m] longest extension of a tree
SAMPLE_SPREAD = 0.1  # standard deviation of samples around the line to the goal, as a fraction of a joint's range
STEP_ITERATIONS = 8  # of the projection of a step
SPHERES_TIME_FRACTION = 0.5  # fraction of the remaining time before the exact shapes decide
RADIUS_REDUCTIONS = (0.5 * RESOLUTION, RESOLUTION)  # [m] reduction of the spheres where the exact shapes decide


def plan_constrained(
    space: ConstrainedSpace, goal: Goal, settings: PlannerSettings, begin: float, time_budget: float, seed: int
) -> Plan:
    """Plan a motion under constraints.

    Parameters
    ----------
    space
    goal
        Goal, as in `plan`.
    settings
        Only those of continuous checks and of shortcuts are used.
    begin, time_budget
        Start time on the clock of `time.perf_counter`, and the time for the whole call [s].
    seed
        Seed of the random number generator.
    """
    return _Search(space, settings, begin, time_budget, seed).plan(goal)


class _Search:
    """One call of the planner."""

    def __init__(
        self, space: ConstrainedSpace, settings: PlannerSettings, begin: float, time_budget: float, seed: int
    ) -> None:
        self.space, self.settings, self.seed = space, settings, seed
        self.begin, self.end = begin, begin + time_budget
        self.budget = time_budget
        self.iterations = 0

    def result(self, status: Status, message: str, path: Array | None = None, planned: float | None = None) -> Plan:
        space, now = self.space, time.perf_counter()
        planned = now if planned is None else planned
        found = np.empty((0, space.robot.nq)) if path is None else path
        deviations = () if path is None else space.constraints.deviations(path)
        names = tuple(joint.name for joint in space.constraints.joints)
        times = planned - self.begin, now - planned, self.iterations
        kept = space.constraints.constraints
        return Plan(
            space.robot,
            status,
            message,
            found,
            names,
            space.snapshot,
            *times,
            allowed=space.allowed,
            constraints=kept,
            deviations=deviations,
            resolution=space.sphere_resolution,
        )

    def plan(self, goal: Goal) -> Plan:
        space = self.space
        colliding = space.colliding(space.start)
        if colliding:
            return self.result("start_in_collision", f"the start collides: {colliding}")
        violation = space.constraints.violation(space.start)
        if violation:
            return self.result("start_violates_constraint", f"the start violates {violation}")
        try:
            goals = constrained_goals(space, goal, self.begin + GOAL_TIME_FRACTION * self.budget, self.seed)
            if goals.status != "solved":
                return self.result(goals.status, goals.reason)
            return self.on_spheres(goals.q) or self.on_exact_shapes(goals.q) or self.unsolved()
        except KeyboardInterrupt:
            return self.result("interrupted", f"stopped after {time.perf_counter() - self.begin:.3g} s")

    def unsolved(self) -> Plan:
        return self.result("no_path", f"no path was found within {self.budget:g} s")

    def on_spheres(self, goals: Array) -> Plan | None:
        """Search between configurations whose spheres are free."""
        query = self.space.query()
        first = self.space.escape(query, self.space.start, self.end)
        free = query.free(goals)
        found = []
        for goal in goals[free] if free.any() else goals:
            last = self.space.escape(query, goal, self.end) if time.perf_counter() < self.end else None
            found += [] if last is None else [last]
        if first is None or not found:
            return None
        left = max(self.end - time.perf_counter(), 0.0)
        limit = self.end - (0.0 if self.space.exact is None else (1.0 - SPHERES_TIME_FRACTION) * left)
        for attempt in count():
            ends = first[-1], np.array([last[-1] for last in found])
            path = self.search(query, ends, limit, attempt)
            if path is None:
                return None
            planned = time.perf_counter()
            path, last = self.shortened(), found[int(np.argmin([np.abs(q[-1] - path[-1]).max() for q in found]))]
            if not self.space.constraints.constraints:
                path = self.straightened(query, path)
            if self.space.constraints.kept(path):
                return self.result("solved", "", np.concatenate([first[:-1], path, last[-2::-1]]), planned)
        raise AssertionError("unreachable")

    def on_exact_shapes(self, goals: Array) -> Plan | None:
        """Search with smaller spheres, and verify each path on the exact shapes."""
        for attempt in count():
            if self.space.exact is None or time.perf_counter() > self.end:
                return None
            query = self.space.query(RADIUS_REDUCTIONS[attempt % len(RADIUS_REDUCTIONS)])
            free = goals[query.free(goals)]
            if not query.free(self.space.start) or not len(free):
                if attempt >= len(RADIUS_REDUCTIONS):
                    return None
                continue
            path = self.search(query, (self.space.start, free), self.end, attempt)
            if path is None:
                return None
            if self.space.constraints.kept(path) and self.space.exactly_free(path, self.end):
                planned = time.perf_counter()
                return self.result("solved", "", self.shortened_exactly(query, path), planned)
        raise AssertionError("unreachable")

    def search(self, query: Query, ends: tuple[Array, Array], end: float, attempt: int) -> Array | None:
        """Return a path (n, nq) from a start (nq,) to one of some goals (n, nq), None if none is found in time."""
        self.problem = self.problem_of(query, ends, attempt)
        solved = False
        while not solved:
            left = end - time.perf_counter()
            solved = _core.constrained_rrt(self.problem, min(max(left, 0.0), INTERRUPT_INTERVAL))
            if left <= INTERRUPT_INTERVAL:
                break
        self.iterations += self.problem.iterations
        return self.problem.path if solved else None

    def shortened(self) -> Array:
        _core.shorten_constrained(self.problem, max(self.end - time.perf_counter(), 0.0))
        return self.problem.path

    def straightened(self, query: Query, path: Array) -> Array:
        """Remove vertices of a path (n, nq) that no constraint requires."""

        def connect(a: Array, b: Array) -> Array | None:
            return np.array([a, b]) if query.motion_free(a, b, self.settings.resolution) else None

        return without_vertices(self.space.robot.difference, path, connect, self.end)

    def shortened_exactly(self, query: Query, path: Array) -> Array:
        """Replace parts of a path (n, nq) by motions along the constraints that are free on the exact shapes."""
        failures, resolution = 0, self.settings.resolution

        def connect(a: Array, b: Array) -> Array | None:
            nonlocal failures
            motion = self.space.motion(a, b) if failures < self.settings.shortcut_failures else None
            if motion is None or not query.motion_free(motion[:-1], motion[1:], resolution).all():
                return None
            if self.space.exactly_free(motion, self.end):
                return motion
            failures += 1
            return None

        return without_vertices(self.space.robot.difference, path, connect, self.end)

    def problem_of(self, query: Query, ends: tuple[Array, Array], attempt: int) -> _core.ConstrainedProblem:
        """Return the problem for the core; steps are shorter with each attempt."""
        record = np.zeros(1, dtype=layout("constrained_planner"))
        record["step"], record["range"], record["spread"] = STEP / 2.0 ** min(attempt, 4), RANGE, SAMPLE_SPREAD
        record["resolution"], record["max_iterations"] = self.settings.resolution, STEP_ITERATIONS
        record["shortcut_failures"] = self.settings.shortcut_failures
        order = np.array(query.core.moving_q, dtype=np.intp)
        joints = np.vstack(ends)[:, order]
        lower, upper = (bound[order] for bound in self.space.constraints.bounds)
        lower = np.where(np.isfinite(lower), lower, joints.min(axis=0) - np.pi)
        upper = np.where(np.isfinite(upper), upper, joints.max(axis=0) + np.pi)
        table = self.space.constraints.rows.core
        samples = bool(self.space.constraints.sampled)
        return _core.ConstrainedProblem(query.core, table, record, self.seed + attempt, lower, upper, *ends, samples)
