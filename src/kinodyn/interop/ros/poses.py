"""Poses as scripts for MoveIt write them: messages, or lists of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.checks import numbers, one_pose
from kinodyn.errors import InputError
from kinodyn.interop.moveit.poses import UNIT_TOLERANCE
from kinodyn.rosmsgs.messages import new
from kinodyn.rosmsgs.robot_messages import stamp_of
from kinodyn.spatial import as_quaternion, from_euler, from_quaternion


def pose_matrix_of(given: Any, what: str = "pose") -> tuple[Array, str]:
    """Return the pose (4, 4) and the frame that it is in, "" if it does not say.

    Parameters
    ----------
    given
        A geometry_msgs Pose, PoseStamped, Transform or TransformStamped of any library; a matrix (4, 4); or a list:
        x y z, x y z roll pitch yaw, or x y z qx qy qz qw.
    what
        Name in errors.
    """
    if hasattr(given, "header"):
        inner = given.pose if hasattr(given, "pose") else given.transform
        return pose_matrix_of(inner, what)[0], str(given.header.frame_id)
    if hasattr(given, "orientation"):
        return _composed(_vector(given.position, "xyz"), _vector(given.orientation, "xyzw"), what), ""
    if hasattr(given, "rotation"):
        return _composed(_vector(given.translation, "xyz"), _vector(given.rotation, "xyzw"), what), ""
    values = numbers(what, given)
    if values.shape == (4, 4):
        return one_pose(what, values), ""
    if values.shape not in ((3,), (6,), (7,)):
        raise InputError(f"{what} must be a Pose, a matrix (4, 4) or a list of 3, 6 or 7 numbers, got {values.shape}")
    T = np.eye(4)
    T[:3, 3] = values[:3]
    if len(values) == 6:
        T[:3, :3] = rotation_of_rpy(values[3:])
    return T if len(values) < 7 else _composed(values[:3], values[3:], what), ""


def rotation_of_rpy(angles: Array) -> Array:
    """Return the rotation (3, 3) of roll, pitch and yaw about fixed axes [rad]."""
    return np.asarray(from_euler(np.asarray(angles, dtype=float)[::-1], "ZYX"))


def _vector(given: Any, letters: str) -> Array:
    return np.array([float(getattr(given, letter)) for letter in letters])


def _composed(position: Array, quaternion: Array, what: str) -> Array:
    """Return the pose; zeros, as in a message that was not filled in, are no rotation."""
    T = np.eye(4)
    T[:3, 3] = numbers(what, position)
    norm = float(np.linalg.norm(quaternion))
    if norm > 0.0:
        if not abs(norm - 1.0) <= UNIT_TOLERANCE:
            raise InputError(f"the quaternion of {what} must have the norm 1, got {norm:.6g}")
        T[:3, :3] = from_quaternion(quaternion / norm)
    return T


def pose_message(T: Array) -> Any:
    """Return a geometry_msgs/Pose."""
    return new("geometry_msgs/Pose", position=T[:3, 3], orientation=as_quaternion(T[:3, :3]))


def stamped_pose(T: Array, frame: str, time: int = 0) -> Any:
    """Return a geometry_msgs/PoseStamped."""
    header = {"frame_id": frame, "stamp": stamp_of(time)}
    return new("geometry_msgs/PoseStamped", header=header, pose=pose_message(T))
