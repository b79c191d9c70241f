"""Fields of a moveit_msgs/MotionPlanRequest of a `Request`."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.shapes import Box, Cylinder, Sphere
from kinodyn.errors import InputError
from kinodyn.interop.moveit.constraints import Constraints, OrientationConstraint, PositionConstraint
from kinodyn.interop.moveit.request import Request
from kinodyn.interop.moveit.scene import Scene
from kinodyn.interop.moveit.scene_fields import pose_of, shape_fields, state_fields
from kinodyn.model.robot import Robot


def request_fields(request: Request, robot: Robot, scene: Scene | None) -> dict[str, Any]:
    """Return the fields of a request; poses are in the frame of the message."""
    T = np.eye(4) if scene is None else scene.T_scene_base
    fields: dict[str, Any] = {
        "start_state": state_fields(request.start, robot, T),
        "goal_constraints": [constraint_fields(part, T) for part in request.goal_constraints],
        "path_constraints": constraint_fields(request.path_constraints or Constraints(""), T),
        "planner_id": request.planner,
        "group_name": request.group,
        "num_planning_attempts": request.attempts,
        "allowed_planning_time": request.time_budget,
        "max_velocity_scaling_factor": request.velocity_scaling,
        "max_acceleration_scaling_factor": request.acceleration_scaling,
    }
    if request.workspace is not None:
        area = request.workspace
        corners = {"min_corner": _vector(area.lower), "max_corner": _vector(area.upper)}
        fields["workspace_parameters"] = {"header": {"frame_id": area.frame}, **corners}
    return fields


def constraint_fields(given: Constraints, T_scene_base: Array) -> dict[str, Any]:
    """Return the fields of a moveit_msgs/Constraints."""
    joints = [
        {
            "joint_name": part.joint,
            "position": part.position,
            "tolerance_above": part.above,
            "tolerance_below": part.below,
            "weight": part.weight,
        }
        for part in given.joints
    ]
    return {
        "name": given.name,
        "joint_constraints": joints,
        "position_constraints": [_position(part, T_scene_base) for part in given.positions],
        "orientation_constraints": [_orientation(part, T_scene_base) for part in given.orientations],
    }


def _position(part: PositionConstraint, T: Array) -> dict[str, Any]:
    for region in part.regions:
        if not isinstance(region.shape, (Box, Sphere, Cylinder)):
            raise InputError(
                f"regions of {part.frame!r} must be boxes, spheres or cylinders to be written, got "
                f"{type(region.shape).__name__.lower()}"
            )
    return {
        "header": {"frame_id": ""},
        "link_name": part.frame,
        "target_point_offset": _vector(part.offset),
        "constraint_region": {
            "primitives": [shape_fields(region.shape, part.frame)[1] for region in part.regions],
            "primitive_poses": [pose_of(T @ region.T_world_region) for region in part.regions],
        },
        "weight": part.weight,
    }


def _orientation(part: OrientationConstraint, T: Array) -> dict[str, Any]:
    turned = np.eye(4)
    turned[:3, :3] = T[:3, :3] @ part.R_world_target
    tolerances = {
        f"absolute_{axis}_axis_tolerance": float(value) for axis, value in zip("xyz", part.tolerance, strict=True)
    }
    return {
        "header": {"frame_id": ""},
        "orientation": pose_of(turned)["orientation"],
        "link_name": part.frame,
        **tolerances,
        "parameterization": ("xyz", "rotation_vector").index(part.parameterisation),
        "weight": part.weight,
    }


def _vector(values: Array) -> dict[str, float]:
    return dict(zip("xyz", values.tolist(), strict=True))
