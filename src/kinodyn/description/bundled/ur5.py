"""The Universal Robots UR5 (CB3 series)."""

from __future__ import annotations

import math

from kinodyn.description import solids
from kinodyn.description.bundled.arm import dh_arm, renamed
from kinodyn.description.bundled.ur5_shapes import ur5_shapes
from kinodyn.description.dh import DH
from kinodyn.description.types import Description, Inertia

_HALF = 0.5 * math.pi

# Joint name, a [m], alpha [rad], d [m]: Universal Robots, "DH Parameters for calculations of kinematics and
# dynamics" (support article), standard convention.
_GEOMETRY = (
    ("shoulder_pan_joint", 0.0, _HALF, 0.089159),
    ("shoulder_lift_joint", -0.425, 0.0, 0.0),
    ("elbow_joint", -0.39225, 0.0, 0.0),
    ("wrist_1_joint", 0.0, _HALF, 0.10915),
    ("wrist_2_joint", 0.0, -_HALF, 0.09465),
    ("wrist_3_joint", 0.0, 0.0, 0.0823),
)

# Masses [kg] and centres of mass [m] in those frames: same article. It calls the inertia matrices of so small a robot
# negligible; these are of uniform cylinders with the radii and lengths [m] of the ur_description package
# (config/ur5/physical_parameters.yaml).
_BODIES: tuple[Inertia, ...] = (
    solids.cylinder(3.7, 0.075, 0.178, "y", (0.0, -0.02561, 0.00193)),
    solids.cylinder(8.393, 0.06, 0.425, "x", (0.2125, 0.0, 0.11336)),
    solids.cylinder(2.33, 0.06, 0.39225, "x", (0.15, 0.0, 0.0265)),
    solids.cylinder(1.219, 0.06, 0.095, "y", (0.0, -0.0018, 0.01634)),
    solids.cylinder(1.219, 0.06, 0.085, "y", (0.0, 0.0018, 0.01634)),
    solids.cylinder(0.1879, 0.0375, 0.0305, "z", (0.0, 0.0, -0.001159)),
)

# UR5 user manual 3.13: every joint turns 360 degrees in both directions at 180 degrees per second. Torques [N m]:
# support article "Max. joint torques".
_RANGE, _SPEED = 2.0 * math.pi, math.pi
_TORQUES = (150.0, 150.0, 150.0, 28.0, 28.0, 28.0)

_LINKS = ("shoulder_link", "upper_arm_link", "forearm_link", "wrist_1_link", "wrist_2_link", "wrist_3_link")

# Stretched straight up, and the home position of the manufacturer's teach pendant.
_CONFIGURATIONS = {
    "up": (0.0, -_HALF, 0.0, -_HALF, 0.0, 0.0),
    "bent": (0.0, -_HALF, _HALF, -_HALF, -_HALF, 0.0),
}


def ur5() -> Description:
    """Describe the UR5: six revolute joints, three of them parallel.

    The frames are those of the manufacturer's DH table: `base` is the robot's own base frame (rotated by 180 degrees
    about z from `base_link` of the ROS package) and `wrist_3_link` is the flange that ROS calls `tool0`.
    """
    rows = [_row(index) for index in range(6)]
    arm = dh_arm(rows, _BODIES, ur5_shapes(), name="ur5", configurations=_CONFIGURATIONS)
    return renamed(arm, {f"link{number}": name for number, name in enumerate(_LINKS, start=1)})


def _row(index: int) -> DH:
    name, a, alpha, d = _GEOMETRY[index]
    return DH(
        a=a,
        alpha=alpha,
        d=d,
        lower=-_RANGE,
        upper=_RANGE,
        velocity=_SPEED,
        effort=_TORQUES[index],
        name=name,
    )
