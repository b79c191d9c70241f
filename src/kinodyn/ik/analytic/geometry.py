"""Geometric relations between the axes of a chain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.analytic.axes import Axis

# How far axes may be from parallel [rad] and from meeting [m]: descriptions give pi / 2 as 1.5708. Solutions are
# refined afterwards.
DEFAULT_TOLERANCE = 1e-5
_TOLERANCE: ContextVar[float] = ContextVar("tolerance", default=DEFAULT_TOLERANCE)


@contextmanager
def tolerated(value: float) -> Iterator[None]:
    """Recognise geometries within a tolerance [m, rad] meanwhile."""
    before = _TOLERANCE.set(value)
    try:
        yield
    finally:
        _TOLERANCE.reset(before)


def tolerance() -> float:
    """Return the tolerance within which geometries are recognised now [m, rad]."""
    return _TOLERANCE.get()


class NoClosedFormError(InputError):
    """Raised for a chain whose geometry has no closed form here; the message says which property is missing."""


def angle_between(a: Axis, b: Axis) -> float:
    """Compute the angle [rad] between two undirected lines: 0 to pi / 2."""
    cross = float(np.linalg.norm(np.cross(a.direction, b.direction)))
    return float(np.arctan2(cross, abs(a.direction @ b.direction)))


def parallel(*axes: Axis) -> bool:
    """Return whether all the lines are parallel."""
    return all(angle_between(axes[0], other) < tolerance() for other in axes[1:])


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
    return angle_between(a, b) >= tolerance() and nearest_point(a, b)[1] < tolerance()


def foot(axis: Axis, point: Array) -> Array:
    """Project a point (3,) onto the line."""
    return axis.point + axis.direction * float((point - axis.point) @ axis.direction)


def aligned(axis: Axis, model: Axis) -> tuple[Axis, float]:
    """Return a line with the frame of a parallel one, and the sign of angles about it relative to that one."""
    return Axis(axis.point, model.frame), 1.0 if axis.direction @ model.direction > 0 else -1.0


def lies_on(point: Array, axis: Axis) -> bool:
    """Return whether a point (3,) lies on the line."""
    return float(np.linalg.norm(foot(axis, point) - point)) < tolerance()
