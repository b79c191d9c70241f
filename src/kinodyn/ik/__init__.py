"""Inverse kinematics: from where a frame should be, or how it should move, to the joints."""

from kinodyn.ik import velocity
from kinodyn.ik.closed_form import Branches, NoClosedFormError, branches
from kinodyn.ik.solve import IKResult, solve
from kinodyn.ik.track import track
from kinodyn.ik.tracking.result import Track

__all__ = ["Branches", "IKResult", "NoClosedFormError", "Track", "branches", "solve", "track", "velocity"]
