"""Uneven ground as triangles, which recordings keep so that it can be drawn with the motion."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from kinodyn.arrays import Array
from kinodyn.dynamics.contact.ground import HeightField, Plane
from kinodyn.terrain import Box, Terrain
from kinodyn.terrain.shapes import Shape, axes_on
from kinodyn.terrain.terrain import as_terrain

PLANE_HALF_SIZE = 20.0  # [m] of an infinite plane that is kept
_SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
_HALVES = np.concatenate([_SIDES[:, [0, 1, 2]], _SIDES[:, [0, 2, 3]]])


def terrain_mesh(ground: object) -> dict[str, Array]:
    """Triangulate everything that differs from level ground at z = 0: "vertices" (n, 3) [m] and "faces" (m, 3).

    Empty on level ground. A plane is kept as a square, boxes and meshes down to a level plane; grounds of unknown types
    are left out.
    """
    if not isinstance(ground, Terrain | Plane | HeightField):
        return {}
    shapes = as_terrain(ground).shapes
    lowest = max((shape.point[2] for shape in shapes if _is_level(shape)), default=-np.inf)
    parts = [_shape(shape, lowest) for shape in shapes]
    parts = [part for part in parts if np.abs(part[0][:, 2]).max() > 1e-9]
    if not parts:
        return {}
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    faces = [faces + start for (_, faces), start in zip(parts, starts[:-1], strict=True)]
    return {"vertices": np.concatenate([vertices for vertices, _ in parts]), "faces": np.concatenate(faces)}


def _is_level(shape: Shape) -> TypeGuard[Plane]:
    return isinstance(shape, Plane) and bool(shape.normal[2] == 1.0)


def _shape(shape: Shape, lowest: float) -> tuple[Array, Array]:
    if isinstance(shape, Plane):
        return _plane(shape)
    if isinstance(shape, HeightField):
        return _field(shape)
    vertices, faces = (shape.corners(), _HALVES) if isinstance(shape, Box) else (shape.vertices, shape.faces)
    return np.maximum(vertices, [-np.inf, -np.inf, lowest]), faces.astype(float)


def _plane(plane: Plane) -> tuple[Array, Array]:
    axes = axes_on(plane.normal)
    square = PLANE_HALF_SIZE * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    return square @ axes.T + plane.point, np.array([[0, 1, 2], [0, 2, 3]])


def _field(field: HeightField) -> tuple[Array, Array]:
    """Triangulate the grid."""
    nx, ny = field.heights.shape
    x, y = (field.origin[k] + field.spacing[k] * np.arange(n) for k, n in enumerate((nx, ny)))
    places = np.stack([*np.meshgrid(x, y, indexing="ij"), field.heights], axis=-1)
    node = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = (part.ravel() for part in (node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]))
    return places.reshape(-1, 3), np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
