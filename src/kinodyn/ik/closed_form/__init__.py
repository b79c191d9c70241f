"""Inverse kinematics in closed form: every branch, recognised from the robot itself."""

from kinodyn.ik.closed_form.branches import branches
from kinodyn.ik.closed_form.geometry import NoClosedFormError
from kinodyn.ik.closed_form.result import Branches

__all__ = ["Branches", "NoClosedFormError", "branches"]
