"""Collision shapes as they are drawn: triangles of shapes and objects, batches of spheres."""

from __future__ import annotations

from typing import Any

import numpy as np
import trimesh
import viser

from kinodyn.arrays import Array
from kinodyn.collision.shapes import Box, Cylinder, HeightField, Mesh, PointCloud, Shape
from kinodyn.viewer.colours import Colour
from kinodyn.viewer.meshes import CREASE_ANGLE, DrawnMesh
from kinodyn.viewer.snapshot import wxyz_from_matrix

TOLERANCE = 2e-3  # [m] by which triangles may exceed a round shape
MAX_SMOOTHED = 100_000  # faces of a mesh whose sharp edges are found
BALL = trimesh.creation.icosphere(subdivisions=2, radius=1.0)


def drawn_mesh(shape: Shape) -> DrawnMesh:
    """Return the triangles of a shape in its own frame; a point cloud has none."""
    made = shape.triangles(TOLERANCE)  # type: ignore[union-attr]
    vertices, faces = made.vertices, made.faces
    if isinstance(shape, Mesh) and len(faces) <= MAX_SMOOTHED:
        smooth = trimesh.graph.smooth_shade(trimesh.Trimesh(vertices, faces), angle=CREASE_ANGLE)
        vertices, faces = np.asarray(smooth.vertices), np.asarray(smooth.faces)
    flat = isinstance(shape, Box | Cylinder | HeightField)
    return DrawnMesh(vertices.astype(np.float32), faces.astype(np.uint32), flat)


def add_shape(
    scene: viser.SceneApi, name: str, shape: Shape, T: Array, colour: Colour, opacity: float | None = None
) -> Any:
    """Add a shape at a pose (4, 4) in its parent node, and return its handle."""
    place: dict[str, Any] = {"wxyz": wxyz_from_matrix(T[:3, :3]), "position": T[:3, 3]}
    if isinstance(shape, PointCloud):
        points = shape.points.astype(np.float32)
        size = 2.0 * shape.radius
        return scene.add_point_cloud(
            name, points, colour, point_size=size, point_shape="circle", precision="float32", **place
        )
    mesh = drawn_mesh(shape)
    return scene.add_mesh_simple(
        name,
        mesh.vertices,
        mesh.faces,
        color=colour,
        flat_shading=mesh.flat,
        opacity=opacity,
        side="double" if isinstance(shape, Mesh) else "front",
        receive_shadow=False,  # thin boards would be hatched
        **place,
    )


def add_spheres(scene: viser.SceneApi, name: str, spheres: Array, colour: Colour, opacity: float) -> Any:
    """Add spheres (n, 4), rows x, y, z, radius [m] in the parent node, as one batch, and return its handle."""
    return scene.add_batched_meshes_simple(
        name,
        np.asarray(BALL.vertices, np.float32),
        np.asarray(BALL.faces, np.uint32),
        np.tile([1.0, 0.0, 0.0, 0.0], (len(spheres), 1)),
        spheres[:, :3],
        batched_scales=spheres[:, 3],
        batched_colors=colour,
        lod="off",
        opacity=opacity,
        cast_shadow=False,
        receive_shadow=False,
    )
