"""Read scenes and requests from files, strings or dictionaries."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from kinodyn.argument_types import check_types
from kinodyn.description.packages import PackageDirs, PackageFinder
from kinodyn.errors import InputError
from kinodyn.interop.moveit.fields import Message
from kinodyn.interop.moveit.request import Request, build_request
from kinodyn.interop.moveit.scene import Scene, build_scene
from kinodyn.interop.moveit.yaml_text import parse_yaml
from kinodyn.model.robot import Robot
from kinodyn.rosmsgs.messages import as_dict

Source: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | Any  # Any: a ROS message

MAX_BYTES = 100_000_000


@check_types
def read(scene: Source, request: Source, robot: Robot, *, package_dirs: PackageDirs = ()) -> tuple[Scene, Request]:
    """Read a PlanningScene and a MotionPlanRequest of MoveIt.

    Parameters
    ----------
    scene, request
        Path of a YAML file, YAML text (a string with a line break), a dictionary with the fields of the message, or a
        ROS message as `kd.interop.ros.new` or `decode` returns it.
    robot
        The robot, loaded with its SRDF file if the group is to be known.
    package_dirs
        Folders that contain the packages of `package://` URIs of meshes.

    Returns
    -------
    scene : Scene
        Scene with world, allowed_pairs and robot_state.
    request : Request
        Request with start, goal and group.

    Raises
    ------
    InputError
        For text that is not YAML, and fields of a wrong type or value, with their path in the message.
    UnknownNameError
        For a frame or a joint of a goal that the robot does not have.

    Warns
    -----
    DescriptionWarning
        One warning for each message that lists the fields that have no effect here. Obstacles and constraints are never
        dropped: those that cannot be represented are errors.

    Notes
    -----
    Vectors are lists or have fields x, y, z, w; types of shapes and operations are names or the constants of the
    message. Python objects and other YAML tags are rejected.

    Examples
    --------
    >>> import kinodyn as kd
    >>> ball = {"id": "ball", "primitives": [{"type": "sphere", "dimensions": [0.1]}]}
    >>> scene = {"world": {"collision_objects": [ball]}}
    >>> request = {"goal_constraints": [{"joint_constraints": [{"joint_name": "joint1", "position": 0.5}]}]}
    >>> scene, request = read(scene, request, kd.load("planar2r"))
    >>> scene.world, request.goal.tolist()
    (World(1 object: ball), [0.5, 0.0])
    """
    scene_message, request_message = source_message(scene, "scene"), source_message(request, "request")
    built, frames, objects = build_scene(scene_message, robot, _finder(scene, package_dirs))
    asked = build_request(request_message, robot, built, frames, objects)
    scene_message.warn()
    request_message.warn()
    return built, asked


@check_types
def read_scene(scene: Source, robot: Robot, *, package_dirs: PackageDirs = ()) -> Scene:
    """Read a PlanningScene of MoveIt.

    Parameters
    ----------
    scene, robot, package_dirs
        As for `read`.

    Returns
    -------
    scene : Scene
    """
    message = source_message(scene, "scene")
    built, _, _ = build_scene(message, robot, _finder(scene, package_dirs))
    message.warn()
    return built


def _finder(source: Source, package_dirs: PackageDirs) -> PackageFinder:
    file = source if isinstance(source, (str, os.PathLike)) and _is_path(source) else None
    return PackageFinder(file, package_dirs)


def _is_path(source: Source) -> bool:
    return isinstance(source, os.PathLike) or isinstance(source, str) and "\n" not in source


def source_message(source: Source, kind: str) -> Message:
    """Return the fields of a file, text, dictionary or ROS message; `kind` names it in errors."""
    if isinstance(source, Mapping):
        return Message(source, kind)
    if hasattr(source, "__msgtype__"):
        return Message(as_dict(source), kind)
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"{kind} must be a path, YAML text, a dictionary or message, got a {type(source).__name__}")
    if not _is_path(source):
        return Message(parse_yaml(str(source), kind), kind)
    path = Path(source)
    return Message(parse_yaml(_content(path), path.name), path.name)


def _content(path: Path) -> str:
    """Read the whole file, but never more than the limit: a device or a pipe may be endless."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InputError(f"{path}: not a regular file; give the path of a YAML file")
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise InputError(f"{path}: larger than {MAX_BYTES // 1_000_000} MB, too large for a scene")
        return data.decode("utf-8")
    except OSError as cause:
        raise InputError(f"{path}: cannot be read: {cause.strerror}") from cause
    except (UnicodeDecodeError, ValueError) as cause:
        if isinstance(cause, InputError):
            raise
        raise InputError(f"{path}: not UTF-8 text: {cause}") from cause
