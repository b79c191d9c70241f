"""Geometric relations between the axes of a chain."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.analytic.axes import Axis

ANGLE_TOLERANCE = 1e-6  # for descriptions that give pi / 2 with six digits; solutions are refined afterwards [rad]
LENGTH_TOLERANCE = 1e-6  # [m]


class NoClosedFormError(InputError):
    """Raised for a chain whose geometry has no closed form here; the message says which property is missing."""


def angle_between(a: Axis, b: Axis) -> float:
    """Compute the angle [rad] between two undirected lines: 0 to pi / 2."""
    cross = float(np.linalg.norm(np.cross(a.direction, b.direction)))
    return float(np.arctan2(cross, abs(a.direction @ b.direction)))


def parallel(*axes: Axis) -> bool:
    """Return whether all the lines are parallel."""
    return all(angle_between(axes[0], other) < ANGLE_TOLERANCE for other in axes[1:])


def nearest_point(*axes: Axis) -> tuple[Array, float]:
    """Find the point (3,) with the least squared distance from all lines, and the largest of these distances [m]."""
    projectors = [np.eye(3) - np.outer(axis.direction, axis.direction) for axis in axes]
    # Relative to a point of the first line, which keeps precision far from the origin.
    origin = axes[0].point
    right = sum((P @ (axis.point - origin) for P, axis in zip(projectors, axes, strict=True)), np.zeros(3))
    point = origin + np.linalg.lstsq(sum(projectors, np.zeros((3, 3))), right, rcond=1e-12)[0]
    distance = max(float(np.linalg.norm(P @ (axis.point - point))) for P, axis in zip(projectors, axes, strict=True))
    return point, distance


def intersect(a: Axis, b: Axis) -> bool:
    """Return whether two lines intersect in one point."""
    return angle_between(a, b) >= ANGLE_TOLERANCE and nearest_point(a, b)[1] < LENGTH_TOLERANCE


def foot(axis: Axis, point: Array) -> Array:
    """Project a point (3,) onto the line."""
    return axis.point + axis.direction * float((point - axis.point) @ axis.direction)


def aligned(axis: Axis, model: Axis) -> tuple[Axis, float]:
    """Return a line with the frame of a parallel one, and the sign of angles about it relative to that one."""
    return Axis(axis.point, model.frame), 1.0 if axis.direction @ model.direction > 0 else -1.0


def lies_on(point: Array, axis: Axis) -> bool:
    """Return whether a point (3,) lies on the line."""
    return float(np.linalg.norm(foot(axis, point) - point)) < LENGTH_TOLERANCE
