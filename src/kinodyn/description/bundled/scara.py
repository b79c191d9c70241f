"""A SCARA with the dimensions of the Adept Cobra 600."""

from __future__ import annotations

import math
from functools import cache

from kinodyn.description import solids
from kinodyn.description.bundled.arm import dh_arm
from kinodyn.description.bundled.parts import DARK, GREY, WHITE, LinkShapes, ball, capsule, drawn, hub, posed
from kinodyn.description.dh import DH
from kinodyn.description.surfaces import plate, rounded_cylinder
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
    return dh_arm(rows, bodies, _shapes(), name="scara")


def _arm(mass: float, length: float) -> Inertia:
    """Return the inertia of a horizontal arm, a box that sticks out 60 mm beyond both of its axes."""
    return solids.box(mass, (length + 0.12, 0.12, 0.10), com=(-0.5 * length, 0.0, 0.0))


@cache
def _shapes() -> tuple[LinkShapes, ...]:
    """Return the shapes of the base and of the four links: the second arm is above the first one."""
    column = drawn(rounded_cylinder(0.085, 0.0, 0.335, 0.012, end=0.075, sides=48))
    lower = drawn(plate(0.325, 0.07, 0.055, -0.05, 0.03, 0.012), posed((0, 0, 1), x=(1, 0, 0), at=(-0.325, 0, 0)))
    upper = drawn(plate(0.275, 0.055, 0.05, -0.12, -0.032, 0.012), posed((0, 0, 1), x=(1, 0, 0), at=(-0.275, 0, 0)))
    quill = hub((0.0, 0.0, -0.34), (0.0, 0.0, -0.006), 0.012, GREY, 0.003)
    flange = hub((0.0, 0.0, -0.016), (0.0, 0.0, 0.0), 0.024, DARK, 0.003)
    # The collision shape of the base begins above the floor: the spheres that cover it do not touch a floor at z = 0.
    return (
        LinkShapes((column,), (capsule((0.0, 0.0, 0.105), (0.0, 0.0, 0.255), 0.085),)),
        LinkShapes((lower,), (capsule((-0.325, 0.0, -0.012), (0.0, 0.0, -0.012), 0.055),)),
        LinkShapes(
            (upper, hub((0, 0, -0.27), (0, 0, -0.11), 0.035, WHITE)),
            (
                capsule((-0.275, 0.0, -0.082), (0.0, 0.0, -0.082), 0.048),
                capsule((0.0, 0.0, -0.235), (0.0, 0.0, -0.12), 0.035),
            ),
        ),
        LinkShapes((quill,), (capsule((0.0, 0.0, -0.34), (0.0, 0.0, -0.012), 0.012),)),
        LinkShapes((flange,), (ball((0.0, 0.0, -0.015), 0.015),)),
    )
