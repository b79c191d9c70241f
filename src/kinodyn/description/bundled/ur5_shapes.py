"""The shapes of the UR5: joint housings with caps, tubes between them.

Dimensions are those of the machine to about a centimetre. The upper arm is beside the shoulder, the forearm beside the
upper arm, and the wrist beside the forearm, so that housings on one axis lie next to each other.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from kinodyn.description.bundled.parts import BLUE, DARK, GREY, LinkShapes, Point, ball, capsule, drawn, hub, posed
from kinodyn.description.surfaces import rounded_cylinder
from kinodyn.description.types import Shape

_UPPER, _FORE = 0.425, 0.39225  # lengths [m]
_SHOULDER_HEIGHT, _WRIST_1, _WRIST_2, _WRIST_3 = 0.089159, 0.10915, 0.09465, 0.0823
# Radii [m] of the housings of shoulder, elbow and wrist, and of the tubes.
_SHOULDER, _ELBOW, _WRIST, _UPPER_TUBE, _FORE_TUBE = 0.059, 0.053, 0.040, 0.046, 0.037
# Along the axis of the elbow: planes between shoulder and upper arm, upper arm and forearm, forearm and wrist, and
# the outer side of the upper arm [m].
_SHOULDER_PLANE, _ELBOW_PLANE, _WRIST_PLANE, _OUTSIDE = 0.074, 0.0745, 0.062, 0.184
_GAP = 0.001
_CAP = 0.010  # thickness of the blue caps [m]


@cache
def ur5_shapes() -> tuple[LinkShapes, ...]:
    """Return the shapes of the base and of the six links."""
    return (_base(), _shoulder(), _upper_arm(), _forearm(), _first_wrist(), _second_wrist(), _flange())


def _base() -> LinkShapes:
    foot = drawn(rounded_cylinder(0.0755, 0.0, 0.022, 0.006), None, GREY)
    neck = drawn(rounded_cylinder(0.060, 0.018, 0.034, 0.004), None, DARK)
    # A cross that begins above the floor, so that the spheres that cover it do not touch a floor at z = 0.
    ends = ((0.055, 0.0, 0.026), (0.0, 0.055, 0.026))
    return LinkShapes((foot, neck), tuple(capsule((-x, -y, z), (x, y, z), 0.016) for x, y, z in ends))


def _shoulder() -> LinkShapes:
    bottom, top = -_SHOULDER_HEIGHT + 0.036, 0.056
    visuals = (
        hub((0.0, bottom, 0.0), (0.0, top, 0.0), _SHOULDER, GREY),
        _cap((0.0, top, 0.0), (0.0, 1.0, 0.0), _SHOULDER),
        hub((0.0, 0.0, 0.0), (0.0, 0.0, _SHOULDER_PLANE), _SHOULDER - 0.002, GREY, 0.003),
    )
    collisions = (
        capsule((0.0, -0.015, 0.0), (0.0, 0.006, 0.0), _SHOULDER),
        capsule((0.0, 0.0, 0.0), (0.0, 0.0, 0.05), _SHOULDER - 0.002),
    )
    return LinkShapes(visuals, collisions)


def _upper_arm() -> LinkShapes:
    low, high, middle = _SHOULDER_PLANE + _GAP, _OUTSIDE, 0.13
    visuals = (
        hub((_UPPER, 0.0, low), (_UPPER, 0.0, high), _SHOULDER, GREY),
        _cap((_UPPER, 0.0, high), (0.0, 0.0, 1.0), _SHOULDER),
        hub((0.0, 0.0, _ELBOW_PLANE + _GAP), (0.0, 0.0, high), _ELBOW, GREY),
        _cap((0.0, 0.0, high), (0.0, 0.0, 1.0), _ELBOW),
        hub((0.03, 0.0, middle), (_UPPER - 0.03, 0.0, middle), _UPPER_TUBE, GREY),
    )
    collisions = (
        capsule((_UPPER, 0.0, 0.12), (_UPPER, 0.0, 0.145), _SHOULDER),
        capsule((0.0, 0.0, 0.12), (0.0, 0.0, 0.15), _ELBOW),
        capsule((0.0, 0.0, middle), (_UPPER, 0.0, middle), _UPPER_TUBE),
    )
    return LinkShapes(visuals, collisions)


def _forearm() -> LinkShapes:
    low, middle = -0.036, 0.0165
    visuals = (
        hub((_FORE, 0.0, low), (_FORE, 0.0, _ELBOW_PLANE), _ELBOW, GREY),
        _cap((_FORE, 0.0, low), (0.0, 0.0, -1.0), _ELBOW),
        hub((0.0, 0.0, low + 0.014), (0.0, 0.0, _WRIST_PLANE), _WRIST, GREY),
        _cap((0.0, 0.0, low + 0.014), (0.0, 0.0, -1.0), _WRIST),
        hub((0.02, 0.0, middle), (_FORE - 0.02, 0.0, middle), _FORE_TUBE, GREY),
    )
    collisions = (
        capsule((_FORE, 0.0, 0.0), (_FORE, 0.0, 0.035), _ELBOW),
        capsule((0.0, 0.0, 0.005), (0.0, 0.0, 0.03), _WRIST),
        capsule((0.0, 0.0, middle), (_FORE, 0.0, middle), _FORE_TUBE),
    )
    return LinkShapes(visuals, collisions)


def _first_wrist() -> LinkShapes:
    """Along y from the forearm, with a stub along z to the second wrist."""
    return _housing((0.0, _WRIST_PLANE + _GAP - _WRIST_1, 0.0), (0.0, 0.042, 0.0), 0.046)


def _second_wrist() -> LinkShapes:
    """Along -y from the first wrist, with a stub along z to the flange."""
    return _housing((0.0, _WRIST_2 - 0.047, 0.0), (0.0, -0.042, 0.0), 0.050)


def _flange() -> LinkShapes:
    start = -_WRIST_3 + 0.051
    visuals = (
        hub((0.0, 0.0, start), (0.0, 0.0, -0.008), 0.0375, GREY, 0.004),
        hub((0.0, 0.0, -0.01), (0.0, 0.0, 0.0), 0.032, DARK, 0.002),
    )
    return LinkShapes(visuals, (ball((0.0, 0.0, -0.032), 0.034),))


def _housing(start: Point, end: Point, stub: float) -> LinkShapes:
    """Return a housing of the wrist between two points, a cap at its end, and a stub along z from the origin."""
    direction = (0.0, 1.0 if end[1] > start[1] else -1.0, 0.0)
    visuals = (
        hub(start, end, _WRIST, GREY),
        _cap(end, direction, _WRIST),
        hub((0.0, 0.0, 0.0), (0.0, 0.0, stub), _WRIST - 0.002, GREY, 0.003),
    )
    tip = np.asarray(end) + (_CAP - _WRIST) * np.asarray(direction)
    collisions = (capsule(-tip, tip, _WRIST), capsule((0.0, 0.0, 0.0), (0.0, 0.0, stub - 0.04), _WRIST - 0.002))
    return LinkShapes(visuals, collisions)


def _cap(at: Point, outwards: Point, radius: float) -> Shape:
    """Return the rounded blue cap of a housing, which ends at the point `at`."""
    return drawn(rounded_cylinder(radius - 0.003, -0.004, _CAP, 0.009), posed(outwards, at=at), BLUE)
