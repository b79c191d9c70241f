"""moveit_msgs/RobotState as a configuration."""

from __future__ import annotations

import math

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.messages import listed
from kinodyn.interop.moveit.fields import Fields
from kinodyn.interop.moveit.poses import read_transform
from kinodyn.model.compile import COORDINATES, JointInfo
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_quaternion

MIMIC_TOLERANCE = 1e-4  # [rad or m]


def read_state(fields: Fields, robot: Robot, default: Array) -> tuple[Array, Array | None]:
    """Read the configuration (nq,); joints that the message does not name are as in `default`.

    Also returns the pose (4, 4) of a fixed base, which is that of the virtual joint, None if it is not given.
    """
    q: Array = default.copy()
    fields.ignore("is_diff")  # joints that are not named keep their values either way
    joints = fields.child("joint_state")
    joints.ignore("header")
    names, positions = joints.texts("name"), joints.numbers("position")
    if len(names) != len(positions):
        raise joints.error("position", positions, f"one position for each of the {len(names)} names")
    set_joints(q, dict(zip(names, positions, strict=True)), robot, joints)
    return q, _read_multi_dof(fields.child("multi_dof_joint_state"), robot, q)


def set_joints(q: Array, positions: dict[str, float], robot: Robot, fields: Fields) -> None:
    """Write positions of joints by name into q (nq,).

    A fixed joint has no position, and that of a mimic joint follows from its leader's. Other joints that the robot does
    not have are noted.
    """
    moving = {joint.name: joint for joint in robot.joints if COORDINATES[joint.kind] == 1}
    fixed = {joint.name for joint in robot.description.joints if joint.kind == "fixed"}
    unknown = [name for name in positions if name not in moving and name not in fixed]
    if unknown:
        fields.message.notes.append(f"{fields.place}: joints that the robot does not have: {listed(unknown)}")
    for name, position in positions.items():
        if name in moving and moving[name].mimic is None:
            q[moving[name].q] = position
    _check_mimics(positions, moving, fields)


def _check_mimics(positions: dict[str, float], moving: dict[str, JointInfo], fields: Fields) -> None:
    for name, position in positions.items():
        mimic = moving[name].mimic if name in moving else None
        if mimic is None or mimic.joint not in positions:
            continue
        expected = mimic.multiplier * positions[mimic.joint] + mimic.offset
        if abs(position - expected) > MIMIC_TOLERANCE:
            text = (
                f"{fields.place}: {name} is {position:.6g}, but it follows {mimic.joint} and is set to {expected:.6g}"
            )
            fields.message.notes.append(text)


def _read_multi_dof(fields: Fields, robot: Robot, q: Array) -> Array | None:
    """Read joints with several coordinates; any other name is that of the virtual joint of the base.

    A floating base is a joint of the robot. Returns the pose (4, 4) of a fixed one, None if it is not given.
    """
    fields.ignore("header", "twist", "wrench")
    names, transforms = fields.texts("joint_names"), list(fields.children("transforms"))
    if len(names) != len(transforms):
        raise fields.error("joint_names", names, f"one name for each of the {len(transforms)} transforms")
    joints = {joint.name: joint for joint in robot.joints if COORDINATES[joint.kind] > 1}
    base = robot.joints[0] if robot.base == "floating" else None
    T_scene_base = None
    for name, transform in zip(names, transforms, strict=True):
        T, joint = read_transform(transform), joints.get(name, base)
        if joint is not None:
            q[joint.q] = _coordinates(joint.kind, T)
        elif T_scene_base is not None and not np.allclose(T_scene_base, T):
            raise transform.fault("", f"{name!r} moves the base, which another virtual joint puts elsewhere")
        else:
            T_scene_base = T
    return T_scene_base


def _coordinates(kind: str, T: Array) -> list[float]:
    if kind == "planar":
        return [T[0, 3], T[1, 3], math.atan2(T[1, 0], T[0, 0])]
    quaternion = as_quaternion(T[:3, :3]).tolist()
    return quaternion if kind == "ball" else [*T[:3, 3].tolist(), *quaternion]
