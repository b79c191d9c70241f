"""Arcs of circles: about a centre, or through a point."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_rotation, numbers
from kinodyn.errors import InputError
from kinodyn.spatial import log3
from kinodyn.trajectory.cartesian.laws import Law, PathSizes, frame_limits, time_law
from kinodyn.trajectory.cartesian.lines import TurningPath, one_pose

STRAIGHT = 1e-9  # points whose circle is this much larger than their distance are in one line


def arc(
    T0: MatrixLike,
    centre: ArrayLike,
    axis: ArrayLike,
    angle: float,
    *,
    orientation: MatrixLike | Literal["turning", "fixed"] = "turning",
    speed: float | None = None,
    acceleration: float | None = None,
    jerk: float | None = None,
    angular_speed: float | None = None,
    angular_acceleration: float | None = None,
    angular_jerk: float | None = None,
    duration: float | None = None,
    law: Law = "trapezoid",
) -> TurningPath:
    """Go from pose T0 (4, 4) on a circle about a centre (3,) and an axis (3,) by an angle [rad], of any size.

    `centre` is any point of the axis. The frame turns with the arc ("turning"), keeps its orientation ("fixed"), or
    ends with a given one (3, 3), turning about one axis. Limits are as in `line`; the acceleration includes that
    towards the centre, speed^2 / radius.

    >>> motion = arc(np.eye(4), [0, 1, 0], [0, 0, 1], np.pi, speed=0.5, acceleration=1.0)
    >>> print(motion(motion.duration)[:3, 3].round(9) + 0.0)
    [0. 2. 0.]
    """
    start = one_pose("T0", T0)
    point, along = numbers("centre", centre, 3), numbers("axis", axis, 3)
    turn = numbers("angle", angle)
    if point.shape != (3,) or along.shape != (3,) or turn.shape != () or not np.linalg.norm(along) > 0.0:
        raise InputError("give a centre (3,), an axis (3,) that is not zero, and one angle")
    winding = along / np.linalg.norm(along) * float(turn)
    arm = start[:3, 3] - point
    arm = arm - along * (along @ arm) / (along @ along)
    limits = frame_limits(
        speed=speed,
        acceleration=acceleration,
        jerk=jerk,
        angular_speed=angular_speed,
        angular_acceleration=angular_acceleration,
        angular_jerk=angular_jerk,
    )
    spin = _spin(start, winding, orientation)
    radius = float(np.linalg.norm(arm))
    sizes = PathSizes(radius * abs(float(turn)), radius * float(turn) ** 2, float(np.linalg.norm(spin)))
    return TurningPath(start, spin, np.zeros(3), winding, arm, time_law(sizes, limits, duration, law))


def arc_through(
    T0: MatrixLike,
    via: ArrayLike,
    T1: MatrixLike,
    *,
    speed: float | None = None,
    acceleration: float | None = None,
    jerk: float | None = None,
    angular_speed: float | None = None,
    angular_acceleration: float | None = None,
    angular_jerk: float | None = None,
    duration: float | None = None,
    law: Law = "trapezoid",
) -> TurningPath:
    """Go from pose T0 to T1 (4, 4) on the circle through a point `via` (3,) between; limits are as in `line`.

    The rotation goes from that of T0 to that of T1 about one axis.
    """
    start, end, middle = one_pose("T0", T0), one_pose("T1", T1), numbers("via", via, 3)
    if middle.shape != (3,):
        raise InputError(f"via has shape {middle.shape}; give one point (3,)")
    centre, axis, angle = circle_through(start[:3, 3], middle, end[:3, 3])
    return arc(
        start,
        centre,
        axis,
        angle,
        orientation=end[:3, :3],
        speed=speed,
        acceleration=acceleration,
        jerk=jerk,
        angular_speed=angular_speed,
        angular_acceleration=angular_acceleration,
        angular_jerk=angular_jerk,
        duration=duration,
        law=law,
    )


def circle_through(first: Array, middle: Array, last: Array) -> tuple[Array, Array, float]:
    """Find centre, axis and angle (0 to 2 pi) of the arc through three points (3,) in this order."""
    a, b = middle - first, last - first
    normal = np.cross(a, b)
    square = float(normal @ normal)
    if square <= (STRAIGHT * max(a @ a, b @ b)) ** 2:
        raise InputError("the three points are in one line, or two are the same; use `line`, or another point")
    centre = first + np.cross(float(b @ b) * a - float(a @ a) * b, normal) * -1.0 / (2.0 * square)
    axis = normal / np.sqrt(square)
    from_centre, to = first - centre, last - centre
    angle = float(np.arctan2(axis @ np.cross(from_centre, to), from_centre @ to))
    return centre, axis, angle % (2.0 * np.pi)


def _spin(T0: Array, winding: Array, orientation: MatrixLike | Literal["turning", "fixed"]) -> Array:
    """Find the rotation vector (3,) of the whole turn, in the axes of the first pose."""
    if isinstance(orientation, str):
        if orientation not in ("turning", "fixed"):
            raise InputError(f'orientation is {orientation!r}; give "turning", "fixed" or a rotation (3, 3)')
        return T0[:3, :3].T @ winding if orientation == "turning" else np.zeros(3)
    R = as_rotation(orientation, "orientation")
    if R.shape != (3, 3):
        raise InputError(f"orientation has shape {R.shape}; give one rotation (3, 3)")
    return log3(T0[:3, :3].T @ R)
