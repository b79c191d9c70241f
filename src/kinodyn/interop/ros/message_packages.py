"""Message packages for scripts: `geometry_msgs.msg.Pose()` as in ROS, with the defaults of the fields."""

from __future__ import annotations

from typing import Any

from kinodyn.rosmsgs.messages import new
from kinodyn.rosmsgs.rosbags_library import full_name, message_class, type_names


class MessageType:
    """A message type: called, it returns a new message; constants are attributes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *values: Any, **fields: Any) -> Any:
        """Create a message from values in the order of the fields, or by their names."""
        message = new(self.name)
        return new(self.name, {**dict(zip(_field_names(message), values, strict=False)), **fields})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(message_class(self.name), name)

    def __repr__(self) -> str:
        return f"<message type {self.name}>"


def _field_names(message: Any) -> list[str]:
    return [name for name in vars(message) if name != "__msgtype__"]


class MessagePackage:
    """The message types of a package as attributes of `msg`."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def msg(self) -> MessagePackage:
        """The message types."""
        return self

    def __getattr__(self, name: str) -> MessageType:
        if name.startswith("_"):
            raise AttributeError(name)
        return MessageType(full_name(f"{self._name}/msg/{name}"))

    def __dir__(self) -> list[str]:
        return [name.rpartition("/")[2] for name in type_names() if name.startswith(f"{self._name}/msg/")]

    def __repr__(self) -> str:
        return f"<messages of {self._name}>"


actionlib_msgs = MessagePackage("actionlib_msgs")
control_msgs = MessagePackage("control_msgs")
geometry_msgs = MessagePackage("geometry_msgs")
moveit_msgs = MessagePackage("moveit_msgs")
nav_msgs = MessagePackage("nav_msgs")
sensor_msgs = MessagePackage("sensor_msgs")
shape_msgs = MessagePackage("shape_msgs")
std_msgs = MessagePackage("std_msgs")
tf2_msgs = MessagePackage("tf2_msgs")
trajectory_msgs = MessagePackage("trajectory_msgs")
