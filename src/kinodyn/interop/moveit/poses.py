"""Poses in messages, and the frames that they refer to."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.errors import unknown_name
from kinodyn.interop.moveit.fields import Fields
from kinodyn.model.robot import Robot
from kinodyn.spatial import inverse

UNIT_TOLERANCE = 1e-2  # quaternions in files have few digits


def pose_matrix(position: list[float] | None, quaternion: list[float] | None) -> Array:
    """Return the pose (4, 4) of a position and a unit quaternion x y z w; None stands for zero or identity."""
    T = np.eye(4)
    if quaternion is not None:
        T[:3, :3] = rotation_matrix(quaternion)
    if position is not None:
        T[:3, 3] = position
    return T


def rotation_matrix(quaternion: list[float]) -> list[list[float]]:
    """Return the rotation (3, 3) of a unit quaternion x y z w; a few plain numbers are quicker than arrays."""
    x, y, z, w = quaternion
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]


def read_quaternion(fields: Fields, name: str) -> list[float] | None:
    """Read a quaternion and normalise it; zeros, as in a message that was not filled in, are no rotation."""
    quaternion = fields.vector(name, "xyzw")
    if quaternion is None or not any(quaternion):
        return None
    norm = math.hypot(*quaternion)
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        raise fields.fault(name, f"the quaternion has the norm {norm:.6g}; give one of norm 1, in the order x y z w")
    return [part / norm for part in quaternion]


def read_pose(fields: Fields, position: str = "position", orientation: str = "orientation") -> Array:
    """Read the fields of a pose or of a transform."""
    return pose_matrix(fields.vector(position, "xyz"), read_quaternion(fields, orientation))


def read_transform(fields: Fields) -> Array:
    """Read the fields of a geometry_msgs/Transform."""
    return read_pose(fields, "translation", "rotation")


class Frames:
    """The frames that a message may refer to: the world, fixed transforms, and frames of the robot at a configuration.

    Parameters
    ----------
    robot, q
        The robot and its configuration (nq,).
    """

    def __init__(self, robot: Robot, q: Array) -> None:
        self._robot, self._q = robot, q
        self._fixed: dict[str, Array] = {"": np.eye(4), "world": np.eye(4)}

    def add(self, name: str, T_world_frame: Array) -> None:
        """Add a frame that is fixed in the world."""
        self._fixed.setdefault(name, T_world_frame)

    def header_pose(self, fields: Fields) -> Array:
        """Return the pose of the frame that the header of a message names."""
        return self.pose(_frame_id(fields))

    def fixed_header_pose(self, fields: Fields) -> Array:
        """Return the pose of the frame of a header that must not move with the robot's joints."""
        name = _frame_id(fields)
        pose = self.pose(name)
        if name not in self._fixed and name not in self._static_frames:
            raise fields.fault("header.frame_id", f"{name!r} moves with the robot; refer to a frame that does not")
        return pose

    def pose(self, name: str) -> Array:
        """Return the pose of a frame in the world."""
        if name in self._fixed:
            return self._fixed[name]
        if name in self._robot.frame_names:
            return kinematics.pose(self._robot, self._q, name)
        raise unknown_name("frame", name, (*filter(None, self._fixed), *self._robot.frame_names))

    def relative(self, frame: str, T_world_object: Array) -> Array:
        """Return the pose in a frame of the robot."""
        return np.asarray(inverse(self.pose(frame)) @ T_world_object)

    @cached_property
    def _static_frames(self) -> set[str]:
        """Links that no joint moves."""
        if self._robot.base == "floating":
            return set()
        moved = {joint.child for joint in self._robot.description.joints if joint.kind != "fixed"}
        below = {joint.child: joint.parent for joint in self._robot.description.joints}

        def is_moved(link: str | None) -> bool:
            while link is not None:
                if link in moved:
                    return True
                link = below.get(link)
            return False

        return {link.name for link in self._robot.description.links if not is_moved(link.name)}


def _frame_id(fields: Fields) -> str:
    header = fields.child("header")
    header.ignore("seq", "stamp")
    return header.text("frame_id")
