"""The layout of a Drake MultibodyPlant.

Drake stores a free body as [qw qx qy qz x y z] with velocity [angular, linear] in world axes, a ball joint as roll,
pitch and yaw with the angular velocity in parent axes. Drake itself is not needed: a `DrakeLayout` says where each
joint's coordinates are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinodyn.argument_types import check_types
from kinodyn.checks import with_attributes
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.compile import JointInfo
from kinodyn.model.convert.blocks import Block, DrakeBall, DrakeFree, Same
from kinodyn.model.convert.converter import Converter
from kinodyn.model.convert.joints import free_base, require_same_joints, scalar_leaders
from kinodyn.model.convert.scalars import Scalar, Scalars
from kinodyn.model.robot import Robot

_KINDS: dict[str, tuple[str, ...]] = {
    "revolute": ("revolute", "continuous"),
    "prismatic": ("prismatic",),
    "quaternion_floating": ("floating",),
    "ball_rpy": ("ball",),
    "planar": ("planar",),
}
_BLOCKS: dict[str, type[Block]] = {"floating": DrakeFree, "ball": DrakeBall, "planar": Same}
_WIDTHS = {"quaternion_floating": (7, 6), "ball_rpy": (3, 3), "planar": (3, 3)}


@displayed
@dataclass(frozen=True)
class DrakeJoint:
    """Indices and type of a joint in a plant.

    Parameters
    ----------
    position_start, velocity_start
        Index of its first coordinate in the plant's positions and velocities.
    type_name
        Drake's name of the joint type.
    """

    position_start: int
    velocity_start: int
    type_name: str = "revolute"


@displayed
@dataclass(frozen=True)
class DrakeLayout:
    """The joints of a plant.

    Parameters
    ----------
    joints
        `DrakeJoint` by name.
    num_positions, num_velocities
        Lengths of the plant's positions and velocities.
    """

    joints: Mapping[str, DrakeJoint]
    num_positions: int
    num_velocities: int

    @classmethod
    def from_plant(cls, plant: Any) -> DrakeLayout:
        """Read the layout of a plant; welds are left out.

        Parameters
        ----------
        plant
            A finalised `pydrake.multibody.plant.MultibodyPlant`.

        Returns
        -------
        layout : DrakeLayout
        """
        with_attributes("plant", plant, "a MultibodyPlant", "get_joint", "GetJointIndices", "num_positions")
        joints = (plant.get_joint(index) for index in plant.GetJointIndices())
        return cls(
            {
                joint.name(): DrakeJoint(joint.position_start(), joint.velocity_start(), joint.type_name())
                for joint in joints
                if joint.num_velocities() > 0
            },
            plant.num_positions(),
            plant.num_velocities(),
        )


@check_types
def drake(robot: Robot, layout: DrakeLayout) -> Converter:
    """Create the converter between a robot and a Drake plant of the same robot.

    Parameters
    ----------
    robot : Robot
    layout
        The joints of the plant, matched by name. The floating base may have another name if it is the only
        "quaternion_floating" joint, because Drake generates that name.

    Returns
    -------
    converter : Converter

    Examples
    --------
    >>> import kinodyn as kd
    >>> layout = DrakeLayout({"joint1": DrakeJoint(1, 1), "joint2": DrakeJoint(0, 0)}, 2, 2)
    >>> kd.convert.drake(kd.load("planar2r"), layout).q_to([0.1, 0.2]).tolist()
    [0.2, 0.1]
    """
    joints, base = dict(layout.joints), free_base(robot)
    free = [name for name, joint in joints.items() if joint.type_name == "quaternion_floating"]
    if base is not None and base.name not in joints and len(free) == 1:
        joints[base.name] = joints.pop(free[0])
    require_same_joints(robot, joints, "Drake")
    leaders = scalar_leaders(robot)
    scalars: list[Scalar] = []
    blocks: list[Block] = []
    for joint in robot.joints:
        theirs = joints[joint.name]
        _require_same_kind(joint, theirs)
        if joint.name in leaders:
            follows = joint.mimic is not None
            scalars.append(Scalar(leaders[joint.name], follows, theirs.position_start, theirs.velocity_start))
        else:
            blocks.append(_block(joint, theirs))
    size = (layout.num_positions, layout.num_velocities)
    _require_whole("positions", size[0], [s.their_q for s in scalars], [block.their_q for block in blocks])
    _require_whole("velocities", size[1], [s.their_v for s in scalars], [block.their_v for block in blocks])
    return Converter((robot.nq, robot.nv), size, Scalars(scalars), blocks)


def _block(joint: JointInfo, theirs: DrakeJoint) -> Block:
    nq, nv = _WIDTHS[theirs.type_name]
    their_q = slice(theirs.position_start, theirs.position_start + nq)
    return _BLOCKS[joint.kind](joint.q, joint.v, their_q, slice(theirs.velocity_start, theirs.velocity_start + nv))


def _require_whole(what: str, count: int, singles: Sequence[int], pieces: Sequence[slice]) -> None:
    """Raise unless the joints fill each entry of the plant's vector once; a user-defined layout may be wrong."""
    filled = [*singles, *(index for piece in pieces for index in range(piece.start, piece.stop))]
    if sorted(filled) != list(range(count)):
        raise InputError(f"the layout's joints fill the {what} {sorted(filled)} of {count}; each must be filled once")


def _require_same_kind(joint: JointInfo, theirs: DrakeJoint) -> None:
    if joint.kind not in _KINDS.get(theirs.type_name, ()):
        known = ", ".join(_KINDS)
        raise InputError(
            f"joint {joint.name!r} is {joint.kind} here and {theirs.type_name!r} in Drake; both must agree, and of "
            f"Drake's types {known} are known"
        )
