"""Plan a motion from a configuration to a goal."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import count
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import positive, vector
from kinodyn.collision import exact
from kinodyn.collision.distance import distance
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Query, as_pairs, as_resolution, snapshot_of, translations
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.spheres import RESOLUTION
from kinodyn.collision.world import World
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.planning.anytime import MAX_SHORTCUT_FAILURES, improve
from kinodyn.planning.constrained import plan_constrained
from kinodyn.planning.constrained_space import ConstrainedSpace
from kinodyn.planning.constraints import Constraint
from kinodyn.planning.escape import escape
from kinodyn.planning.exact_paths import ExactEdges
from kinodyn.planning.goals import Goal, given_configurations, goal_configurations, goal_poses
from kinodyn.planning.groups import Group, JointGroup, column_names, is_vector, joint_group
from kinodyn.planning.planners import Search, search_named
from kinodyn.planning.pose_goals import goal_regions
from kinodyn.planning.preparation import prepare
from kinodyn.planning.result import Plan, Status
from kinodyn.planning.search import Found, SearchProblem
from kinodyn.planning.settings import PlannerSettings

MAX_MEASURED = 256  # goals, nearest first, of which those whose spheres overlap least are tried first
LIMIT_TOLERANCE = 1e-6  # [rad or m]
GOAL_TIME_FRACTION = 0.5  # fraction of the time budget for pose goals
ESCAPE_TIME_FRACTION = 0.2  # fraction of the remaining time for motions from the ends to where spheres are free
SPHERES_TIME_FRACTION = 0.3  # fraction of the time budget before the exact shapes decide
RADIUS_REDUCTIONS = (0.25 * RESOLUTION, 0.5 * RESOLUTION, RESOLUTION)  # [m] of spheres where exact shapes decide
FIRST_SEARCH_TIME = 0.02  # [s] of the first search with each reduction; doubled in each further round


def plan(
    robot: Robot,
    start: ArrayLike,
    goal: Goal,
    world: World | WorldSnapshot | None = None,
    *,
    group: Group = None,
    constraints: Sequence[Constraint] = (),
    time_budget: float = 1.0,
    seed: int = 0,
    planner: str | Search = "rrt_connect",
    allowed: Iterable[Iterable[str]] | None = None,
    settings: PlannerSettings | None = None,
    resolution: float | None = None,
) -> Plan:
    """Plan a motion without collisions of the robot with itself or with the world.

    Parameters
    ----------
    robot
        The robot.
    start : (nq,)
        Where the motion starts.
    goal
        Configuration (nq,), several of them (n, nq), the name of a configuration of the robot or several names,
        positions by joint {"joint": q}, or poses by frame {"frame": T (4, 4)}, all of which must be reached. Several
        poses (..., 4, 4) of a frame, such as `grasp_poses`, are alternatives; a `PoseRegion` contains any number of
        them. Joints that a goal does not mention do not move.
    world
        Obstacles and attached objects.
    group
        Joints that move: the name of a chain of the robot (a group of its SRDF), names of chains or joints; by default
        all but floating ones, such as the base of a humanoid. Other joints do not move, except mimic joints of moving
        ones. Floating joints move within 3 m of start and goal.
    constraints
        Constraints that the path satisfies, such as `kd.planning.Upright`; with `kd.planning.Standing` the floating
        base moves too.
    time_budget
        Time for the whole call [s], without what is computed once per robot and cached, its spheres and allowed pairs,
        and without loading OMPL.
    seed
        Seed of the random number generator; the same seed gives the same path.
    planner
        "rrt_connect"; "anytime": the shortest path found within the time budget; "prm": a roadmap for this plan alone
        (see `Roadmap` for many plans); "ompl:" and the name of one of `ompl_planners`, such as "ompl:BITstar".
    allowed : pairs of names, optional
        Links or objects that may touch, beyond `kd.collision.allowed_pairs` of the robot.
    settings
        Settings of the planner.
    resolution
        How far the spheres that cover the robot may reach beyond its shapes [m], as in `kd.collision.free`. Finer
        spheres pass narrower gaps without exact shapes, and take longer.

    Returns
    -------
    plan : Plan
        It has a status: the absence of a path is a result, not an error.

    Notes
    -----
    RRT-Connect with dynamic domains, which checks vectors of configurations at once (W. Thomason, Z. Kingston,
    L. Kavraki, "Motions in microseconds via vectorized sampling-based planning", 2024), then shortcuts. Each motion of
    the path is checked continuously: it is free between samples too.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> world = kd.collision.World()
    >>> world.add_box("wall", (0.4, 0.04, 0.6), ((0.6, 0.0, 0.3), None))
    >>> left, right = [0.9, -0.2, 0, -2, 0, 1.6, 0.8], [-0.9, -0.2, 0, -2, 0, 1.6, 0.8]
    >>> kd.planning.plan(robot, left, right, world).success
    True
    """
    resolution = as_resolution(resolution)
    prepare(robot, resolution)
    search_named(planner)  # loads OMPL if it is needed
    begin = time.perf_counter()
    settings, time_budget = settings or PlannerSettings(), positive("time_budget", time_budget)
    problem = _Problem(robot, start, world, group, allowed, planner, resolution, begin, begin + time_budget)
    on_manifold = [joint for joint in problem.joints if not is_vector(joint)]
    if constraints or on_manifold:
        if planner != "rrt_connect":
            what = "takes no constraints" if constraints else f"does not move the {on_manifold[0].kind} joints"
            raise InputError(f"planner {planner!r} {what}; leave it at 'rrt_connect'")
        space = problem.constrained(constraints, goal, settings)
        return plan_constrained(space, goal, settings, begin, time_budget, seed)
    return problem.plan(goal, settings, time_budget, seed)


class End(NamedTuple):
    """A configuration (nq,) and one nearby whose spheres are free, most often the same."""

    q: Array
    free: Array


class Collision(NamedTuple):
    """Parts that collide, and whether this is certain: not if spheres touch without time for an exact check."""

    parts: str
    is_certain: bool


class _Problem:
    """The inputs of a plan besides its goal."""

    MAX_ESCAPES = 8  # goals from which a motion to free spheres is searched

    def __init__(
        self,
        robot: Robot,
        start: ArrayLike,
        world: World | WorldSnapshot | None,
        group: Group,
        allowed: Iterable[Iterable[str]] | None,
        planner: str | Search,
        resolution: float | None,
        begin: float,
        end: float,
    ) -> None:
        self.begin, self.end = begin, end  # by `time.perf_counter` [s]
        self.run, self.anytime = search_named(planner), planner == "anytime"
        self.robot, self.snapshot, self.allowed = robot, snapshot_of(world), as_pairs(allowed)
        self.start = vector("start", start, robot.nq)
        self.group = joint_group(robot, group)
        self.joints = self.group.joints
        _require_limits(self.group, "start", self.start)
        self.resolution = resolution
        self.query = self.spheres()
        self.columns = np.array(self.query.core.moving_q, dtype=np.intp)
        self.limits = robot.limits.lower[self.columns], robot.limits.upper[self.columns]
        self.wide = self.limits[1] - self.limits[0] > 2.0 * np.pi + LIMIT_TOLERANCE
        if self.wide.any():
            lengths = np.isin(self.columns, translations(robot))
            self.wide &= ~(lengths & np.isfinite(self.limits[1] - self.limits[0]))

    def spheres(self, shrink: float = 0.0) -> Query:
        """Return the query of the joints that move, with reduced spheres [m]."""
        world = self.snapshot, self.allowed, self.start, self.group.moves
        return Query(self.robot, *world, shrink=shrink, resolution=self.resolution)

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

    def plan(self, goal: Goal, settings: PlannerSettings, time_budget: float, seed: int) -> Plan:
        end, colliding = self.end, self.colliding(self.start)
        if colliding is not None:
            return self.collision("start", colliding)
        by = end - (1.0 - GOAL_TIME_FRACTION) * time_budget
        goals = goal_configurations(self.robot, goal, self.start, self.group, self.query.free, by, seed)
        if goals.reason:
            return self.result("out_of_reach", goals.reason)
        goals = goals._replace(q=self.least_touching_first(goals.q))
        found = self.on_spheres(goals.q, settings, end, seed)
        if found is None or (found.path is None and not found.interrupted):
            earlier = found
            found = self.on_exact_shapes(goals.q, settings, end, seed) or found
            if found is not None:
                if found.path is None:
                    found.planning_time = time.perf_counter() - self.begin
                found.iterations += earlier.iterations if earlier is not None and earlier is not found else 0
        if found is None:
            return self.unreached_goal(goals.q)
        if found.interrupted:
            return self.result("interrupted", f"stopped after {found.planning_time:.3g} s", found)
        if found.path is None:
            return self.result("no_path", f"no path was found within {time_budget:g} s", found)
        return self.result("solved", "", found)

    def least_touching_first(self, goals: Array) -> Array:
        """Return the goals (n, nq), where no spheres are free those first whose spheres overlap least."""
        if len(goals) < 2 or self.query.free(goals).any():
            return goals
        goals = goals[:MAX_MEASURED]
        allowed, fine = self.allowed, self.resolution
        measured = distance(self.robot, goals, self.snapshot, allowed=allowed, resolution=fine).distance
        return goals[np.argsort(-measured, kind="stable")]

    def on_spheres(self, goals: Array, settings: PlannerSettings, end: float, seed: int) -> Found | None:
        """Search between configurations whose spheres are free; None if there are none next to the ends."""
        now = time.perf_counter()
        by = now + ESCAPE_TIME_FRACTION * (end - now)
        starts = [End(self.start, self.start)] if self.start_free else self.ends(self.start[None], settings, by)
        goal_ends = self.ends(goals, settings, by) if starts else []
        if not starts or not goal_ends:
            return None
        share = SPHERES_TIME_FRACTION if exact.is_available() else 1.0
        return self.search(starts[0], goal_ends, settings, share, end, seed)

    def on_exact_shapes(self, goals: Array, settings: PlannerSettings, end: float, seed: int) -> Found | None:
        """Search with smaller spheres, and verify each path on the exact shapes; None if no goal is free."""
        if self.exact is None:
            return None
        free = []
        for goal in goals[: self.MAX_ESCAPES]:
            if not self.exact.can_decide(goal):
                break
            free += [] if self.exact.colliding(goal) else [goal]
        if not free:
            return None
        ends = self.start[self.columns], np.array(free)[:, self.columns]
        for attempt in count():
            shrink = RADIUS_REDUCTIONS[attempt % len(RADIUS_REDUCTIONS)]
            share = FIRST_SEARCH_TIME * 2.0 ** (attempt // len(RADIUS_REDUCTIONS))
            query = self.spheres(shrink)
            left = max(min(end - time.perf_counter(), share), 0.0)
            bounds = self.sampling_bounds(ends)
            found = self.run(SearchProblem(query, settings, ends, bounds, left, seed + attempt, simplify=False))
            if found.path is not None:
                found.path[0], found.path[-1] = ends[0], ends[1][_nearest(ends[1], found.path[-1])]
                edges = ExactEdges(self.exact, query, settings.resolution)
                if edges.path_free(self.full(found.path)):
                    found.planning_time = time.perf_counter() - self.begin
                    return self.shortened_exactly(edges, found, settings, seed)
                found.path = None
            if found.interrupted or time.perf_counter() > end:
                return found
        raise AssertionError("unreachable")

    def shortened_exactly(self, edges: ExactEdges, found: Found, settings: PlannerSettings, seed: int) -> Found:
        """Shorten a path that is free on the exact shapes."""
        assert found.path is not None
        begin, failures = time.perf_counter(), settings.shortcut_failures
        failures = max(MAX_SHORTCUT_FAILURES, failures) if self.anytime else failures
        found.path = edges.shortened(self.full(found.path), failures, seed)[:, self.columns]
        found.simplification_time += time.perf_counter() - begin
        return found

    def full(self, path: Array) -> Array:
        """Return the configurations (n, nq) of a path (n, dofs)."""
        q = np.empty((len(path), self.robot.nq))
        q[:] = self.start
        q[:, self.columns] = path
        return q

    def ends(self, q: Array, settings: PlannerSettings, end: float) -> list[End]:
        """Return the configurations (n, nq) that are free, each with one nearby whose spheres are free."""
        free = self.query.free(q).tolist()
        if any(free):
            return [End(row, row) for row, is_free in zip(q, free, strict=True) if is_free]
        found = []
        for row in q[: self.MAX_ESCAPES]:
            if self.exact is None or not self.exact.can_decide(row):
                break
            if not self.exact.colliding(row):
                near = escape(self.exact, self.query, row, self.columns, self.limits, settings.resolution, end)
                found += [] if near is None else [End(row, near)]
        return found

    def unreached_goal(self, goals: Array) -> Plan:
        colliding = self.colliding(goals[0])
        if colliding is not None:
            return self.collision("goal", colliding)
        return self.result("no_path", "no motion leads to the goal from where the robot's spheres are free")

    def search(
        self, start: End, goals: list[End], settings: PlannerSettings, share: float, end: float, seed: int
    ) -> Found:
        """Search for a path within a fraction of the remaining time; an anytime planner uses all of it."""
        inner = start.free[self.columns], np.array([goal.free[self.columns] for goal in goals])
        bounds, left = self.sampling_bounds(inner), max(end - time.perf_counter(), 0.0)
        problem = SearchProblem(self.query, settings, inner, bounds, share * left, seed)
        found = self.run(problem)
        if self.anytime and found.path is not None:
            found = improve(problem, found, end)
        if found.path is not None:
            k = _nearest(inner[1], found.path[-1])
            goal = goals[k]
            found.path[0], found.path[-1] = inner[0], inner[1][k]
            before = [start.q[self.columns]] if start.q is not start.free else []
            after = [goal.q[self.columns]] if goal.q is not goal.free else []
            found.path = np.vstack([*before, found.path, *after]) if before or after else found.path
        return found

    def sampling_bounds(self, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the limits of the joints; of angles with more than a turn, half a turn beyond both ends at most.

        The same angle plus a turn is the same pose, so that fewer samples cover all poses. Lengths without limits are
        bounded likewise, by pi metres.
        """
        lower, upper = self.limits
        if not self.wide.any():
            return lower, upper
        all_ends = np.vstack(ends)
        lower = np.where(self.wide, np.maximum(lower, all_ends.min(axis=0) - np.pi), lower)
        upper = np.where(self.wide, np.minimum(upper, all_ends.max(axis=0) + np.pi), upper)
        return lower, upper

    @cached_property
    def exact(self) -> ExactChecks | None:
        """Checks on the exact shapes, None where coal is not installed: the spheres decide then."""
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
        if self.full_query.free(q):
            return None
        if self.exact is None or not self.exact.can_decide(q):
            spheres = [f"spheres of {a} and {b}" for a, b in self.full_query.touching(q)]
            return Collision(_listed(spheres), self.exact is None)
        depths = self.exact.colliding(q).items()
        parts = [f"{a} with {b}, {1e3 * depth:.3g} mm deep" for (a, b), depth in depths]
        return Collision(_listed(parts), True) if parts else None

    def collision(self, end: Literal["start", "goal"], found: Collision) -> Plan:
        if found.is_certain:
            status: Status = "start_in_collision" if end == "start" else "goal_in_collision"
            return self.result(status, f"the {end} collides: {found.parts}")
        return self.result("no_path", f"no time is left to check the exact shapes at the {end}: {found.parts} touch")


def _listed(parts: list[str]) -> str:
    return "; ".join(parts[:3]) + (f" and {len(parts) - 3} more" if len(parts) > 3 else "")


def _require_limits(group: JointGroup, what: str, q: Array) -> None:
    values = q[group.columns]
    beyond = np.maximum(group.lower - values, values - group.upper)
    if beyond.max() > LIMIT_TOLERANCE:
        i = int(beyond.argmax())
        name, low, high = column_names(group.joints)[i], group.lower[i], group.upper[i]
        raise InputError(f"{what}: joint {name} is at {values[i]:.6g}, outside its limits {low:.6g} to {high:.6g}")


def _nearest(goals: Array, q: Array) -> int:
    """Return the index of the goal (n, dofs) nearest to q; the search works in float32."""
    return int(np.argmin(np.linalg.norm(goals - q, axis=1))) if len(goals) > 1 else 0
