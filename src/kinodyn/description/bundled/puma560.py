"""The Unimation PUMA 560, the arm of the robotics books."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinodyn.description import solids
from kinodyn.description.bundled.arm import dh_arm
from kinodyn.description.bundled.puma560_shapes import puma560_shapes
from kinodyn.description.dh import DH
from kinodyn.description.types import Description

_HALF = 0.5 * math.pi


@dataclass(frozen=True)
class _Motor:
    """A motor: rotor inertia [kg m^2], gear ratio, viscous friction [N m s/rad] and Coulomb friction [N m] at it."""

    inertia: float
    gear: float
    viscous: float
    coulomb: tuple[float, float]


# Corke and Armstrong-Helouvry, "A search for consensus among model parameters reported for the PUMA 560 robot",
# IEEE ICRA 1994, as used by the Robotics Toolbox. Coulomb friction is given for the two directions.
_MOTORS = (
    _Motor(200e-6, 62.6111, 1.48e-3, (0.395, 0.435)),
    _Motor(200e-6, 107.815, 0.817e-3, (0.126, 0.071)),
    _Motor(200e-6, 53.7063, 1.38e-3, (0.132, 0.105)),
    _Motor(33e-6, 76.0364, 71.2e-6, (11.2e-3, 16.9e-3)),
    _Motor(33e-6, 71.923, 82.6e-6, (9.26e-3, 14.5e-3)),
    _Motor(33e-6, 76.686, 36.7e-6, (3.96e-3, 10.5e-3)),
)

# a [m], alpha [rad], d [m], standard convention, same source; the shoulder is 26.45 inches above the floor.
_GEOMETRY = (
    (0.0, _HALF, 0.67183),
    (0.4318, 0.0, 0.0),
    (0.0203, -_HALF, 0.15005),
    (0.0, _HALF, 0.4318),
    (0.0, -_HALF, 0.0),
    (0.0, 0.0, 0.0),
)

# Mass [kg], centre of mass [m] and moments of inertia about it [kg m^2] in the frames of the table: Armstrong, Khatib
# and Burdick, "The explicit dynamic model and inertial parameters of the PUMA 560 arm", IEEE ICRA 1986, brought to
# these frames by Corke. Two things differ from what they print, and neither changes any torque:
# - They did not weigh link 1, of which only the 0.35 kg m^2 about its vertical axis has an effect. The 13 kg and the
#   two moments about its other axes, half of 0.35, are assumed here.
# - No rigid body has the moments they measured for link 3, since 0.066 + 0.0125 is less than 0.086. An inertia with
#   no moment about the axis of joint 3, and equal moments about all axes perpendicular to it, has the same effect on
#   both sides of the joint: `_MOVED` is subtracted from link 2 and added to link 3.
_MOVED = 0.004
_BODIES = (
    (13.0, (0.0, 0.0, 0.0), (0.175, 0.35, 0.175)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13 - _MOVED, 0.524 - _MOVED, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.066 + _MOVED, 0.086, 0.0125 + _MOVED)),
    (0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)

# Degrees: Wang and Chen, "A combined optimization method for solving the inverse kinematics problem", IEEE Trans.
# Robotics and Automation 7(4), 1991, as in the Robotics Toolbox.
_RANGES = ((-160.0, 160.0), (-45.0, 225.0), (-225.0, 45.0), (-110.0, 170.0), (-100.0, 100.0), (-266.0, 266.0))
# N m: Armstrong, Khatib and Burdick, table 7. rad/s: Corke, Visual Control of Robots, 1996, table 2.21.
_TORQUES = (97.6, 186.4, 89.4, 24.2, 20.1, 21.3)
_SPEEDS = (1.92, 1.51, 2.40, 5.34, 5.09, 5.74)

_CONFIGURATIONS = {
    "zero": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    "ready": (0.0, _HALF, -_HALF, 0.0, 0.0, 0.0),
    "stretched": (0.0, 0.0, -_HALF, 0.0, 0.0, 0.0),
    "nominal": (0.0, 0.25 * math.pi, math.pi, 0.0, 0.25 * math.pi, 0.0),
}


def puma560() -> Description:
    """Describe the PUMA 560: six revolute joints, the last three in one point, with rotor inertia and friction.

    The frames are those of P. Corke's Robotics Toolbox, and so are the named configurations: its qz, qr, qs and qn
    are "zero", "ready", "stretched" and "nominal" (whose third joint is outside the range, as there). Armature is
    rotor inertia times gear ratio squared; friction, which the sources give for each direction, is the mean of both.
    """
    rows = [_row(index) for index in range(6)]
    bodies = [solids.principal(*body) for body in _BODIES]
    return dh_arm(rows, bodies, puma560_shapes(), name="puma560", configurations=_CONFIGURATIONS)


def _row(index: int) -> DH:
    a, alpha, d = _GEOMETRY[index]
    lower, upper = _RANGES[index]
    motor = _MOTORS[index]
    return DH(
        a=a,
        alpha=alpha,
        d=d,
        lower=math.radians(lower),
        upper=math.radians(upper),
        velocity=_SPEEDS[index],
        effort=_TORQUES[index],
        damping=motor.viscous * motor.gear**2,
        friction=0.5 * sum(motor.coulomb) * motor.gear,
        armature=motor.inertia * motor.gear**2,
    )
