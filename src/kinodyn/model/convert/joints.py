"""How the converters read a robot's joints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kinodyn.arrays import Array
from kinodyn.description.notices import listed
from kinodyn.errors import InputError
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

ONE_COORDINATE = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Leader:
    """The joint whose coordinate moves another one: position = multiplier * q[joint] + offset."""

    joint: JointInfo
    multiplier: float
    offset: float


def leaders(robot: Robot) -> dict[str, Leader]:
    """Map each one-coordinate joint to the joint that leads it in the end; one that leads itself to itself."""
    by_name = {joint.name: joint for joint in robot.joints}
    return {joint.name: _lead(joint, by_name) for joint in robot.joints if joint.kind in ONE_COORDINATE}


def _lead(joint: JointInfo, by_name: Mapping[str, JointInfo]) -> Leader:
    multiplier, offset = 1.0, 0.0
    while joint.mimic is not None:
        offset += multiplier * joint.mimic.offset
        multiplier *= joint.mimic.multiplier
        joint = by_name[joint.mimic.joint]
    return Leader(joint, multiplier, offset)


def free_base(robot: Robot) -> JointInfo | None:
    """Return the joint that carries a floating base, None if the base is fixed."""
    return robot.joints[0] if robot.base == "floating" else None


def axis_of(robot: Robot, joint: JointInfo) -> Array:
    """Return the joint's axis `(3,)` in its child frame; of a planar joint the normal."""
    return next(written.axis for written in robot.description.joints if written.name == joint.name)


def require_same_joints(robot: Robot, theirs: Collection[str], engine: str) -> None:
    """Raise unless the other engine has the robot's joints and no others."""
    ours = [joint.name for joint in robot.joints]
    missing = [name for name in ours if name not in theirs]
    unknown = [name for name in theirs if name not in ours]
    if missing or unknown:
        lacks = [f"{engine} has no joint {listed(missing)}"] * bool(missing)
        lacks += [f"the robot has no joint {listed(unknown)}"] * bool(unknown)
        raise InputError(f"the robot and the {engine} model differ: {'; '.join(lacks)}. Load both from one file")
