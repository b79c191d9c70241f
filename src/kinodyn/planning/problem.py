"""The problem of a plan: robot, start, world and joints that move, with the checks of its configurations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import vector
from kinodyn.collision import exact
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Query, as_pairs, snapshot_of, translations
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.errors import InputError
from kinodyn.model.joint_values import MAX_SAMPLED_TRANSLATION
from kinodyn.model.robot import Robot
from kinodyn.planning.constrained_space import ConstrainedSpace
from kinodyn.planning.constraints import Constraint
from kinodyn.planning.end_collisions import Collision, collision_at
from kinodyn.planning.goals import Goal, given_configurations, goal_poses
from kinodyn.planning.groups import LIMIT_TOLERANCE, Group, joint_group, search_range
from kinodyn.planning.pose_goals import goal_regions
from kinodyn.planning.result import Plan, Status
from kinodyn.planning.search import Found
from kinodyn.planning.settings import PlannerSettings


class Problem:
    """The inputs of a plan besides its goal."""

    def __init__(
        self,
        robot: Robot,
        start: ArrayLike,
        world: World | WorldSnapshot | None,
        group: Group,
        allowed: Iterable[Iterable[str]] | None,
        resolution: float | None,
        begin: float,
        end: float,
    ) -> None:
        self.begin, self.end = begin, end  # by `time.perf_counter` [s]
        self.robot, self.snapshot, self.allowed = robot, snapshot_of(world), as_pairs(allowed)
        self.start = vector("start", start, robot.nq)
        self.group = joint_group(robot, group)
        self.joints = self.group.joints
        if not self.group.is_within_limits(self.start):
            raise InputError(f"start: {self.group.limit_violation(self.start)}")
        self.resolution = resolution
        self.query = self.spheres()
        self.columns = np.array(self.query.core.moving_q, dtype=np.intp)
        self.limits = robot.limits.lower[self.columns], robot.limits.upper[self.columns]
        extent = self.limits[1] - self.limits[0]
        self.wide, self.unlimited_length = extent > 2.0 * np.pi + LIMIT_TOLERANCE, False
        if self.wide.any():
            lengths = np.isin(self.columns, translations(robot))
            self.wide &= ~(lengths & (extent <= MAX_SAMPLED_TRANSLATION))
            self.unlimited_length = bool((lengths & self.wide).any())

    def spheres(self, shrink: float = 0.0, bounds: tuple[Array, Array] | None = None) -> Query:
        """Return the query of the joints that move, with reduced spheres [m].

        Parameters
        ----------
        shrink
        bounds : two arrays (dofs,), optional
            Range of the joints that move. It bounds how far a rotation moves what is beyond a length without limits.
        """
        world, limits = (self.snapshot, self.allowed, self.start, self.group.moves), None
        if bounds is not None and self.unlimited_length:
            limits = self.robot.limits.lower.copy(), self.robot.limits.upper.copy()
            for limit, bound in zip(limits, bounds, strict=True):
                limit[self.columns] = bound
        elif shrink == 0.0 and bounds is not None:
            return self.query
        return Query(self.robot, *world, shrink=shrink, bounds=limits, resolution=self.resolution)

    def constrained(self, constraints: Sequence[Constraint], goal: Goal, settings: PlannerSettings) -> ConstrainedSpace:
        world = self.snapshot, self.joints, constraints, self.allowed
        return ConstrainedSpace(
            self.robot,
            self.start,
            *world,
            settings.resolution,
            self.end,
            self.around(goal),
            sphere_resolution=self.resolution,
        )

    def around(self, goal: Goal) -> Array:
        """Return configurations (n, nq) that bound the region in which floating joints may move."""
        poses = goal_poses(goal)
        if poses is None:
            return given_configurations(self.robot, goal, self.start)
        found = [self.start]
        for joint in (joint for joint in self.joints if joint.kind == "floating"):
            for frame, region in goal_regions(poses).items():
                shifts = region.pose.reshape(-1, 4, 4)[:, :3, 3] - kinematics.pose(self.robot, self.start, frame)[:3, 3]
                for shift in shifts[[shifts.argmin(axis=0), shifts.argmax(axis=0)]].reshape(-1, 3):
                    found.append(self.start.copy())
                    found[-1][joint.q.start : joint.q.start + 3] += shift
        return np.array(found)

    def full(self, path: Array) -> Array:
        """Return the configurations (n, nq) of a path (n, dofs)."""
        q = np.empty((len(path), self.robot.nq))
        q[:] = self.start
        q[:, self.columns] = path
        return q

    def sampling_bounds(self, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the limits of the joints; of angles with more than a turn, half a turn beyond both ends at most.

        The same angle plus a turn is the same pose, so that fewer samples cover all poses. Lengths without limits are
        bounded likewise, by pi metres.
        """
        return search_range(*self.limits, np.vstack(ends), self.wide) if self.wide.any() else self.limits

    @cached_property
    def exact(self) -> ExactChecks | None:
        """Checks on the exact shapes, None where coal is not installed: then only spheres are checked."""
        if not exact.is_available():
            return None
        return ExactChecks(self.full_query, self.allowed, self.end)

    @cached_property
    def full_query(self) -> Query:
        """Checks of parts that do not move too."""
        return self.query if self.query.core.complete else self.query.of_all_joints(self.allowed)

    @cached_property
    def start_free(self) -> bool:
        """Whether the spheres that move are free at the start."""
        return bool(self.query.free(self.start))

    def colliding(self, q: Array) -> Collision | None:
        """Return which parts collide at a configuration, None if none do."""
        if q is self.start and self.start_free and self.full_query is self.query:
            return None
        return collision_at(self.full_query, self.exact, q)

    def result(self, status: Status, message: str, found: Found | None = None) -> Plan:
        found = found or Found(None)
        path = self.full(np.empty((0, len(self.columns))) if found.path is None else found.path)
        times = found.planning_time, found.simplification_time, found.iterations
        return Plan(
            self.robot,
            status,
            message,
            path,
            self.group.names,
            self.snapshot,
            *times,
            allowed=self.allowed,
            resolution=self.resolution,
        )
