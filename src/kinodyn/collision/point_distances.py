"""Signed distances of points from primitive solids, in closed form."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere

BISECTIONS = 80  # of the nearest point of an ellipsoid: to rounding


def has_closed_form(shape: Shape) -> bool:
    """Return whether `signed_distances` knows a shape."""
    return isinstance(shape, (Box, Sphere, Cylinder, Capsule, Ellipsoid))


def signed_distances(shape: Shape, points: Array) -> Array:
    """Compute the distances of points from a primitive solid, negative inside.

    Parameters
    ----------
    shape
        A box, sphere, cylinder, capsule or ellipsoid.
    points : (n, 3)
        In the frame of the shape [m].

    Returns
    -------
    (n,) array
        [m]
    """
    if isinstance(shape, Box):
        return _beyond(np.abs(points) - 0.5 * np.asarray(shape.size))
    if isinstance(shape, Sphere):
        return np.asarray(np.linalg.norm(points, axis=1) - shape.radius)
    if isinstance(shape, Cylinder):
        radial, axial = np.linalg.norm(points[:, :2], axis=1), np.abs(points[:, 2])
        return _beyond(np.stack([radial - shape.radius, axial - 0.5 * shape.length], axis=1))
    if isinstance(shape, Capsule):
        half = 0.5 * shape.length
        offset = points - np.clip(points[:, 2], -half, half)[:, None] * [0.0, 0.0, 1.0]
        return np.asarray(np.linalg.norm(offset, axis=1) - shape.radius)
    assert isinstance(shape, Ellipsoid)
    return _from_ellipsoid(np.asarray(shape.radii), points)


def _beyond(excess: Array) -> Array:
    """Return the distance from a product of intervals, from how far each coordinate (n, k) is beyond its interval."""
    outside = np.linalg.norm(np.maximum(excess, 0.0), axis=1)
    return np.asarray(np.where(outside > 0.0, outside, excess.max(axis=1)))


def _from_ellipsoid(radii: Array, points: Array) -> Array:
    """Return the distances from an ellipsoid.

    The nearest point x is where p - x is normal to the surface: x = r^2 p / (r^2 + t), with the t for which it lies on
    the surface, the root of a decreasing function (D. Eberly, "Distance from a point to an ellipse, an ellipsoid, or a
    hyperellipsoid", 2013).
    """
    p = np.maximum(np.abs(points), 1e-12 * radii)  # by symmetry; the medial planes have no unique nearest point
    squares = radii**2
    low = (radii * p - squares).max(axis=1)  # a single term of the sum is at least 1
    high = np.linalg.norm(radii * p, axis=1)
    for _ in range(BISECTIONS):
        t = 0.5 * (low + high)
        is_low = ((radii * p / (t[:, None] + squares)) ** 2).sum(axis=1) > 1.0
        low, high = np.where(is_low, t, low), np.where(is_low, high, t)
    nearest = squares * p / (0.5 * (low + high)[:, None] + squares)
    distance = np.linalg.norm(p - nearest, axis=1)
    return np.asarray(np.where(((p / radii) ** 2).sum(axis=1) < 1.0, -distance, distance))
