"""Obstacles of the compiled core: the shapes of a world snapshot by kind.

Boxes and round shapes are tables; point clouds, meshes, height fields and ellipsoids are surfaces: points or triangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.shapes import Box, Capsule, Cylinder, Mesh, PointCloud, Shape, Sphere
from kinodyn.collision.snapshot import WorldObject, WorldSnapshot
from kinodyn.description.meshes import open_edges
from kinodyn.layouts import layout

Placed = tuple[int, WorldObject]


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
    fixed = [thing for thing in snapshot.objects if thing.attached_to is None]
    kinds: dict[type, list[Placed]] = {}
    for owner, thing in enumerate(fixed):
        kinds.setdefault(type(thing.shape), []).append((owner, thing))
    core = _core.Obstacles(
        _boxes(kinds.pop(Box, [])),
        _capsules(kinds.pop(Sphere, []), kinds.pop(Capsule, [])),
        _round(kinds.pop(Cylinder, [])),
    )
    for owner, thing in (placed for things in kinds.values() for placed in things):
        core.add_surface(_surface(thing.shape), thing.pose, getattr(thing.shape, "radius", 0.0), owner)
    return Obstacles(core, tuple(thing.name for thing in fixed))


def _table(name: str, things: Sequence[Placed]) -> tuple[np.ndarray, Array]:
    """Return a table with the owners filled in, and the poses."""
    table = np.zeros(len(things), dtype=layout(name))
    table["owner"] = [owner for owner, _ in things]
    poses = np.array([thing.pose for _, thing in things]).reshape(-1, 4, 4)
    return table, poses


def _boxes(things: Sequence[Placed]) -> np.ndarray:
    table, poses = _table("box_obstacle", things)
    if things:
        table["R"], table["p"] = poses[:, :3, :3], poses[:, :3, 3]
        table["half"] = [cast(Box, thing.shape).size for _, thing in things]
        table["half"] *= 0.5
    return table


def _round(things: Sequence[Placed]) -> np.ndarray:
    table, poses = _table("round_obstacle", things)
    if things:
        table["axis"], table["p"] = poses[:, :3, 2], poses[:, :3, 3]
        table["radius"] = [cast(Sphere | Capsule | Cylinder, thing.shape).radius for _, thing in things]
        table["half"] = [0.5 * getattr(thing.shape, "length", 0.0) for _, thing in things]
    return table


def _capsules(spheres: Sequence[Placed], capsules: Sequence[Placed]) -> np.ndarray:
    return _round([*spheres, *capsules])


def _surface(shape: Shape) -> _core.Surface:
    """Return the tree of the points or triangles of a shape, cached because shapes never change."""
    known = _SURFACES.get(shape)
    if known is None:
        known = _SURFACES[shape] = _make_surface(shape)
    return known


def _make_surface(shape: Shape) -> _core.Surface:
    if isinstance(shape, PointCloud):
        return _core.point_surface(shape.points)
    mesh = shape.triangles()
    vertices, faces = np.ascontiguousarray(mesh.vertices), np.ascontiguousarray(mesh.faces, dtype=np.int64)
    return _core.triangle_surface(vertices, faces, not isinstance(shape, Mesh) or len(open_edges(faces)) == 0)
