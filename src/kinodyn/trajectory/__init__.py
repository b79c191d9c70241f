"""Motion in time: from states, waypoints and paths to q, v and a at any instant.

A trajectory is called with times: `trajectory(t)` gives q, `trajectory(t, 1)` v, `trajectory(t, 2)` a; it has a
`duration` and gives `sample(dt)`. With `robot=` configurations are those of the robot, ball and floating joints
included; without it they are plain vectors.
"""

from kinodyn.trajectory import cartesian
from kinodyn.trajectory.base import JointTrajectory, Samples, Trajectory
from kinodyn.trajectory.check import Excess, LimitCheck, check
from kinodyn.trajectory.jerk_limited import jerk_limited
from kinodyn.trajectory.online import OnlineTrajectory, Retarget
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.polynomial import cubic, hermite, minimum_jerk, polynomial, quintic
from kinodyn.trajectory.retime import Retimed, retime
from kinodyn.trajectory.spline import cubic_spline, quintic_spline, waypoint_times
from kinodyn.trajectory.time_optimal import TimeOptimal, time_optimal
from kinodyn.trajectory.timed import TimedPath
from kinodyn.trajectory.trapezoid import trapezoid
from kinodyn.trajectory.waypoints import ThroughWaypoints, jerk_limited_waypoints

__all__ = [
    "Excess",
    "JointTrajectory",
    "LimitCheck",
    "OnlineTrajectory",
    "PiecewisePolynomial",
    "Retarget",
    "Retimed",
    "Samples",
    "ThroughWaypoints",
    "TimeOptimal",
    "TimedPath",
    "Trajectory",
    "cartesian",
    "check",
    "cubic",
    "cubic_spline",
    "hermite",
    "jerk_limited",
    "jerk_limited_waypoints",
    "minimum_jerk",
    "polynomial",
    "quintic",
    "quintic_spline",
    "retime",
    "time_optimal",
    "trapezoid",
    "waypoint_times",
]
