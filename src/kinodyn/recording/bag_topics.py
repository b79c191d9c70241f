"""Topics of a recording in a bag, and the message that describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError

JOINT_STATES, ODOMETRY, TF, TF_STATIC = "/joint_states", "/odom", "/tf", "/tf_static"
DESCRIPTION, ABOUT = "/robot_description", "/kinodyn/recording"
CONTACTS, FORCES, SIGNALS = "/kinodyn/contacts/", "/kinodyn/forces/", "/kinodyn/signals/"
BASE_Q, BASE_V = (".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"), (".x", ".y", ".z", ".rx", ".ry", ".rz")
KIND, VERSION = "kinodyn recording", 1
MAX_ABOUT = 50_000_000
TYPES = {
    JOINT_STATES: "sensor_msgs/msg/JointState",
    ODOMETRY: "nav_msgs/msg/Odometry",
    TF: "tf2_msgs/msg/TFMessage",
    TF_STATIC: "tf2_msgs/msg/TFMessage",
    DESCRIPTION: "std_msgs/msg/String",
    ABOUT: "std_msgs/msg/String",
}
GROUPS = {
    CONTACTS: ("contacts", "std_msgs/msg/Bool"),
    FORCES: ("forces", "geometry_msgs/msg/WrenchStamped"),
    SIGNALS: ("signals", "std_msgs/msg/Float64MultiArray"),
}


def base_of(q_names: tuple[str, ...]) -> str | None:
    """Return the name of the floating joint whose seven coordinates come first, None without one."""
    name, _, _ = q_names[0].rpartition(".") if q_names else ("", "", "")
    return name if name and q_names[:7] == tuple(name + part for part in BASE_Q) else None


def topic_name(name: str) -> str:
    """Return a name that a topic may have: characters that ROS does not allow become an underscore."""
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter == "_") else "_" for letter in name)


def describe(fields: Mapping[str, Any], shift: int) -> dict[str, Any]:
    """Return what the messages do not say: names, limits, status, and which topic is what."""
    groups = {
        group: {prefix + topic_name(name): [name, *np.shape(array)[1:]] for name, array in fields[group].items()}
        for prefix, (group, _) in GROUPS.items()
    }
    if any(len(topics) < len(fields[group]) for group, topics in groups.items()):
        raise InputError("names of contacts, forces and signals must differ in letters and digits to be topics")
    constants = {
        group: {
            name: np.array(np.where(np.isfinite(array), array, None)).tolist() for name, array in fields[group].items()
        }
        for group in ("limits", "terrain")
    }
    texts = {name: fields[name] for name in ("robot", "q_names", "v_names", "status", "reason")}
    return {"kind": KIND, "version": VERSION, "shift": shift, **texts, **groups, **constants}


def odometry_state(message: Any) -> tuple[Array, Array]:
    """Return position and quaternion (7,) and twist (6,) of a nav_msgs/Odometry."""
    pose, twist = message.pose.pose, message.twist.twist
    at, turned = pose.position, pose.orientation
    linear, angular = twist.linear, twist.angular
    q = np.array([at.x, at.y, at.z, turned.x, turned.y, turned.z, turned.w])
    return q, np.array([linear.x, linear.y, linear.z, angular.x, angular.y, angular.z])
