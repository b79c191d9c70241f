"""A SCARA with the dimensions of the Adept Cobra 600."""

from __future__ import annotations

import math

from kinodyn.description import solids
from kinodyn.description.bundled.arm import dh_arm
from kinodyn.description.dh import DH
from kinodyn.description.types import Description, Inertia

# Degrees and degrees per second of the three revolute joints: Adept Cobra s600 data sheet.
_TURNS = (105.0, 150.0, 360.0)
_TURN_SPEEDS = (386.0, 720.0, 1200.0)


def scara() -> Description:
    """Describe a SCARA of four joints: two revolute about the vertical, a prismatic quill, a revolute flange.

    Lengths and stroke are the Adept Cobra 600's, as in P. Corke's Robotics Toolbox (mdl_cobra600: d1 0.387 m, a1
    0.325 m, a2 0.275 m, stroke 0.210 m); ranges and speeds those of the manufacturer's data sheet for the Cobra s600.
    Its masses and torques are not published: the arms here are uniform boxes and cylinders, sized like the machine, and
    the efforts let it carry the 5.5 kg of its rated load. The quill and the flange point down: positive is down.
    """
    turn = [math.radians(limit) for limit in _TURNS]
    speed = [math.radians(limit) for limit in _TURN_SPEEDS]
    rows = [
        DH(d=0.387, a=0.325, lower=-turn[0], upper=turn[0], velocity=speed[0], effort=160.0),
        DH(a=0.275, alpha=math.pi, lower=-turn[1], upper=turn[1], velocity=speed[1], effort=60.0),
        DH(joint="prismatic", lower=0.0, upper=0.210, velocity=1.1, effort=200.0),
        DH(lower=-turn[2], upper=turn[2], velocity=speed[2], effort=10.0),
    ]
    bodies = [
        _arm(8.0, 0.325),
        _arm(6.0, 0.275),
        solids.cylinder(1.2, 0.012, 0.36, com=(0.0, 0.0, -0.18)),
        solids.cylinder(0.2, 0.03, 0.02, com=(0.0, 0.0, -0.01)),
    ]
    return dh_arm(rows, bodies, [0.06, 0.05, 0.012, 0.02], name="scara")


def _arm(mass: float, length: float) -> Inertia:
    """Return the inertia of a horizontal arm, a box that sticks out 60 mm beyond both of its axes."""
    return solids.box(mass, (length + 0.12, 0.12, 0.10), com=(-0.5 * length, 0.0, 0.0))
