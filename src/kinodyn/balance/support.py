"""The support polygon of feet on the ground, and how far points are within it, over whole motions at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.balance.feet import Foot
from kinodyn.balance.polygon import hull, margin
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot


def sole_points(robot: Robot, q: ArrayLike, feet: Sequence[Foot]) -> Array:
    """Compute the corners of soles in the world: (..., n, 3), those of all feet after each other."""
    if len(feet) == 0:
        raise InputError("feet is empty; give those that touch the ground, out of kd.balance.feet(robot)")
    parts = []
    for foot in feet:
        T = foot.sole_pose(robot, q)
        flat = np.column_stack([foot.corners, np.zeros(len(foot.corners))])
        parts.append(flat @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3])
    return np.concatenate(parts, axis=-2)


def support_polygon(robot: Robot, q: ArrayLike, feet: Sequence[Foot]) -> Array:
    """Find the corners (m, 2), counter-clockwise, of what feet on the ground span, projected along the vertical.

    One state only: polygons of a batch differ in their number of corners; `support_margin` takes batches.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> kd.balance.support_polygon(robot, robot.configuration("standing"), kd.balance.feet(robot)).shape
    (4, 2)
    """
    points = sole_points(robot, q, feet)
    if points.ndim != 2:
        raise InputError(f"q must be one configuration (nq,), got a batch of shape {points.shape[:-2]}")
    return hull(points[:, :2])


def support_margin(robot: Robot, q: ArrayLike, feet: Sequence[Foot], point: ArrayLike) -> Array:
    """Measure how far (...) [m] points (..., 2) or (..., 3) are inside the support polygon; negative outside.

    For the centre of mass, the zero moment point or the capture point; of three coordinates the height is left out.
    """
    p = np.asarray(point)
    size = p.shape[-1] if p.ndim else 0
    return margin(sole_points(robot, q, feet)[..., :2], numbers("point", p, 3 if size == 3 else 2)[..., :2])
