"""ROS messages: sensor_msgs/JointState for the joints, pose and twist as in nav_msgs/Odometry for a floating base.

ROS is not imported. A message is either the ROS object or a dict with the same fields; results are dicts that the ROS
constructors accept: `JointState(**kd.convert.to_joint_state(robot, q))`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import instance, numbers, unit_vectors
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.compile import JointInfo
from kinodyn.model.convert.joints import ONE_COORDINATE, free_base
from kinodyn.model.robot import Robot


@displayed
class RobotState(NamedTuple):
    """A state read from ROS messages.

    Attributes
    ----------
    q : (nq,) array
        Positions.
    v, tau : (nv,) array or None
        Velocities and efforts, None where the message has none.
    """

    q: Array
    v: Array | None
    tau: Array | None


class JointState(TypedDict):
    """The fields of sensor_msgs/JointState without the header; a list is empty if the quantity is unknown."""

    name: list[str]
    position: list[float]
    velocity: list[float]
    effort: list[float]


@check_types
def joint_state(
    robot: Robot,
    message: Any,
    *,
    pose: Any = None,
    twist: Any = None,
    default: ArrayLike | None = None,
    ignore_unknown: bool = False,
) -> RobotState:
    """Read a JointState message whose joints are in any order.

    Parameters
    ----------
    robot
        The robot. Joints with one coordinate are looked up by name; mimic followers are allowed and ignored.
    message
        Object or dict with name, position, velocity, effort; velocity and effort may be empty.
    pose, twist
        Of a floating base: position and orientation in the world, linear and angular velocity in the base frame, as
        geometry_msgs/Pose and Twist (objects or dicts). The twist is required if the message has velocities.
    default
        Positions `(nq,)` of the joints that are not in the message; their velocities and efforts are 0. Without it
        every joint must be in the message, which excludes joints with several coordinates other than the base.
    ignore_unknown
        Skip names that the robot does not have instead of raising.

    Returns
    -------
    state : RobotState

    Raises
    ------
    InputError
        For unknown or missing joints, repeated names and numbers that are not finite.

    Examples
    --------
    >>> import kinodyn as kd
    >>> message = {"name": ["joint2", "joint1"], "position": [0.2, 0.1]}
    >>> kd.convert.joint_state(kd.load("planar2r"), message).q.tolist()
    [0.1, 0.2]
    """
    names = _names(robot, message, ignore_unknown)
    position, velocity, effort = (_values(message, names, field) for field in ("position", "velocity", "effort"))
    joints = [joint for joint in _own_scalars(robot) if joint.name in names]
    base = free_base(robot)
    if base is None and (pose is not None or twist is not None):
        raise InputError("the robot's base is fixed; leave out pose and twist")
    if default is None:
        known = {joint.name for joint in joints} if position else set()
        if base is not None and pose is not None:
            known.add(base.name)
        _require_all(robot, known, twist is not None or not velocity)
    q = np.zeros(robot.nq) if default is None else _one(numbers("default", default, robot.nq)).copy()
    for joint in joints if position else []:
        q[joint.q] = position[joint.name]
    v, tau = (_scatter(robot, joints, values) for values in (velocity, effort))
    if base is not None and pose is not None:
        q[base.q] = _pose(pose)
    if base is not None and twist is not None:
        v = np.zeros(robot.nv) if v is None else v
        v[base.v] = np.concatenate([_numbers(twist, "twist", part, "xyz") for part in ("linear", "angular")])
    return RobotState(q, v, tau)


@check_types
def to_joint_state(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None) -> JointState:
    """Write a state as the fields of a JointState message, without mimic followers and floating base.

    Parameters
    ----------
    robot : Robot
    q
        Positions `(nq,)`.
    v, tau
        Velocities and efforts `(nv,)`; empty in the message if not given.

    Returns
    -------
    message : dict
        Keys name, position, velocity, effort.

    Examples
    --------
    >>> import kinodyn as kd
    >>> kd.convert.to_joint_state(kd.load("planar2r"), [0.1, 0.2])["name"]
    ['joint1', 'joint2']
    """
    joints = _own_scalars(robot)
    base = free_base(robot)
    others = [joint.name for joint in robot.joints if joint.kind not in ONE_COORDINATE and joint is not base]
    if others:
        raise InputError(f"a JointState has one number for each joint, which is not enough for {', '.join(others)}")
    position = _one(numbers("q", q, robot.nq))
    return JointState(
        name=[joint.name for joint in joints],
        position=[float(position[joint.q.start]) for joint in joints],
        velocity=_rates(robot, "v", v),
        effort=_rates(robot, "tau", tau),
    )


@check_types
def to_odometry(robot: Robot, q: ArrayLike, v: ArrayLike | None = None) -> dict[str, dict[str, dict[str, float]]]:
    """Write the floating base's pose in the world and its twist in the base frame, as geometry_msgs/Pose and Twist.

    Parameters
    ----------
    robot : Robot
    q
        Positions `(nq,)`.
    v
        Velocities `(nv,)`; the twist is zero if not given.

    Returns
    -------
    message : dict
        Keys pose (position, orientation) and twist (linear, angular).

    Examples
    --------
    >>> import kinodyn as kd
    >>> humanoid = kd.load("humanoid")
    >>> kd.convert.to_odometry(humanoid, humanoid.neutral())["pose"]["orientation"]
    {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}
    """
    base = free_base(robot)
    if base is None:
        raise InputError("the robot's base is fixed; only a floating base has odometry")
    pose = _one(numbers("q", q, robot.nq))[base.q]
    unit_vectors("the quaternion of q", pose[3:], 4)
    twist = np.zeros(6) if v is None else _one(numbers("v", v, robot.nv))[base.v]
    return {
        "pose": {"position": _named("xyz", pose[:3]), "orientation": _named("xyzw", pose[3:])},
        "twist": {"linear": _named("xyz", twist[:3]), "angular": _named("xyz", twist[3:])},
    }


def _rates(robot: Robot, what: str, values: ArrayLike | None) -> list[float]:
    if values is None:
        return []
    rates = _one(numbers(what, values, robot.nv))
    return [float(rates[joint.v.start]) for joint in _own_scalars(robot)]


def _own_scalars(robot: Robot) -> list[JointInfo]:
    return [joint for joint in robot.joints if joint.kind in ONE_COORDINATE and joint.mimic is None]


def _names(robot: Robot, message: Any, ignore_unknown: bool) -> list[str]:
    given = _field(message, "name")
    instance("the field name of the message", given, Iterable, "a list of joint names")
    names = [str(name) for name in given]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"the message has {', '.join(twice)} more than once")
    known = {joint.name for joint in robot.joints if joint.kind in ONE_COORDINATE}
    unknown = [name for name in names if name not in known]
    if unknown and not ignore_unknown:
        raise InputError(
            f"the robot has no one-coordinate joint {', '.join(unknown)}; known: {', '.join(sorted(known))}. "
            "Pass ignore_unknown=True to skip such names"
        )
    return names


def _values(message: Any, names: Sequence[str], field: str) -> dict[str, float]:
    """Map the names to the numbers of one field; empty if the field is."""
    values = _field(message, field, missing=())
    if len(values) == 0:
        return {}
    array = _one(numbers(f"the message's {field}", values, len(names)))
    return dict(zip(names, array.tolist(), strict=True))


def _require_all(robot: Robot, known: set[str], base_velocity_is_known: bool) -> None:
    missing = [joint.name for joint in robot.joints if joint.mimic is None and joint.name not in known]
    if missing:
        hint = "pass pose= for a free base, or default= with positions to use instead"
        raise InputError(f"the message has no position of {', '.join(missing)}; {hint}")
    if free_base(robot) is not None and not base_velocity_is_known:
        raise InputError("the message has velocities but the base has none; pass twist=, or default= for zero")


def _scatter(robot: Robot, joints: Sequence[JointInfo], values: Mapping[str, float]) -> Array | None:
    if not values:
        return None
    rate = np.zeros(robot.nv)
    for joint in joints:
        rate[joint.v] = values[joint.name]
    return rate


def _pose(pose: Any) -> Array:
    orientation = _numbers(pose, "pose", "orientation", "xyzw")
    unit_vectors("the orientation of the pose", orientation, 4)
    return np.concatenate([_numbers(pose, "pose", "position", "xyz"), orientation])


def _numbers(message: Any, what: str, part: str, letters: str) -> Array:
    group = _field(message, part)
    return numbers(f"{what}.{part}", [_field(group, letter) for letter in letters], len(letters))


def _named(letters: str, values: Array) -> dict[str, float]:
    return {letter: float(value) for letter, value in zip(letters, values, strict=True)}


def _one(array: Array) -> Array:
    if array.ndim != 1:
        raise InputError(f"a ROS message must be one state ({array.shape[-1]},), got shape {array.shape}")
    return array


def _field(message: Any, name: str, missing: Any = None) -> Any:
    """Read a field of a message object or dict; raise if it is missing and `missing` is None."""
    value = message.get(name, missing) if isinstance(message, Mapping) else getattr(message, name, missing)
    if value is None:
        raise InputError(f"expected a message with the field {name!r}, got {message!r}")
    return value
