"""MoveIt's PlanningScene and MotionPlanRequest, read from YAML files. MoveIt and ROS need not be installed."""

from kinodyn.interop.moveit.constraints import (
    Constraints,
    JointConstraint,
    OrientationConstraint,
    PoseGoal,
    PositionConstraint,
    Region,
)
from kinodyn.interop.moveit.planning import path_constraints, plan, requested_goal
from kinodyn.interop.moveit.reading import read, read_scene
from kinodyn.interop.moveit.request import Request, Workspace
from kinodyn.interop.moveit.scene import Scene

__all__ = [
    "Constraints",
    "JointConstraint",
    "OrientationConstraint",
    "PoseGoal",
    "PositionConstraint",
    "Region",
    "Request",
    "Scene",
    "Workspace",
    "path_constraints",
    "plan",
    "read",
    "read_scene",
    "requested_goal",
]


def __dir__() -> list[str]:
    return list(__all__)
