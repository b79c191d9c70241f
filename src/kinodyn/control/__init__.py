"""From what a robot should do to the torques of its joints: controllers are functions of time and state."""

from kinodyn.control.inverse_dynamics import InverseDynamicsQP
from kinodyn.control.result import ControlResult, GaveWay
from kinodyn.control.uses import ContactUse

__all__ = ["ContactUse", "ControlResult", "GaveWay", "InverseDynamicsQP"]
