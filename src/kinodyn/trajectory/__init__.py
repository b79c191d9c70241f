"""Motion in time."""

from kinodyn.trajectory.polynomial import cubic, hermite, minimum_jerk, polynomial, quintic
from kinodyn.trajectory.spline import cubic_spline, quintic_spline, waypoint_times
from kinodyn.trajectory.trapezoid import trapezoid
from kinodyn.trajectory.jerk_limited import jerk_limited
