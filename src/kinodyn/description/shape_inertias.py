"""Inertias of shapes of uniform density: primitives in closed form, meshes by their triangles."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from kinodyn.arrays import Array
from kinodyn.description import solids
from kinodyn.description.hulls import outward_faces
from kinodyn.description.meshes import TriangleMesh, open_edges, read_mesh, repaired
from kinodyn.description.types import Inertia, Shape
from kinodyn.errors import DescriptionError

MIN_THICKNESS = 1e-3  # [m] of a mesh without volume, such as a sheet of triangles
MIN_VOLUME = 1e-12  # [m^3] of a shape that counts
# A closed mesh may consist of nested shells; one that fills less of its hull than this is replaced by the hull.
MIN_FILLED_FRACTION = 0.02


def inertia_of_shapes(shapes: Iterable[Shape], density: float) -> Inertia | None:
    """Compute the inertia of shapes of one density.

    Parameters
    ----------
    shapes
        Shapes of a link. Planes, height fields, meshes that were not found and files that cannot be read are left out;
        where shapes overlap both count.
    density
        [kg/m^3]

    Returns
    -------
    inertia : Inertia or None
        In link axes; None if no shape has a volume.
    """
    parts = [part for shape in shapes if (part := inertia_of_shape(shape, density)) is not None]
    return solids.combine(parts) if parts else None


def inertia_of_shape(shape: Shape, density: float) -> Inertia | None:
    """Compute the inertia of one shape in link axes; None if it has no volume that could be found."""
    own = _mesh_solid(shape, density) if shape.kind == "mesh" else _primitive(shape, density)
    if own is None or not own.mass > MIN_VOLUME * density:
        return None
    R, p = shape.T_link_shape[:3, :3], shape.T_link_shape[:3, 3]
    matrix = R @ own.matrix @ R.T
    return Inertia(own.mass, R @ own.com + p, (matrix + matrix.T) / 2.0)


def _primitive(shape: Shape, density: float) -> Inertia | None:
    size = shape.size
    if shape.kind == "box":
        return solids.box(density * math.prod(size), size)
    if shape.kind == "sphere":
        return solids.sphere(density * 4.0 / 3.0 * math.pi * size[0] ** 3, size[0])
    if shape.kind == "cylinder":
        return solids.cylinder(density * math.pi * size[0] ** 2 * size[1], size[0], size[1])
    if shape.kind == "capsule":
        return _capsule(size[0], size[1], density)
    if shape.kind == "ellipsoid":
        mass = density * 4.0 / 3.0 * math.pi * math.prod(size)
        squares = np.square(np.array(size))
        return solids.principal(mass, (0.0, 0.0, 0.0), mass / 5.0 * (squares.sum() - squares))
    return None


def _capsule(radius: float, length: float, density: float) -> Inertia:
    """Combine a cylinder and two half spheres; the CoM of a half sphere is 3/8 of the radius from its flat side."""
    half = density * 2.0 / 3.0 * math.pi * radius**3
    flat = 0.4 * half * radius**2  # about every axis through the centre of the flat side
    offset = 3.0 / 8.0 * radius
    moments = np.array([flat - half * offset**2, flat - half * offset**2, flat])
    caps = [Inertia(half, np.array([0.0, 0.0, s * (length / 2 + offset)]), np.diag(moments)) for s in (-1.0, 1.0)]
    return solids.combine([*caps, solids.cylinder(density * math.pi * radius**2 * length, radius, length)])


def _mesh_solid(shape: Shape, density: float) -> Inertia | None:
    mesh = _triangles(shape)
    if mesh is None:
        return None
    hull = _hull(mesh.vertices)
    if hull is None:
        low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
        size = np.maximum(high - low, MIN_THICKNESS)
        return solids.box(density * float(np.prod(size)), size.tolist(), ((low + high) / 2.0).tolist())
    solid, outer = (
        (None if len(open_edges(mesh.faces)) else triangle_inertia(mesh, density)),
        triangle_inertia(hull, density),
    )
    if solid is not None and solid.mass > MIN_FILLED_FRACTION * outer.mass and solids.is_physically_consistent(solid):
        return solid
    return outer


def _triangles(shape: Shape) -> TriangleMesh | None:
    if shape.triangles is not None:
        return TriangleMesh(*shape.triangles)
    if shape.mesh is None:
        return None
    try:
        mesh, _ = repaired(read_mesh(shape.mesh, shape.size))
    except DescriptionError:
        return None
    return mesh if len(mesh) else None


def _hull(points: Array) -> TriangleMesh | None:
    """Return the convex hull, its triangles facing outwards; None if the points are in a plane or on a line."""
    try:
        return TriangleMesh(points, outward_faces(ConvexHull(points)))
    except QhullError:
        return None


def triangle_inertia(mesh: TriangleMesh, density: float) -> Inertia:
    """Compute the inertia of the solid inside a closed mesh as the sum of tetrahedra from its centre to each triangle.

    The second moments of a tetrahedron (0, a, b, c) are V / 20 (aa' + bb' + cc' + (a + b + c)(a + b + c)').
    """
    centre = mesh.vertices.mean(axis=0)
    corners = mesh.vertices[mesh.faces] - centre
    volumes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    if volumes.sum() < 0.0:
        volumes = -volumes
    sums = corners.sum(axis=1)
    mass = density * float(volumes.sum())
    if not mass > 0.0:
        return Inertia(0.0, centre, np.zeros((3, 3)))
    com = density * (volumes @ sums) / 4.0 / mass
    second = np.einsum("n,nki,nkj->ij", volumes, corners, corners) + np.einsum("n,ni,nj->ij", volumes, sums, sums)
    covariance = density * second / 20.0 - mass * np.outer(com, com)
    return Inertia(mass, centre + com, float(np.trace(covariance)) * np.eye(3) - covariance)
