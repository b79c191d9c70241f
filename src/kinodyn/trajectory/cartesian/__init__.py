"""Trajectories of a frame: lines, arcs, screws and splines of poses, within limits in metres and radians.

Each function returns a `PoseTrajectory`: poses T_world_frame over time, and with `follow` the joint motion of a robot.
"""

from kinodyn.trajectory.cartesian.arcs import arc, arc_through
from kinodyn.trajectory.cartesian.following import FollowResult
from kinodyn.trajectory.cartesian.limits import CartesianLimits
from kinodyn.trajectory.cartesian.lines import line, screw
from kinodyn.trajectory.cartesian.poses import PoseSamples, PoseTrajectory
from kinodyn.trajectory.cartesian.splines import spline

__all__ = [
    "CartesianLimits",
    "FollowResult",
    "PoseSamples",
    "PoseTrajectory",
    "arc",
    "arc_through",
    "line",
    "screw",
    "spline",
]


def __dir__() -> list[str]:
    return list(__all__)
