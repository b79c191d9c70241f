"""The flat underside of a foot, found on its shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from kinodyn.arrays import Array
from kinodyn.balance.shapes import extreme_points
from kinodyn.description.types import Shape

SoleSource = Literal["collision", "visual", "assumed"]
Placed = Sequence[tuple[Shape, Array]]  # shapes and their poses T_world_shape (4, 4)

MAX_TILT = np.deg2rad(35.0)  # of a sole in the posture in which it is searched
MAX_BEND = np.deg2rad(3.0)  # between parts of a sole that counts as flat
SNAP_ANGLE = np.deg2rad(1.0)  # to an axis of the foot's frame, if the sole is that close to it
MIN_FLAT_FRACTION = 0.25  # of the foot's area seen from above that must be flat; otherwise the foot is round
MIN_COSINE = 0.95  # of the tilt of a round foot's axis that is meant to be vertical
# Length and width of a foot and height of its ankle, as fractions of the leg from hip to ankle, and the part of the
# foot behind the ankle (D. A. Winter, "Biomechanics and Motor Control of Human Movement", 2009, figure 4.1).
HUMAN_FOOT = (0.31, 0.11, 0.08)
HUMAN_HEEL = 0.25


def sole_rotation(shapes: Placed, R_world_frame: Array) -> Array:
    """Compute the rotation (3, 3) of the world that makes the sole of a foot level.

    Parameters
    ----------
    shapes
        Shapes of the foot with their poses.
    R_world_frame
        Axes (3, 3) of the foot's frame; a sole almost perpendicular to one of them is taken as perpendicular.

    Returns
    -------
    (3, 3)
    """
    up = sole_normal(shapes)
    if up is None:
        return _level(_upward_axis(R_world_frame))
    k = int(np.abs(R_world_frame.T @ up).argmax())
    axis = R_world_frame[:, k] * np.sign(R_world_frame[:, k] @ up)
    return _level(axis if axis @ up >= np.cos(SNAP_ANGLE) else up)


def sole_normal(shapes: Placed, *, max_tilt: float = MAX_TILT) -> Array | None:
    """Find the upward normal (3,) of the flat underside of shapes; None if there is none, as with a ball.

    Parameters
    ----------
    shapes
        Shapes of the foot with their poses.
    max_tilt
        Largest angle from the vertical [rad].

    Returns
    -------
    (3,) or None
    """
    up: Array | None = np.array([0.0, 0.0, 1.0])
    for _ in range(2):  # round shapes: the second time they are sampled around the normal found first
        if not shapes or up is None:
            return None
        up = _flat_normal(_samples(shapes, up), up, max_tilt)
    return up


def sole_points(shapes: Placed, tilt: Array, origin: Array) -> Array:
    """List the points (n, 3) of shapes that may touch the ground, from an origin, in axes turned by `tilt`."""
    points = [_extreme(shape, T, -tilt[2]) for shape, T in shapes]
    return np.asarray((np.concatenate(points) - origin) @ tilt.T)


def assumed_sole(leg: float) -> Array:
    """Return the corners (4, 3) of the sole of a human foot, from its ankle, for a leg of this length [m]."""
    length, width, ankle = (leg * part for part in HUMAN_FOOT)
    x, y = (-HUMAN_HEEL * length, (1.0 - HUMAN_HEEL) * length), (-0.5 * width, 0.5 * width)
    return np.array([(a, b, -ankle) for a in x for b in y])


def _extreme(shape: Shape, T_world_shape: Array, down: Array) -> Array:
    """List the extreme points (n, 3) of a shape along a direction of the world."""
    T_world_link = T_world_shape @ np.linalg.inv(shape.T_link_shape)
    R, p = T_world_link[:3, :3], T_world_link[:3, 3]
    return np.asarray(extreme_points(shape, down @ R) @ R.T + p)


def _samples(shapes: Placed, up: Array) -> Array:
    """List points (n, 3) on the undersides of shapes: extreme points along directions around the downward one."""
    side = np.eye(3)[int(np.abs(up).argmin())]
    a = np.cross(up, side) / np.linalg.norm(np.cross(up, side))
    b = np.cross(up, a)
    directions = [-up, up]
    for tilt in (0.15, 0.35, 0.6):
        turns = np.arange(8) * (np.pi / 4)
        directions += [-np.cos(tilt) * up + np.sin(tilt) * (np.cos(t) * a + np.sin(t) * b) for t in turns]
    points = [_extreme(shape, T, down) for shape, T in shapes for down in directions]
    return np.unique(np.concatenate(points), axis=0)


def _flat_normal(points: Array, up: Array, max_tilt: float) -> Array | None:
    """Find the upward normal (3,) of the largest flat part of the underside of a hull; None if there is none."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return None
    normals, offsets = -hull.equations[:, :3], hull.equations[:, 3]
    corners = points[hull.simplices]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    upwards = normals @ up
    below = np.flatnonzero(upwards >= np.cos(max_tilt))
    if not len(below):
        return None
    size = float(np.ptp(points, axis=0).max())
    alike = normals[below] @ normals[below].T >= np.cos(MAX_BEND)
    centres = corners[below].mean(axis=1)
    apart = np.abs(centres @ -normals[below].T + offsets[below]) <= 0.02 * size
    flat = (alike & apart) @ areas[below]
    best = int(flat.argmax())
    if flat[best] < MIN_FLAT_FRACTION * float(areas[upwards > 0] @ upwards[upwards > 0]):
        return None
    together = below[(alike & apart)[best]]
    normal = areas[together] @ normals[together]
    return np.asarray(normal / np.linalg.norm(normal))


def _upward_axis(R_world_frame: Array) -> Array:
    """Return the axis (3,) of a frame that is meant to be vertical: flat feet have one, others take the vertical."""
    k = int(np.abs(R_world_frame[2]).argmax())
    axis: Array = np.sign(R_world_frame[2, k]) * R_world_frame[:, k]
    return axis if axis[2] >= MIN_COSINE else np.array([0.0, 0.0, 1.0])


def _level(up: Array) -> Array:
    """Compute the smallest rotation (3, 3) that takes `up` to the vertical."""
    axis = np.array([up[1], -up[0], 0.0])  # up x z
    sine, cosine = float(np.linalg.norm(axis)), float(up[2])
    if sine < 1e-9:
        return np.eye(3)
    x, y, _ = axis / sine
    K = np.array([[0.0, 0.0, y], [0.0, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + sine * K + (1.0 - cosine) * (K @ K))
