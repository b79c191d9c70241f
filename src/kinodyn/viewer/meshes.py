"""Triangle meshes of a description's shapes: primitives are generated, mesh files are read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import trimesh
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.description.meshes import read_mesh
from kinodyn.description.types import Shape
from kinodyn.errors import DescriptionError

PLANE_HALF_SIZE = 4.0  # an infinite plane is drawn up to this distance [m]
CREASE_ANGLE = np.deg2rad(30.0)  # edges sharper than this are shaded flat


@dataclass(frozen=True, eq=False)
class DrawnMesh:
    """Triangles as drawn, in the link frame: vertices (n, 3) [m], faces (m, 3), and whether shading is flat."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]
    flat: bool = False


def mesh_of(shape: Shape) -> DrawnMesh:
    """Return the mesh of a shape in its link frame.

    Raises DescriptionError for a mesh file that is missing or cannot be read.
    """
    vertices, faces, flat = _local(shape)
    R, p = shape.T_link_shape[:3, :3], shape.T_link_shape[:3, 3]
    placed = vertices @ R.T + p
    if not np.isfinite(placed).all():
        raise DescriptionError(f"the shape {shape.name or shape.uri!r} has non-finite vertices")
    return DrawnMesh(placed.astype(np.float32), faces.astype(np.uint32), flat)


def cylinder_between(start: Array, end: Array, radius: float) -> DrawnMesh:
    """Return a cylinder between two points (3,) [m], for links without shapes."""
    made = trimesh.creation.cylinder(radius=radius, segment=[start, end], sections=16)
    return DrawnMesh(np.asarray(made.vertices, np.float32), np.asarray(made.faces, np.uint32))


def sphere_at(centre: Array, radius: float) -> DrawnMesh:
    """Return a sphere at a point (3,) [m]."""
    made = trimesh.creation.icosphere(subdivisions=2, radius=radius)
    return DrawnMesh(np.asarray(made.vertices + centre, np.float32), np.asarray(made.faces, np.uint32))


def _local(shape: Shape) -> tuple[Array, Array, bool]:
    size = np.array(shape.size, dtype=float)
    flat = False
    if shape.triangles is not None:
        return *_smooth(*shape.triangles), False
    if shape.kind == "mesh":
        vertices, faces = _mesh(shape)
        mirrored = np.prod(np.sign(size)) < 0
        return vertices * size, faces[:, ::-1] if mirrored else faces, False
    if shape.kind == "box":
        made, flat = trimesh.creation.box(extents=size), True
    elif shape.kind == "plane":
        half = np.where(size[:2] > 0, size[:2], PLANE_HALF_SIZE)
        made, flat = trimesh.creation.box(extents=[2 * half[0], 2 * half[1], 1e-3]), True
    elif shape.kind == "cylinder":
        made, flat = trimesh.creation.cylinder(radius=size[0], height=size[1], sections=32), True
    elif shape.kind == "capsule":
        made = trimesh.creation.capsule(radius=size[0], height=size[1], count=[16, 28])
        made.apply_translation([0.0, 0.0, -float(made.bounds[:, 2].mean())])  # centred at the origin
    else:
        made = trimesh.creation.icosphere(subdivisions=3, radius=1.0)
        made.apply_scale(size[0] if shape.kind == "sphere" else size)
    return np.asarray(made.vertices), np.asarray(made.faces), flat


def _mesh(shape: Shape) -> tuple[Array, Array]:
    if shape.mesh is None:
        raise DescriptionError(f"the mesh {shape.uri!r} was not found; give packages= when loading the robot")
    return _read(shape.mesh)


@lru_cache(maxsize=256)
def _read(path: Path) -> tuple[Array, Array]:
    """Read a mesh file; vertices are duplicated at sharp edges, so that these are drawn sharp."""
    mesh = read_mesh(path)
    return _smooth(mesh.vertices, mesh.faces)


def _smooth(vertices: Array, faces: NDArray[np.int64]) -> tuple[Array, Array]:
    made = trimesh.Trimesh(vertices, faces)
    smooth = trimesh.graph.smooth_shade(made, angle=CREASE_ANGLE)
    return np.asarray(smooth.vertices, dtype=float), np.asarray(smooth.faces)
