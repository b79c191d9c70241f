"""Shapes as coal expects them, with data for containment tests and quick rejection. No other module imports coal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial import cKDTree

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.point_distances import has_closed_form, signed_distances
from kinodyn.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, PointCloud, Shape, Sphere
from kinodyn.description.meshes import TriangleMesh, open_edges
from kinodyn.errors import KinodynError

QUERIES_WITHOUT_TREE = 150  # of a point cloud
ROUNDING = 1e-9  # [m^2]
TOLERANCE = 1e-4  # [m] of the triangles of round shapes, whose vertices are compared with meshes

_GEOMETRIES: WeakKeyDictionary[Shape, ExactGeometry] = WeakKeyDictionary()


def is_available() -> bool:
    """Return whether coal is installed."""
    try:
        coal_module()
    except KinodynError:
        return False
    return True


def require_coal() -> None:
    """Raise an error that says what to install if coal is missing."""
    coal_module()


def is_prepared(shape: Shape) -> bool:
    """Return whether the expensive data of a shape have been computed."""
    return shape in _GEOMETRIES and _GEOMETRIES[shape].is_prepared


class ExactGeometry:
    """A shape as coal expects it, with data for containment tests and for quick rejection."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self._queries = shape, 0
        self._mesh = _mesh(shape)
        vertices = self._mesh.vertices
        self.centre = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        if isinstance(shape, PointCloud):  # they are many: the sphere around their box is good enough
            self.radius = float(np.linalg.norm(np.ptp(vertices, axis=0))) / 2.0 + shape.radius
        else:
            self.radius = float(np.linalg.norm(vertices - self.centre, axis=1).max())
        is_surface = isinstance(shape, (Mesh, HeightField))
        self.some_point = vertices[self._mesh.faces[0, 0]] if is_surface else np.zeros(3)
        # coal has only the surface of these solids
        self.hides_its_inside = is_surface and len(open_edges(self._mesh.faces)) == 0

    @property
    def is_prepared(self) -> bool:
        """Whether the expensive data have been computed."""
        return all(name in vars(self) for name in self._parts)

    def prepare(self) -> None:
        """Compute the expensive data."""
        for name in self._parts:
            getattr(self, name)

    @property
    def _parts(self) -> tuple[str, ...]:
        if isinstance(self.shape, PointCloud):
            return ()
        return ("coal", "surface") if self.hides_its_inside else ("coal",)

    @property
    def vertices(self) -> Array:
        """Vertices (n, 3) of the triangles of the shape, or the points of a cloud."""
        return self._mesh.vertices

    @cached_property
    def coal(self) -> Any:
        return _coal_geometry(self.shape, self._mesh)

    @cached_property
    def surface(self) -> _core.TriangleBvh:
        faces = np.ascontiguousarray(self._mesh.faces, dtype=np.int64)
        return _core.TriangleBvh(np.ascontiguousarray(self._mesh.vertices), faces)

    def signed_distances(self, points: Array) -> Array:
        """Return the distances of points (n, 3) from a solid [m], negative inside."""
        if has_closed_form(self.shape):
            return signed_distances(self.shape, points)
        return np.asarray(self.surface.signed_distances(np.ascontiguousarray(points)))

    def lowest_distance(self, points: Array) -> tuple[float, int]:
        """Return the smallest signed distance of points (n, 3) from a solid [m], and the index of its point."""
        if has_closed_form(self.shape):
            found = signed_distances(self.shape, points)
            k = int(found.argmin())
            return float(found[k]), k
        return self.surface.lowest_distance(np.ascontiguousarray(points))

    @cached_property
    def tree(self) -> cKDTree:
        """The points of a cloud."""
        return cKDTree(self._mesh.vertices)

    def nearest_point(self, centre: Array) -> int:
        """Return the index of the point of a cloud that is nearest to a centre (3,)."""
        if self._has_tree():
            return int(self.tree.query(centre)[1])
        return int(self._squares(centre).argmin())

    def points_near(self, centre: Array, radius: float) -> Sequence[int]:
        """Return the indices of the points of a cloud within a radius around a centre (3,)."""
        if self._has_tree():
            return list(self.tree.query_ball_point(centre, radius, return_sorted=True))
        found: list[int] = np.flatnonzero(self._squares(centre) <= radius**2 + ROUNDING).tolist()
        return found

    def _squares(self, centre: Array) -> Array:
        """Return the squares of the distances of all points from a centre (3,), by products of matrices."""
        return np.asarray(self._norms - 2.0 * (self._mesh.vertices @ centre) + centre @ centre)

    @cached_property
    def _norms(self) -> Array:
        return np.asarray(np.einsum("ij,ij->i", self._mesh.vertices, self._mesh.vertices))

    def _has_tree(self) -> bool:
        """Return whether there is a tree; building one takes as long as some dozens of queries without one."""
        self._queries += 1
        return self._queries > QUERIES_WITHOUT_TREE


def _mesh(shape: Shape) -> TriangleMesh:
    if isinstance(shape, PointCloud):
        return TriangleMesh(shape.points, np.zeros((0, 3), dtype=np.int64))
    return shape.triangles(TOLERANCE)


def exact_geometry(shape: Shape) -> ExactGeometry:
    """Return the data of a shape, made once for each."""
    if shape not in _GEOMETRIES:
        _GEOMETRIES[shape] = ExactGeometry(shape)
    return _GEOMETRIES[shape]


def coal_module() -> Any:
    """Return coal, or raise an error that says what to install."""
    try:
        import coal
    except ImportError as cause:
        raise KinodynError(
            "exact distances between collision shapes need coal, which is not installed: pip install kinodyn[planning]"
        ) from cause
    return coal


def _coal_geometry(shape: Shape, mesh: TriangleMesh) -> Any:
    coal = coal_module()
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    if isinstance(shape, Ellipsoid):
        return coal.Ellipsoid(*shape.radii)
    if isinstance(shape, Mesh) and shape.convex:
        vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        vertices.extend(list(mesh.vertices))
        triangles.extend([coal.Triangle(*map(int, face)) for face in mesh.faces])
        return coal.Convex(vertices, triangles)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(mesh.faces), len(mesh.vertices))
    model.addVertices(np.asarray(mesh.vertices, dtype=float))
    model.addTriangles(np.asarray(mesh.faces, dtype=np.int64))
    model.endModel()
    return model
