"""Tasks of inverse kinematics and control. Each has an error, its Jacobian and drift, and a priority."""

from kinodyn.tasks.com import ComTask
from kinodyn.tasks.custom import CustomTask
from kinodyn.tasks.frame import ContactTask, FrameTask
from kinodyn.tasks.gaze import GazeTask
from kinodyn.tasks.momentum import MomentumTask
from kinodyn.tasks.posture import PostureTask
from kinodyn.tasks.task import Task

__all__ = [
    "ComTask",
    "ContactTask",
    "CustomTask",
    "FrameTask",
    "GazeTask",
    "MomentumTask",
    "PostureTask",
    "Task",
]


def __dir__() -> list[str]:
    return list(__all__)
