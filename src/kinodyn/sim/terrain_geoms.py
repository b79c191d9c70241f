"""A `terrain.Terrain` as geoms of MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco as mj
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.description.meshes import Faces, open_edges
from kinodyn.dynamics.contact.ground import HeightField, Plane
from kinodyn.errors import InputError
from kinodyn.terrain import Box, Mesh, Terrain
from kinodyn.terrain.shapes import axes_on

CELL_SIZE = 0.02  # [m] of the height field that stands for a mesh that is not convex
MAX_PARTS = 200  # convex parts of a mesh; beyond that it becomes a height field
GROUND_DEPTH = 0.1  # [m] how far planes and height fields extend downwards
MIN_HEIGHT = 1e-6  # [m] MuJoCo rejects a height field of zero height
CONVEX = 1e-6  # relative volume between a part and its convex hull

Add = Callable[..., None]


def add_terrain(spec: mj.MjSpec, terrain: Terrain, add: Add) -> None:
    """Add the geoms of a terrain to the world by `add`, which takes the attributes of a geom.

    MuJoCo makes meshes convex. A mesh of convex parts is therefore added part by part, and any other as a height field
    with cells of 2 cm.
    """
    for k, shape in enumerate(terrain.shapes):
        name = f"terrain {k}"
        if isinstance(shape, Box):
            place = {"pos": shape.pose[:3, 3], "quat": _quaternion(shape.pose[:3, :3])}
            add(name=name, type=mj.mjtGeom.mjGEOM_BOX, size=0.5 * shape.size, **place)
        elif isinstance(shape, Mesh):
            _add_mesh(spec, shape, name, add)
        elif isinstance(shape, Plane):
            place = {"pos": shape.point, "quat": _quaternion(axes_on(shape.normal))}
            add(name=name, type=mj.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, GROUND_DEPTH], **place)
        else:
            add(**_field_geom(spec, shape, name))


def _add_mesh(spec: mj.MjSpec, mesh: Mesh, name: str, add: Add) -> None:
    parts = _convex_parts(mesh)
    if not parts:
        add(**_field_geom(spec, _as_field(mesh), name))
        return
    for k, (vertices, faces) in enumerate(parts):
        asset = f"{name} {k}"
        spec.add_mesh(name=asset, uservert=vertices.ravel(), userface=faces.ravel())
        add(name=asset, type=mj.mjtGeom.mjGEOM_MESH, meshname=asset)


def _field_geom(spec: mj.MjSpec, field: HeightField, name: str) -> dict[str, Any]:
    heights, (nx, ny) = field.heights, field.heights.shape
    lowest, half = float(heights.min()), 0.5 * field.spacing * (np.array([nx, ny]) - 1)
    spec.add_hfield(
        name=name,
        nrow=ny,
        ncol=nx,
        size=[*half, max(float(np.ptp(heights)), MIN_HEIGHT), GROUND_DEPTH],
        userdata=(heights - lowest).T.ravel(),  # rows run along y
    )
    place = [*(field.origin + half), lowest]
    return {"name": name, "type": mj.mjtGeom.mjGEOM_HFIELD, "hfieldname": name, "pos": place}


def _quaternion(R: Array) -> Array:
    """Convert a rotation to a quaternion, w first."""
    quaternion: Array = Rotation.from_matrix(R).as_quat()[[3, 0, 1, 2]]
    return quaternion


def _convex_parts(mesh: Mesh) -> list[tuple[Array, Faces]]:
    """Split a mesh into its connected parts; none if one of them is open or not convex."""
    vertices, index = np.unique(mesh.vertices, axis=0, return_inverse=True)
    faces = index.reshape(-1)[mesh.faces]
    pairs = np.concatenate([faces[:, :2], faces[:, 1:]])
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(vertices),) * 2)
    labels = connected_components(graph, directed=False)[1][faces[:, 0]]
    found = []
    for label in np.unique(labels)[: MAX_PARTS + 1]:
        used, own = np.unique(faces[labels == label], return_inverse=True)
        found.append((vertices[used], own.reshape(-1, 3)))
    return found if len(found) <= MAX_PARTS and all(_convex(*part) for part in found) else []


def _convex(vertices: Array, faces: Faces) -> bool:
    if len(open_edges(faces)):
        return False
    try:
        full = ConvexHull(vertices).volume
    except (QhullError, ValueError):
        return False
    volume = abs(np.linalg.det(vertices[faces] - vertices.mean(axis=0)).sum()) / 6.0
    return bool(abs(full - volume) <= CONVEX * full)


def _as_field(mesh: Mesh) -> HeightField:
    """Sample a mesh from above; what it does not cover is as low as its lowest point."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    count = np.maximum(np.ceil((high - low)[:2] / CELL_SIZE).astype(int) + 1, 2)
    if count.prod() > 4_000_000:
        raise InputError(f"a mesh of {high[0] - low[0]:.3g} m by {high[1] - low[1]:.3g} m is too large for a terrain")
    x, y = (low[k] + CELL_SIZE * np.arange(count[k]) for k in range(2))
    heights = Terrain([mesh]).height(np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1))
    return HeightField(np.where(np.isfinite(heights), heights, low[2]), CELL_SIZE, low[:2], interpolation="linear")
