"""The shapes of the Panda: smooth surfaces to draw, capsules to collide with.

Dimensions are those of the machine to about a centimetre. The hand is drawn, and collides, with its fingers open by
80 mm; it has no mass here.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.bundled.parts import DARK, GREY, WHITE, LinkShapes, capsule, drawn, hub, posed
from kinodyn.description.meshes import TriangleMesh
from kinodyn.description.surfaces import loft, plate, rounded_loft, smooth, superellipses
from kinodyn.description.types import Shape

_ELBOW, _WRIST = 0.0825, 0.088  # offsets of the elbow and of the wrist [m]
_FLANGE, _HAND_YAW = 0.107, -0.25 * math.pi
_FINGER_GAP = 0.04  # from the middle to each open finger [m]


@cache
def panda_shapes() -> tuple[LinkShapes, ...]:
    """Return the shapes of the links 0 to 7."""
    return (_base(), _shoulder(), _upper_arm(), _elbow(), _forearm_top(), _forearm(), _wrist(), _flange())


def _base() -> LinkShapes:
    rows = smooth(
        np.array(
            # z, half x, half y, centre of x, exponent
            [
                [0.0, 0.108, 0.096, -0.032, 5.0],
                [0.03, 0.106, 0.095, -0.032, 5.0],
                [0.075, 0.083, 0.078, -0.018, 3.5],
                [0.115, 0.063, 0.063, 0.0, 2.2],
                [0.139, 0.060, 0.060, 0.0, 2.0],
            ]
        ),
        16,
    )
    rings = superellipses(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], exponent=rows[:, 4], sides=64)
    # The collision shapes begin above the floor, so that the spheres that cover them do not touch a floor at z = 0.
    sides = (capsule((-0.045, y, 0.08), (0.018, y, 0.08), 0.055) for y in (-0.038, 0.038))
    return LinkShapes((drawn(rounded_loft(rings, 0.004)),), tuple(sides))


def _shoulder() -> LinkShapes:
    column = _column(-0.1915, -0.04, 0.060, 0.056)
    visuals = (drawn(column), hub((0.0, -0.043, 0.0), (0.0, 0.043, 0.0), 0.062))
    return LinkShapes(visuals, (capsule((0.0, 0.0, -0.13), (0.0, 0.0, 0.0), 0.060),))


def _upper_arm() -> LinkShapes:
    """Two cheeks around the hub of the shoulder, and the arm towards -y."""
    arm = loft(_sections([[0.062, 0.047, 0.064], [0.10, 0.056, 0.066], [0.14, 0.058, 0.060], [0.1935, 0.057, 0.057]]))
    visuals = (*_cheeks(0.056, 0.10, 0.056), drawn(arm, posed((0.0, -1.0, 0.0), x=(1.0, 0.0, 0.0))))
    collisions = (capsule((0.0, 0.0, 0.0), (0.0, -0.135, 0.0), 0.060), _axle(0.012))
    return LinkShapes(visuals, collisions)


def _elbow() -> LinkShapes:
    """A column about the third axis that leans forward to the hub of the elbow."""
    rows = [
        [-0.1215, 0.057, 0.057, 0.0],
        [-0.095, 0.057, 0.057, 0.004],
        [-0.05, 0.05, 0.05, 0.045],
        [0.0, 0.045, 0.042, _ELBOW],
    ]
    visuals = (drawn(_leaning(rows)), hub((_ELBOW, -0.043, 0.0), (_ELBOW, 0.043, 0.0), 0.057))
    return LinkShapes(visuals, (capsule((0.0, 0.0, -0.065), (_ELBOW, 0.0, 0.0), 0.056),))


def _forearm_top() -> LinkShapes:
    """Two cheeks around the hub of the elbow, and a neck that leans back to the fifth axis."""
    rows = [
        [0.045, 0.052, 0.066, -0.045],
        [0.07, 0.054, 0.064, -0.066],
        [0.095, 0.055, 0.058, -0.079],
        [0.1215, 0.056, 0.056, -_ELBOW],
    ]
    neck = drawn(_leaning(rows), posed((0.0, 1.0, 0.0), x=(1.0, 0.0, 0.0)))
    angle = math.atan2(0.075, -0.066)
    visuals = (*_cheeks(0.055, 0.09, 0.05, (math.cos(angle), math.sin(angle), 0.0)), neck)
    return LinkShapes(visuals, (capsule((0.0, 0.0, 0.0), (-_ELBOW, 0.066, 0.0), 0.056), _axle(0.012, 0.057)))


def _forearm() -> LinkShapes:
    """A slender arm beside the plane of the wrist, in which the hand folds back along it."""
    rows = [
        [-0.262, 0.056, 0.056, 0.0],
        [-0.235, 0.056, 0.056, 0.0],
        [-0.19, 0.049, 0.053, 0.012],
        [-0.13, 0.042, 0.044, 0.045],
        [-0.06, 0.041, 0.037, 0.064],
        [-0.01, 0.042, 0.034, 0.068],
    ]
    arm = drawn(_leaning(rows, along_y=True))
    visuals = (arm, hub((0.0, 0.034, 0.0), (0.0, 0.103, 0.0), 0.050))
    collisions = (
        capsule((0.0, 0.0, -0.206), (0.0, 0.05, -0.12), 0.053),
        capsule((0.0, 0.06, -0.11), (0.0, 0.064, -0.01), 0.042),
    )
    return LinkShapes(visuals, collisions)


def _wrist() -> LinkShapes:
    body = plate(_WRIST, 0.050, 0.046, -0.045, 0.045, 0.016)
    return LinkShapes(
        (
            drawn(body, posed((0.0, 0.0, 1.0), x=(1.0, 0.0, 0.0), at=(0.0, 0.0, 0.012))),
            hub((0, 0, -0.032), (0, 0, -0.02), 0.04, DARK),
        ),
        (capsule((0.0, 0.0, 0.005), (_WRIST, 0.0, 0.005), 0.048),),
    )


def _flange() -> LinkShapes:
    visuals = (
        hub((0.0, 0.0, 0.04), (0.0, 0.0, 0.098), 0.046, WHITE),
        hub((0.0, 0.0, 0.096), (0.0, 0.0, _FLANGE), 0.036, DARK, 0.003),
        *_hand_visuals(),
    )
    return LinkShapes(visuals, (capsule((0.0, 0.0, 0.045), (0.0, 0.0, 0.06), 0.045), *_hand_collisions()))


def _hand_visuals() -> tuple[Shape, ...]:
    """The body of the hand, 0.2 m wide, and two fingers with inclined tips."""
    T = posed((0.0, 0.0, 1.0), x=(math.cos(_HAND_YAW), math.sin(_HAND_YAW), 0.0), at=(0.0, 0.0, _FLANGE))
    rows = smooth(np.array([[0.0, 0.031, 0.058], [0.02, 0.032, 0.097], [0.045, 0.031, 0.102], [0.066, 0.027, 0.1]]), 12)
    body = rounded_loft(superellipses(rows[:, 0], rows[:, 1], rows[:, 2], exponent=4.0, sides=64), 0.006)
    fingers = [drawn(_finger(side), T, DARK) for side in (-1.0, 1.0)]
    return (drawn(body, T, WHITE), *fingers)


def _finger(side: float) -> TriangleMesh:
    """Return a finger whose inner face is `_FINGER_GAP` from the middle."""
    # z, half x, half y: the outer face leans inwards to the tip
    rows = np.array(
        [[0.064, 0.0105, 0.0095], [0.085, 0.0105, 0.0095], [0.098, 0.0100, 0.0065], [0.1124, 0.0095, 0.0050]]
    )
    centre = side * (_FINGER_GAP + rows[:, 2])
    return rounded_loft(superellipses(rows[:, 0], rows[:, 1], rows[:, 2], 0.0, centre, exponent=6.0), 0.002)


def _hand_collisions() -> tuple[Shape, ...]:
    radius = 0.0105  # of a finger
    across = np.array([-math.sin(_HAND_YAW), math.cos(_HAND_YAW), 0.0])

    def at(y: float, z: float) -> Array:
        point: Array = y * across + np.array([0.0, 0.0, _FLANGE + z])
        return point

    fingers = (
        capsule(at(y, 0.07), at(y, 0.1124 - radius), radius, DARK)
        for y in (-_FINGER_GAP - radius, _FINGER_GAP + radius)
    )
    return (capsule(at(-0.07, 0.033), at(0.07, 0.033), 0.032), *fingers)


def _cheeks(
    radius: float, length: float, end: float, towards: tuple[float, float, float] = (0.0, -1.0, 0.0)
) -> list[Shape]:
    """Return plates on both sides of a hub about z, with the far end in a direction."""
    T = posed((0.0, 0.0, 1.0), x=towards)
    return [drawn(plate(length, radius, end, low, low + 0.022, 0.008), T, GREY) for low in (-0.0665, 0.0445)]


def _axle(half: float, radius: float = 0.060) -> Shape:
    return capsule((0.0, 0.0, -half), (0.0, 0.0, half), radius)


def _column(bottom: float, top: float, radius: float, end: float) -> TriangleMesh:
    rows = smooth(np.array([[bottom, radius, radius], [0.5 * (bottom + top), radius, radius], [top, end, end]]), 8)
    return rounded_loft(superellipses(rows[:, 0], rows[:, 1], rows[:, 2]), 0.004)


def _sections(rows: list[list[float]]) -> Array:
    """Return elliptic rings from rows of height, half x and half y [m]."""
    curve = smooth(np.array(rows), 14)
    return superellipses(curve[:, 0], curve[:, 1], curve[:, 2], exponent=2.4)


def _leaning(rows: list[list[float]], *, along_y: bool = False) -> TriangleMesh:
    """Return a loft from rows of height, half x, half y and centre, along x or y [m]."""
    curve = smooth(np.array(rows), 20)
    centre = (0.0, curve[:, 3]) if along_y else (curve[:, 3], 0.0)
    return rounded_loft(superellipses(curve[:, 0], curve[:, 1], curve[:, 2], *centre), 0.004)
