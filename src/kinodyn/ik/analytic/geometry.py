"""How the axes of a chain lie to each other, and the error that says what is missing."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.analytic.axes import Axis

ANGLE = 1e-6  # rad: what descriptions with six digits of pi / 2 are off by; the answers are polished afterwards
LENGTH = 1e-6  # m


class NoClosedFormError(InputError):
    """A chain that has none of the geometries with a closed form; the message says which property is missing."""


def angle_between(a: Axis, b: Axis) -> float:
    """Measure the angle [rad] between two lines, whatever their sense: 0 to pi / 2."""
    cross = float(np.linalg.norm(np.cross(a.direction, b.direction)))
    return float(np.arctan2(cross, abs(a.direction @ b.direction)))


def parallel(*axes: Axis) -> bool:
    """Tell whether all the lines are parallel."""
    return all(angle_between(axes[0], other) < ANGLE for other in axes[1:])


def nearest_point(*axes: Axis) -> tuple[Array, float]:
    """Find the point (3,) with the least squared distance from all lines, and the largest of these distances [m]."""
    across = [np.eye(3) - np.outer(axis.direction, axis.direction) for axis in axes]
    # About a point of the first line, so that the answer loses no digits far from the origin.
    origin = axes[0].point
    right = sum((P @ (axis.point - origin) for P, axis in zip(across, axes, strict=True)), np.zeros(3))
    point = origin + np.linalg.lstsq(sum(across, np.zeros((3, 3))), right, rcond=1e-12)[0]
    miss = max(float(np.linalg.norm(P @ (axis.point - point))) for P, axis in zip(across, axes, strict=True))
    return point, miss


def meet(a: Axis, b: Axis) -> bool:
    """Tell whether two lines have exactly one point in common."""
    return angle_between(a, b) >= ANGLE and nearest_point(a, b)[1] < LENGTH


def foot(axis: Axis, point: Array) -> Array:
    """Drop a point (3,) onto the line."""
    return axis.point + axis.direction * float((point - axis.point) @ axis.direction)


def aligned(axis: Axis, model: Axis) -> tuple[Axis, float]:
    """Give a line the frame of a parallel one, and the sign by which angles about it change."""
    return Axis(axis.point, model.frame), 1.0 if axis.direction @ model.direction > 0 else -1.0


def lies_on(point: Array, axis: Axis) -> bool:
    """Tell whether a point (3,) lies on the line."""
    return float(np.linalg.norm(foot(axis, point) - point)) < LENGTH
