"""moveit_msgs/Constraints as Python values: what a goal or a path must satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.shapes import Shape
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.interop.moveit.fields import Fields
from kinodyn.interop.moveit.poses import Frames, pose_matrix, read_pose, read_quaternion
from kinodyn.interop.moveit.solids import read_primitive

_PARAMETERISATIONS: tuple[Literal["xyz", "rotation_vector"], ...] = ("xyz", "rotation_vector")


@displayed
@dataclass(frozen=True)
class JointConstraint:
    """A joint within an interval.

    Parameters
    ----------
    joint
        Name of the joint.
    position
        [rad or m]
    above, below
        How far the joint may be above and below the position [rad or m].
    weight
        Importance relative to other constraints.
    """

    joint: str
    position: float
    above: float = 0.0
    below: float = 0.0
    weight: float = 1.0


@displayed
@dataclass(frozen=True, eq=False)
class Region:
    """A solid region of the world.

    Parameters
    ----------
    shape
        The solid.
    T_world_region : (4, 4)
        Its pose.
    """

    shape: Shape
    T_world_region: Array


@displayed
@dataclass(frozen=True, eq=False)
class PositionConstraint:
    """A point of a frame within any of some regions.

    Parameters
    ----------
    frame
        Name of the frame.
    offset : (3,)
        The point in the frame [m].
    regions
        Regions of the world, in one of which the point is.
    weight
        Importance relative to other constraints.
    """

    frame: str
    offset: Array
    regions: tuple[Region, ...]
    weight: float = 1.0


@displayed
@dataclass(frozen=True, eq=False)
class OrientationConstraint:
    """The orientation of a frame within a tolerance.

    Parameters
    ----------
    frame
        Name of the frame.
    R_world_target : (3, 3)
        The orientation.
    tolerance : (3,)
        Maximum absolute error about x, y and z of the target [rad].
    parameterisation
        Parameterisation of the error: "xyz", intrinsic Euler angles, or "rotation_vector".
    weight
        Importance relative to other constraints.
    """

    frame: str
    R_world_target: Array
    tolerance: Array
    parameterisation: Literal["xyz", "rotation_vector"] = "xyz"
    weight: float = 1.0


@displayed
@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints that must hold at the same time.

    Parameters
    ----------
    name
        Name, may be empty.
    joints, positions, orientations
        The constraints by kind.
    """

    name: str
    joints: tuple[JointConstraint, ...] = ()
    positions: tuple[PositionConstraint, ...] = ()
    orientations: tuple[OrientationConstraint, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.joints or self.positions or self.orientations)


@displayed
@dataclass(frozen=True, eq=False)
class PoseGoal:
    """Poses of a frame that reach a goal.

    Parameters
    ----------
    frame
        Name of the frame.
    position
        Where a point of the frame must be, None for anywhere.
    orientation
        How the frame must be oriented, None for any orientation.
    """

    frame: str
    position: PositionConstraint | None
    orientation: OrientationConstraint | None

    @property
    def T_world_frame(self) -> Array | None:
        """The pose (4, 4) in the middle of the goal, None unless both position and orientation are constrained."""
        if self.position is None or self.orientation is None:
            return None
        T = np.eye(4)
        T[:3, :3] = self.orientation.R_world_target
        T[:3, 3] = self.position.regions[0].T_world_region[:3, 3] - T[:3, :3] @ self.position.offset
        return T

    def as_matrix(self) -> Array:
        """Return `T_world_frame`, so that the goal is accepted wherever a pose is.

        Returns
        -------
        T : (4, 4) array

        Raises
        ------
        InputError
            If position or orientation is free: there is no single pose then.
        """
        T = self.T_world_frame
        if T is None:
            free = "position" if self.position is None else "orientation"
            raise InputError(
                f"the {free} of {self.frame!r} is free in this goal; give it a constraint to have one pose"
            )
        return T


def read_constraints(fields: Fields, frames: Frames) -> Constraints:
    """Read a moveit_msgs/Constraints."""
    if any(True for _ in fields.children("visibility_constraints")):
        raise fields.fault("visibility_constraints", "these are not supported; remove them to plan without")
    return Constraints(
        fields.text("name"),
        tuple(_joint(part) for part in fields.children("joint_constraints")),
        tuple(_position(part, frames) for part in fields.children("position_constraints")),
        tuple(_orientation(part, frames) for part in fields.children("orientation_constraints")),
    )


def _joint(fields: Fields) -> JointConstraint:
    name = fields.text("joint_name")
    if not name or fields.raw("position") is None:
        raise fields.fault("", "give joint_name and position")
    above, below = fields.nonnegative("tolerance_above"), fields.nonnegative("tolerance_below")
    return JointConstraint(name, fields.number("position"), above, below, _weight(fields))


def _position(fields: Fields, frames: Frames) -> PositionConstraint:
    T_world_header = frames.fixed_header_pose(fields)
    regions = fields.child("constraint_region")
    if any(True for _ in regions.children("meshes")):
        raise regions.fault("meshes", "regions are boxes, spheres, cylinders and cones; replace the meshes")
    shapes = [read_primitive(part) for part in regions.children("primitives")]
    poses = [T_world_header @ read_pose(part) for part in regions.children("primitive_poses")]
    if not shapes or len(shapes) != len(poses):
        raise regions.fault("primitives", f"there are {len(shapes)}, and {len(poses)} primitive_poses; give as many")
    offset = np.array(fields.vector("target_point_offset", "xyz") or (0.0, 0.0, 0.0))
    together = tuple(Region(shape, pose) for shape, pose in zip(shapes, poses, strict=True))
    return PositionConstraint(_frame(fields, frames), offset, together, _weight(fields))


def _orientation(fields: Fields, frames: Frames) -> OrientationConstraint:
    R = frames.fixed_header_pose(fields)[:3, :3] @ pose_matrix(None, read_quaternion(fields, "orientation"))[:3, :3]
    tolerance = np.array([fields.nonnegative(f"absolute_{axis}_axis_tolerance") for axis in "xyz"])
    kind = int(fields.number("parameterization"))
    if kind not in (0, 1):
        raise fields.error("parameterization", kind, "0 for Euler angles or 1 for a rotation vector")
    return OrientationConstraint(_frame(fields, frames), R, tolerance, _PARAMETERISATIONS[kind], _weight(fields))


def _frame(fields: Fields, frames: Frames) -> str:
    name = fields.text("link_name")
    frames.pose(name)  # an unknown frame is an error
    return name


def _weight(fields: Fields) -> float:
    """Read the weight; 0, as in a message that was not filled in, is 1."""
    return fields.number("weight") or 1.0
