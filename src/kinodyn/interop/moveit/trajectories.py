"""RobotTrajectory and JointTrajectory of MoveIt's files and messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.interop.moveit.fields import Fields
from kinodyn.interop.moveit.poses import read_transform
from kinodyn.interop.moveit.reading import Source, source_message
from kinodyn.interop.moveit.scene_fields import transform_of
from kinodyn.rosmsgs.robot_messages import GIGA, stamp_of
from kinodyn.rosmsgs.trajectories import JointTrajectory


@displayed
@dataclass(frozen=True, eq=False)
class MultiDofTrajectory:
    """Poses over time of joints with several coordinates, such as a floating base.

    Attributes
    ----------
    joints : tuple of str
    time : (n,)
        Time from the start [s].
    poses : (n, k, 4, 4)
        Pose of each joint.
    twists, accelerations : (n, k, 6) or None
        Linear first.
    frame : str
    stamp : int
        When to start [ns].
    """

    joints: tuple[str, ...]
    time: Array
    poses: Array
    twists: Array | None = None
    accelerations: Array | None = None
    frame: str = ""
    stamp: int = 0


@displayed
@dataclass(frozen=True, eq=False)
class RobotTrajectory:
    """A motion of a robot: the content of a moveit_msgs/RobotTrajectory.

    Attributes
    ----------
    joints : JointTrajectory
        Joints with one coordinate.
    bases : MultiDofTrajectory or None
        Joints with several coordinates.
    """

    joints: JointTrajectory
    bases: MultiDofTrajectory | None = None


def read_trajectory(source: Source | Any) -> RobotTrajectory | JointTrajectory:
    """Read a moveit_msgs/RobotTrajectory or a trajectory_msgs/JointTrajectory.

    Parameters
    ----------
    source
        Path of a YAML file, YAML text (a string with a line break), a dictionary with the fields of the message, or a
        ROS message.

    Returns
    -------
    trajectory : RobotTrajectory or JointTrajectory
        According to the fields.

    Warns
    -----
    DescriptionWarning
        If there are fields that are dropped.
    """
    message = source_message(source, "trajectory")
    fields = message.fields
    result: RobotTrajectory | JointTrajectory
    if fields.raw("joint_trajectory") is None and fields.raw("multi_dof_joint_trajectory") is None:
        result = _read_joints(fields)
    else:
        bases = fields.child("multi_dof_joint_trajectory")
        empty = not bases.raw("joint_names")
        bases.ignore("header", *(("points",) if empty else ()))
        result = RobotTrajectory(_read_joints(fields.child("joint_trajectory")), None if empty else _read_bases(bases))
    message.warn()
    return result


def _read_joints(fields: Fields) -> JointTrajectory:
    frame, stamp = _read_header(fields)
    joints, points = tuple(fields.texts("joint_names")), list(fields.children("points"))
    arrays = {}
    for name, field in (
        ("position", "positions"),
        ("velocity", "velocities"),
        ("acceleration", "accelerations"),
        ("effort", "effort"),
    ):
        arrays[name] = _rows(points, field, len(joints))
    return JointTrajectory(joints, _read_times(points), frame=frame, stamp=stamp, **arrays)


def _rows(points: list[Fields], field: str, size: int) -> Array | None:
    """Return (n, size) numbers, None where no point has any; a field that only some points have is an error."""
    rows = [point.numbers(field) for point in points]
    if not any(rows):
        return None
    for point, row in zip(points, rows, strict=True):
        if len(row) != size:
            raise point.error(field, row, f"{size} numbers, one for each joint")
    return np.array(rows)


def _read_times(points: list[Fields]) -> Array:
    times = [read_nanoseconds(point.child("time_from_start")) for point in points]
    for point, before, after in zip(points[1:], times, times[1:], strict=False):
        if after <= before:
            raise point.error("time_from_start", after / GIGA, "after that of the point before")
    return np.array(times, dtype=np.int64) / GIGA


def read_nanoseconds(fields: Fields) -> int:
    """Read a time or duration of ROS 2, or of ROS 1 with its other names [ns]."""
    seconds = fields.number("sec") or fields.number("secs")
    fine = fields.number("nanosec") or fields.number("nsec") or fields.number("nsecs")
    if seconds != int(seconds) or fine != int(fine):
        raise fields.error("sec", seconds, "a whole number")
    return int(seconds) * GIGA + int(fine)


def _read_header(fields: Fields) -> tuple[str, int]:
    header = fields.child("header")
    header.ignore("seq")
    return header.text("frame_id"), read_nanoseconds(header.child("stamp"))


def _read_bases(fields: Fields) -> MultiDofTrajectory:
    frame, stamp = _read_header(fields)
    joints, points = tuple(fields.texts("joint_names")), list(fields.children("points"))
    poses = []
    for point in points:
        row = [read_transform(part) for part in point.children("transforms")]
        if len(row) != len(joints):
            raise point.error("transforms", len(row), f"{len(joints)} poses, one for each joint")
        poses.append(row)
    rates = [_twists(points, field, len(joints)) for field in ("velocities", "accelerations")]
    return MultiDofTrajectory(joints, _read_times(points), np.array(poses), rates[0], rates[1], frame, stamp)


def _twists(points: list[Fields], field: str, size: int) -> Array | None:
    rows = [
        [
            (part.vector("linear", "xyz") or [0.0] * 3) + (part.vector("angular", "xyz") or [0.0] * 3)
            for part in point.children(field)
        ]
        for point in points
    ]
    if not any(rows):
        return None
    for point, row in zip(points, rows, strict=True):
        if len(row) != size:
            raise point.error(field, len(row), f"{size} twists, one for each joint")
    return np.array(rows)


def trajectory_fields(value: RobotTrajectory | JointTrajectory) -> dict[str, Any]:
    """Return the fields of the message of a trajectory."""
    if isinstance(value, JointTrajectory):
        return value.fields()
    fields: dict[str, Any] = {"joint_trajectory": value.joints.fields()}
    if value.bases is not None:
        fields["multi_dof_joint_trajectory"] = _base_fields(value.bases)
    return fields


def _base_fields(bases: MultiDofTrajectory) -> dict[str, Any]:
    points = []
    for k, t in enumerate(bases.time.tolist()):
        point: dict[str, Any] = {"transforms": [transform_of(T) for T in bases.poses[k]]}
        for name, array in (("velocities", bases.twists), ("accelerations", bases.accelerations)):
            if array is not None:
                point[name] = [
                    {
                        "linear": dict(zip("xyz", row[:3], strict=True)),
                        "angular": dict(zip("xyz", row[3:], strict=True)),
                    }
                    for row in array[k].tolist()
                ]
        points.append({**point, "time_from_start": stamp_of(round(t * GIGA))})
    header = {"stamp": stamp_of(bases.stamp), "frame_id": bases.frame}
    return {"header": header, "joint_names": list(bases.joints), "points": points}
