"""Goals of plans with constraints: configurations that keep the constraints, by projection from many starts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import cycle
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import as_pose, numbers
from kinodyn.errors import InputError
from kinodyn.planning.constrained_space import ConstrainedSpace
from kinodyn.planning.constraint_set import Rows
from kinodyn.planning.constraints import pose_record
from kinodyn.planning.goals import Goal, Goals, goal_configurations
from kinodyn.planning.result import Status

ITERATIONS = 60  # of a projection
BATCH = 32  # projections at once
ENOUGH = 2  # configurations, or
LATE = 3  # batches after which one is enough
SPREAD = 0.4  # of starts, the widest, as a share of the range of each joint
PATIENCE = 0.5  # share of the time without one whose spheres are free, after which the exact shapes decide
TRIED_EXACTLY = 4  # configurations of a batch
TOLERANCES = (1e-4, 1e-4)  # [m], [rad]


class ConstrainedGoals(NamedTuple):
    """Configurations (n, nq) that reach a goal, nearest to the start first, or why there are none."""

    q: Array
    status: Status = "solved"
    reason: str = ""


def constrained_goals(space: ConstrainedSpace, goal: Goal, end: float, seed: int) -> ConstrainedGoals:
    """Return configurations that reach a goal, keep the constraints and are free of collision.

    Parameters
    ----------
    space
    goal
        As `plan` takes it.
    end
        When to stop, by `time.perf_counter` [s].
    seed
        Of the starts of projections.
    """
    if isinstance(goal, Mapping):
        return _PoseGoals(space, goal).search(end, np.random.default_rng(seed))
    constraints = space.constraints
    given = _configurations(space, goal)
    if given.reason:
        return ConstrainedGoals(given.q, "out_of_reach", given.reason)
    q = given.q
    kept = q[constraints.excess(q) <= 1.0]
    if not len(kept):
        return ConstrainedGoals(q, "goal_violates_constraint", f"the goal violates {constraints.violation(q[0])}")
    collisions = [space.colliding(row) for row in kept]
    free = kept[[not colliding for colliding in collisions]]
    if not len(free):
        return ConstrainedGoals(q, "goal_in_collision", f"the goal collides: {collisions[0]}")
    return ConstrainedGoals(free)


def _configurations(space: ConstrainedSpace, goal: str | ArrayLike) -> Goals:
    """Return the goals within limits, nearest turns of joints without limits, with the base where they have it."""
    robot, base = space.robot, space.constraints.base
    joints = [joint for joint in space.constraints.joints if joint is not base]
    given = goal_configurations(robot, goal, space.start, joints)
    if base is None or given.reason:
        return given
    rows = np.atleast_2d(robot.configuration(goal) if isinstance(goal, str) else numbers("goal", goal, robot.nq))
    found = []
    for row in rows:
        single = goal_configurations(robot, row, space.start, joints)
        if not single.reason:
            single.q[0, base.q] = row[base.q]
            found.append(single.q[0])
    return Goals(np.array(found))


class _PoseGoals:
    """Poses of frames that are to be reached; several poses of a frame are alternatives."""

    def __init__(self, space: ConstrainedSpace, goal: Mapping[str, ArrayLike]) -> None:
        if not goal:
            raise InputError("goal is empty; give poses by frame: {'frame': T}")
        self.space, self.constraints = space, space.constraints
        poses = {frame: as_pose(T, f"goal of {frame}").reshape(-1, 4, 4) for frame, T in goal.items()}
        counts = {len(T) for T in poses.values()} - {1} or {1}
        if len(counts) > 1:
            raise InputError(f"the frames of the goal have {sorted(counts)} poses; give as many of each, or one")
        self.targets = [self._rows({frame: T[i % len(T)] for frame, T in poses.items()}) for i in range(max(counts))]
        self.best, self.best_excess = space.start, np.inf  # nearest to a target
        self.reached = np.empty((0, space.robot.nq))

    def _rows(self, poses: Mapping[str, Array]) -> Rows:
        robot = self.space.robot
        return self.constraints.with_records(
            [
                pose_record(robot, frame, region=T, bounds=(0.0, 0.0), angle=0.0, tolerances=TOLERANCES)
                for frame, T in poses.items()
            ]
        )

    def search(self, end: float, rng: np.random.Generator) -> ConstrainedGoals:
        found: list[Array] = []
        patience = time.perf_counter() + PATIENCE * (end - time.perf_counter())
        for attempt, rows in enumerate(cycle(self.targets)):
            first, now = attempt < len(self.targets), time.perf_counter()
            if len(found) >= ENOUGH or (found and attempt >= LATE) or (not first and now > end):
                break
            found += self._free(self._projected(self._starts(rng, first), rows), now > patience)
        if not found:
            found = self._free(self.reached, True)
        if found:
            return ConstrainedGoals(self._nearest_first(np.array(found)))
        if len(self.reached):
            reason = f"the goal collides: {self.space.colliding(self.reached[0])}"
            return ConstrainedGoals(self.reached[:1], "goal_in_collision", reason)
        return ConstrainedGoals(self.best[None], "out_of_reach", self._unreached())

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
            free = [row for row in q[:TRIED_EXACTLY] if not self.space.colliding(row)]
        return free

    def _starts(self, rng: np.random.Generator, first: bool) -> Array:
        """Return configurations around the start, farther and farther from it; the first is the start itself.

        Half of the later ones are around configurations that reach a target but collide.
        """
        columns = self.constraints.columns
        q = np.tile(self.space.start, (BATCH, 1))
        if len(self.reached):
            q[::2] = self.reached[rng.integers(len(self.reached), size=len(q[::2]))]
        low, high = (limits[columns] for limits in self.space.robot.sampling_range())
        spread = np.linspace(0.0 if first else 0.02, SPREAD, BATCH)[:, None] * (high - low)
        q[:, columns] = np.clip(q[:, columns] + spread * rng.standard_normal(spread.shape), low, high)
        return q

    def _nearest_first(self, q: Array) -> Array:
        columns = self.constraints.columns
        order = np.argsort(np.linalg.norm(q[:, columns] - self.space.start[columns], axis=1))
        return np.ascontiguousarray(q[order])

    def _unreached(self) -> str:
        count = len(self.constraints.records)
        left = min((self.constraints.outside(self.best, rows)[count:].max(axis=0) for rows in self.targets), key=sum)
        return (
            "no configuration that keeps the constraints reaches the goal: "
            f"{1e3 * left[0]:.3g} mm and {left[1]:.3g} rad are left"
        )
