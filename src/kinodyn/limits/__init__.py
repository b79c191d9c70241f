"""Limits on motion, which have priority over tasks. `ik.WholeBody` and `control.InverseDynamicsQP` accept them."""

from kinodyn.limits.acceleration import AccelerationLimit
from kinodyn.limits.collision import CollisionLimit
from kinodyn.limits.com import ComLimit
from kinodyn.limits.custom import CustomLimit
from kinodyn.limits.limit import Limit
from kinodyn.limits.position import PositionLimit
from kinodyn.limits.torque import TorqueLimit
from kinodyn.limits.velocity import VelocityLimit

__all__ = [
    "AccelerationLimit",
    "CollisionLimit",
    "ComLimit",
    "CustomLimit",
    "Limit",
    "PositionLimit",
    "TorqueLimit",
    "VelocityLimit",
]


def __dir__() -> list[str]:
    return list(__all__)
