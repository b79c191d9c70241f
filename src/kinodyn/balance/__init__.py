"""Balance: zero moment point, centre of pressure, support polygon, linear inverted pendulum, capturability.

>>> import kinodyn as kd
>>> robot = kd.load("humanoid")
>>> q, feet = robot.configuration("standing"), kd.balance.feet(robot)
>>> bool(kd.balance.support_margin(robot, q, feet, kd.kinematics.com(robot, q)) > 0.02)
True
"""

from kinodyn.balance import lipm
from kinodyn.balance.capturability import (
    Bounds,
    capture_distance,
    hip_reach,
    push_bound,
    steps_to_capture,
    strategy,
    walking_bounds,
)
from kinodyn.balance.feedback import dcm_feedback, zmp_feedback
from kinodyn.balance.feet import biped_feet, feet, upright
from kinodyn.balance.foot import Foot
from kinodyn.balance.polygon import half_planes, hull, intersection, margin, nearest, shrink
from kinodyn.balance.support import sole_points, support_margin, support_polygon
from kinodyn.balance.zmp import contact_wrench, cop, zmp, zmp_from_forces, zmp_from_wrenches

__all__ = [
    "Bounds",
    "Foot",
    "biped_feet",
    "capture_distance",
    "contact_wrench",
    "cop",
    "dcm_feedback",
    "feet",
    "half_planes",
    "hip_reach",
    "hull",
    "intersection",
    "lipm",
    "margin",
    "nearest",
    "push_bound",
    "shrink",
    "sole_points",
    "steps_to_capture",
    "strategy",
    "support_margin",
    "support_polygon",
    "upright",
    "walking_bounds",
    "zmp",
    "zmp_feedback",
    "zmp_from_forces",
    "zmp_from_wrenches",
]


def __dir__() -> list[str]:
    return list(__all__)
