"""States of a robot as messages: JointState, tf, Odometry, and its description."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import vector, with_attributes
from kinodyn.description.messages import listed
from kinodyn.description.urdf_writer import write_urdf
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.compile import COORDINATES, JointInfo
from kinodyn.model.robot import Robot
from kinodyn.rosmsgs.messages import new
from kinodyn.rosmsgs.rosbags_library import message_class
from kinodyn.spatial import as_quaternion, inverse

GIGA = 1_000_000_000


def stamp_of(time: int) -> dict[str, int]:
    """Return the fields of a builtin_interfaces/Time or Duration of a time [ns]."""
    return {"sec": time // GIGA, "nanosec": time % GIGA}


def nanoseconds(stamp: Any) -> int:
    """Return the time of a builtin_interfaces/Time or Duration [ns]."""
    return int(stamp.sec) * GIGA + int(stamp.nanosec)


def single_joints(robot: Robot) -> list[JointInfo]:
    """List the joints with one coordinate, mimic joints included: those that a JointState can express."""
    return [joint for joint in robot.joints if COORDINATES[joint.kind] == 1]


@check_types
def joint_state(
    robot: Robot, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None, *, time: int = 0
) -> Any:
    """Return the state of a robot as a sensor_msgs/JointState.

    Parameters
    ----------
    robot
    q, v, tau : (nq,), (nv,), (nv,)
        Configuration; velocity and generalised forces, which are left out if not given.
    time
        Time stamp [ns].

    Returns
    -------
    message
        Joints with one coordinate; a mimic joint has the position that follows from its leader's, and no effort.
    """
    joints = single_joints(robot)
    values: dict[str, Any] = {"position": _of_joints(joints, vector("q", q, robot.nq), "q", offset=True)}
    if v is not None:
        values["velocity"] = _of_joints(joints, vector("v", v, robot.nv), "v")
    if tau is not None:
        given = _of_joints(joints, vector("tau", tau, robot.nv), "v")
        values["effort"] = [0.0 if joint.mimic is not None else part for joint, part in zip(joints, given, strict=True)]
    header = {"stamp": stamp_of(time)}
    return new("sensor_msgs/msg/JointState", header=header, name=[joint.name for joint in joints], **values)


def joint_positions(robot: Robot, q: Array) -> tuple[list[str], list[float]]:
    """Return the names and positions of the joints with one coordinate, mimic joints included."""
    joints = single_joints(robot)
    return [joint.name for joint in joints], _of_joints(joints, q, "q", offset=True)


def _of_joints(joints: list[JointInfo], array: Array, side: str, offset: bool = False) -> list[float]:
    """Return the entry of each joint; that of a mimic joint is the multiple of its leader's, which it shares."""
    found = []
    for joint in joints:
        part = float(array[getattr(joint, side).start])
        if joint.mimic is not None:
            part = joint.mimic.multiplier * part + (joint.mimic.offset if offset else 0.0)
        found.append(part)
    return found


@displayed
@dataclass(frozen=True, eq=False)
class JointSample:
    """What a JointState says about a robot.

    Attributes
    ----------
    time : int
        Time stamp [ns].
    q, v, tau : (nq,), (nv,), (nv,)
        Joints that are not in the message are as in the previous sample.
    missing : tuple of str
        Joints of the robot that are not in the message.
    unknown : tuple of str
        Joints of the message that the robot does not have.
    """

    time: int
    q: Array
    v: Array
    tau: Array
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


@displayed
class JointStateReader:
    """Reads messages of type JointState, whatever the order of their joints.

    Parameters
    ----------
    robot
    q : (nq,), optional
        Configuration of joints that no message has mentioned; neutral by default.
    """

    @check_types
    def __init__(self, robot: Robot, q: ArrayLike | None = None) -> None:
        self.robot = robot
        self._joints = {joint.name: joint for joint in single_joints(robot)}
        self._needed = [name for name, joint in self._joints.items() if joint.mimic is None]
        self._q: Array = robot.neutral() if q is None else np.array(vector("q", q, robot.nq))
        self._v, self._tau = np.zeros(robot.nv), np.zeros(robot.nv)

    def read(self, message: Any) -> JointSample:
        """Update the state with a message.

        Parameters
        ----------
        message
            A sensor_msgs/JointState.

        Returns
        -------
        JointSample

        Raises
        ------
        InputError
            If arrays differ in length from the names, names are repeated, or numbers are not finite; the state is
            kept.
        """
        with_attributes(
            "message", message, "a sensor_msgs/JointState", "header", "name", "position", "velocity", "effort"
        )
        names = list(message.name)
        columns = {
            "position": (self._q, "q"),
            "velocity": (self._v, "v"),
            "effort": (self._tau, "v"),
        }
        values = {field: _checked(message, field, names) for field in columns}
        for field, (array, side) in columns.items():
            updated = array.copy()
            for name, value in zip(names, values[field], strict=False):
                joint = self._joints.get(name)
                if joint is not None and joint.mimic is None:
                    updated[getattr(joint, side)] = value
            setattr(self, {"position": "_q", "velocity": "_v", "effort": "_tau"}[field], updated)
        missing = tuple(name for name in self._needed if name not in names)
        unknown = tuple(name for name in names if name not in self._joints)
        return JointSample(nanoseconds(message.header.stamp), self._q, self._v, self._tau, missing, unknown)


def _checked(message: Any, field: str, names: list[str]) -> Array:
    values = np.asarray(getattr(message, field), dtype=float)
    if len(values) not in (0, len(names)):
        raise InputError(f"{field} must be as long as name, {len(names)}, got {len(values)}")
    if len(set(names)) < len(names):
        raise InputError(f"name must have each joint once, got {listed(names)}")
    if field == "position" and names and not len(values):
        raise InputError(f"position must have {len(names)} numbers, got none")
    if not np.isfinite(values).all():
        raise InputError(f"{field} must be finite, got {listed([str(value) for value in values])}")
    return values


@check_types
def transforms(robot: Robot, q: ArrayLike, *, time: int = 0, fixed: bool | None = None) -> Any:
    """Return the poses of links in their parent links as a tf2_msgs/TFMessage.

    Parameters
    ----------
    robot
    q : (nq,)
    time
        Time stamp [ns].
    fixed
        True for the links on fixed joints only, which belong on /tf_static; False for the others; None for all.

    Returns
    -------
    message
    """
    return transforms_of(robot, vector("q", q, robot.nq)[None], [time], fixed=fixed)[0]


def transforms_of(robot: Robot, q: Array, times: list[int], *, fixed: bool | None = None) -> list[Any]:
    """Return the messages of `transforms` for configurations (n, nq)."""
    joints = [joint for joint in robot.description.joints if fixed is None or (joint.kind == "fixed") == fixed]
    names = robot.frame_names
    index = {name: k for k, name in enumerate(names)}
    T = kinematics.poses(robot, q)
    parents, children = ([index[getattr(joint, side)] for joint in joints] for side in ("parent", "child"))
    T_parent_child = inverse(T[:, parents]) @ T[:, children]
    positions, quaternions = T_parent_child[..., :3, 3].tolist(), as_quaternion(T_parent_child[..., :3, :3]).tolist()
    links = [(joint.parent, joint.child) for joint in joints]
    rows = zip(times, positions, quaternions, strict=True)
    return [_transforms_message(links, time, at, turned) for time, at, turned in rows]


def _transforms_message(links: list[tuple[str, str]], time: int, positions: Any, quaternions: Any) -> Any:
    """Return a TFMessage; its classes are called directly, because converting every number takes ten times as long."""
    stamp = message_class("builtin_interfaces/Time")(time // GIGA, time % GIGA)
    header, vector = message_class("std_msgs/Header"), message_class("geometry_msgs/Vector3")
    transform, quaternion = message_class("geometry_msgs/Transform"), message_class("geometry_msgs/Quaternion")
    stamped = message_class("geometry_msgs/TransformStamped")
    parts = [
        stamped(header(stamp, parent), child, transform(vector(*at), quaternion(*turned)))
        for (parent, child), at, turned in zip(links, positions, quaternions, strict=True)
    ]
    return message_class("tf2_msgs/TFMessage")(parts)


@check_types
def odometry(frame: str, child: str, q: ArrayLike, v: ArrayLike, *, time: int = 0) -> Any:
    """Return pose and twist of a floating base as a nav_msgs/Odometry; both sides express the twist in the base.

    Parameters
    ----------
    frame, child
        Names of the world and of the base link.
    q, v : (7,), (6,)
        The part of the base in configuration and velocity.
    time
        Time stamp [ns].

    Returns
    -------
    message
    """
    q, v = vector("q", q, 7), vector("v", v, 6)
    return new(
        "nav_msgs/msg/Odometry",
        header={"stamp": stamp_of(time), "frame_id": frame},
        child_frame_id=child,
        pose={"pose": {"position": q[:3].tolist(), "orientation": q[3:].tolist()}},
        twist={"twist": {"linear": v[:3].tolist(), "angular": v[3:].tolist()}},
    )


@check_types
def robot_description(robot: Robot) -> Any:
    """Return the URDF of a robot as the std_msgs/String of /robot_description.

    Meshes that are files are written as file:// URIs, which viewers on the same machine can read.

    Parameters
    ----------
    robot

    Returns
    -------
    message : std_msgs/String
    """
    text = write_urdf(robot.description)
    return new("std_msgs/msg/String", data=text.replace('filename="/', f'filename="file://{os.sep}'))
