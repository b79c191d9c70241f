"""The spheres of a robot and of attached objects, with tables and solids, as the compiled core reads them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.clearances import Table, joined, link_clearances
from kinodyn.collision.clouds import cloud_spheres
from kinodyn.collision.fitting import link_spheres
from kinodyn.collision.geometry import LinkGeometry
from kinodyn.collision.pairs import allowed_pairs
from kinodyn.collision.refinement import robot_spheres
from kinodyn.collision.shapes import PointCloud, Shape
from kinodyn.collision.snapshot import WorldObject
from kinodyn.collision.solids import link_solids
from kinodyn.collision.spheres import RESOLUTION
from kinodyn.errors import unknown_name
from kinodyn.model.compile import Place, compile_tree
from kinodyn.model.robot import Robot

Pairs = frozenset[frozenset[str]]
Objects = tuple[WorldObject, ...]


@dataclass(frozen=True, eq=False)
class SphereForm:
    """The spheres of a robot and of objects.

    A group is a link or an object attached to a link; other objects are `obstacles`.
    """

    groups: tuple[str, ...]
    core: _core.Spheres
    objects: Objects  # kept, because sphere models are found by the identity of objects


class _Part(NamedTuple):
    name: str
    place: Place
    spheres: Array  # (n, 4), in the frame of the place
    shrink: float  # [m] by which radii are reduced
    overshoot: float  # [m] by which spheres reach beyond the shapes, at most


def make_form(
    robot: Robot,
    objects: Objects,
    allowed: Pairs,
    *,
    shrink: float = 0.0,
    resolution: float | None = None,
    doubtful: Pairs = frozenset(),
) -> SphereForm:
    """Make the spheres of a robot and of attached objects.

    Parameters
    ----------
    robot
    objects
        Objects that are attached to the robot.
    allowed
        Further pairs that may touch.
    shrink
        By how much the radii of the robot are reduced [m], less where its spheres are finer than usual; below 0 they
        grow, and those of attached objects too.
    resolution
        Of the spheres [m], see `robot_spheres`.
    doubtful
        Pairs of links that are decided by their triangles where their spheres hardly overlap.
    """
    places = compile_tree(robot.description).places
    links = _links(robot, places, shrink, resolution)
    parts = links + [
        _Part(thing.name, _place(places, thing), object_spheres(thing.shape, resolution), min(shrink, 0.0), 0.0)
        for thing in objects
    ]
    names = tuple(part.name for part in parts)
    pairs = checked_pairs(robot, names, objects, allowed)
    by_solids = [shrink >= 0.0 and frozenset((names[i], names[j])) in doubtful for i, j in pairs]
    # tables know in which cells spheres of the usual resolution collide
    usual = {part.name for part in links if part.shrink == 0.0 and _is_usual(robot, part.name, resolution)}
    tables = [_in_body(part) for part in parts]
    core = _core.Spheres(
        np.array([part.place.body for part in parts], dtype=np.int32),
        np.cumsum([0, *map(len, tables)]).astype(np.int32),
        np.concatenate([np.zeros((0, 4)), *tables]),
        *_with_tables(robot, names, pairs, by_solids, usual),
    )
    if any(by_solids):
        core.decide_by_solids(*_solids(robot, parts, pairs, by_solids))
    return SphereForm(names, core, objects)


def _links(robot: Robot, places: dict[str, Place], shrink: float, resolution: float | None) -> list[_Part]:
    spheres = robot_spheres(robot, resolution)
    found = []
    for link, own, over in zip(spheres.links, spheres.resolutions, spheres.overshoot, strict=True):
        less = shrink * min(own / RESOLUTION, 1.0) if shrink > 0 else shrink
        found.append(_Part(link, places[link], spheres.of_link(link), less, max(own, over.max)))
    return found


def _is_usual(robot: Robot, link: str, resolution: float | None) -> bool:
    spheres = robot_spheres(robot, resolution)
    return spheres.resolutions[spheres.links.index(link)] == RESOLUTION


def _place(places: dict[str, Place], thing: WorldObject) -> Place:
    frame = str(thing.attached_to)
    if frame not in places:
        raise unknown_name("frame", frame, places)
    return places[frame].then(thing.pose)


def object_spheres(shape: Shape, resolution: float | None = None) -> Array:
    """Return spheres (n, 4) that contain a shape, in its own frame."""
    if isinstance(shape, PointCloud):
        return cloud_spheres(shape, resolution or RESOLUTION)
    return link_spheres([LinkGeometry("", shape, np.eye(4))], resolution or RESOLUTION).fine


def _in_body(part: _Part) -> Array:
    centres = part.spheres[:, :3] @ part.place.R.T + part.place.p
    return np.hstack([centres, np.maximum(part.spheres[:, 3:] - part.shrink, 0.0)])


def checked_pairs(robot: Robot, names: Sequence[str], objects: Objects, allowed: Pairs) -> list[tuple[int, int]]:
    """Return the pairs of groups that must not touch: of links and attached objects."""
    free = set(allowed_pairs(robot).pairs | allowed)
    free |= {frozenset((thing.name, link)) for thing in objects for link in (*thing.touch, str(thing.attached_to))}
    return [(i, j) for i in range(len(names)) for j in range(i) if frozenset((names[i], names[j])) not in free]


def _with_tables(
    robot: Robot,
    names: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    by_solids: Sequence[bool],
    usual: Set[str],
) -> tuple[NDArray[np.int32], list[_core.ClearanceTable]]:
    """Return the pairs, each with the index of a table or -1, and the tables.

    Tables decide in which cells the spheres of `usual` links collide, if these are not decided by solids.
    """
    known = link_clearances(robot)
    own = [known.get(frozenset((names[i], names[j]))) for i, j in pairs]
    by_bodies: dict[tuple[int, int], list[Table]] = {}
    certain: dict[tuple[int, int], bool] = {}
    for table, (i, j), undecided in zip(own, pairs, by_solids, strict=True):
        if table is not None:
            by_bodies.setdefault(table.bodies, []).append(table)
            sure = {names[i], names[j]} <= usual and not undecided
            certain[table.bodies] = certain.get(table.bodies, True) and sure
    number = {bodies: k for k, bodies in enumerate(by_bodies)}
    rows = [(i, j, -1 if t is None else number[t.bodies]) for (i, j), t in zip(pairs, own, strict=True)]
    return (
        np.array(rows, dtype=np.int32).reshape(-1, 3),
        [joined(tables, certain[bodies]) for bodies, tables in by_bodies.items()],
    )


def _solids(
    robot: Robot, parts: Sequence[_Part], pairs: Sequence[tuple[int, int]], by_solids: Sequence[bool]
) -> tuple[list[_core.Solid | None], Array]:
    """Return the solids of the parts whose pairs need them, and the slack of each pair [m].

    A sphere that is smaller by its overshoot is inside its link: links whose spheres overlap by more collide.
    """
    needed = {k for pair, wanted in zip(pairs, by_solids, strict=True) if wanted for k in pair}
    solids = link_solids(robot)
    slack = [part.overshoot - part.shrink for part in parts]
    slacks = [max(slack[i] + slack[j], 0.0) if wanted else 0.0 for (i, j), wanted in zip(pairs, by_solids, strict=True)]
    return [solids[part.name] if k in needed else None for k, part in enumerate(parts)], np.array(slacks)
