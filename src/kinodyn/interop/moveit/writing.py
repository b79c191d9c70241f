"""Write scenes and requests: the fields of MoveIt's messages, YAML files, and ROS messages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from kinodyn.argument_types import check_types
from kinodyn.errors import InputError
from kinodyn.interop.moveit.request import Request
from kinodyn.interop.moveit.request_fields import request_fields
from kinodyn.interop.moveit.scene import Scene
from kinodyn.interop.moveit.scene_fields import scene_fields
from kinodyn.interop.moveit.trajectories import RobotTrajectory, trajectory_fields
from kinodyn.model.robot import Robot
from kinodyn.rosmsgs.messages import new
from kinodyn.rosmsgs.trajectories import JointTrajectory

Value = Scene | Request | RobotTrajectory | JointTrajectory

_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@check_types
def to_dict(value: Value, robot: Robot | None = None, *, scene: Scene | None = None) -> dict[str, Any]:
    """Return the fields of the message of MoveIt that a value corresponds to.

    Parameters
    ----------
    value
        A scene, a request or a trajectory.
    robot
        The robot of a scene or request.
    scene
        For a request: its scene, which gives the place of a fixed base. By default it is the origin.

    Returns
    -------
    fields : dict
        Nested dictionaries, lists, strings and numbers; `read` returns the same value from them.

    Raises
    ------
    InputError
        If the value has a part that the message cannot express.

    Warns
    -----
    DescriptionWarning
        If shapes without an equivalent, such as capsules, are written as meshes.
    """
    if isinstance(value, (RobotTrajectory, JointTrajectory)):
        return trajectory_fields(value)
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a Robot to write a {type(value).__name__}, got {type(robot).__name__}")
    if isinstance(value, Scene):
        return scene_fields(value, robot)
    if isinstance(value, Request):
        return request_fields(value, robot, scene)
    raise InputError(f"value must be a Scene, Request or trajectory, got {type(value).__name__}")


@check_types
def to_message(value: Value, robot: Robot | None = None, *, scene: Scene | None = None) -> Any:
    """Return a value as a ROS message; `pip install 'kinodyn[ros]'`.

    Parameters
    ----------
    value, robot, scene
        As for `to_dict`.

    Returns
    -------
    message
        A moveit_msgs/PlanningScene, moveit_msgs/MotionPlanRequest, moveit_msgs/RobotTrajectory or
        trajectory_msgs/JointTrajectory.
    """
    names = {
        Scene: "moveit_msgs/msg/PlanningScene",
        Request: "moveit_msgs/msg/MotionPlanRequest",
        RobotTrajectory: "moveit_msgs/msg/RobotTrajectory",
        JointTrajectory: "trajectory_msgs/msg/JointTrajectory",
    }
    fields = to_dict(value, robot, scene=scene)
    return new(names[type(value)], fields)


@check_types
def write(
    value: Value, path: str | os.PathLike[str], robot: Robot | None = None, *, scene: Scene | None = None
) -> None:
    """Write a value as a YAML file, as MoveIt's tools and `read` take it.

    Parameters
    ----------
    value
        A scene, a request or a trajectory.
    path
        The file, which is replaced.
    robot, scene
        As for `to_dict`.
    """
    write_yaml(to_dict(value, robot, scene=scene), path)


def write_yaml(fields: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write fields as a YAML file; numbers keep all their digits."""
    text = yaml.dump(dict(fields), Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as cause:
        raise InputError(f"path must be writable, got {path}: {cause.strerror}") from cause
