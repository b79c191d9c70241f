"""Exact collision, distance and contacts between shapes, computed by coal.

A closed mesh is a solid here: an object inside it collides, although it touches no triangle.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.collision.exact_geometry import coal_module, exact_geometry, is_prepared
from kinodyn.collision.exact_geometry import is_available as is_available
from kinodyn.collision.exact_geometry import require_coal as require_coal
from kinodyn.collision.geometry import robot_geometry
from kinodyn.collision.shapes import HeightField, Mesh, PointCloud, Shape
from kinodyn.model.robot import Robot

TIME_PER_TRIANGLE, TIME_PER_POINT = 2e-5, 2e-6  # [s] to prepare a mesh or a cloud, upper estimates
MAX_VERTICES = 2000  # of a mesh, whose depth inside another shape is measured

_Measured = tuple[float, Array]  # distance [m] and witness points (2, 3)


class Placed(NamedTuple):
    """A shape with its pose (4, 4) in the world, and a margin [m]: all points within it count as the shape."""

    shape: Shape
    pose: Array
    margin: float = 0.0


class ExactDistance(NamedTuple):
    """The smallest distance between two lists of shapes.

    Attributes
    ----------
    distance : float
        [m], minus the penetration depth if they collide; where a mesh is not convex, the depth is that of the deepest
        vertex, a lower bound of how far the shapes must move to separate.
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


def prepared(shapes: Iterable[Shape], end: float) -> bool:
    """Prepare shapes for exact checks, once for each; return False if the time until `end` is too short for it.

    Parameters
    ----------
    shapes
    end
        Deadline on the clock of `time.perf_counter` [s]. The time for a mesh is estimated from its number of triangles.
    """
    for shape in shapes:
        if is_prepared(shape):
            continue
        if time.perf_counter() + _preparation_time(shape) > end:
            return False
        exact_geometry(shape).prepare()
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


def collide(first: Sequence[Placed], second: Sequence[Placed], *, margin: float = 0.0) -> bool:
    """Return whether any shape of one list is within a margin [m] of any of the other."""
    return any(_near(a, b, margin) and _collide(a, b, margin + a.margin + b.margin) for a, b in product(first, second))


def distance(first: Sequence[Placed], second: Sequence[Placed]) -> ExactDistance:
    """Return the smallest distance between shapes of one list and shapes of the other, which must not be empty."""
    best: ExactDistance | None = None
    for i, k in product(range(len(first)), range(len(second))):
        if best is None or _near(first[i], second[k], best.distance):
            measured, points = _padded_distance(first[i], second[k])
            if best is None or measured < best.distance:
                best = ExactDistance(measured, points, (i, k), -_normal(first[i], second[k], measured, points))
    if best is None:
        raise ValueError("there are no shapes to measure the distance between")
    return best


def contacts(first: Sequence[Placed], second: Sequence[Placed]) -> list[Contact]:
    """Return one contact, the deepest, for each pair of shapes that collide."""
    found = []
    for i, k in product(range(len(first)), range(len(second))):
        if collide(first[i : i + 1], second[k : k + 1]):
            depth, points = _padded_distance(first[i], second[k])
            found.append(Contact(points.mean(axis=0), _normal(first[i], second[k], depth, points), -depth, (i, k)))
    return found


def _near(a: Placed, b: Placed, bound: float) -> bool:
    """Return whether the distance can be below a bound, according to the bounding spheres of the shapes."""
    first, second = exact_geometry(a.shape), exact_geometry(b.shape)
    centres = _moved(a.pose, first.centre) - _moved(b.pose, second.centre)
    return float(np.linalg.norm(centres)) <= first.radius + a.margin + second.radius + b.margin + max(bound, 0.0)


def _collide(a: Placed, b: Placed, margin: float) -> bool:
    if isinstance(a.shape, PointCloud) or isinstance(b.shape, PointCloud):
        return _distance(a, b)[0] <= margin
    coal = coal_module()
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.security_margin = margin
    hit = coal.collide(*_arguments(a), *_arguments(b), request, result)
    return bool(hit) or _contains(a, b) or _contains(b, a)


def _padded_distance(a: Placed, b: Placed) -> _Measured:
    measured, points = _distance(a, b)
    if a.margin == b.margin == 0.0:
        return measured, points
    normal = _normal(a, b, measured, points)
    return measured - a.margin - b.margin, points + np.array([a.margin * normal, -b.margin * normal])


def _distance(a: Placed, b: Placed) -> _Measured:
    if isinstance(b.shape, PointCloud):
        return _cloud_distance(a, b, b.shape)
    if isinstance(a.shape, PointCloud):
        measured, points = _cloud_distance(b, a, a.shape)
        return measured, points[::-1]
    coal = coal_module()
    result = coal.DistanceResult()
    measured = float(coal.distance(*_arguments(a), *_arguments(b), coal.DistanceRequest(True), result))
    points = np.array([result.getNearestPoint1(), result.getNearestPoint2()])
    if measured > 0.0 and (_contains(a, b) or _contains(b, a)):
        measured = -measured  # the surfaces of nested solids do not touch
    if measured <= 0.0 and (_is_surface(a.shape) or _is_surface(b.shape)):
        return _deepest((measured, points), _vertex_inside(a, b), _swapped(_vertex_inside(b, a)))
    return measured, points


def _is_surface(shape: Shape) -> bool:
    """Return whether coal knows the triangles of a shape, but not the solid."""
    return isinstance(shape, HeightField) or (isinstance(shape, Mesh) and not shape.convex)


def _deepest(*found: _Measured) -> _Measured:
    return min(found, key=lambda one: one[0])


def _swapped(found: _Measured) -> _Measured:
    return found[0], found[1][::-1]


def _vertex_inside(a: Placed, b: Placed) -> _Measured:
    """Return the smallest signed distance of vertices of one shape from another, and the points (2, 3)."""
    vertices, outer = exact_geometry(a.shape).vertices, exact_geometry(b.shape)
    T_b_a = np.linalg.inv(b.pose) @ a.pose
    inside = _moved(T_b_a, vertices[:: -(-len(vertices) // MAX_VERTICES)])
    measured, k = outer.lowest_distance(inside)
    on_surface = inside[k] - measured * _surface_normal(b.shape, inside[k])
    return measured, _moved(b.pose, np.array([inside[k], on_surface]))


def _cloud_distance(solid: Placed, cloud: Placed, points: PointCloud) -> _Measured:
    if isinstance(solid.shape, PointCloud):
        return _between_clouds(solid, solid.shape, cloud, points)
    T_solid_cloud: Array = np.asarray(np.linalg.inv(solid.pose) @ cloud.pose, dtype=float)
    geometry, scattered = exact_geometry(solid.shape), exact_geometry(points)

    def lowest(indices: Sequence[int]) -> tuple[float, int]:
        return geometry.lowest_distance(_moved(T_solid_cloud, points.points[indices]))

    centre = _moved(np.asarray(np.linalg.inv(T_solid_cloud)), geometry.centre)
    bound = lowest([scattered.nearest_point(centre)])[0]
    near = scattered.points_near(centre, geometry.radius + max(bound, 0.0) + 1e-9)
    measured, k = lowest(near)
    index = near[k]
    place = _moved(cloud.pose, points.points[index])
    outwards = solid.pose[:3, :3] @ _surface_normal(solid.shape, _moved(T_solid_cloud, points.points[index]))
    return measured - points.radius, place - np.array([measured * outwards, points.radius * outwards])


def _between_clouds(first: Placed, some: PointCloud, second: Placed, others: PointCloud) -> _Measured:
    """Return the distance between two clouds of spheres: that of their nearest points, minus both radii."""
    moved = _moved(np.asarray(np.linalg.inv(second.pose) @ first.pose), some.points)
    distances, nearest = exact_geometry(others).tree.query(moved)
    k = int(distances.argmin())
    centres = np.array([_moved(first.pose, some.points[k]), _moved(second.pose, others.points[nearest[k]])])
    far = float(distances[k])
    along = (centres[1] - centres[0]) / far if far > 0.0 else np.array([0.0, 0.0, 1.0])
    return far - some.radius - others.radius, centres + np.array([some.radius * along, -others.radius * along])


def _surface_normal(shape: Shape, point: Array) -> Array:
    """Return the gradient of the signed distance at a point, by central differences: it is flat near a surface."""
    step = 1e-6
    shifted = np.concatenate([point + step * np.eye(3), point - step * np.eye(3)])
    distances = exact_geometry(shape).signed_distances(shifted)
    gradient = distances[:3] - distances[3:]
    return np.asarray(gradient / max(float(np.linalg.norm(gradient)), 1e-300))


def _contains(outer: Placed, inner: Placed) -> bool:
    """Return whether a point of one shape is inside a closed mesh; their surfaces do not touch."""
    geometry = exact_geometry(outer.shape)
    if not geometry.hides_its_inside:
        return False
    point = _moved(np.linalg.inv(outer.pose) @ inner.pose, exact_geometry(inner.shape).some_point)
    return bool(geometry.surface.signed_distances(np.ascontiguousarray(point[None]))[0] < 0.0)


def _normal(a: Placed, b: Placed, distance: float, points: Array) -> Array:
    """Return the unit vector from the first shape to the second; their points are swapped where they penetrate."""
    offset = points[1] - points[0] if distance > 0.0 else points[0] - points[1]
    length = float(np.linalg.norm(offset))
    if length < 1e-12:
        offset = _moved(b.pose, exact_geometry(b.shape).centre) - _moved(a.pose, exact_geometry(a.shape).centre)
        length = max(float(np.linalg.norm(offset)), 1e-12)
    return np.asarray(offset / length)


def _arguments(placed: Placed) -> tuple[Any, Any]:
    T = np.asarray(placed.pose)
    return exact_geometry(placed.shape).coal, coal_module().Transform3s(T[:3, :3], T[:3, 3])


def _moved(T: Array, points: Array) -> Array:
    return np.asarray(points @ T[:3, :3].T + T[:3, 3])
