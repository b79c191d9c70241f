"""Plan motions that satisfy constraints: trees on the constraint manifold, in the core, then checks of the path.

Searches alternate, each for a number of iterations that doubles from round to round: on spheres, then on smaller
spheres with a check of the path on the exact shapes. Each round adds goals. The sequence does not depend on the time
that earlier rounds took: the same seed gives the same path on a slow machine, if the time budget suffices.
"""

from __future__ import annotations

import time
from itertools import count

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.query import Query
from kinodyn.collision.spheres import RESOLUTION
from kinodyn.planning.constrained_goals import ConstrainedGoals, constrained_goals
from kinodyn.planning.constrained_space import ConstrainedSpace
from kinodyn.planning.constrained_trees import Trees
from kinodyn.planning.exact_paths import without_vertices
from kinodyn.planning.goals import GOAL_TIME_FRACTION, Goal
from kinodyn.planning.result import Plan, Status
from kinodyn.planning.settings import PlannerSettings

FIRST_ITERATIONS = 400  # of the search on spheres in the first round; doubled in each further round
FIRST_BATCHES = 16  # of guesses for further goals after the first round; doubled likewise
MAX_DOUBLINGS = 20
EXACT_FRACTION = 0.25  # of these iterations for each search that the exact shapes verify
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
        self.searches: list[_OnSpheres | _OnExactShapes] = []

    def result(self, status: Status, message: str, path: Array | None = None, planned: float | None = None) -> Plan:
        space, now = self.space, time.perf_counter()
        planned = now if planned is None else planned
        found = np.empty((0, space.robot.nq)) if path is None else path
        deviations = () if path is None else space.constraints.deviations(path)
        names = tuple(joint.name for joint in space.constraints.joints)
        iterations = sum(search.trees.iterations for search in self.searches if search.trees is not None)
        kept = space.constraints.constraints
        return Plan(
            space.robot,
            status,
            message,
            found,
            names,
            space.snapshot,
            planned - self.begin,
            now - planned,
            iterations,
            allowed=space.allowed,
            constraints=kept,
            deviations=deviations,
            resolution=space.sphere_resolution,
        )

    def plan(self, goal: Goal) -> Plan:
        space = self.space
        try:
            colliding = space.colliding(space.start)
            if colliding is not None:
                return self.result(*colliding.outcome("start"))
            violation = space.constraints.violation(space.start)
            if violation:
                return self.result("start_violates_constraint", f"the start violates {violation}")
            goals = constrained_goals(space, goal, self.begin + GOAL_TIME_FRACTION * self.budget, self.seed)
            if goals.status != "solved":
                return self.result(goals.status, goals.reason)
            return self.rounds(goals)
        except KeyboardInterrupt:
            return self.interrupted()

    def rounds(self, goals: ConstrainedGoals) -> Plan:
        """Alternate the searches, with more goals in each round, until the time budget is used up."""
        self.searches = [_OnSpheres(self, goals.q)]
        if self.space.exact is not None:
            self.searches += [_OnExactShapes(self, shrink, goals.q) for shrink in RADIUS_REDUCTIONS]
        for k in count():
            effort = 2 ** min(k, MAX_DOUBLINGS)
            for search in self.searches:
                path = search.run(FIRST_ITERATIONS * effort)
                if path is not None:
                    return self.simplified(search, path)
            if time.perf_counter() > self.end or (goals.are_all and not any(s.trees for s in self.searches)):
                break
            further = goals.more(FIRST_BATCHES * effort, self.end)
            for search in self.searches:
                search.add_goals(further)
        return self.result("no_path", f"no path was found within {self.budget:g} s")

    def simplified(self, search: _OnSpheres | _OnExactShapes, path: Array) -> Plan:
        planned = time.perf_counter()
        try:
            return self.result("solved", "", search.simplified(path), planned)
        except KeyboardInterrupt:
            return self.interrupted(path)

    def interrupted(self, path: Array | None = None) -> Plan:
        return self.result("interrupted", f"stopped after {time.perf_counter() - self.begin:.3g} s", path)


class _OnSpheres:
    """Search between configurations whose spheres are free; motions on the exact shapes lead there from the ends."""

    def __init__(self, owner: _Search, goals: Array) -> None:
        self.owner, self.space = owner, owner.space
        self.query = self.space.query()
        self.trees: Trees | None = None
        self.leaves = self.space.escape(self.query, self.space.start, owner.end)  # from the start
        self.arrivals: list[Array] = []  # from goals
        self.add_goals(goals)

    def add_goals(self, goals: Array) -> None:
        """Add goals (n, nq); those whose spheres are not free only while there are no others."""
        if self.leaves is None or not len(goals):
            return
        free = self.query.free(goals)
        candidates = goals[free] if free.any() or self.arrivals else goals
        arrivals = []
        for goal in candidates:
            motion = self.space.escape(self.query, goal, self.owner.end) if self._has_time() else None
            arrivals += [] if motion is None else [motion]
        if not arrivals:
            return
        self.arrivals += arrivals
        ends = np.array([motion[-1] for motion in arrivals])
        if self.trees is None:
            owner, start = self.owner, self.leaves[-1]
            self.trees = Trees(self.space, self.query, owner.settings, start, ends, owner.end, owner.seed)
        else:
            self.trees.add_goals(ends)

    def run(self, iterations: int) -> Array | None:
        """Return a path (n, nq) that satisfies the constraints and is free, None if none is found."""
        if self.trees is None:
            return None
        self.trees.allow(iterations)
        while (path := self.trees.search()) is not None:
            if self.space.constraints.satisfied_along(path):
                return self._whole(path)
            self.trees.restart()
        return None

    def simplified(self, path: Array) -> Array:
        """Shorten the path that was found last."""
        assert self.trees is not None
        shorter = self.trees.shortened()
        if not self.space.constraints.constraints:
            shorter = _straightened(self.owner, self.query, shorter)
        return self._whole(shorter) if self.space.constraints.satisfied_along(shorter) else path

    def _has_time(self) -> bool:
        return time.perf_counter() < self.owner.end

    def _whole(self, path: Array) -> Array:
        assert self.leaves is not None
        last = self.arrivals[int(np.argmin([np.abs(q[-1] - path[-1]).max() for q in self.arrivals]))]
        return np.concatenate([self.leaves[:-1], path, last[-2::-1]])


class _OnExactShapes:
    """Search with smaller spheres; each path is verified on the exact shapes."""

    def __init__(self, owner: _Search, shrink: float, goals: Array) -> None:
        self.owner, self.space, self.shrink = owner, owner.space, shrink
        self.waiting: Array = goals  # goals that are not yet added
        self.query: Query | None = None
        self.trees: Trees | None = None

    def add_goals(self, goals: Array) -> None:
        """Add goals (n, nq)."""
        self.waiting = np.concatenate([self.waiting, goals])

    def run(self, iterations: int) -> Array | None:
        """Return a path (n, nq) that satisfies the constraints and is free, None if none is found."""
        owner, space = self.owner, self.space
        query = self._prepare()
        if query is None or self.trees is None:
            return None
        self.trees.allow(int(EXACT_FRACTION * iterations))
        while (path := self.trees.search()) is not None:
            if space.constraints.satisfied_along(path) and space.exactly_free(path, owner.end):
                return path
            self.trees.restart()
        return None

    def simplified(self, path: Array) -> Array:
        """Replace parts of a path (n, nq) by motions along the constraints that are free on the exact shapes."""
        owner, space, query, failures = self.owner, self.space, self.query, 0
        assert query is not None

        def connect(a: Array, b: Array) -> Array | None:
            nonlocal failures
            motion = space.motion(a, b) if failures < owner.settings.shortcut_failures else None
            if motion is None or not query.motion_free(motion[:-1], motion[1:], owner.settings.resolution).all():
                return None
            if space.exactly_free(motion, owner.end):
                return motion
            failures += 1
            return None

        return without_vertices(space.robot.difference, path, connect, owner.end)

    def _prepare(self) -> Query | None:
        """Return the query, with trees from all goals whose spheres are free; None where those of the start are not."""
        owner = self.owner
        if self.query is None:
            self.query = self.space.query(self.shrink)
        if not len(self.waiting):
            return self.query
        goals, self.waiting = self.waiting[self.query.free(self.waiting)], self.waiting[:0]
        if self.trees is not None:
            self.trees.add_goals(goals)
        elif len(goals) and self.query.free(self.space.start):
            start = self.space.start
            self.trees = Trees(self.space, self.query, owner.settings, start, goals, owner.end, owner.seed)
        return self.query


def _straightened(owner: _Search, query: Query, path: Array) -> Array:
    """Remove vertices of a path (n, nq) that no constraint requires."""

    def connect(a: Array, b: Array) -> Array | None:
        return np.array([a, b]) if query.motion_free(a, b, owner.settings.resolution) else None

    return without_vertices(owner.space.robot.difference, path, connect, owner.end)
