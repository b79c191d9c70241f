"""Obstacles of the compiled core: the shapes of a world snapshot by kind.

Boxes and round shapes are primitives; point clouds, meshes, height fields and ellipsoids are surfaces: points or
triangles.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array, stored
from kinodyn.collision.shapes import Box, Capsule, Cylinder, Mesh, PointCloud, Shape, Sphere
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.description.meshes import open_edges


class Obstacles(NamedTuple):
    """Obstacles as the core reads them, and the names of the objects that they belong to."""

    core: _core.Obstacles
    owners: tuple[str, ...]


_KNOWN: WeakKeyDictionary[WorldSnapshot, Obstacles] = WeakKeyDictionary()
_SURFACES: WeakKeyDictionary[Shape, _core.Surface] = WeakKeyDictionary()


def obstacles(snapshot: WorldSnapshot) -> Obstacles:
    """Return the objects of a snapshot that are not attached to the robot."""
    known = _KNOWN.get(snapshot)
    if known is None:
        known = _KNOWN[snapshot] = _lower(snapshot)
    return known


def _lower(snapshot: WorldSnapshot) -> Obstacles:
    core = _core.Obstacles()
    owners: list[str] = []
    for thing in snapshot.objects:
        if thing.attached_to is None:
            _add(core, thing.shape, stored(thing, "pose"), len(owners))
            owners.append(thing.name)
    return Obstacles(core, tuple(owners))


def _add(core: _core.Obstacles, shape: Shape, pose: Array, owner: int) -> None:
    if isinstance(shape, Box):
        core.add_box(stored(shape, "size"), pose, owner)
    elif isinstance(shape, Cylinder):
        core.add_cylinder(shape.radius, shape.length, pose, owner)
    elif isinstance(shape, Sphere):
        core.add_capsule(shape.radius, 0.0, pose, owner)
    elif isinstance(shape, Capsule):
        core.add_capsule(shape.radius, shape.length, pose, owner)
    else:
        core.add_surface(_surface(shape), pose, getattr(shape, "radius", 0.0), owner)


def _surface(shape: Shape) -> _core.Surface:
    """Return the tree of the points or triangles of a shape, cached because shapes never change."""
    known = _SURFACES.get(shape)
    if known is None:
        known = _SURFACES[shape] = _make_surface(shape)
    return known


def _make_surface(shape: Shape) -> _core.Surface:
    if isinstance(shape, PointCloud):
        return _core.point_surface(stored(shape, "points"))
    mesh = shape.triangles()
    vertices, faces = np.ascontiguousarray(mesh.vertices), np.ascontiguousarray(mesh.faces, dtype=np.int64)
    return _core.triangle_surface(vertices, faces, not isinstance(shape, Mesh) or len(open_edges(faces)) == 0)
