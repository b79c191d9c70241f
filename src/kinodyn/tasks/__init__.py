"""What a robot is asked to do: each task measures an error, knows how joints change it, and has a priority."""

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
