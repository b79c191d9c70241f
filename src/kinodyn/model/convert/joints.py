"""Joint data of a robot for the converters."""

from __future__ import annotations

from collections.abc import Collection

from kinodyn.arrays import Array
from kinodyn.description.messages import listed
from kinodyn.errors import InputError
from kinodyn.model.chain import Leader, leaders
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

ONE_COORDINATE = ("revolute", "continuous", "prismatic")


def scalar_leaders(robot: Robot) -> dict[str, Leader]:
    """Map each one-coordinate joint to the independent joint that it follows, directly or indirectly, or to itself."""
    kinds = {joint.name: joint.kind for joint in robot.joints}
    return {name: leader for name, leader in leaders(robot).items() if kinds[name] in ONE_COORDINATE}


def free_base(robot: Robot) -> JointInfo | None:
    """Return the joint of the floating base, None if the base is fixed."""
    return robot.joints[0] if robot.base == "floating" else None


def axis_of(robot: Robot, joint: JointInfo) -> Array:
    """Return the joint's axis `(3,)` in its child frame; of a planar joint the normal."""
    return next(written.axis for written in robot.description.joints if written.name == joint.name)


def require_same_joints(robot: Robot, theirs: Collection[str], engine: str) -> None:
    """Raise unless the other engine has exactly the robot's joints."""
    ours = [joint.name for joint in robot.joints]
    missing = [name for name in ours if name not in theirs]
    unknown = [name for name in theirs if name not in ours]
    if missing or unknown:
        differences = [f"{engine} has no joint {listed(missing)}"] * bool(missing)
        differences += [f"the robot has no joint {listed(unknown)}"] * bool(unknown)
        raise InputError(f"the robot and the {engine} model differ: {'; '.join(differences)}; load both from one file")
