"""ROS 2 and MoveIt without ROS: messages, nodes over DDS, and MoveIt's programming interface on kinodyn's planner.

>>> import kinodyn as kd
>>> pose = kd.interop.ros.new("geometry_msgs/Pose", position=[0.4, 0.0, 0.5])
>>> data = kd.interop.ros.encode(pose)
>>> kd.interop.ros.decode(data, "geometry_msgs/Pose").position.z
0.5
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from kinodyn.interop.ros import moveit_commander, moveit_py
    from kinodyn.interop.ros.message_packages import (
        control_msgs,
        geometry_msgs,
        moveit_msgs,
        nav_msgs,
        sensor_msgs,
        shape_msgs,
        std_msgs,
        tf2_msgs,
        trajectory_msgs,
    )
    from kinodyn.interop.ros.move_group import MoveGroup
    from kinodyn.interop.ros.node import Node, Problem, Publisher, Subscription
    from kinodyn.interop.ros.planning_scene_interface import PlanningSceneInterface
    from kinodyn.interop.ros.qos import QoS
    from kinodyn.interop.ros.robot_commander import RobotCommander
    from kinodyn.interop.ros.robot_node import RobotNode
    from kinodyn.interop.ros.rosbridge import RosBridge, TrajectoryResult
    from kinodyn.interop.ros.session import MoveItCommanderException, Session, start
    from kinodyn.rosmsgs import (
        Bag,
        BagMessage,
        JointSample,
        JointStateReader,
        as_dict,
        decode,
        encode,
        joint_state,
        new,
        odometry,
        read_bag,
        robot_description,
        transforms,
        write_bag,
    )

# Names are imported on first use: a node needs neither planners nor simulators, which take a second to import.
_MEMBERS = {
    "Bag": "kinodyn.rosmsgs",
    "BagMessage": "kinodyn.rosmsgs",
    "JointSample": "kinodyn.rosmsgs",
    "JointStateReader": "kinodyn.rosmsgs",
    "MoveGroup": "kinodyn.interop.ros.move_group",
    "MoveItCommanderException": "kinodyn.interop.ros.session",
    "Node": "kinodyn.interop.ros.node",
    "PlanningSceneInterface": "kinodyn.interop.ros.planning_scene_interface",
    "Problem": "kinodyn.interop.ros.node",
    "Publisher": "kinodyn.interop.ros.node",
    "QoS": "kinodyn.interop.ros.qos",
    "RobotCommander": "kinodyn.interop.ros.robot_commander",
    "RobotNode": "kinodyn.interop.ros.robot_node",
    "RosBridge": "kinodyn.interop.ros.rosbridge",
    "Session": "kinodyn.interop.ros.session",
    "Subscription": "kinodyn.interop.ros.node",
    "TrajectoryResult": "kinodyn.interop.ros.rosbridge",
    "as_dict": "kinodyn.rosmsgs",
    "control_msgs": "kinodyn.interop.ros.message_packages",
    "decode": "kinodyn.rosmsgs",
    "encode": "kinodyn.rosmsgs",
    "geometry_msgs": "kinodyn.interop.ros.message_packages",
    "joint_state": "kinodyn.rosmsgs",
    "moveit_msgs": "kinodyn.interop.ros.message_packages",
    "nav_msgs": "kinodyn.interop.ros.message_packages",
    "new": "kinodyn.rosmsgs",
    "odometry": "kinodyn.rosmsgs",
    "read_bag": "kinodyn.rosmsgs",
    "robot_description": "kinodyn.rosmsgs",
    "sensor_msgs": "kinodyn.interop.ros.message_packages",
    "shape_msgs": "kinodyn.interop.ros.message_packages",
    "start": "kinodyn.interop.ros.session",
    "std_msgs": "kinodyn.interop.ros.message_packages",
    "tf2_msgs": "kinodyn.interop.ros.message_packages",
    "trajectory_msgs": "kinodyn.interop.ros.message_packages",
    "transforms": "kinodyn.rosmsgs",
    "write_bag": "kinodyn.rosmsgs",
}

__all__ = [
    "Bag",
    "BagMessage",
    "JointSample",
    "JointStateReader",
    "MoveGroup",
    "MoveItCommanderException",
    "Node",
    "PlanningSceneInterface",
    "Problem",
    "Publisher",
    "QoS",
    "RobotCommander",
    "RobotNode",
    "RosBridge",
    "Session",
    "Subscription",
    "TrajectoryResult",
    "as_dict",
    "control_msgs",
    "decode",
    "encode",
    "geometry_msgs",
    "joint_state",
    "moveit_commander",
    "moveit_msgs",
    "moveit_py",
    "nav_msgs",
    "new",
    "odometry",
    "read_bag",
    "robot_description",
    "sensor_msgs",
    "shape_msgs",
    "start",
    "std_msgs",
    "tf2_msgs",
    "trajectory_msgs",
    "transforms",
    "write_bag",
]


def __getattr__(name: str) -> _Any:
    if name in ("moveit_commander", "moveit_py"):
        return _import_module(f"kinodyn.interop.ros.{name}")
    if name not in _MEMBERS:
        raise AttributeError(f"module 'kinodyn.interop.ros' has no attribute {name!r}")
    return getattr(_import_module(_MEMBERS[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
