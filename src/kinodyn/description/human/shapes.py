"""The collision shapes of the bundled humanoid: capsules and boxes; `figure` has what is drawn.

The small links between the axes of a hip, shoulder, wrist, neck or ankle have none. Between two links that such a joint
separates there is a gap: physics engines leave out contacts between a link and its parent, not between a thigh and a
pelvis that are three joints apart.
"""

from __future__ import annotations

import numpy as np

from kinodyn.description.human.proportions import Proportions
from kinodyn.description.types import Shape

_SKIN = (0.72, 0.74, 0.78, 1.0)

# Radii and half-breadths as fractions of the height, chosen to look like a body and to leave the gaps.
RADIUS = {"thigh": 0.038, "shank": 0.026, "upper_arm": 0.024, "forearm": 0.019, "head": 0.042}
JOINT_RADIUS = {"hip": 0.032, "shoulder": 0.026, "wrist": 0.014, "ankle": 0.020, "head": 0.022}
_GAP = 0.008


def joint_radius(body: Proportions, joint: str) -> float:
    """Return the radius of the ball at a joint of several axes [m]."""
    return JOINT_RADIUS[joint] * body.height


def limb(body: Proportions, segment: str) -> Shape:
    """Return the capsule of a limb that hangs from the origin, a gap away from both of its joints."""
    radius, gap = RADIUS[segment] * body.height, _GAP * body.height
    length = body.length[segment] - 2.0 * (radius + gap)
    return Shape("capsule", (radius, length), _at(0.0, 0.0, -0.5 * body.length[segment]), rgba=_SKIN)


def head(body: Proportions) -> Shape:
    """Return the capsule of the head, whose top is the top of the body."""
    radius = RADIUS["head"] * body.height
    full = 0.8 * body.length["head"]
    middle = body.length["head"] - 0.5 * full
    return Shape("capsule", (radius, full - 2.0 * radius), _at(0.0, 0.0, middle), rgba=_SKIN)


def pelvis(body: Proportions) -> Shape:
    """Return the box of the pelvis: above the thighs when they are lifted to the horizontal, below the waist."""
    bottom, top = 0.042 * body.height, body.length["lower_trunk"] - 0.003 * body.height
    return _box(0.085 * body.height, 0.14 * body.height, bottom, top)


def torso(body: Proportions) -> Shape:
    """Return the box of the trunk between the waist and the neck, narrow enough for the arms to hang beside it."""
    return _box(0.10 * body.height, 0.14 * body.height, 0.003 * body.height, body.torso_length - 0.025 * body.height)


def hand(body: Proportions) -> Shape:
    """Return the box of a hand with the palm facing sideways."""
    gap = 0.018 * body.height
    return _box(0.045 * body.height, 0.018 * body.height, -body.hand_span, -gap)


def foot(body: Proportions) -> Shape:
    """Return the box of a foot: a flat sole at the ground."""
    bottom = -body.ankle_height
    middle = 0.5 * body.foot_length - body.heel_to_ankle
    return _box(body.foot_length, body.foot_width, bottom, bottom + 0.024 * body.height, x=middle)


def _box(depth: float, width: float, bottom: float, top: float, x: float = 0.0) -> Shape:
    return Shape("box", (depth, width, top - bottom), _at(x, 0.0, 0.5 * (bottom + top)), rgba=_SKIN)


def _at(x: float, y: float, z: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T
