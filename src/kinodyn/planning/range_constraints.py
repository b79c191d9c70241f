"""Path constraints: a point in a solid, a joint in a range."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, numbers
from kinodyn.collision.shapes import Box, Cylinder, Sphere
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import codes, layout
from kinodyn.model.robot import Robot
from kinodyn.planning.constraints import VERTEX_FRACTION, Constraint, Ranges, Records, pose_record


@displayed
class InRegion(Constraint):
    """Keep a point of a frame inside a solid.

    Parameters
    ----------
    frame
        Name of the frame.
    shape : Box, Sphere or Cylinder
        The solid.
    pose : (4, 4)
        Pose of the solid in the world.
    point : (3,)
        In the frame [m].
    """

    @check_types
    def __init__(
        self,
        frame: str,
        shape: Box | Sphere | Cylinder,
        pose: MatrixLike,
        *,
        point: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        self.frame, self.shape, self.pose = frame, shape, as_pose(pose, "pose")
        self.point = numbers("point", point, 3)

    def records(self, robot: Robot, start: Array) -> Records:
        half = half_sizes(self.shape)
        tolerance = float(min(2e-3, VERTEX_FRACTION * half.min()))
        inner = half - tolerance
        record = pose_record(robot, self.frame, region=self.pose, bounds=(-inner, inner), tolerances=(tolerance, 1.0))
        record["point"], record["radius"] = self.point, inner[0]
        record["region_shape"] = codes("region_shape")[type(self.shape).__name__.lower()]
        return record

    def __repr__(self) -> str:
        return f"InRegion({self.frame!r}, {type(self.shape).__name__})"


@displayed
class JointRange(Constraint):
    """Keep a joint within a range that is narrower than its limits.

    Parameters
    ----------
    joint
        Name of a joint with one coordinate.
    lower, upper
        [rad or m]
    """

    @check_types
    def __init__(self, joint: str, lower: float, upper: float) -> None:
        self.joint, self.lower, self.upper = joint, float(lower), float(upper)
        if not self.lower < self.upper:
            raise InputError(f"the range of joint {joint} must have lower below upper, got {lower!r} to {upper!r}")

    def ranges(self, robot: Robot) -> Ranges:
        joint = robot.joint(self.joint)
        if joint.q.stop - joint.q.start != 1 or joint.mimic is not None:
            raise InputError(f"joint {self.joint} has no range; give a joint with one coordinate")
        return {joint.q.start: (self.lower, self.upper)}

    def records(self, robot: Robot, start: Array) -> Records:
        return np.zeros(0, dtype=layout("path_constraint"))

    def __repr__(self) -> str:
        return f"JointRange({self.joint!r})"


def half_sizes(shape: Box | Sphere | Cylinder) -> Array:
    """Return half the lengths (3,) of the bounding box of a solid along its axes [m]."""
    if isinstance(shape, Box):
        return 0.5 * shape.size
    if isinstance(shape, Sphere):
        return np.full(3, shape.radius)
    return np.array([shape.radius, shape.radius, 0.5 * shape.length])
