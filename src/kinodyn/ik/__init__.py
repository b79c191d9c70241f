"""Inverse kinematics: joint positions that reach given frame poses, and joint velocities for given frame twists."""

from kinodyn.ik import velocity
from kinodyn.ik.analytic import AnalyticSolutions, NoClosedFormError, analytic
from kinodyn.ik.conflicts import Conflict
from kinodyn.ik.result import IKResult
from kinodyn.ik.solve import solve
from kinodyn.ik.track import track
from kinodyn.ik.tracking.result import TrackResult
from kinodyn.ik.whole_body import WholeBody
from kinodyn.ik.whole_body_result import Step, WholeBodyResult

__all__ = [
    "AnalyticSolutions",
    "Conflict",
    "IKResult",
    "NoClosedFormError",
    "Step",
    "TrackResult",
    "WholeBody",
    "WholeBodyResult",
    "analytic",
    "solve",
    "track",
    "velocity",
]


def __dir__() -> list[str]:
    return list(__all__)
