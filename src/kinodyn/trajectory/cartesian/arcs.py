"""Circular arcs: about a centre, or through a point."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_rotation, numbers, one_pose
from kinodyn.errors import InputError
from kinodyn.spatial import log3
from kinodyn.trajectory.cartesian.limits import NO_LIMITS, CartesianLimits
from kinodyn.trajectory.cartesian.lines import SingleAxisMotion
from kinodyn.trajectory.cartesian.timing import Law, PathGeometry, timing_law

COLLINEAR = 1e-9  # sine of the angle between two chords below which three points lie on one line


@check_types
def arc(
    T0: MatrixLike,
    centre: ArrayLike,
    axis: ArrayLike,
    angle: float,
    limits: CartesianLimits = NO_LIMITS,
    *,
    orientation: MatrixLike | Literal["turning", "fixed"] = "turning",
    duration: float | None = None,
    law: Law = "trapezoid",
) -> SingleAxisMotion:
    """Move from pose T0 on a circle about an axis.

    Parameters
    ----------
    T0 : (4, 4)
        First pose T_world_frame.
    centre : (3,)
        Any point of the axis [m].
    axis : (3,)
        Direction of the axis; its length does not matter.
    angle : float
        [rad], of any size and sign.
    limits : CartesianLimits, optional
        As in `line`; the linear acceleration includes the centripetal one, velocity^2 / radius.
    orientation : "turning", "fixed" or (3, 3)
        The frame turns with the arc, keeps its orientation, or ends with a given one, rotating about one axis.
    duration, law
        As in `line`.

    Returns
    -------
    PoseTrajectory

    Examples
    --------
    >>> limits = CartesianLimits(linear_velocity=0.5, linear_acceleration=1.0)
    >>> motion = arc(np.eye(4), [0, 1, 0], [0, 0, 1], np.pi, limits)
    >>> print(motion(motion.duration)[:3, 3].round(9) + 0.0)
    [0. 2. 0.]
    """
    start = one_pose("T0", T0)
    point, direction = numbers("centre", centre, 3), numbers("axis", axis, 3)
    turn = numbers("angle", angle)
    if point.shape != (3,) or direction.shape != (3,) or turn.shape != () or not np.linalg.norm(direction) > 0.0:
        raise InputError("give a centre (3,), an axis (3,) that is not zero, and one angle")
    winding = direction / np.linalg.norm(direction) * float(turn)
    arm = start[:3, 3] - point
    arm = arm - direction * (direction @ arm) / (direction @ direction)
    rotation = _rotation(start, winding, orientation)
    radius = float(np.linalg.norm(arm))
    path = PathGeometry(radius * abs(float(turn)), radius * float(turn) ** 2, float(np.linalg.norm(rotation)))
    return SingleAxisMotion(start, rotation, np.zeros(3), winding, arm, timing_law(path, limits, duration, law))


@check_types
def arc_through(
    T0: MatrixLike,
    via: ArrayLike,
    T1: MatrixLike,
    limits: CartesianLimits = NO_LIMITS,
    *,
    duration: float | None = None,
    law: Law = "trapezoid",
) -> SingleAxisMotion:
    """Move from pose T0 to T1 on the circle through a point between, rotating about one axis.

    Parameters
    ----------
    T0 : (4, 4)
        First pose T_world_frame.
    via : (3,)
        A point of the arc [m].
    T1 : (4, 4)
        Last pose T_world_frame.
    limits, duration, law
        As in `line`.

    Returns
    -------
    PoseTrajectory
    """
    start, end, middle = one_pose("T0", T0), one_pose("T1", T1), numbers("via", via, 3)
    if middle.shape != (3,):
        raise InputError(f"via must be one point (3,), got shape {middle.shape}")
    centre, axis, angle = circle_through(start[:3, 3], middle, end[:3, 3])
    return arc(start, centre, axis, angle, limits, orientation=end[:3, :3], duration=duration, law=law)


def circle_through(first: Array, middle: Array, last: Array) -> tuple[Array, Array, float]:
    """Find centre (3,), axis (3,) and angle [rad] of the arc from the first point to the last through the middle."""
    a, b = middle - first, last - first
    normal = np.cross(a, b)
    square = float(normal @ normal)
    if square <= (COLLINEAR * max(a @ a, b @ b)) ** 2:
        raise InputError("the three points are collinear, or two are the same; use `line`, or another point")
    centre = first + np.cross(float(b @ b) * a - float(a @ a) * b, normal) * -1.0 / (2.0 * square)
    axis = normal / np.sqrt(square)
    from_centre, to = first - centre, last - centre
    angle = float(np.arctan2(axis @ np.cross(from_centre, to), from_centre @ to))
    return centre, axis, angle % (2.0 * np.pi)


def _rotation(T0: Array, winding: Array, orientation: MatrixLike | Literal["turning", "fixed"]) -> Array:
    """Compute the rotation vector (3,) from the first orientation to the last, in the axes of the first pose."""
    if isinstance(orientation, str):
        if orientation not in ("turning", "fixed"):
            raise InputError(f'orientation must be "turning", "fixed" or a rotation (3, 3), got {orientation!r}')
        return T0[:3, :3].T @ winding if orientation == "turning" else np.zeros(3)
    R = as_rotation(orientation, "orientation")
    if R.shape != (3, 3):
        raise InputError(f"orientation must be one rotation (3, 3), got shape {R.shape}")
    return log3(T0[:3, :3].T @ R)
