"""The support polygon of feet on the ground, and the margins of points in it, batched over motions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance.feet import feet as find_feet
from kinodyn.balance.foot import Foot
from kinodyn.balance.polygon import hull, margin
from kinodyn.checks import numbers, reals
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.chain import moving_joints
from kinodyn.model.robot import Robot


@check_types
def sole_points(robot: Robot, q: ArrayLike, feet: Sequence[Foot | str]) -> Array:
    """Compute the corners of soles in the world.

    Parameters
    ----------
    robot
    q
        Configurations (..., nq).
    feet
        Feet on the ground, or their names: "left", "right", or a frame of the foot, such as "left_sole".

    Returns
    -------
    (..., n, 3)
        Those of all feet, one after another [m].
    """
    parts = []
    for foot in _as_feet(robot, feet):
        T = foot.sole_pose(robot, q)
        flat = np.column_stack([foot.corners, np.zeros(len(foot.corners))])
        parts.append(flat @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3])
    return np.concatenate(parts, axis=-2)


def _as_feet(robot: Robot, given: Sequence[Foot | str]) -> list[Foot]:
    """Return feet by their names; a frame counts if it moves with the foot."""
    given = [given] if isinstance(given, Foot | str) else list(given)
    if not given:
        raise InputError("feet is empty; give the feet on the ground, from kd.balance.feet(robot)")
    named: dict[str, Foot] = {}
    for foot in find_feet(robot) if any(isinstance(each, str) for each in given) else ():
        last = moving_joints(robot, foot.frame)[-1].name
        frames = [frame for frame in robot.frame_names if _last_joint(robot, frame) == last]
        named.update(dict.fromkeys((foot.side, *frames), foot))
    for each in given:
        if isinstance(each, str) and each not in named:
            raise unknown_name("foot", each, named)
        if not isinstance(each, Foot | str):
            raise InputError(f"feet must be feet of kd.balance.feet(robot) or their names, got {type(each).__name__}")
    return [named[each] if isinstance(each, str) else each for each in given]


def _last_joint(robot: Robot, frame: str) -> str:
    joints = moving_joints(robot, frame)
    return joints[-1].name if joints else ""


@check_types
def support_polygon(robot: Robot, q: ArrayLike, feet: Sequence[Foot | str]) -> Array:
    """Compute the support polygon of feet on the ground, projected along the vertical.

    Parameters
    ----------
    robot
    q
        One configuration (nq,): polygons of a batch differ in their number of corners; `support_margin` takes batches.
    feet
        Feet on the ground, or their names: "left", "right", or a frame of the foot, such as "left_sole".

    Returns
    -------
    (m, 2)
        Corners, counter-clockwise [m].

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> kd.balance.support_polygon(robot, robot.configuration("standing"), ["left_sole", "right_sole"]).shape
    (4, 2)
    """
    points = sole_points(robot, q, feet)
    if points.ndim != 2:
        raise InputError(f"q must be one configuration (nq,), got a batch of shape {points.shape[:-2]}")
    return hull(points[:, :2])


@check_types
def support_margin(robot: Robot, q: ArrayLike, feet: Sequence[Foot | str], point: ArrayLike) -> Array:
    """Measure the signed distance of points from the edge of the support polygon.

    Parameters
    ----------
    robot
    q
        Configurations (..., nq).
    feet
        Feet on the ground, or their names: "left", "right", or a frame of the foot, such as "left_sole".
    point
        (..., 2) or (..., 3), such as the CoM, the ZMP or the capture point; the height is ignored [m].

    Returns
    -------
    (...)
        [m]; negative outside.
    """
    p = reals("point", point)
    size = p.shape[-1] if p.ndim else 0
    return margin(sole_points(robot, q, feet)[..., :2], numbers("point", p, 3 if size == 3 else 2)[..., :2])
