"""Collision-free configurations that satisfy constraints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Pairs, Query
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.model.chain import moving_joints
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.planning.constraint_set import ConstraintSet
from kinodyn.planning.constraints import Constraint
from kinodyn.planning.end_collisions import Collision, collision_at
from kinodyn.planning.groups import group_columns

RADII = (0.05, 0.1, 0.2, 0.4, 0.8)  # [rad or m] of the neighbourhoods in which free spheres are searched
SAMPLES = 64  # in each neighbourhood
MOTIONS_PER_RADIUS = 3  # motions checked in each neighbourhood
STRIDE = 0.15  # [rad or m] between the vertices of such a motion, L2 norm
ITERATIONS = 20  # of a projection


class ConstrainedSpace:
    """A robot in a world, with constraints.

    Parameters
    ----------
    robot
    start : (nq,)
    snapshot
        The world.
    joints
        Joints that move.
    constraints
    allowed
        Pairs that may touch.
    resolution
        Resolution of the continuous checks [m].
    end
        Deadline on the clock of `time.perf_counter` [s].
    goals : (n, nq), optional
        Configurations that the path may lead to; by default near the start.
    sphere_resolution
        How far spheres may reach beyond the shapes [m], see `kd.collision.robot_spheres`.
    """

    def __init__(
        self,
        robot: Robot,
        start: Array,
        snapshot: WorldSnapshot,
        joints: Sequence[JointInfo],
        constraints: Sequence[Constraint],
        allowed: Pairs,
        resolution: float,
        end: float = np.inf,
        goals: Array | None = None,
        sphere_resolution: float | None = None,
    ) -> None:
        self.robot, self.start, self.snapshot, self.resolution, self.end = robot, start, snapshot, resolution, end
        self.sphere_resolution = sphere_resolution
        self.constraints = ConstraintSet(robot, start, joints, constraints, goals)
        fixed = {link for constraint in constraints for link in constraint.fixed_links(robot)}
        objects = [thing.name for thing in snapshot.objects if thing.attached_to is None]
        self.allowed: Pairs = allowed | {frozenset((link, name)) for link in fixed for name in objects}
        # parts that do not move are checked too
        self.full_query = Query(
            robot, snapshot, self.allowed, bounds=self.constraints.query_bounds, resolution=sphere_resolution
        )

    def query(self, shrink: float = 0.0) -> Query:
        """Return a query of the parts that move, whose spheres are reduced [m]."""
        c = self.constraints
        world = self.snapshot, self.allowed, self.start, c.moves
        return Query(self.robot, *world, shrink=shrink, bounds=c.query_bounds, resolution=self.sphere_resolution)

    @cached_property
    def exact(self) -> ExactChecks | None:
        """Checks on the exact shapes, None where coal is not installed: then only spheres are checked."""
        return ExactChecks(self.full_query, self.allowed, self.end) if exact.is_available() else None

    def colliding(self, q: Array) -> Collision | None:
        """Return which parts collide at a configuration (nq,), None if none do."""
        return collision_at(self.full_query, self.exact, q)

    def exactly_free(self, path: Array, end: float) -> bool:
        """Return whether a path (n, nq) is free on the exact shapes, False if the time is up."""
        checks = self.exact
        assert checks is not None
        checks.end = end
        return all(checks.motion_free(a, b, self.resolution) for a, b in zip(path, path[1:], strict=False))

    def escape(self, query: Query, q: Array, end: float) -> Array | None:
        """Find a path (n, nq) from a configuration that is free on the exact shapes to one that is free on the spheres.

        Parameters
        ----------
        query
        q : (nq,)
        end
            Deadline on the clock of `time.perf_counter` [s].
        """
        if query.free(q):
            return q[None]
        if self.exact is None:
            return None
        rng = np.random.default_rng(0)
        columns = self._columns_between(query.touching(q))
        low, high = self.constraints.bounds[0][columns], self.constraints.bounds[1][columns]
        for radius in RADII:
            around = np.tile(q, (SAMPLES, 1))
            steps = rng.uniform(-radius, radius, (SAMPLES, len(columns)))
            around[:, columns] = np.clip(around[:, columns] + steps, low, high)
            _, reached = self.constraints.project(around, ITERATIONS)
            free = reached[query.free(reached)] if len(reached) else reached
            for candidate in free[np.argsort(np.abs(free - q).sum(axis=1))][:MOTIONS_PER_RADIUS]:
                if time.perf_counter() > end:
                    return None
                path = self.motion(q, candidate)
                if path is not None and self.exactly_free(path, end):
                    return path
        return None

    def _columns_between(self, pairs: list[tuple[str, str]]) -> NDArray[np.intp]:
        """Return the coordinates of moving joints that move the parts of pairs apart: those between both."""
        links = {link.name for link in self.robot.description.links}
        names = set[str]()
        for pair in pairs:
            chains = [{joint.name for joint in moving_joints(self.robot, name)} for name in pair if name in links]
            names |= chains[0] ^ chains[1] if len(chains) == 2 else set().union(*chains)
        found = group_columns([joint for joint in self.constraints.joints if joint.name in names])
        return np.intersect1d(found, self.constraints.columns) if len(found) else self.constraints.columns

    def motion(self, q0: Array, q1: Array) -> Array | None:
        """Return a path (n, nq) along the constraints between configurations nearby; None if there is none."""
        n = 1 + int(np.linalg.norm(self.robot.difference(q0, q1)) / STRIDE)
        path = self.robot.interpolate(q0, q1, np.linspace(0.0, 1.0, n + 1))
        if n > 1:
            _, inner = self.constraints.project(path[1:-1], ITERATIONS)
            if len(inner) < n - 1:
                return None
            path[1:-1] = inner
        return path if self.constraints.satisfied_along(path) else None
