"""Closed-form inverse kinematics: all solutions, for geometries recognised from the joint axes."""

from kinodyn.ik.analytic.analytic import analytic
from kinodyn.ik.analytic.geometry import NoClosedFormError
from kinodyn.ik.analytic.result import AnalyticSolutions

__all__ = ["AnalyticSolutions", "NoClosedFormError", "analytic"]
