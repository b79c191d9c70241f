"""Convex hulls of points that may be flat, as triangles of a solid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from kinodyn.arrays import Array
from kinodyn.description.meshes import TriangleMesh
from kinodyn.errors import InputError

MIN_THICKNESS = 1e-3  # [m] of a solid: flat points are given this thickness


def convex_hull(points: Array, thinnest: float = MIN_THICKNESS) -> TriangleMesh:
    """Compute the convex hull of points, with a least thickness where they lie in a plane, on a line or at a point.

    Parameters
    ----------
    points
        (n, 3) finite coordinates [m], at least one.
    thinnest
        Least thickness of the solid [m].

    Returns
    -------
    TriangleMesh
        Of the hull's own vertices, counter-clockwise seen from outside.
    """
    if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.isfinite(points).all():
        raise InputError(f"points must be (n, 3) finite numbers, at least one, got shape {points.shape}")
    solid = _thickened(points, thinnest)
    try:
        hull = ConvexHull(solid)
    except QhullError:  # rounding: joggled input always has a hull
        hull = ConvexHull(solid, qhull_options="QJ")
    used = np.unique(hull.simplices)
    index = np.zeros(len(solid), dtype=np.int64)
    index[used] = np.arange(len(used))
    return TriangleMesh(solid[used], index[outward_faces(hull)])


def outward_faces(hull: ConvexHull) -> NDArray[np.int64]:
    """Return the triangles (m, 3) of a hull as indices of its points, counter-clockwise seen from outside."""
    faces = np.asarray(hull.simplices, dtype=np.int64)
    a, b, c = (hull.points[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    return np.where(inward[:, None], faces[:, ::-1], faces)


def _thickened(points: Array, thinnest: float) -> Array:
    """Add copies of the points on both sides, along each principal axis along which they are too thin."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1].T  # principal axes, in rows
    result = points
    for axis in axes:
        if float(np.ptp(centred @ axis)) < thinnest:
            result = np.concatenate([result - 0.5 * thinnest * axis, result + 0.5 * thinnest * axis])
    return result
