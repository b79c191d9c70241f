"""The layout of a Pinocchio model.

Pinocchio sorts siblings by name, stores continuous joints as (cos, sin), planar joints as (x, y, cos, sin) with
velocities in body axes, and mimic joints either as independent joints or, if built with mimic=True, without
coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.checks import with_attributes
from kinodyn.errors import InputError
from kinodyn.model.compile import JointInfo
from kinodyn.model.convert.blocks import Block, PinocchioPlanar, Same
from kinodyn.model.convert.converter import Converter
from kinodyn.model.convert.joints import axis_of, free_base, require_same_joints, scalar_leaders
from kinodyn.model.convert.scalars import Scalar, Scalars
from kinodyn.model.robot import Robot

_BLOCKS: dict[tuple[str, str], type[Block]] = {
    ("floating", "JointModelFreeFlyer"): Same,
    ("ball", "JointModelSpherical"): Same,
    ("planar", "JointModelPlanar"): PinocchioPlanar,
}
# How the names of Pinocchio's joints of one coordinate begin: RX, RUBX, RevoluteUnaligned ...; PX, PrismaticUnaligned.
_SCALARS = {"revolute": "JointModelR", "continuous": "JointModelR", "prismatic": "JointModelP"}


@check_types
def pinocchio(robot: Robot, model: Any) -> Converter:
    """Create the converter between a robot and a Pinocchio model of the same robot.

    Parameters
    ----------
    robot
        The robot. The normal of a planar joint must be z, the only one of Pinocchio.
    model
        A `pinocchio.Model`, joints matched by name. The floating base may have another name if it is Pinocchio's first
        joint.

    Returns
    -------
    converter : Converter

    Examples
    --------
    >>> converter = kd.convert.pinocchio(robot, model)  # doctest: +SKIP
    >>> pinocchio.rnea(model, data, converter.q_to(q), converter.v_to(q, v), converter.a_to(q, v, a))  # doctest: +SKIP
    """
    with_attributes("model", model, "a pinocchio.Model", "names", "joints", "idx_qs", "idx_vs")
    ids = {name: index for index, name in enumerate(model.names) if index > 0}
    base = free_base(robot)
    if base is not None and base.name not in ids and len(model.names) > 1:
        ids[base.name] = ids.pop(model.names[1])
    require_same_joints(robot, ids, "Pinocchio")
    leaders = scalar_leaders(robot)
    scalars: list[Scalar] = []
    blocks: list[Block] = []
    for joint in robot.joints:
        theirs = model.joints[ids[joint.name]]
        if joint.name not in leaders:
            blocks.append(_block(robot, joint, theirs))
        elif theirs.nv == 1 and theirs.shortname().startswith(_SCALARS[joint.kind]):
            follows = joint.mimic is not None
            scalars.append(Scalar(leaders[joint.name], follows, theirs.idx_q, theirs.idx_v, circular=theirs.nq == 2))
        elif not (joint.mimic and theirs.nv == 0):
            raise _mismatch(joint, theirs)
    return Converter((robot.nq, robot.nv), (model.nq, model.nv), Scalars(scalars), blocks)


def _block(robot: Robot, joint: JointInfo, theirs: Any) -> Block:
    kind = _BLOCKS.get((joint.kind, theirs.shortname()))
    if kind is None:
        raise _mismatch(joint, theirs)
    if joint.kind == "planar" and not np.allclose(axis_of(robot, joint), [0, 0, 1], atol=1e-9):
        normal = axis_of(robot, joint).tolist()
        raise InputError(f"planar joint {joint.name!r} has the normal {normal}; Pinocchio moves it in the plane of z")
    their_q = slice(theirs.idx_q, theirs.idx_q + theirs.nq)
    return kind(joint.q, joint.v, their_q, slice(theirs.idx_v, theirs.idx_v + theirs.nv))


def _mismatch(joint: JointInfo, theirs: Any) -> InputError:
    return InputError(
        f"joint {joint.name!r} is {joint.kind} here and {theirs.shortname()} in Pinocchio; both must agree"
    )
