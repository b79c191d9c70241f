"""Trees on the constraint manifold, which grow in the core by a number of iterations at a time."""

from __future__ import annotations

import time

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.query import Query
from kinodyn.layouts import layout
from kinodyn.planning.constrained_space import ConstrainedSpace
from kinodyn.planning.groups import search_range
from kinodyn.planning.settings import PlannerSettings

INTERRUPT_INTERVAL = 0.05  # [s] after which Ctrl-C takes effect
STEP = 0.3  # [rad or m] longest motion between vertices, L2 norm; shorter where the constraints need it
MAX_HALVINGS = 4  # of the longest motion
RANGE = 3.0  # [rad or m] longest extension of a tree
SAMPLE_SPREAD = 0.1  # standard deviation of samples around the line to the goal, as a fraction of a joint's range
STEP_ITERATIONS = 8  # of the projection of a step
MIN_ITERATIONS = 100  # that a search counts as at least, so that searches that are soon discarded come to an end too


class Trees:
    """Trees from a start and from goals, in which paths are searched by a number of iterations at a time.

    Parameters
    ----------
    space
    query
        Collision query of the joints that move.
    settings
        Only those of continuous checks and of shortcuts are used.
    start : (nq,)
    goals : (n, nq)
    end
        Deadline on the clock of `time.perf_counter` [s].
    seed
        Seed of the random number generator.
    """

    def __init__(
        self,
        space: ConstrainedSpace,
        query: Query,
        settings: PlannerSettings,
        start: Array,
        goals: Array,
        end: float,
        seed: int,
    ) -> None:
        self.space, self.query, self.settings, self.end, self.seed = space, query, settings, end, seed
        self.start, self.goals = start, goals
        self.attempt, self.iterations = 0, 0  # searches before this one, and their iterations
        self._problem = self._make_problem()
        self._left = 0

    def add_goals(self, goals: Array) -> None:
        """Add goals (n, nq)."""
        if len(goals):
            self.goals = np.concatenate([self.goals, goals])
            self._problem.add_goals(np.ascontiguousarray(goals))

    def allow(self, iterations: int) -> None:
        """Allow a number of further iterations."""
        self._left += iterations

    def search(self) -> Array | None:
        """Return a path (n, nq) to one of the goals; None if iterations or time are used up."""
        solved, before = False, self._problem.iterations
        self._problem.max_iterations = before + max(self._left, 0)
        self._problem.end_after(self.end - time.perf_counter())
        while not solved and self._left > 0:
            left = self.end - time.perf_counter()
            solved = _core.constrained_rrt(self._problem, min(max(left, 0.0), INTERRUPT_INTERVAL))
            if left <= INTERRUPT_INTERVAL or self._problem.iterations >= self._problem.max_iterations:
                break
        used = self._problem.iterations - before
        self.iterations += used
        self._left -= max(used, MIN_ITERATIONS) if solved else used
        return self._problem.path if solved else None

    def shortened(self) -> Array:
        """Return the path that was found, shortened by motions along the constraints."""
        _core.shorten_constrained(self._problem, max(self.end - time.perf_counter(), 0.0))
        return self._problem.path

    def restart(self) -> None:
        """Restart with another seed and shorter steps, after the path found failed the final checks."""
        self.attempt += 1
        self._problem = self._make_problem()

    def _make_problem(self) -> _core.ConstrainedProblem:
        record = np.zeros(1, dtype=layout("constrained_planner"))
        record["step"], record["range"] = STEP / 2.0 ** min(self.attempt, MAX_HALVINGS), RANGE
        record["spread"], record["max_iterations"] = SAMPLE_SPREAD, STEP_ITERATIONS
        record["resolution"] = self.settings.resolution
        record["shortcut_failures"] = self.settings.shortcut_failures
        order = np.array(self.query.core.moving_q, dtype=np.intp)
        joints = np.vstack([self.start, self.goals])[:, order]
        constraints = self.space.constraints
        lower, upper = constraints.bounds
        lower, upper = search_range(lower[order], upper[order], joints)
        ends, samples = (self.start, self.goals), bool(constraints.sampled)
        seed = self.seed + self.attempt
        return _core.ConstrainedProblem(
            self.query.core, constraints.rows.core, record, seed, lower, upper, *ends, samples
        )
