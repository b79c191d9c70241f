"""The support polygon of feet on the ground, and the margins of points in it, batched over motions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.balance.foot import Foot
from kinodyn.balance.polygon import hull, margin
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot


def sole_points(robot: Robot, q: ArrayLike, feet: Sequence[Foot]) -> Array:
    """Compute the corners of soles in the world.

    Parameters
    ----------
    robot
    q
        Configurations (..., nq).
    feet
        Feet on the ground.

    Returns
    -------
    (..., n, 3)
        Those of all feet, one after another [m].
    """
    if len(feet) == 0:
        raise InputError("feet is empty; give the feet on the ground, from kd.balance.feet(robot)")
    parts = []
    for foot in feet:
        T = foot.sole_pose(robot, q)
        flat = np.column_stack([foot.corners, np.zeros(len(foot.corners))])
        parts.append(flat @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3])
    return np.concatenate(parts, axis=-2)


def support_polygon(robot: Robot, q: ArrayLike, feet: Sequence[Foot]) -> Array:
    """Compute the support polygon of feet on the ground, projected along the vertical.

    Parameters
    ----------
    robot
    q
        One configuration (nq,): polygons of a batch differ in their number of corners; `support_margin` takes batches.
    feet
        Feet on the ground.

    Returns
    -------
    (m, 2)
        Corners, counter-clockwise [m].

    Examples
    --------
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
    """Measure the signed distance of points from the edge of the support polygon.

    Parameters
    ----------
    robot
    q
        Configurations (..., nq).
    feet
        Feet on the ground.
    point
        (..., 2) or (..., 3), such as the CoM, the ZMP or the capture point; the height is ignored [m].

    Returns
    -------
    (...)
        [m]; negative outside.
    """
    p = np.asarray(point)
    size = p.shape[-1] if p.ndim else 0
    return margin(sole_points(robot, q, feet)[..., :2], numbers("point", p, 3 if size == 3 else 2)[..., :2])
