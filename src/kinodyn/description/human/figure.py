"""The surface of the bundled humanoid as it is drawn: a lofted shell for each segment, dark balls at the joints.

Lengths are those of the body's segments, girths are fractions of the height that grow with the root of mass over height
cubed. Hands and feet grow with the height alone; the sole is that of the collision shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.human.proportions import Proportions
from kinodyn.description.meshes import TriangleMesh
from kinodyn.description.surfaces import joined, loft, smooth, superellipses
from kinodyn.description.types import Shape

SHELL = (0.87, 0.88, 0.90, 1.0)
JOINT = (0.24, 0.26, 0.31, 1.0)

REFERENCE_GIRTH = 70.0 / 1.7**3  # [kg/m^3] mass over height cubed at which the fractions below hold
MIN_GIRTH, MAX_GIRTH = 0.8, 1.25  # factors
_RINGS, _SIDES = 16, 24

# Rows of a limb: distance from its upper joint as a fraction of its length, then fractions of the height: half depth,
# half width, and how far the middle is in front of the line between the joints.
_THIGH = ((0.03, 0.040, 0.040, 0.001), (0.15, 0.045, 0.0445, 0.002), (0.35, 0.044, 0.043, 0.003),
          (0.65, 0.036, 0.035, 0.002), (0.86, 0.031, 0.030, 0.001), (0.93, 0.029, 0.028, 0.001))  # fmt: skip
_SHANK = ((0.055, 0.028, 0.028, 0.0), (0.12, 0.029, 0.029, -0.001), (0.30, 0.033, 0.032, -0.006),
          (0.55, 0.026, 0.025, -0.004), (0.80, 0.019, 0.018, -0.001), (0.95, 0.018, 0.017, 0.0))  # fmt: skip
_UPPER_ARM = ((-0.20, 0.026, 0.025, 0.0), (0.0, 0.0295, 0.0285, 0.0), (0.25, 0.0265, 0.0255, 0.001),
              (0.55, 0.0235, 0.022, 0.001), (0.85, 0.020, 0.019, 0.0), (0.92, 0.019, 0.018, 0.0))  # fmt: skip
_FOREARM = ((0.07, 0.019, 0.019, 0.0), (0.25, 0.0225, 0.021, 0.0), (0.45, 0.021, 0.0195, 0.0),
            (0.75, 0.0155, 0.0145, 0.0), (0.94, 0.0135, 0.0125, 0.0))  # fmt: skip

_LIMBS = {"thigh": _THIGH, "shank": _SHANK, "upper_arm": _UPPER_ARM, "forearm": _FOREARM}
_HINGES = {"shank": 0.0255, "forearm": 0.018}  # radius of the knee and of the elbow

# Rows of the trunk from the bottom upwards, the first number as a fraction of the length.
_PELVIS = ((-0.42, 0.026, 0.020, 0.0), (-0.25, 0.044, 0.046, -0.002), (0.10, 0.056, 0.078, -0.004),
           (0.45, 0.057, 0.085, -0.003), (0.75, 0.053, 0.079, 0.0), (0.99, 0.049, 0.071, 0.001))  # fmt: skip
_TORSO = ((-0.01, 0.049, 0.069, 0.001), (0.20, 0.050, 0.067, 0.003), (0.45, 0.058, 0.072, 0.005),
          (0.66, 0.062, 0.078, 0.004), (0.81, 0.057, 0.086, 0.0), (0.92, 0.042, 0.064, -0.002),
          (1.0, 0.028, 0.032, -0.002))  # fmt: skip
_WAIST = ((-0.16, 0.040, 0.058, 0.0), (0.0, 0.0435, 0.063, 0.001), (0.16, 0.042, 0.060, 0.002))
_NECK = ((-0.18, 0.026, 0.026, -0.002), (0.10, 0.0245, 0.0245, 0.0), (0.45, 0.024, 0.024, 0.004))
_SKULL = ((0.16, 0.026, 0.022, 0.020), (0.24, 0.039, 0.032, 0.016), (0.40, 0.050, 0.039, 0.009),
          (0.60, 0.055, 0.0425, 0.005), (0.78, 0.053, 0.042, 0.002), (0.92, 0.041, 0.034, 0.0),
          (1.0, 0.012, 0.010, 0.0))  # fmt: skip
# A foot from heel to toe as a fraction of its length: half width as a fraction of that of the sole, height of the
# instep as a fraction of the height of the ankle.
_FOOT = ((0.0, 0.50, 0.55), (0.03, 0.68, 0.80), (0.12, 0.80, 1.10), (0.28, 0.80, 1.18), (0.45, 0.84, 0.92),
         (0.65, 1.0, 0.62), (0.82, 0.97, 0.46), (0.95, 0.75, 0.36), (1.0, 0.45, 0.22))  # fmt: skip

# A palm, a finger and the thumb: distance from the wrist as a fraction of the length of the hand, half breadth and half
# thickness as fractions of the height.
_PALM = ((-0.06, 0.013, 0.0085), (-0.16, 0.0175, 0.0095), (-0.35, 0.0225, 0.009), (-0.56, 0.0225, 0.0075))
_FINGER = ((-0.50, 0.0051, 0.0058), (-0.75, 0.0048, 0.0052), (-1.0, 0.0042, 0.0044))
_THUMB = ((-0.16, 0.0075, 0.007), (-0.38, 0.0062, 0.006), (-0.57, 0.0050, 0.0048))

Rows = Sequence[tuple[float, ...]]


def girth(body: Proportions) -> float:
    """Return by how much limbs and trunk are thicker, relative to the height, than at 1.7 m and 70 kg."""
    factor = math.sqrt(body.total_mass / body.height**3 / REFERENCE_GIRTH)
    return min(max(factor, MIN_GIRTH), MAX_GIRTH)


def limb(body: Proportions, segment: str) -> tuple[Shape, ...]:
    """Return the shell of a thigh, shank, upper arm or forearm, which hangs from the origin, and the knee or elbow."""
    width = girth(body) * body.height
    shell = _shell(_scaled(_unit(_LIMBS[segment], True), body.length[segment], width))
    return (shell, joint_ball(_HINGES[segment] * width)) if segment in _HINGES else (shell,)


def pelvis(body: Proportions) -> tuple[Shape, ...]:
    """Return the shell of the pelvis."""
    return (_shell(_scaled(_unit(_PELVIS, False), body.length["lower_trunk"], girth(body) * body.height)),)


def torso(body: Proportions) -> tuple[Shape, ...]:
    """Return the shell of the trunk from the waist to the neck, and the waist."""
    width = girth(body) * body.height
    shell = _shell(_scaled(_unit(_TORSO, False), body.torso_length, width))
    return shell, _shell(_scaled(_unit(_WAIST, False), body.torso_length, width), JOINT)


def head(body: Proportions) -> tuple[Shape, ...]:
    """Return the skull, whose top is the top of the body, a dark visor, and the neck."""
    length, height = body.length["head"], body.height
    skull = _scaled(_unit(_SKULL, False), length, height)
    visor = _scaled(_visor(), length, height)
    return _shell(skull), _shell(visor, JOINT), _shell(_scaled(_unit(_NECK, False), length, height), JOINT)


def hand(body: Proportions, side: float) -> tuple[Shape, ...]:
    """Return a hand that hangs from the wrist, its palm facing the thigh; `side` is 1 for left, -1 for right."""
    mesh = _hand(side)
    return (_shell(TriangleMesh(mesh.vertices * [body.height, body.height, body.hand_span], mesh.faces)),)


def foot(body: Proportions) -> tuple[Shape, ...]:
    """Return a shoe whose sole is as long and as wide as the collision shape's, at the same height."""
    mesh = _foot()
    low, size = -body.ankle_height, (body.foot_length, body.foot_width, body.ankle_height)
    return (_shell(TriangleMesh(mesh.vertices * size + [-body.heel_to_ankle, 0.0, low], mesh.faces)),)


def joint_ball(radius: float) -> Shape:
    """Return the dark ball of a joint at the origin."""
    return Shape("sphere", (radius,), np.eye(4), rgba=JOINT)


def _shell(mesh: TriangleMesh, rgba: tuple[float, float, float, float] = SHELL) -> Shape:
    return Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), rgba=rgba, triangles=(mesh.vertices, mesh.faces))


def _scaled(mesh: TriangleMesh, length: float, width: float) -> TriangleMesh:
    return TriangleMesh(mesh.vertices * [width, width, length], mesh.faces)


@lru_cache(maxsize=32)
def _unit(rows: Rows, hangs: bool) -> TriangleMesh:
    """Return the loft of rows, of length 1, upwards or, if it hangs, downwards, with domes at both ends."""
    table = np.array(rows)
    if hangs:
        table = np.column_stack([-table[:, 0], table[:, 1:]])[::-1]
    curve = _domed(smooth(table, _RINGS))
    return loft(superellipses(curve[:, 0], curve[:, 1], curve[:, 2], curve[:, 3], exponent=2.15, sides=_SIDES))


def _domed(curve: Array, share: float = 0.12) -> Array:
    """Let both ends of a curve (z, widths, middle) shrink like an ellipsoid over a share of its length."""
    low, high = curve[0, 0], curve[-1, 0]
    depth = share * (high - low)
    turn = np.linspace(0.06, 0.5 * math.pi, 6)  # evenly spaced on the ellipse
    ends = depth * (1.0 - np.cos(turn))
    middle = curve[(curve[:, 0] > low + depth) & (curve[:, 0] < high - depth), 0]
    z = np.concatenate([low + ends, middle, (high - ends)[::-1]])
    columns = [np.interp(z, curve[:, 0], curve[:, k]) for k in range(1, curve.shape[1])]
    inside = np.minimum(np.minimum(z - low, high - z) / depth, 1.0)
    dome = np.sqrt(1.0 - (1.0 - inside) ** 2)
    z[0], z[-1] = low, high
    return np.column_stack([z, columns[0] * dome, columns[1] * dome, *columns[2:]])


@lru_cache(maxsize=1)
def _visor() -> TriangleMesh:
    """Return an ellipsoid that stands out of the front of the skull."""
    angle = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 16)[1:-1]
    z, r = 0.57 + 0.21 * np.sin(angle), np.cos(angle)
    return loft(superellipses(z, 0.0415 * r, 0.039 * r, 0.0235))


@lru_cache(maxsize=2)
def _hand(side: float) -> TriangleMesh:
    """Return a palm with four fingers and a thumb: x, y as fractions of the height, z of the hand's length."""
    if side < 0.0:
        left = _hand(1.0)
        return TriangleMesh(left.vertices * [1.0, -1.0, 1.0], left.faces[:, ::-1])
    palm = _piece(_PALM)
    thumb = _piece(_THUMB, x=0.020, lean=(0.016, -0.008))
    finger = _piece(_FINGER)
    fingers = [
        TriangleMesh(finger.vertices * [1.0, 1.0, long] + [x, 0.0, 0.5 * long - 0.5], finger.faces)
        for x, long in ((0.0168, 0.86), (0.0056, 1.0), (-0.0056, 0.93), (-0.0168, 0.74))
    ]
    return joined([palm, *fingers, thumb])


def _piece(rows: Rows, x: float = 0.0, lean: tuple[float, float] = (0.0, 0.0)) -> TriangleMesh:
    """Return a domed loft of hanging rows at x, whose lower end is moved by `lean`."""
    curve = _domed(smooth(np.column_stack([np.array(rows)[::-1], np.zeros(len(rows))]), 10), 0.2)
    down = (curve[-1, 0] - curve[:, 0]) / (curve[-1, 0] - curve[0, 0])
    centre = (x + lean[0] * down, lean[1] * down)
    return loft(superellipses(curve[:, 0], curve[:, 1], curve[:, 2], *centre, exponent=2.4, sides=12))


@lru_cache(maxsize=1)
def _foot() -> TriangleMesh:
    """Return a shoe of length, width and ankle height 1 with its heel at the origin and a flat sole at z = 0."""
    curve = smooth(np.array(_FOOT), 21)  # one of the rings has the full width
    angle = np.linspace(0.0, math.pi, 17)
    across = np.concatenate([np.cos(angle), [-0.94, -0.5, 0.5, 0.94]])
    up = np.concatenate([np.sin(angle) ** 0.8, [0.0] * 4])
    # the upper half begins a little above the ground: the sole has a vertical rim
    rim = 0.16
    rings = np.empty((len(curve), len(across), 3))
    half, top = 0.5 * curve[:, 1:2], np.maximum(curve[:, 2:3], rim + 0.02)
    rings[:, :, 0] = curve[:, :1]
    rings[:, :, 1] = half * across
    rings[:, :, 2] = np.where(np.arange(len(across)) < 17, rim + (top - rim) * up, 0.0)
    return loft(rings)
