"""Inverse kinematics in closed form: every branch, recognised from the robot itself."""

from kinodyn.ik.analytic.analytic import analytic
from kinodyn.ik.analytic.geometry import NoClosedFormError
from kinodyn.ik.analytic.result import AnalyticSolutions

__all__ = ["AnalyticSolutions", "NoClosedFormError", "analytic"]
