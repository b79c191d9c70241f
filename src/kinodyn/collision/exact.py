"""Exact collision, distance and contacts between shapes, computed by coal. No other module imports coal.

A closed mesh is a solid here: an object inside it collides, although it touches no triangle.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial import cKDTree

from kinodyn import _core, kinematics
from kinodyn.arrays import Array
from kinodyn.collision.geometry import robot_geometry
from kinodyn.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, PointCloud, Shape, Sphere
from kinodyn.description.meshes import TriangleMesh, open_edges
from kinodyn.errors import KinodynError
from kinodyn.model.robot import Robot

TIME_PER_TRIANGLE, TIME_PER_POINT = 2e-5, 2e-6  # [s] to prepare a mesh or a cloud, upper estimates
QUERIES_WITHOUT_TREE = 150  # of a point cloud
ROUNDING = 1e-9  # [m^2]
CLOUD_TOLERANCE = 1e-4  # [m] of the triangles of round shapes, where a point cloud is compared with them

_GEOMETRIES: WeakKeyDictionary[Shape, _Geometry] = WeakKeyDictionary()


class Placed(NamedTuple):
    """A shape with its pose (4, 4) in the world."""

    shape: Shape
    pose: Array


class ExactDistance(NamedTuple):
    """The smallest distance between two lists of shapes.

    Attributes
    ----------
    distance : float
        [m], minus the penetration depth if they collide; between meshes the depth is that of the deepest pair
        of triangles, a lower bound.
    points : (2, 3) array
        Witness points: the nearest points of the two shapes, in the world [m].
    indices : (int, int)
        Which shape of each list.
    normal : (3,) array
        The gradient of the distance for motions of the first shape: a unit vector.
    """

    distance: float
    points: Array
    indices: tuple[int, int]
    normal: Array


class Contact(NamedTuple):
    """A contact between two shapes.

    Attributes
    ----------
    point : (3,) array
        In the world [m].
    normal : (3,) array
        Unit vector from the first shape to the second.
    depth : float
        Penetration [m].
    indices : (int, int)
        Which shape of each list.
    """

    point: Array
    normal: Array
    depth: float
    indices: tuple[int, int]


def is_available() -> bool:
    """Return whether coal is installed."""
    try:
        _coal()
    except KinodynError:
        return False
    return True


def require_coal() -> None:
    """Raise an error that says what to install if coal is missing."""
    _coal()


def prepared(shapes: Iterable[Shape], end: float) -> bool:
    """Prepare shapes for exact checks, once for each; return False if the time until `end` is too short for it.

    Parameters
    ----------
    shapes
    end
        Deadline on the clock of `time.perf_counter` [s]. The time for a mesh is estimated from its number of triangles.
    """
    for shape in shapes:
        if shape in _GEOMETRIES and _GEOMETRIES[shape].is_prepared:
            continue
        if time.perf_counter() + _preparation_time(shape) > end:
            return False
        _geometry(shape).prepare()
    return True


def _preparation_time(shape: Shape) -> float:
    """Return an upper estimate of the preparation time of a shape [s]."""
    if isinstance(shape, PointCloud):
        return TIME_PER_POINT * len(shape.points)
    if isinstance(shape, HeightField):
        return TIME_PER_TRIANGLE * 4 * shape.heights.size
    return TIME_PER_TRIANGLE * len(shape.faces) if isinstance(shape, Mesh) else 0.0


def placed_links(robot: Robot, q: Array) -> dict[str, tuple[Placed, ...]]:
    """Return the collision shapes of each link at the configuration q (nq,), in the world."""
    geometry = robot_geometry(robot)
    links = list(dict.fromkeys(part.link for part in geometry))
    T_world_link = dict(zip(links, kinematics.poses(robot, q, frames=links), strict=True)) if links else {}
    found: dict[str, tuple[Placed, ...]] = dict.fromkeys(links, ())
    for part in geometry:
        found[part.link] += (Placed(part.shape, T_world_link[part.link] @ part.T_link_shape),)
    return found


def collide(first: Sequence[Placed], second: Sequence[Placed]) -> bool:
    """Return whether any shape of one list collides with any of the other."""
    return any(_near(a, b, 0.0) and _collide(a, b) for a, b in product(first, second))


def distance(first: Sequence[Placed], second: Sequence[Placed]) -> ExactDistance:
    """Return the smallest distance between shapes of one list and shapes of the other, which must not be empty."""
    best: ExactDistance | None = None
    for i, k in product(range(len(first)), range(len(second))):
        if best is None or _near(first[i], second[k], best.distance):
            measured, points = _distance(first[i], second[k])
            if best is None or measured < best.distance:
                best = ExactDistance(measured, points, (i, k), -_normal(first[i], second[k], measured, points))
    if best is None:
        raise ValueError("there are no shapes to measure the distance between")
    return best


def contacts(first: Sequence[Placed], second: Sequence[Placed]) -> list[Contact]:
    """Return one contact, the deepest, for each pair of shapes that collide."""
    found = []
    for i, k in product(range(len(first)), range(len(second))):
        if _near(first[i], second[k], 0.0) and _collide(first[i], second[k]):
            depth, points = _distance(first[i], second[k])
            found.append(Contact(points.mean(axis=0), _normal(first[i], second[k], depth, points), -depth, (i, k)))
    return found


class _Geometry:
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

    @cached_property
    def coal(self) -> Any:
        return _coal_geometry(self.shape, self._mesh)

    @cached_property
    def surface(self) -> _core.TriangleBvh:
        faces = np.ascontiguousarray(self._mesh.faces, dtype=np.int64)
        return _core.TriangleBvh(np.ascontiguousarray(self._mesh.vertices), faces)

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
    return shape.triangles(CLOUD_TOLERANCE)


def _geometry(shape: Shape) -> _Geometry:
    if shape not in _GEOMETRIES:
        _GEOMETRIES[shape] = _Geometry(shape)
    return _GEOMETRIES[shape]


def _coal() -> Any:
    try:
        import coal
    except ImportError as cause:
        raise KinodynError(
            "exact distances between collision shapes need coal, which is not installed: pip install kinodyn[planning]"
        ) from cause
    return coal


def _coal_geometry(shape: Shape, mesh: TriangleMesh) -> Any:
    coal = _coal()
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


def _near(a: Placed, b: Placed, bound: float) -> bool:
    """Return whether the distance can be below a bound, according to the bounding spheres of the shapes."""
    first, second = _geometry(a.shape), _geometry(b.shape)
    centres = _moved(a.pose, first.centre) - _moved(b.pose, second.centre)
    return float(np.linalg.norm(centres)) <= first.radius + second.radius + max(bound, 0.0)


def _collide(a: Placed, b: Placed) -> bool:
    if isinstance(a.shape, PointCloud) or isinstance(b.shape, PointCloud):
        return _distance(a, b)[0] <= 0.0
    coal = _coal()
    result = coal.CollisionResult()
    hit = coal.collide(*_arguments(a), *_arguments(b), coal.CollisionRequest(), result)
    return bool(hit) or _contains(a, b) or _contains(b, a)


def _distance(a: Placed, b: Placed) -> tuple[float, Array]:
    if isinstance(b.shape, PointCloud):
        return _cloud_distance(a, b, b.shape)
    if isinstance(a.shape, PointCloud):
        measured, points = _cloud_distance(b, a, a.shape)
        return measured, points[::-1]
    coal = _coal()
    result = coal.DistanceResult()
    measured = float(coal.distance(*_arguments(a), *_arguments(b), coal.DistanceRequest(True), result))
    points = np.array([result.getNearestPoint1(), result.getNearestPoint2()])
    if measured > 0.0 and (_contains(a, b) or _contains(b, a)):
        measured = -measured  # the surfaces of nested solids do not touch
    return measured, points


def _cloud_distance(solid: Placed, cloud: Placed, points: PointCloud) -> tuple[float, Array]:
    if isinstance(solid.shape, PointCloud):
        raise KinodynError("the distance between two point clouds is not defined")
    T_solid_cloud: Array = np.asarray(np.linalg.inv(solid.pose) @ cloud.pose, dtype=float)
    geometry, scattered = _geometry(solid.shape), _geometry(points)

    def lowest(indices: Sequence[int]) -> tuple[float, int]:
        return geometry.surface.lowest_distance(_moved(T_solid_cloud, points.points[indices]))

    centre = _moved(np.asarray(np.linalg.inv(T_solid_cloud)), geometry.centre)
    bound = lowest([scattered.nearest_point(centre)])[0]
    near = scattered.points_near(centre, geometry.radius + max(bound, 0.0) + 1e-9)
    measured, k = lowest(near)
    index = near[k]
    place = _moved(cloud.pose, points.points[index])
    outwards = solid.pose[:3, :3] @ _surface_normal(solid.shape, _moved(T_solid_cloud, points.points[index]))
    return measured - points.radius, place - np.array([measured * outwards, points.radius * outwards])


def _surface_normal(shape: Shape, point: Array) -> Array:
    """Return the gradient of the signed distance at a point, by central differences: it is flat near a surface."""
    step = 1e-6
    shifted = np.concatenate([point + step * np.eye(3), point - step * np.eye(3)])
    distances = _geometry(shape).surface.signed_distances(np.ascontiguousarray(shifted))
    gradient = distances[:3] - distances[3:]
    return np.asarray(gradient / max(float(np.linalg.norm(gradient)), 1e-300))


def _contains(outer: Placed, inner: Placed) -> bool:
    """Return whether a point of one shape is inside a closed mesh; their surfaces do not touch."""
    geometry = _geometry(outer.shape)
    if not geometry.hides_its_inside:
        return False
    point = _moved(np.linalg.inv(outer.pose) @ inner.pose, _geometry(inner.shape).some_point)
    return bool(geometry.surface.signed_distances(np.ascontiguousarray(point[None]))[0] < 0.0)


def _normal(a: Placed, b: Placed, distance: float, points: Array) -> Array:
    """Return the unit vector from the first shape to the second; their points are swapped where they penetrate."""
    offset = points[1] - points[0] if distance > 0.0 else points[0] - points[1]
    length = float(np.linalg.norm(offset))
    if length < 1e-12:
        offset = _moved(b.pose, _geometry(b.shape).centre) - _moved(a.pose, _geometry(a.shape).centre)
        length = max(float(np.linalg.norm(offset)), 1e-12)
    return np.asarray(offset / length)


def _arguments(placed: Placed) -> tuple[Any, Any]:
    T = np.asarray(placed.pose)
    return _geometry(placed.shape).coal, _coal().Transform3s(T[:3, :3], T[:3, 3])


def _moved(T: Array, points: Array) -> Array:
    return np.asarray(points @ T[:3, :3].T + T[:3, 3])
