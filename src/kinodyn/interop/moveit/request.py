"""Request: the content of a moveit_msgs/MotionPlanRequest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import unknown_name
from kinodyn.interop.moveit.constraints import Constraints, PoseGoal, read_constraints
from kinodyn.interop.moveit.fields import Fields, Message
from kinodyn.interop.moveit.objects import Objects
from kinodyn.interop.moveit.poses import Frames
from kinodyn.interop.moveit.scene import Scene
from kinodyn.interop.moveit.states import read_state, set_joints
from kinodyn.model.robot import Robot

SingleGoal: TypeAlias = Array | Mapping[str, PoseGoal]


@displayed
@dataclass(frozen=True, eq=False)
class Workspace:
    """The volume in which a mobile base may move.

    Parameters
    ----------
    frame
        Name of the frame of the corners, empty for the world.
    lower, upper : (3,)
        Corners [m].
    """

    frame: str
    lower: Array
    upper: Array


@displayed
@dataclass(frozen=True, eq=False)
class Request:
    """A motion to plan.

    Attributes
    ----------
    group : str
        Name of the group of joints to move.
    start : (nq,) array
        The configuration to start from.
    goal : (nq,) array, mapping of PoseGoal by frame, or tuple of these
        Where to go: a configuration, in which joints that are not constrained are as at the start, or poses. A tuple if
        there are several goals, of which one is enough. Of a frame with several constraints of one kind, the first; all
        are in `goal_constraints`.
    goal_constraints : tuple of Constraints
        The goals as they were given, with tolerances.
    path_constraints : Constraints or None
        Path constraints.
    workspace : Workspace or None
    planner : str
        Name of the planner, empty for the default.
    time_budget : float
        Time that planning may take [s], 0 if not given.
    attempts : int
        How often to plan; the shortest path is kept.
    velocity_scaling, acceleration_scaling : float
        Factors of the limits, above 0 and at most 1.
    """

    group: str
    start: Array
    goal: SingleGoal | tuple[SingleGoal, ...]
    goal_constraints: tuple[Constraints, ...]
    path_constraints: Constraints | None
    workspace: Workspace | None
    planner: str
    time_budget: float
    attempts: int
    velocity_scaling: float
    acceleration_scaling: float

    def __repr__(self) -> str:
        return f"Request(group={self.group!r}, {len(self.goal_constraints)} goals, planner={self.planner!r})"


def build_request(message: Message, robot: Robot, scene: Scene, frames: Frames, objects: Objects) -> Request:
    """Read a request; joints that its start state does not mention are as in the scene."""
    fields = message.fields
    group = fields.text("group_name")
    state = fields.child("start_state")
    start, T_scene_base = read_state(state, robot, scene.robot_state)
    if T_scene_base is not None and not np.allclose(T_scene_base, scene.T_scene_base):
        text = "the base is not where the scene has it, and it is fixed; load the robot with base='floating'"
        raise state.fault("multi_dof_joint_state", text)
    frames = frames.at(start, robot.description.chains.get(group))
    objects.frames = frames
    for held in state.children("attached_collision_objects"):
        objects.attach(held)
    given = list(fields.children("goal_constraints"))
    if not given:
        raise fields.error("goal_constraints", [], "at least one goal")
    constraints = tuple(read_constraints(part, frames) for part in given)
    goals = tuple(goal_of(goal, robot, start, part) for goal, part in zip(constraints, given, strict=True))
    path = read_constraints(fields.child("path_constraints"), frames)
    return Request(
        group=group,
        start=start,
        goal=goals[0] if len(goals) == 1 else goals,
        goal_constraints=constraints,
        path_constraints=path if path else None,
        workspace=_workspace(fields.child("workspace_parameters")),
        planner=fields.text("planner_id"),
        time_budget=fields.nonnegative("allowed_planning_time"),
        attempts=max(1, int(fields.nonnegative("num_planning_attempts"))),
        velocity_scaling=_scaling(fields, "max_velocity_scaling_factor"),
        acceleration_scaling=_scaling(fields, "max_acceleration_scaling_factor"),
    )


def goal_of(constraints: Constraints, robot: Robot, start: Array, fields: Fields | None = None) -> SingleGoal:
    """Return the configuration or the poses that constraints describe; `fields` are where they were read."""
    fields = Message({}, "goal").fields if fields is None else fields
    if not constraints:
        raise fields.fault("", "give joint_constraints, position_constraints or orientation_constraints")
    if constraints.joints:
        configuration = _configuration(constraints, robot, start, fields)
        if not constraints.positions and not constraints.orientations:
            return configuration
    goals = {}
    frames = [part.frame for part in constraints.positions] + [part.frame for part in constraints.orientations]
    for frame in dict.fromkeys(frames):
        at = [part for part in constraints.positions if part.frame == frame]
        turned = [part for part in constraints.orientations if part.frame == frame]
        goals[frame] = PoseGoal(frame, at[0] if at else None, turned[0] if turned else None)
    return goals


def _configuration(constraints: Constraints, robot: Robot, start: Array, fields: Fields) -> Array:
    positions = {part.joint: part.position for part in constraints.joints}
    known = [joint.name for joint in robot.description.joints]
    for name in positions:
        if name not in known:
            raise unknown_name("joint", name, known)
    goal: Array = start.copy()
    set_joints(goal, positions, robot, fields)
    return goal


def _workspace(fields: Fields) -> Workspace | None:
    header = fields.child("header")
    header.ignore("seq", "stamp")
    lower, upper = fields.vector("min_corner", "xyz"), fields.vector("max_corner", "xyz")
    if lower is None or upper is None or not any((*lower, *upper)):
        return None
    if not all(low <= high for low, high in zip(lower, upper, strict=True)):
        raise fields.error("max_corner", upper, f"a corner above min_corner, {lower}")
    return Workspace(header.text("frame_id"), np.array(lower), np.array(upper))


def _scaling(fields: Fields, name: str) -> float:
    """Read a factor; 0, as in a message that was not filled in, is 1."""
    value = fields.nonnegative(name)
    if value > 1.0:
        raise fields.error(name, value, "a number above 0 and at most 1")
    return value or 1.0
