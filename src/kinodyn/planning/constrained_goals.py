"""Goals of plans with constraints: configurations that satisfy the constraints, projected from many initial guesses."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kinodyn.arrays import Array
from kinodyn.planning.constrained_space import ConstrainedSpace
from kinodyn.planning.constraint_set import Rows
from kinodyn.planning.constraints import pose_record
from kinodyn.planning.goals import Goal, Goals, goal_configurations, goal_poses
from kinodyn.planning.groups import group_of, is_vector
from kinodyn.planning.pose_goals import goal_regions
from kinodyn.planning.regions import PoseRegion, draw
from kinodyn.planning.result import Status

ITERATIONS = 60  # of a projection
BATCH = 32  # projections at once
SUFFICIENT_GOALS = 2  # configurations after which the search ends
MAX_BATCHES = 3  # batches after which one configuration is enough
MAX_GUESS_SPREAD = 0.4  # largest spread of initial guesses, as a fraction of the range of each joint
SPHERE_BATCHES = 16  # batches without a goal whose spheres are free, after which the exact shapes decide
EXACT_CHECKS = 4  # configurations of a batch that are checked on the exact shapes
MORE_GOALS = 4  # that are added at once to those of a search without success
TOLERANCES = (1e-4, 1e-4)  # [m], [rad]


class ConstrainedGoals(NamedTuple):
    """Configurations (n, nq) that reach a goal, nearest to the start first, or why there are none."""

    q: Array
    status: Status = "solved"
    reason: str = ""
    targets: _Targets | None = None  # of which there may be further configurations

    @property
    def are_all(self) -> bool:
        """Whether there are no others."""
        return self.targets is None

    def more(self, batches: int, end: float) -> Array:
        """Return some further configurations (n, nq), which some batches of guesses find."""
        return self.q[:0] if self.targets is None else self.targets.more(batches, end)


def constrained_goals(space: ConstrainedSpace, goal: Goal, end: float, seed: int) -> ConstrainedGoals:
    """Return configurations that reach a goal, satisfy the constraints and are collision-free.

    Parameters
    ----------
    space
    goal
        Goal, as in `plan`.
    end
        Deadline on the clock of `time.perf_counter` [s].
    seed
        Seed of the random initial configurations of the projections.
    """
    rng = np.random.default_rng(seed)
    constraints = space.constraints
    poses = goal_poses(goal)
    if poses is not None:
        return _PoseTargets(space, goal_regions(poses), rng).search(end)
    given = _configurations(space, goal)
    if given.reason:
        return ConstrainedGoals(given.q, "out_of_reach", given.reason)
    q = given.q
    if isinstance(goal, Mapping):
        return _JointTargets(space, tuple(goal), q[0], rng).search(end)
    kept = q[constraints.satisfied(q)]
    if not len(kept):
        return ConstrainedGoals(q, "goal_violates_constraint", f"the goal violates {constraints.violation(q[0])}")
    collisions = [space.colliding(row) for row in kept]
    free = kept[[colliding is None for colliding in collisions]]
    if collisions[0] is not None and not len(free):
        return ConstrainedGoals(q, *collisions[0].outcome("goal"))
    return ConstrainedGoals(free)


def _configurations(space: ConstrainedSpace, goal: Goal) -> Goals:
    """Return the goals within limits: unlimited joints at the turn nearest to the start, the base as in the goal."""
    return goal_configurations(space.robot, goal, space.start, group_of(space.robot, space.constraints.joints))


class _Targets(ABC):
    """Targets that leave part of the configuration free: projections from many initial guesses find the rest."""

    def __init__(self, space: ConstrainedSpace, rng: np.random.Generator) -> None:
        self.space, self.constraints, self.rng = space, space.constraints, rng
        self.best, self.best_excess = space.start, np.inf  # nearest to a target
        self.attempts = 0  # batches of guesses
        self.reached = np.empty((0, space.robot.nq))

    @abstractmethod
    def rows(self, attempt: int) -> Rows:
        """Return the constraints and the target of an attempt."""

    @abstractmethod
    def unreached(self) -> str:
        """Describe why the target is out of reach."""

    def search(self, end: float) -> ConstrainedGoals:
        """Return configurations that are collision-free, or the reason why there are none."""
        found: list[Array] = []
        while not (len(found) >= SUFFICIENT_GOALS or (found and self.attempts >= MAX_BATCHES)):
            if self.attempts > 0 and time.perf_counter() > end:
                break
            found += self._batch(self.attempts >= SPHERE_BATCHES)
        if not found:
            found = self._free(self.reached, True)
        if found:
            return ConstrainedGoals(self._nearest_first(np.array(found)), targets=self)
        colliding = self.space.colliding(self.reached[0]) if len(self.reached) else None
        if colliding is not None:
            return ConstrainedGoals(self.reached[:1], *colliding.outcome("goal"))
        return ConstrainedGoals(self.best[None], "out_of_reach", self.unreached())

    def more(self, batches: int, end: float) -> Array:
        """Return further configurations (n, nq) of some batches."""
        found: list[Array] = []
        for _ in range(batches):
            if len(found) >= MORE_GOALS or time.perf_counter() > end:
                break
            found += self._batch(True)
        return self._nearest_first(np.array(found))[:MORE_GOALS] if found else self.space.start[None][:0]

    def _batch(self, exactly: bool) -> list[Array]:
        attempt, self.attempts = self.attempts, self.attempts + 1
        return self._free(self._projected(self._starts(attempt == 0), self.rows(attempt)), exactly)

    def _projected(self, q: Array, rows: Rows) -> Array:
        everything, reached = self.constraints.project(q, ITERATIONS, rows)
        if len(reached):
            self.reached = reached
        else:
            excess = self.constraints.excess(everything, rows)
            if excess.min() < self.best_excess:
                self.best, self.best_excess = everything[np.argmin(excess)], float(excess.min())
        return reached

    def _free(self, q: Array, exactly: bool) -> list[Array]:
        if not len(q):
            return []
        free = list(q[self.space.full_query.free(q)])
        if not free and exactly:
            free = [row for row in q[:EXACT_CHECKS] if self.space.colliding(row) is None]
        return free

    def _starts(self, first: bool) -> Array:
        """Return configurations around the start, at growing distances; the first is the start itself.

        Half of the later ones are around configurations that reach a target but collide.
        """
        columns, rng = self.constraints.columns, self.rng
        q = np.tile(self.space.start, (BATCH, 1))
        if len(self.reached):
            q[::2] = self.reached[rng.integers(len(self.reached), size=len(q[::2]))]
        low, high = (limits[columns] for limits in self.space.robot.sampling_range())
        spread = np.linspace(0.0 if first else 0.02, MAX_GUESS_SPREAD, BATCH)[:, None] * (high - low)
        q[:, columns] = np.clip(q[:, columns] + spread * rng.standard_normal(spread.shape), low, high)
        for joint in self.constraints.sampled:
            v = np.zeros((BATCH, self.space.robot.nv))
            size = np.linspace(0.0 if first else 0.02, MAX_GUESS_SPREAD, BATCH)[:, None] * np.pi
            v[:, joint.v] = size * rng.standard_normal((BATCH, joint.v.stop - joint.v.start))
            q = self.space.robot.integrate(q, v)
        return q

    def _nearest_first(self, q: Array) -> Array:
        moves = self.constraints.moves.copy()
        for joint in self.constraints.joints:  # joints that follow from the constraints are not compared
            moves[joint.v] &= is_vector(joint) or joint in self.constraints.sampled
        order = np.argsort(np.linalg.norm(self.space.robot.difference(self.space.start, q)[:, moves], axis=1))
        return np.ascontiguousarray(q[order])


class _PoseTargets(_Targets):
    """Poses of frames; alternatives, and poses drawn from a region, take turns."""

    def __init__(self, space: ConstrainedSpace, regions: Mapping[str, PoseRegion], rng: np.random.Generator) -> None:
        super().__init__(space, rng)
        self.regions = regions
        self.last = self.rows(0)

    def rows(self, attempt: int) -> Rows:
        which = np.array([attempt])
        poses = {frame: draw(region, which, self.rng)[0] for frame, region in self.regions.items()}
        targets = [
            pose_record(self.space.robot, frame, region=T, bounds=(0.0, 0.0), angle=0.0, tolerances=TOLERANCES)
            for frame, T in poses.items()
        ]
        self.last = self.constraints.with_records(targets)
        return self.last

    def unreached(self) -> str:
        left = self.constraints.outside(self.best, self.last)[len(self.constraints.records) :].max(axis=0)
        return (
            "no configuration that satisfies the constraints reaches the goal: "
            f"{1e3 * left[0]:.3g} mm and {left[1]:.3g} rad are left"
        )


class _JointTargets(_Targets):
    """Positions of some joints, given by a configuration (nq,)."""

    def __init__(self, space: ConstrainedSpace, names: tuple[str, ...], q: Array, rng: np.random.Generator) -> None:
        super().__init__(space, rng)
        self.given = np.array([i for name in names for i in range(space.robot.nq)[space.robot.joint(name).q]])
        self.values = q[self.given]
        moves = self.constraints.moves.copy()
        for name in names:
            moves[space.robot.joint(name).v] = False
        self.own = self.constraints.rows_of(self.constraints.records, moves)

    def rows(self, attempt: int) -> Rows:
        return self.own

    def _starts(self, first: bool) -> Array:
        q = super()._starts(first)
        q[:, self.given] = self.values
        return q

    def unreached(self) -> str:
        return "no configuration with these positions of joints satisfies the constraints"
