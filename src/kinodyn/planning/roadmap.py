"""Roadmaps for many plans in one world, or in worlds that change a little."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, positive, seed_number, vector
from kinodyn.collision.query import Query, as_pairs, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.planning.goals import Goal
from kinodyn.planning.groups import Group, group_joints, moving_dofs
from kinodyn.planning.plan import plan
from kinodyn.planning.prm import roadmap_bounds, search_graph
from kinodyn.planning.result import Plan
from kinodyn.planning.roadmap_graph import Graph
from kinodyn.planning.search import Found, SearchProblem, full
from kinodyn.planning.settings import PlannerSettings

Key = tuple[object, ...]


MAX_VERTICES = 10**6


@displayed
class Roadmap:
    """A probabilistic roadmap (PRM): built once, used for many plans.

    Parameters
    ----------
    robot
    world
        Obstacles and attached objects.
    group
        Joints that move, as for `plan`.
    q : (nq,), optional
        Position of the joints that do not move, by default neutral.
    vertices : int
        Number of free configurations. Where a plan finds no path, more are added within its time budget.
    seed
        Seed of the random number generator.
    allowed : pairs of names, optional
        Links or objects that may touch, beyond `kd.collision.allowed_pairs` of the robot.
    settings, resolution
        As for `plan`.

    Notes
    -----
    Vertices and the motions between neighbours are checked in batches. When a plan is made in another world, vertices
    are checked again, but motions only when a path would use them: free ones if something was added or moved, blocked
    ones if something was removed or moved.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> world = kd.collision.World()
    >>> world.add_box("wall", (0.4, 0.04, 0.6), ((0.6, 0.0, 0.3), None))
    >>> roadmap = kd.planning.Roadmap(robot, world)
    >>> left, right = [0.9, -0.2, 0, -2, 0, 1.6, 0.8], [-0.9, -0.2, 0, -2, 0, 1.6, 0.8]
    >>> roadmap.plan(left, right).success, roadmap.plan(right, "ready").success
    (True, True)
    >>> world.add_sphere("ball", 0.1, (0.3, 0.0, 0.9))
    >>> roadmap.plan(left, right, world).success
    True
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        world: World | WorldSnapshot | None = None,
        *,
        group: Group = None,
        q: ArrayLike | None = None,
        vertices: int = 1000,
        seed: int = 0,
        allowed: Iterable[Iterable[str]] | None = None,
        settings: PlannerSettings | None = None,
        resolution: float | None = None,
    ) -> None:
        integer("vertices", vertices, 0, MAX_VERTICES)
        seed = seed_number(seed)
        self._robot, self._group, self._joints = robot, group, group_joints(robot, group)
        self._world, self._allowed, self._seed = snapshot_of(world), as_pairs(allowed), seed
        self._settings = settings or PlannerSettings()
        self._resolution = None if resolution is None else positive("resolution", resolution)
        at = robot.neutral() if q is None else vector("q", q, robot.nq)
        moves = moving_dofs(robot, self._joints)
        query = Query(robot, self._world, self._allowed, at, moves, resolution=self._resolution)
        self._graph = Graph(roadmap_bounds(query), seed)
        self._graph.grow(query, int(vertices), self._settings.resolution)
        self._query, self._known = query, _key(query)

    @property
    def vertices(self) -> Array:
        """Configurations (n, nq), those that became blocked included."""
        return full(self._query, self._graph.points)

    @property
    def edges(self) -> NDArray[np.int64]:
        """Indices (m, 2) of the vertices between which motions are not known to be blocked."""
        return self._graph.edges[self._graph.usable()]

    @property
    def checked_motions(self) -> int:
        """Number of motions checked so far."""
        return self._graph.checked

    @check_types
    def plan(
        self,
        start: ArrayLike,
        goal: Goal,
        world: World | WorldSnapshot | None = None,
        *,
        time_budget: float = 1.0,
    ) -> Plan:
        """Plan a motion along the roadmap, and shorten it.

        Parameters
        ----------
        start : (nq,)
            Start configuration.
        goal
            As for `kd.planning.plan`.
        world
            By default that of the last plan.
        time_budget
            Time for the whole call [s].

        Returns
        -------
        plan : Plan
        """
        self._world = self._world if world is None else snapshot_of(world)
        return plan(
            self._robot,
            start,
            goal,
            self._world,
            group=self._group,
            time_budget=time_budget,
            seed=self._seed,
            planner=self._search,
            allowed=self._allowed,
            settings=self._settings,
            resolution=self._resolution,
        )

    def _search(self, given: SearchProblem) -> Found:
        """Search as `search` does, in this roadmap."""
        end = time.perf_counter() + given.time_budget
        if given.query.shrink > 0.0:  # free with reduced spheres does not imply free with the original ones
            return search_graph(Graph(self._graph.bounds, given.seed), given)
        self._adapt(given.query)
        return search_graph(self._graph, replace(given, time_budget=max(end - time.perf_counter(), 0.0)))

    def _adapt(self, query: Query) -> None:
        """Determine what has changed since the last plan."""
        old, new = self._known, _key(query)
        if old[1:] != new[1:]:
            self._graph.invalidate(query, added=True, removed=True)
        elif old[0] != new[0]:
            before, after = set(map(id, self._query.snapshot.objects)), set(map(id, query.snapshot.objects))
            self._graph.invalidate(query, added=bool(after - before), removed=bool(before - after))
        self._query, self._known = query, new

    def __repr__(self) -> str:
        joints = ", ".join(joint.name for joint in self._joints)
        return f"Roadmap({self._robot.name}, {len(self._graph.points)} vertices, {len(self.edges)} edges: {joints})"


def _key(query: Query) -> Key:
    """Return what the validity of configurations depends on: the objects, and everything else."""
    fixed = np.delete(query.q, query.core.moving_q)
    attached = tuple(id(thing) for thing in query.snapshot.objects if thing.attached_to is not None)
    return tuple(map(id, query.snapshot.objects)), attached, query.allowed, fixed.tobytes(), query.snapshot.padding
