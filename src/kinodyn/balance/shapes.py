"""Extreme points of shapes in a direction: the points of a foot that can touch the ground."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from kinodyn.arrays import Array
from kinodyn.description.meshes import read_mesh
from kinodyn.description.types import Shape
from kinodyn.errors import DescriptionError

ENDS = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]])  # of a capsule or cylinder of length 1


def extreme_points(shape: Shape, down: Array) -> Array:
    """List points (n, 3) of a shape, in its link, that include all extreme points along the unit vector `down`.

    Boxes and meshes return all corners; round shapes the points that touch a plane across `down`.
    """
    R, p = shape.T_link_shape[:3, :3], shape.T_link_shape[:3, 3]
    local = _local(shape, down @ R)
    return np.asarray(local @ R.T + p)


def _local(shape: Shape, down: Array) -> Array:
    size: Array = np.array(shape.size, dtype=float)
    points: Array
    if shape.kind == "box":
        points = 0.5 * size * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    elif shape.kind == "sphere":
        points = size[0] * down[None]
    elif shape.kind == "ellipsoid":
        points = (size**2 * down / np.linalg.norm(size * down))[None]
    elif shape.kind == "capsule":
        points = size[1] * ENDS + size[0] * down
    elif shape.kind == "cylinder":
        points = _rims(size[1] * ENDS, float(size[0]), down)
    elif shape.kind == "mesh":
        points = vertices(shape) * size
    else:
        raise DescriptionError(f"a shape of kind {shape.kind!r} cannot be part of a foot")
    return points


def _rims(ends: Array, radius: float, down: Array) -> Array:
    """A lying cylinder touches along a line, a standing one with its rim, of which sixteen points are taken."""
    across = np.array([down[0], down[1], 0.0])
    if np.linalg.norm(across) > 0.5:
        return np.asarray(ends + radius * across / np.linalg.norm(across))
    turns = np.arange(16) * (np.pi / 8)
    rim = radius * np.column_stack([np.cos(turns), np.sin(turns), np.zeros(16)])
    return np.concatenate([end + rim for end in ends])


def vertices(shape: Shape) -> Array:
    """Read the vertices (n, 3) of the convex hull of a mesh, without the scale."""
    if shape.triangles is not None:
        return _hull_vertices(shape.triangles[0])
    if shape.mesh is None:
        raise DescriptionError(f"the mesh {shape.uri!r} was not found; give packages= when loading the robot")
    try:
        changed = shape.mesh.stat().st_mtime_ns
    except OSError as cause:
        raise DescriptionError(f"the mesh cannot be read: {cause.strerror}", file=shape.mesh) from cause
    return _file_vertices(shape.mesh, changed)


@lru_cache(maxsize=64)
def _file_vertices(path: Path, changed: int) -> Array:
    """Read the hull of a mesh file once; `changed` is the time of its last change."""
    mesh = read_mesh(path)
    return _hull_vertices(mesh.vertices[np.unique(mesh.faces)])


def _hull_vertices(points: Array) -> Array:
    """Keep the points on the convex hull; all of them where they are flat and Qhull finds no solid."""
    points = np.unique(points, axis=0)
    try:
        result: Array = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        result = points
    result.flags.writeable = False
    return result
