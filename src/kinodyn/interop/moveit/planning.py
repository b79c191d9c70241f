"""Requests of MoveIt as problems of `kd.planning`: goals and constraints along the path."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.collision.shapes import Box, Cylinder, Shape, Sphere
from kinodyn.errors import InputError
from kinodyn.interop.moveit.constraints import (
    Constraints,
    JointConstraint,
    OrientationConstraint,
    PoseGoal,
    PositionConstraint,
)
from kinodyn.interop.moveit.request import Request
from kinodyn.interop.moveit.scene import Scene
from kinodyn.model.robot import Robot
from kinodyn.planning import Constraint, FixedOrientation, InRegion, JointRange, Plan, PoseRegion
from kinodyn.planning import plan as plan_motion
from kinodyn.planning.constraint_set import ConstraintSet
from kinodyn.planning.groups import group_joints
from kinodyn.planning.range_constraints import half_sizes

MIN_ANGLE, MIN_RANGE = 1e-3, 1e-4  # [rad], [rad or m] tolerances of 0 are made as large
STARTS, ITERATIONS, MAX_GOALS = 256, 60, 64  # of the search for configurations that satisfy the constraints of a goal


@check_types
def plan(scene: Scene, request: Request, robot: Robot, *, seed: int = 0, **options: Any) -> Plan:
    """Plan a motion for a request.

    Parameters
    ----------
    scene, request
        As `read` returns them.
    robot
    seed
        Seed of the random number generator.
    options
        Further arguments of `kd.planning.plan`, which replace those of the request, such as `time_budget`.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        For constraints along the path that cannot be expressed; the message names them.
    """
    given: dict[str, Any] = {
        "group": request.group or None,
        "constraints": path_constraints(request),
        "time_budget": request.time_budget or 1.0,
        "allowed": scene.allowed_pairs,
        "seed": seed,
    }
    goal = requested_goal(request, robot, seed=seed)
    return plan_motion(robot, request.start, goal, scene.world, **{**given, **options})


@check_types
def path_constraints(request: Request) -> tuple[Constraint, ...]:
    """Return the constraints along the path of a request as those of `kd.planning`.

    Parameters
    ----------
    request

    Returns
    -------
    constraints : tuple of Constraint

    Raises
    ------
    InputError
        For constraints that cannot be expressed, by name: unions of regions, and cones.
    """
    given = request.path_constraints
    return () if given is None else _constraints(given, "path_constraints")


@check_types
def requested_goal(request: Request, robot: Robot, *, seed: int = 0) -> Any:
    """Return the goal of a request as `kd.planning.plan` takes it.

    Joint constraints become configurations. Poses of frames become regions of poses within the tolerances. Other
    goals, such as an orientation alone, become configurations that satisfy them, found by projection.

    Parameters
    ----------
    request
    robot
    seed
        Seed of the random number generator.

    Returns
    -------
    goal

    Raises
    ------
    InputError
        If a goal needs a joint elsewhere that is not in the group, or no configuration satisfies the constraints.
    """
    _check_joints_at_rest(request, robot)
    goals = request.goal if isinstance(request.goal, tuple) else (request.goal,)
    if all(isinstance(goal, np.ndarray) for goal in goals):
        return goals[0] if len(goals) == 1 else np.stack(goals)  # type: ignore[arg-type]
    regions = [_regions(goal, given) for goal, given in zip(goals, request.goal_constraints, strict=True)]
    if all(region is not None for region in regions):
        stacked = _stacked(regions)  # type: ignore[arg-type]
        if stacked is not None:
            return stacked
    found = [
        goal[None] if isinstance(goal, np.ndarray) else _projected(request, robot, constraints, seed)
        for goal, constraints in zip(goals, request.goal_constraints, strict=True)
    ]
    every = np.concatenate(found)
    if not len(every):
        raise InputError("no configuration satisfies the goal constraints of the request")
    return every


def _check_joints_at_rest(request: Request, robot: Robot) -> None:
    """Raise if a goal needs a joint elsewhere that the group does not move."""
    moving = {joint.name for joint in group_joints(robot, request.group or None, manifold=True)}
    single = {joint.name: joint for joint in robot.joints if joint.q.stop - joint.q.start == 1}
    for given in (part for goal in request.goal_constraints for part in goal.joints):
        joint = single.get(given.joint)
        if joint is None or joint.mimic is not None or joint.name in moving:
            continue
        q = float(request.start[joint.q.start])
        if not given.position - max(given.below, MIN_RANGE) <= q <= given.position + max(given.above, MIN_RANGE):
            raise InputError(
                f"goal_constraints: {joint.name} starts at {q:.6g}, its goal is {given.position:.6g}, and the group "
                f"{request.group!r} does not move it; plan for a group that does"
            )


def _constraints(given: Constraints, what: str) -> tuple[Constraint, ...]:
    """Return all constraints of a message; `what` names it in errors."""
    parts: Iterable[Constraint | None] = (
        *(_joint(part) for part in given.joints),
        *(_position(part, what) for part in given.positions),
        *(_orientation(part) for part in given.orientations),
    )
    return tuple(part for part in parts if part is not None)


def _joint(given: JointConstraint) -> Constraint:
    above, below = max(given.above, MIN_RANGE), max(given.below, MIN_RANGE)
    return JointRange(given.joint, given.position - below, given.position + above)


def _position(given: PositionConstraint, what: str) -> Constraint:
    if len(given.regions) != 1:
        raise InputError(
            f"{what}: position_constraints of {given.frame!r} have {len(given.regions)} regions, of which one would be "
            "enough; give one region"
        )
    region = given.regions[0]
    return InRegion(given.frame, _solid(region.shape, what), region.T_world_region, point=given.offset)


def _solid(shape: Shape, what: str) -> Box | Sphere | Cylinder:
    if isinstance(shape, (Box, Sphere, Cylinder)):
        return shape
    raise InputError(f"{what}: regions are boxes, spheres and cylinders; replace the {type(shape).__name__.lower()}")


def _orientation(given: OrientationConstraint) -> Constraint | None:
    tolerance = np.maximum(given.tolerance, MIN_ANGLE)
    if (tolerance >= math.pi).all():
        return None
    return FixedOrientation(
        given.frame, orientation=given.R_world_target, tolerance=tolerance, components=given.parameterisation
    )


def _regions(goal: Array | Mapping[str, PoseGoal], given: Constraints) -> dict[str, PoseRegion] | None:
    """Return a goal as regions of poses by frame, None if it cannot be expressed this way."""
    parts = len(given.joints) + len(given.positions) + len(given.orientations)
    if isinstance(goal, np.ndarray) or parts != 2 * len(goal):  # a position and an orientation for each frame
        return None
    found = {frame: part for frame, poses in goal.items() if (part := _region(poses)) is not None}
    return found if len(found) == len(goal) else None


def _region(goal: PoseGoal) -> PoseRegion | None:
    """Return poses within the tolerances of a goal, None if there is no single region of them."""
    T, position, orientation = goal.T_world_frame, goal.position, goal.orientation
    if T is None or position is None or orientation is None or len(position.regions) > 1:
        return None
    shape, R = position.regions[0].shape, position.regions[0].T_world_region[:3, :3]
    if not isinstance(shape, (Box, Sphere, Cylinder)) or orientation.parameterisation != "xyz":
        return None
    box = half_sizes(shape) / np.sqrt({Box: (1, 1, 1), Sphere: (3, 3, 3), Cylinder: (2, 2, 1)}[type(shape)])
    across = np.abs(R.T @ T[:3, :3])  # a box along the axes of the pose that is inside the one along the region's
    half = across.T @ box
    half *= float((box / np.maximum(across @ half, 1e-300)).min())
    # a point beside the origin of the frame would leave the region as the frame turns
    rotation = np.zeros(3) if position.offset.any() else np.minimum(orientation.tolerance, math.pi)
    return PoseRegion(T, position_tolerance=half, rotation_tolerance=rotation)


def _stacked(regions: Sequence[dict[str, PoseRegion]]) -> dict[str, PoseRegion] | None:
    """Return alternatives as one region for each frame, None if they differ in more than their poses."""
    first = regions[0]
    for other in regions[1:]:
        if set(other) != set(first) or not all(_same_tolerances(other[frame], first[frame]) for frame in first):
            return None
    return {
        frame: PoseRegion(
            np.stack([region[frame].pose for region in regions]), part.position_tolerance, part.rotation_tolerance
        )
        for frame, part in first.items()
    }


def _same_tolerances(a: PoseRegion, b: PoseRegion) -> bool:
    return np.allclose(a.position_tolerance, b.position_tolerance) and np.allclose(
        a.rotation_tolerance, b.rotation_tolerance
    )


def _projected(request: Request, robot: Robot, given: Constraints, seed: int) -> Array:
    """Return configurations (n, nq) that satisfy the constraints of a goal and those of the path."""
    joints = group_joints(robot, request.group or None, manifold=True)
    kept = (*path_constraints(request), *_constraints(given, "goal_constraints"))
    constraints = ConstraintSet(robot, request.start, joints, kept)
    q = np.tile(request.start, (STARTS, 1))
    low, high = robot.sampling_range()
    columns = constraints.columns
    random = np.random.default_rng(seed).uniform(low[columns], high[columns], (STARTS, len(columns)))
    # from the start itself to anywhere
    q[:, columns] += np.linspace(0.0, 1.0, STARTS)[:, None] * (random - q[:, columns])
    q = np.clip(q, *constraints.bounds)
    _, reached = constraints.project(q, ITERATIONS)
    reached = reached[constraints.satisfied(reached)]
    order = np.argsort(np.linalg.norm(robot.difference(request.start, reached), axis=1))
    return np.asarray(reached[order[:MAX_GOALS]])
