"""Write recordings as ROS 2 bags: topics with the messages that tools of ROS, Foxglove and Rerun show."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kinodyn.errors import InputError, warn
from kinodyn.identification.columns import labels
from kinodyn.model.robot import Robot
from kinodyn.progress import ProgressBar
from kinodyn.recording.bag_topics import (
    ABOUT,
    CONTACTS,
    DESCRIPTION,
    FORCES,
    GROUPS,
    JOINT_STATES,
    ODOMETRY,
    SIGNALS,
    TF,
    TF_STATIC,
    TYPES,
    base_of,
    describe,
    topic_name,
)
from kinodyn.rosmsgs.bags import BagMessage, write_bag
from kinodyn.rosmsgs.messages import encoded
from kinodyn.rosmsgs.robot_messages import GIGA, odometry, robot_description, stamp_of, transforms_of
from kinodyn.rosmsgs.rosbags_library import serialize

MANY_ROWS = 5000  # from which on a progress bar is shown
TF_PERIOD = 10_000_000  # [ns] between the poses of all links: they are for viewers, /joint_states has every row


def save(fields: Mapping[str, Any], path: str | os.PathLike[str], robot: Robot | None) -> None:
    """Write the fields of a recording to a bag; see `Recording.save`."""
    if fields["q"].ndim != 2:
        raise InputError("a bag must hold one recording, got a batch; save each member()")
    if robot is not None and labels(robot).q != fields["q_names"]:
        raise InputError(f"robot must have the joints of the recording, got {robot.name!r}")
    _check_joints(fields)
    topics = {topic: kind for topic, kind in TYPES.items() if _is_written(topic, fields, robot)}
    for prefix, (group, kind) in GROUPS.items():
        topics |= {prefix + topic_name(name): kind for name in fields[group]}
    write_bag(path, _messages(fields, robot), topics, latched=(DESCRIPTION, ABOUT, TF_STATIC))


def _is_written(topic: str, fields: Mapping[str, Any], robot: Robot | None) -> bool:
    based = base_of(fields["q_names"]) is not None
    return {ODOMETRY: based, TF: based or robot is not None, TF_STATIC: robot is not None}.get(
        topic, robot is not None if topic == DESCRIPTION else True
    )


def _check_joints(fields: Mapping[str, Any]) -> None:
    """A JointState has one coordinate per joint; only a floating base has other topics."""
    first = 0 if base_of(fields["q_names"]) is None else 7
    rest = fields["q_names"][first:]
    if rest != fields["v_names"][0 if first == 0 else 6 :]:
        raise InputError(
            f"joints must have one coordinate each in a bag, besides a floating base, got q_names {rest[:8]}; "
            "save as .npz or .parquet"
        )
    if first and fields["tau"][:, :6].any():
        text = "generalised forces on the floating base are not written to the bag; .npz and .parquet keep them"
        warn(text)


def _messages(fields: Mapping[str, Any], robot: Robot | None) -> Iterator[BagMessage]:
    times = [round(t * GIGA) for t in fields["time"].tolist()]
    shift = -min(times[0], 0)
    times = [time + shift for time in times]
    yield BagMessage(ABOUT, times[0], encoded("std_msgs/msg/String", data=json.dumps(describe(fields, shift))))
    if robot is not None:
        yield BagMessage(DESCRIPTION, times[0], robot_description(robot))
        yield BagMessage(TF_STATIC, times[0], transforms_of(robot, fields["q"][:1], times[:1], fixed=True)[0])
    shown = times[0]  # when links are next written to /tf
    bar = ProgressBar(len(times) > MANY_ROWS, len(times), "rows")
    for k, time in enumerate(times):
        bar.update(k)
        yield from _row(fields, robot, k, time)
        if robot is not None and time >= shown:
            shown = max(shown + TF_PERIOD, time)
            message = transforms_of(robot, fields["q"][k : k + 1], [time], fixed=False)[0]
            yield BagMessage(TF, time, serialize(message, TYPES[TF]))
    bar.close()


def _row(fields: Mapping[str, Any], robot: Robot | None, k: int, time: int) -> Iterator[BagMessage]:
    q, v, tau = fields["q"][k], fields["v"][k], fields["tau"][k]
    base = base_of(fields["q_names"])
    first = (0, 0) if base is None else (7, 6)
    header = {"stamp": stamp_of(time)}
    state = {
        "name": list(fields["q_names"][first[0] :]),
        "position": q[first[0] :],
        "velocity": v[first[1] :],
        "effort": tau[first[1] :],
    }
    yield BagMessage(JOINT_STATES, time, encoded("sensor_msgs/msg/JointState", header=header, **state))
    if base is not None:
        world, child = _base_frames(robot, base)
        yield BagMessage(ODOMETRY, time, odometry(world, child, q[:7], v[:6], time=time))
        if robot is None:
            moved: dict[str, Any] = {"header": {**header, "frame_id": world}, "child_frame_id": child}
            moved["transform"] = {"translation": q[:3], "rotation": q[3:7]}
            yield BagMessage(TF, time, encoded("tf2_msgs/msg/TFMessage", transforms=[moved]))
    yield from _extras(fields, k, time)


def _extras(fields: Mapping[str, Any], k: int, time: int) -> Iterator[BagMessage]:
    for name, array in fields["contacts"].items():
        yield BagMessage(CONTACTS + topic_name(name), time, encoded("std_msgs/msg/Bool", data=bool(array[k])))
    for name, array in fields["forces"].items():
        wrench = {"force": array[k][:3], "torque": array[k][3:]}
        header = {"stamp": stamp_of(time), "frame_id": name}
        yield BagMessage(
            FORCES + topic_name(name), time, encoded("geometry_msgs/msg/WrenchStamped", header=header, wrench=wrench)
        )
    for name, array in fields["signals"].items():
        message = encoded("std_msgs/msg/Float64MultiArray", data=np.ravel(array[k]))
        yield BagMessage(SIGNALS + topic_name(name), time, message)


def _base_frames(robot: Robot | None, base: str) -> tuple[str, str]:
    return ("world", base) if robot is None else (robot.joints[0].parent, robot.joints[0].child)
