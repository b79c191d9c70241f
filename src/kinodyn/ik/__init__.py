"""Inverse kinematics: from where a frame should be, or how it should move, to the joints."""

from kinodyn.ik import velocity
from kinodyn.ik.closed_form import Branches, NoClosedFormError, branches
from kinodyn.ik.result import IKResult
from kinodyn.ik.solve import solve

__all__ = ["Branches", "IKResult", "NoClosedFormError", "branches", "solve", "velocity"]
