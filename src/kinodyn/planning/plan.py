"""Plan a motion from a configuration to a goal."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.checks import list_of, positive, seed_number
from kinodyn.collision.query import as_resolution, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.planning.constrained import plan_constrained
from kinodyn.planning.constraints import Constraint
from kinodyn.planning.goals import Goal
from kinodyn.planning.groups import Group, is_vector
from kinodyn.planning.path_search import PathSearch
from kinodyn.planning.planners import Search, search_named
from kinodyn.planning.preparation import prepare
from kinodyn.planning.problem import Problem
from kinodyn.planning.result import Plan
from kinodyn.planning.settings import PlannerSettings


@check_types
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
    """Plan a collision-free motion from a configuration to a goal.

    Parameters
    ----------
    robot
        The robot.
    start : (nq,)
        Start configuration.
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
    world = snapshot_of(world)
    prepare(robot, resolution, world.padding)
    search_named(planner)  # loads OMPL if it is needed
    seed = seed_number(seed)
    constraints = list_of("constraints", constraints, Constraint, "kd.planning constraints")
    begin = time.perf_counter()
    settings, time_budget = settings or PlannerSettings(), positive("time_budget", time_budget)
    problem = Problem(robot, start, world, group, allowed, resolution, begin, begin + time_budget)
    on_manifold = [joint for joint in problem.joints if not is_vector(joint)]
    if constraints or on_manifold:
        if planner != "rrt_connect":
            what = "takes no constraints" if constraints else f"does not move the {on_manifold[0].kind} joints"
            raise InputError(f"planner {planner!r} {what}; leave it at 'rrt_connect'")
        space = problem.constrained(constraints, goal, settings)
        return plan_constrained(space, goal, settings, begin, time_budget, seed)
    return PathSearch(problem, planner, settings, seed).plan(goal, time_budget)
