"""The shapes of the PUMA 560: a column, a shoulder to the side, plates as upper arm and forearm, a small wrist.

Dimensions are those of the machine to a few centimetres. The forearm moves between the shoulder and the upper arm.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from kinodyn.description.bundled.parts import DARK, GREY, WHITE, LinkShapes, ball, capsule, drawn, hub, posed
from kinodyn.description.surfaces import plate, revolved, rounded_loft, smooth, sphere, superellipses

_HEIGHT, _UPPER, _OFFSET, _ELBOW, _FORE = 0.67183, 0.4318, 0.15005, 0.0203, 0.4318
# Along the axis of the shoulder: the middle of the forearm is at `_OFFSET`, the upper arm outside of it [m].
_INNER, _OUTER = 0.188, 0.262
_SIDE = 0.036  # half the width of the forearm [m]
_STRETCH = 0.07  # of the upper arm beyond the shoulder, where its motors are [m]


@cache
def puma560_shapes() -> tuple[LinkShapes, ...]:
    """Return the shapes of the base and of the six links."""
    return (_base(), _shoulder(), _upper_arm(), _forearm(), _wrist_roll(), _wrist_pitch(), _flange())


def _base() -> LinkShapes:
    top = _HEIGHT - 0.13
    curve = smooth(np.array([[0.02, 0.105], [0.05, 0.09], [0.14, 0.085], [top - 0.03, 0.085], [top, 0.09]]), 24)
    foot = np.array([[0.0, 0.136], [0.006, 0.142], [0.016, 0.142], [0.022, 0.136]])
    visuals = (drawn(revolved(foot, 64), None, DARK), drawn(revolved(curve, 48), None, WHITE))
    # The collision shapes begin above the floor, so that the spheres that cover them do not touch a floor at z = 0.
    return LinkShapes(visuals, (capsule((0.0, 0.0, 0.112), (0.0, 0.0, top - 0.08), 0.09),))


def _shoulder() -> LinkShapes:
    """A head on the column, about y, and the housing of the shoulder along z."""
    visuals = (
        hub((0.0, -0.129, 0.0), (0.0, 0.088, 0.0), 0.094, WHITE, 0.02),
        hub((0.0, 0.0, -0.09), (0.0, 0.0, 0.02), 0.080, WHITE, 0.016),
        hub((0.0, 0.0, 0.0), (0.0, 0.0, _INNER - 0.002), 0.078, WHITE, 0.012),
        hub((0.0, 0.0, -0.098), (0.0, 0.0, -0.085), 0.06, DARK, 0.004),
    )
    collisions = (
        capsule((0.0, -0.04, 0.0), (0.0, -0.002, 0.0), 0.094),
        capsule((0.0, 0.0, -0.02), (0.0, 0.0, 0.12), 0.080),
    )
    return LinkShapes(visuals, collisions)


def _upper_arm() -> LinkShapes:
    """A tapered plate outside of the shoulder, from behind it to the elbow."""
    length = _UPPER + _STRETCH
    T = posed((0.0, 0.0, 1.0), x=(1.0, 0.0, 0.0), at=(-length, 0.0, 0.0))
    visuals = (
        drawn(plate(length, 0.105, 0.062, _INNER, _OUTER, 0.016), T),
        hub((-_UPPER, 0.0, _OUTER - 0.004), (-_UPPER, 0.0, _OUTER + 0.008), 0.06, DARK, 0.004),
        hub((0.0, 0.0, _OUTER - 0.004), (0.0, 0.0, _OUTER + 0.008), 0.036, DARK, 0.004),
    )
    z, radius = 0.5 * (_INNER + _OUTER), 0.042
    collisions = (
        *(capsule((-_UPPER - 0.02, 0.055 * side, z), (0.0, 0.02 * side, z), radius) for side in (-1.0, 1.0)),
        capsule((-length - 0.055, -0.03, z), (-length - 0.055, 0.03, z), radius),
    )
    return LinkShapes(visuals, collisions)


def _forearm() -> LinkShapes:
    """A tapered plate about the axis of the elbow, along z, and a tube that carries the wrist."""
    T = posed((0.0, -1.0, 0.0), x=(0.0, 0.0, 1.0), at=(-_ELBOW, 0.0, 0.0))
    rows = smooth(
        np.array([[0.20, 0.050, 0.034], [0.27, 0.042, 0.034], [0.33, 0.037, 0.035], [0.352, 0.036, 0.035]]), 10
    )
    tube = rounded_loft(superellipses(rows[:, 0], rows[:, 1], rows[:, 2], exponent=3.0), 0.006)
    visuals = (
        drawn(plate(0.24, 0.07, 0.05, -_SIDE, _SIDE, 0.012), T),
        drawn(tube),
        hub((-_ELBOW, -_SIDE - 0.001, 0), (-_ELBOW, _SIDE + 0.004, 0), 0.045, DARK, 0.003),
    )
    collisions = (
        capsule((-_ELBOW, 0.0, -0.012), (-0.5 * _ELBOW, 0.0, 0.21), 0.056),
        capsule((0.0, 0.0, 0.24), (0.0, 0.0, 0.316), 0.038),
    )
    return LinkShapes(visuals, collisions)


def _wrist_roll() -> LinkShapes:
    """About y, with two cheeks around the ball of the wrist."""
    cheek = plate(0.045, 0.026, 0.026, 0.0265, 0.034, 0.003)
    other = plate(0.045, 0.026, 0.026, -0.034, -0.0265, 0.003)
    T = posed((0.0, 0.0, 1.0), x=(0.0, -1.0, 0.0))
    visuals = (
        hub((0.0, -0.078, 0.0), (0.0, -0.034, 0.0), 0.034, GREY, 0.006),
        drawn(cheek, T, GREY),
        drawn(other, T, GREY),
    )
    return LinkShapes(visuals, (capsule((0.0, -0.07, 0.0), (0.0, -0.062, 0.0), 0.032),))


def _wrist_pitch() -> LinkShapes:
    return LinkShapes((drawn(sphere(0.0255), None, DARK),), (ball((0.0, 0.0, 0.0), 0.0255, DARK),))


def _flange() -> LinkShapes:
    visuals = (
        hub((0.0, 0.0, 0.018), (0.0, 0.0, 0.05), 0.018, GREY, 0.003),
        hub((0.0, 0.0, 0.046), (0.0, 0.0, 0.0563), 0.025, GREY, 0.002),
    )
    return LinkShapes(visuals, (ball((0.0, 0.0, 0.0323), 0.024),))
