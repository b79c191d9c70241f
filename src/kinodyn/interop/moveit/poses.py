"""Poses in messages, and the frames that they refer to."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.description.base import WORLD
from kinodyn.description.types import Joint
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

    The frames of the robot precede the others, as in MoveIt.

    Parameters
    ----------
    robot, q
        The robot and its configuration (nq,).
    T_scene_base : (4, 4)
        Pose of a fixed base in the world of the messages. Poses here are relative to that base: it is where the robot
        stands.
    """

    def __init__(self, robot: Robot, q: Array, T_scene_base: Array) -> None:
        self._robot, self._q = robot, q
        self._fixed: dict[str, Array] = dict.fromkeys(
            ("", WORLD, *robot.description.world_frames), inverse(T_scene_base)
        )
        self._links: dict[str, Array] = {}  # poses of frames of the robot that were requested
        self._movable: set[str] | None = None  # joints that may move, None for all

    def at(self, q: Array, movable: Iterable[str] | None) -> Frames:
        """Return the same frames at another configuration, from which only some joints move; None for all."""
        frames = copy.copy(self)
        frames._q, frames._links, frames._movable = q, {}, None if movable is None else set(movable)
        return frames

    @property
    def fixed(self) -> dict[str, Array]:
        """Poses of the frames that were added, objects included."""
        own = {"", WORLD, *self._robot.description.world_frames}
        return {name: T for name, T in self._fixed.items() if name not in own}

    def add(self, name: str, T_world_frame: Array) -> None:
        """Add a frame that is fixed in the world."""
        self._fixed[name] = T_world_frame

    def remove_below(self, name: str) -> None:
        """Remove the frame of an object and those of its subframes, which moves with the robot from now on."""
        for frame in [frame for frame in self._fixed if frame == name or frame.startswith(f"{name}/")]:
            del self._fixed[frame]

    def read_fixed(self, fields: Fields) -> None:
        """Add a transform of `fixed_frame_transforms`.

        MoveIt writes the pose of the frame of the header in `child_frame_id`, which is the frame of the planning scene.
        Where only the frame of the header is known, it is the pose of the child in that frame, as elsewhere in ROS.
        """
        T, header, child = (
            read_transform(fields.child("transform")),
            _frame_id(fields),
            _frame_name(fields, "child_frame_id"),
        )
        named = header if header else child
        if header == child or named in self._robot.frame_names and self._is_known(child):
            return
        if header and self._is_known(child):
            self.add(header, self.pose(child) @ T)
        else:
            self.add(child, self.pose(header) @ T)

    def _is_known(self, name: str) -> bool:
        return name in self._fixed or name in self._robot.frame_names

    def header_pose(self, fields: Fields) -> Array:
        """Return the pose of the frame that the header of a message names."""
        return self.pose(_frame_id(fields))

    def fixed_header_pose(self, fields: Fields) -> Array:
        """Return the pose of the frame of a header that must not move with the joints that may move."""
        name = _frame_id(fields)
        pose = self.pose(name)
        if name in self._robot.frame_names and name not in self._static_frames:
            raise fields.fault("header.frame_id", f"{name!r} moves with the robot; refer to a frame that does not")
        return pose

    def pose(self, name: str) -> Array:
        """Return the pose of a frame in the world."""
        if name in self._links:
            return self._links[name]
        if name in self._robot.frame_names:
            return self._links.setdefault(name, kinematics.pose(self._robot, self._q, name))
        if name in self._fixed:
            return self._fixed[name]
        raise unknown_name("frame", name, (*filter(None, self._fixed), *self._robot.frame_names))

    def relative(self, frame: str, T_world_object: Array) -> Array:
        """Return the pose in a frame of the robot."""
        return np.asarray(inverse(self.pose(frame)) @ T_world_object)

    @property
    def _static_frames(self) -> set[str]:
        """Frames of the robot that no joint moves, or none of those that may."""
        description = self._robot.description
        above = {joint.child: joint for joint in description.joints}
        links = {frame.name: frame.link for frame in description.frames}

        def moves(joint: Joint) -> bool:
            leader = joint.name if joint.mimic is None else joint.mimic.joint
            return joint.kind != "fixed" and (
                self._movable is None or not self._movable.isdisjoint((joint.name, leader))
            )

        def is_moved(link: str) -> bool:
            while link in above:
                if moves(above[link]):
                    return True
                link = above[link].parent
            return False

        return {name for name in self._robot.frame_names if not is_moved(links.get(name, name))}


def _frame_id(fields: Fields) -> str:
    header = fields.child("header")
    header.ignore("seq", "stamp")
    return _frame_name(header, "frame_id")


def _frame_name(fields: Fields, name: str) -> str:
    """Read the name of a frame; ROS 1 wrote some with a slash in front."""
    return fields.text(name).removeprefix("/")
