"""The names of MoveIt's package moveit_commander: `from kinodyn.interop.ros import moveit_commander`."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from kinodyn.argument_types import check_types
from kinodyn.interop.ros.move_group import MoveGroup, list_to_pose, pose_to_list
from kinodyn.interop.ros.planning_scene_interface import PlanningSceneInterface
from kinodyn.interop.ros.robot_commander import RobotCommander
from kinodyn.interop.ros.session import MoveItCommanderException, current_session

MoveGroupCommander = MoveGroup
conversions = SimpleNamespace(pose_to_list=pose_to_list, list_to_pose=list_to_pose)

__all__ = [
    "MoveGroupCommander",
    "MoveItCommanderException",
    "PlanningSceneInterface",
    "RobotCommander",
    "conversions",
    "roscpp_initialize",
    "roscpp_shutdown",
]


def __dir__() -> list[str]:
    return list(__all__)


@check_types
def roscpp_initialize(args: Sequence[str]) -> None:
    """Start a session unless there is one; an argument `robot_description:=file` names the robot.

    Parameters
    ----------
    args
        Command line of the script.
    """
    given = dict(part.split(":=", 1) for part in args if ":=" in part)
    current_session(given.get("robot_description", ""))


def roscpp_shutdown() -> None:
    """Wait for a motion that is being executed."""
    current_session().wait()
