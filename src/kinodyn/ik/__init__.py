"""Inverse kinematics: from where a frame should be, or how it should move, to the joints."""

from kinodyn.ik import velocity
from kinodyn.ik.closed_form import Branches, NoClosedFormError, branches
from kinodyn.ik.conflicts import Conflict, Step, WholeBodyResult
from kinodyn.ik.result import IKResult
from kinodyn.ik.solve import solve
from kinodyn.ik.track import track
from kinodyn.ik.tracking.result import Track
from kinodyn.ik.whole_body import WholeBody
from kinodyn.limits import AccelerationLimit, ComLimit, PositionLimit, VelocityLimit
from kinodyn.tasks import (
    ComTask,
    ContactTask,
    CustomTask,
    FrameTask,
    GazeTask,
    MomentumTask,
    PostureTask,
    Task,
)

__all__ = [
    "AccelerationLimit",
    "Branches",
    "ComLimit",
    "ComTask",
    "Conflict",
    "ContactTask",
    "CustomTask",
    "FrameTask",
    "GazeTask",
    "IKResult",
    "MomentumTask",
    "NoClosedFormError",
    "PositionLimit",
    "PostureTask",
    "Step",
    "Task",
    "Track",
    "VelocityLimit",
    "WholeBody",
    "WholeBodyResult",
    "branches",
    "solve",
    "track",
    "velocity",
]
