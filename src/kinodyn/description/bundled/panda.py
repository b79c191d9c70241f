"""The Franka Emika Panda arm."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kinodyn.description import solids
from kinodyn.description.bundled.arm import dh_arm, frame, renamed
from kinodyn.description.bundled.panda_shapes import panda_shapes
from kinodyn.description.dh import DH
from kinodyn.description.types import Description, Inertia, Link

_HALF = 0.5 * math.pi

# a [m], alpha [rad], d [m], modified convention: Franka Control Interface documentation, "Denavit-Hartenberg
# parameters". The flange follows 0.107 m after the last joint.
_GEOMETRY = (
    (0.0, 0.0, 0.333),
    (0.0, -_HALF, 0.0),
    (0.0, _HALF, 0.316),
    (0.0825, _HALF, 0.0),
    (-0.0825, -_HALF, 0.384),
    (0.0, _HALF, 0.0),
    (0.088, _HALF, 0.0),
)
_FLANGE = 0.107
# The Franka hand is mounted at -45 degrees; its fingertips close 0.1034 m beyond the flange (franka_description).
_TCP, _TCP_YAW = 0.1034, -0.25 * math.pi

# Lower and upper [rad], speed [rad/s], torque [N m]: same documentation, "Limits for Panda".
_LIMITS = (
    (-2.8973, 2.8973, 2.1750, 87.0),
    (-1.7628, 1.7628, 2.1750, 87.0),
    (-2.8973, 2.8973, 2.1750, 87.0),
    (-3.0718, -0.0698, 2.1750, 87.0),
    (-2.8973, 2.8973, 2.6100, 12.0),
    (-0.0175, 3.7525, 2.6100, 12.0),
    (-2.8973, 2.8973, 2.6100, 12.0),
)

# Mass [kg], centre of mass [m], (xx, yy, zz, xy, xz, yz) [kg m^2] about it: Gaz, Cognetti, Oliva, Robuffo Giordano
# and De Luca, "Dynamic identification of the Franka Emika Panda robot with retrieval of feasible parameters using
# penalty-based optimization", IEEE Robotics and Automation Letters 4(4), 2019, as in franka_description. They are
# identified from motion: together they give the right torques, but they are not the masses of the single links.
_BASE = (0.629769, (-0.041018, -0.00014, 0.049974), (0.00315, 0.00388, 0.004285, 8.2904e-07, 0.00015, 8.2299e-06))
_BODIES = (
    (4.970684, (0.003875, 0.002081, -0.04762), (0.70337, 0.70661, 0.0091170, -0.000139, 0.0067720, 0.019169)),
    (0.646926, (-0.003141, -0.02872, 0.003495), (0.0079620, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704)),
    (3.228604, (0.027518, 0.039252, -0.066502), (0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805)),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641)),
    (1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229)),
    (1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341)),
    (0.735522, (0.010517, -0.004252, 0.061597), (0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741)),
)

_CONFIGURATIONS = {"ready": (0.0, -0.25 * math.pi, 0.0, -0.75 * math.pi, 0.0, _HALF, 0.25 * math.pi)}


def panda() -> Description:
    """Describe the Panda arm: seven revolute joints, and the shape of a hand, which has no joints and no mass.

    Links and joints have the names of the manufacturer's ROS package; `panda_link8` is the flange, `panda_hand_tcp` the
    point between the fingertips of the hand. "ready" is the start of the manufacturer's examples.
    """
    arm = dh_arm(
        [_row(index) for index in range(7)],
        [_body(*numbers) for numbers in _BODIES],
        panda_shapes(),
        name="panda",
        convention="modified",
        configurations=_CONFIGURATIONS,
    )
    names = {f"link{number}": f"panda_link{number}" for number in range(1, 8)}
    arm = renamed(arm, {"base": "panda_link0", **names})
    return replace(
        arm,
        links=tuple(_weighted(link) for link in arm.links),
        frames=(
            frame("panda_link8", "panda_link7", _FLANGE),
            frame("panda_hand_tcp", "panda_link7", _FLANGE + _TCP, _TCP_YAW),
        ),
        end_effectors={"tool": "panda_hand_tcp"},
    )


def _row(index: int) -> DH:
    a, alpha, d = _GEOMETRY[index]
    lower, upper, velocity, effort = _LIMITS[index]
    return DH(
        a=a,
        alpha=alpha,
        d=d,
        lower=lower,
        upper=upper,
        velocity=velocity,
        effort=effort,
        name=f"panda_joint{index + 1}",
    )


def _weighted(link: Link) -> Link:
    """Give the base link, which a DH table does not have, its mass."""
    return replace(link, inertia=_body(*_BASE)) if link.name == "panda_link0" else link


def _body(mass: float, com: tuple[float, ...], entries: tuple[float, ...]) -> Inertia:
    return Inertia(mass, np.array(com), solids.symmetric(*entries))
