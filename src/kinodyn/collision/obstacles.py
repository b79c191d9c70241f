"""Obstacles of the compiled core: the shapes of a world snapshot by kind, in tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.shapes import Box, Capsule, Cylinder, Sphere
from kinodyn.collision.snapshot import WorldObject, WorldSnapshot
from kinodyn.layouts import layout

Placed = tuple[int, WorldObject]


class Obstacles(NamedTuple):
    """Obstacles as the core reads them, and the names of the objects that they belong to."""

    core: _core.Obstacles
    owners: tuple[str, ...]


_KNOWN: WeakKeyDictionary[WorldSnapshot, Obstacles] = WeakKeyDictionary()


PRIMITIVES = (Box, Sphere, Capsule, Cylinder)


def is_primitive(thing: WorldObject) -> bool:
    """Tell whether an object is an obstacle with an equation. Others, and attached ones, are covered by spheres."""
    return thing.attached_to is None and isinstance(thing.shape, PRIMITIVES)


def obstacles(snapshot: WorldSnapshot) -> Obstacles:
    """Return the primitive obstacles of a snapshot."""
    known = _KNOWN.get(snapshot)
    if known is None:
        known = _KNOWN[snapshot] = _lower(snapshot)
    return known


def _lower(snapshot: WorldSnapshot) -> Obstacles:
    fixed = [thing for thing in snapshot.objects if is_primitive(thing)]
    kinds: dict[type, list[Placed]] = {}
    for owner, thing in enumerate(fixed):
        kinds.setdefault(type(thing.shape), []).append((owner, thing))
    core = _core.Obstacles(
        _boxes(kinds.pop(Box, [])),
        _capsules(kinds.pop(Sphere, []), kinds.pop(Capsule, [])),
        _round(kinds.pop(Cylinder, [])),
    )
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
