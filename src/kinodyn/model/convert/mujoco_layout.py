"""The layout of a MuJoCo model.

MuJoCo stores quaternions with w first and a free joint's linear velocity in world axes; mimic joints are
independent joints tied by equality constraints. A planar joint of a URDF becomes two slides and a hinge.
"""

from __future__ import annotations

from typing import Any

import mujoco as mj

from kinodyn.argument_types import check_types
from kinodyn.checks import instance
from kinodyn.description.mjcf.names import Names
from kinodyn.errors import InputError
from kinodyn.model.compile import JointInfo
from kinodyn.model.convert.blocks import Block, MujocoBall, MujocoFree, Same
from kinodyn.model.convert.converter import Converter
from kinodyn.model.convert.joints import axis_of, free_base, require_same_joints, scalar_leaders
from kinodyn.model.convert.scalars import Scalar, Scalars
from kinodyn.model.robot import Robot

_KINDS = {
    int(mj.mjtJoint.mjJNT_FREE): ("floating",),
    int(mj.mjtJoint.mjJNT_BALL): ("ball",),
    int(mj.mjtJoint.mjJNT_SLIDE): ("prismatic",),
    int(mj.mjtJoint.mjJNT_HINGE): ("revolute", "continuous"),
}
_BLOCKS: dict[str, type[Block]] = {"floating": MujocoFree, "ball": MujocoBall, "planar": Same}
# Suffixes that MuJoCo appends to the name of a URDF's planar joint.
_PLANAR_PARTS = ("_TX", "_TY", "_RZ")


@check_types
def mujoco(robot: Robot, model: Any) -> Converter:
    """Create the converter between a robot and a MuJoCo model of the same robot.

    Parameters
    ----------
    robot : Robot
    model
        A `mujoco.MjModel`, joints matched by name; joints without a name have the names that `kinodyn.load` gives them.
        The floating base may have another name if it is MuJoCo's first joint.

    Returns
    -------
    converter : Converter

    Examples
    --------
    >>> import kinodyn as kd, mujoco
    >>> from kinodyn.description.mjcf import parse_mjcf
    >>> text = "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
    >>> robot, model = kd.Robot(parse_mjcf(text)), mujoco.MjModel.from_xml_string(text)
    >>> kd.convert.mujoco(robot, model).q_to([1, 2, 3, 0, 0, 0.6, 0.8]).tolist()
    [1.0, 2.0, 3.0, 0.8, 0.0, 0.0, 0.6]
    """
    instance("model", model, mj.MjModel, "a mujoco.MjModel")
    ids = _joint_ids(robot, model)
    require_same_joints(robot, ids, "MuJoCo")
    leaders = scalar_leaders(robot)
    scalars: list[Scalar] = []
    blocks: list[Block] = []
    for joint in robot.joints:
        index = ids[joint.name]
        start_q, start_v = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
        _require_same_kind(robot, joint, model, index)
        if joint.name in leaders:
            scalars.append(Scalar(leaders[joint.name], joint.mimic is not None, start_q, start_v))
        else:
            their_q = slice(start_q, start_q + joint.q.stop - joint.q.start)
            their_v = slice(start_v, start_v + joint.v.stop - joint.v.start)
            blocks.append(_BLOCKS[joint.kind](joint.q, joint.v, their_q, their_v))
    return Converter((robot.nq, robot.nv), (model.nq, model.nv), Scalars(scalars), blocks)


def _joint_ids(robot: Robot, model: Any) -> dict[str, int]:
    """Map the robot's joint names to MuJoCo's joint ids; a planar joint to the first of its three parts."""
    names = Names(model).joints
    ids = {name: index for index, name in enumerate(names)}
    base = free_base(robot)
    if base is not None and base.name not in ids and names:
        ids[base.name] = ids.pop(names[0])
    for joint in robot.joints:
        parts = [joint.name + part for part in _PLANAR_PARTS]
        if joint.kind == "planar" and ids.keys() >= set(parts):
            ids[joint.name] = ids[parts[0]]
            for part in parts:
                del ids[part]
    return ids


def _require_same_kind(robot: Robot, joint: JointInfo, model: Any, index: int) -> None:
    slide, hinge = int(mj.mjtJoint.mjJNT_SLIDE), int(mj.mjtJoint.mjJNT_HINGE)
    if joint.kind == "planar":
        agrees = model.jnt_type[index : index + 3].tolist() == [slide, slide, hinge]
        if axis_of(robot, joint)[2] < 0:
            # Both engines rotate z to the normal, but by different rotations if it points down.
            raise InputError(
                f"planar joint {joint.name!r} has a normal that points down, where MuJoCo's x and y differ"
            )
    else:
        agrees = joint.kind in _KINDS[int(model.jnt_type[index])]
    if not agrees:
        theirs = mj.mjtJoint(int(model.jnt_type[index])).name
        raise InputError(f"joint {joint.name!r} is {joint.kind} here and {theirs} in MuJoCo; both must agree")
