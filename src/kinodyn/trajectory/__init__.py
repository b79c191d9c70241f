"""Trajectories: q, v and a at any time, from states, waypoints and paths.

A trajectory is called with times: `trajectory(t)` is q, `trajectory(t, 1)` v, `trajectory(t, 2)` a; it has a `duration`
and `sample(dt)`. With `robot=` configurations are those of the robot, ball and floating joints included; without it
they are plain vectors.
"""

from kinodyn.trajectory import cartesian
from kinodyn.trajectory.base import JointTrajectory, Samples, TimedPath, Trajectory
from kinodyn.trajectory.check import LimitCheck, LimitViolation, check
from kinodyn.trajectory.jerk_limited import jerk_limited
from kinodyn.trajectory.linear_segments import linear_segments
from kinodyn.trajectory.online import OnlineTrajectory, TargetUpdate
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.polynomial import cubic, hermite, minimum_jerk, polynomial, quintic
from kinodyn.trajectory.retime import RetimeResult, retime
from kinodyn.trajectory.spline import cubic_spline, quintic_spline, waypoint_times
from kinodyn.trajectory.time_optimal import TimeOptimalResult, time_optimal
from kinodyn.trajectory.trapezoid import trapezoid
from kinodyn.trajectory.waypoints import JerkLimitedResult, jerk_limited_waypoints

__all__ = [
    "JerkLimitedResult",
    "JointTrajectory",
    "LimitCheck",
    "LimitViolation",
    "OnlineTrajectory",
    "PiecewisePolynomial",
    "TargetUpdate",
    "RetimeResult",
    "Samples",
    "TimeOptimalResult",
    "TimedPath",
    "Trajectory",
    "cartesian",
    "check",
    "cubic",
    "cubic_spline",
    "hermite",
    "jerk_limited",
    "jerk_limited_waypoints",
    "linear_segments",
    "minimum_jerk",
    "polynomial",
    "quintic",
    "quintic_spline",
    "retime",
    "time_optimal",
    "trapezoid",
    "waypoint_times",
]


def __dir__() -> list[str]:
    return list(__all__)
