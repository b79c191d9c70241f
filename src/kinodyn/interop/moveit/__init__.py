"""MoveIt's scenes, requests, trajectories and settings, in files and messages. MoveIt and ROS need not be installed."""

from kinodyn.interop.moveit.config import MoveItConfig, load_config
from kinodyn.interop.moveit.constraints import (
    Constraints,
    JointConstraint,
    OrientationConstraint,
    PoseGoal,
    PositionConstraint,
    Region,
)
from kinodyn.interop.moveit.joint_limits import JointLimit, JointLimits, read_joint_limits, write_joint_limits
from kinodyn.interop.moveit.kinematics_settings import KinematicsSettings, read_kinematics, write_kinematics
from kinodyn.interop.moveit.planning import path_constraints, plan, requested_goal
from kinodyn.interop.moveit.reading import read, read_scene
from kinodyn.interop.moveit.request import Request, Workspace
from kinodyn.interop.moveit.scene import Scene
from kinodyn.interop.moveit.trajectories import MultiDofTrajectory, RobotTrajectory, read_trajectory
from kinodyn.interop.moveit.writing import to_dict, to_message, write
from kinodyn.rosmsgs.trajectories import JointTrajectory, joint_trajectory

__all__ = [
    "Constraints",
    "JointConstraint",
    "JointLimit",
    "JointLimits",
    "JointTrajectory",
    "KinematicsSettings",
    "MoveItConfig",
    "MultiDofTrajectory",
    "OrientationConstraint",
    "PoseGoal",
    "PositionConstraint",
    "Region",
    "Request",
    "RobotTrajectory",
    "Scene",
    "Workspace",
    "joint_trajectory",
    "load_config",
    "path_constraints",
    "plan",
    "read",
    "read_joint_limits",
    "read_kinematics",
    "read_scene",
    "read_trajectory",
    "requested_goal",
    "to_dict",
    "to_message",
    "write",
    "write_joint_limits",
    "write_kinematics",
]


def __dir__() -> list[str]:
    return list(__all__)
