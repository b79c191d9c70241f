"""Positions, velocities, accelerations and efforts in the conventions of other engines, and back.

Each of `pinocchio`, `mujoco` and `drake` returns a `Converter`; `joint_state`, `to_joint_state` and `to_odometry` read
and write ROS messages.
"""

from kinodyn.model.convert.converter import Converter
from kinodyn.model.convert.drake_layout import DrakeJoint, DrakeLayout, drake
from kinodyn.model.convert.mujoco_layout import mujoco
from kinodyn.model.convert.pinocchio_layout import pinocchio
from kinodyn.model.convert.ros import RobotState, joint_state, to_joint_state, to_odometry

__all__ = [
    "Converter",
    "DrakeJoint",
    "DrakeLayout",
    "RobotState",
    "drake",
    "joint_state",
    "mujoco",
    "pinocchio",
    "to_joint_state",
    "to_odometry",
]


def __dir__() -> list[str]:
    return list(__all__)
