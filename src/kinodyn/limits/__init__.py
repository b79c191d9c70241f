"""What a robot must not do: bounds that whole-body motion keeps before it serves any task."""

from kinodyn.limits.com import ComLimit
from kinodyn.limits.joints import AccelerationLimit, PositionLimit, VelocityLimit

__all__ = ["AccelerationLimit", "ComLimit", "PositionLimit", "VelocityLimit"]
