"""The spheres of a robot and of attached objects, with tables and solids, as the compiled core reads them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.clearances import Table, joined, link_clearances
from kinodyn.collision.covers import Cover, object_cover, padded_cover
from kinodyn.collision.geometry import LinkGeometry, robot_geometry
from kinodyn.collision.padding import NO_PADDING, LinkPadding, Padding
from kinodyn.collision.pairs import allowed_pairs
from kinodyn.collision.refinement import robot_spheres
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

    A group is a link or an object attached to a link; other objects are `obstacles`. A group that is padded has a
    second, larger one of the same name, at the end: the first is checked against other groups, the second against
    obstacles.
    """

    groups: tuple[str, ...]
    core: _core.Spheres
    objects: Objects  # kept, because sphere models are found by the identity of objects
    unpadded: int  # number of groups before the padded ones

    @cached_property
    def meets_obstacles(self) -> NDArray[np.bool_]:
        """Which groups are checked against obstacles: (groups,)."""
        padded = set(self.groups[self.unpadded :])
        return np.array([k >= self.unpadded or name not in padded for k, name in enumerate(self.groups)], dtype=bool)


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
    triangle_pairs: Pairs = frozenset(),
    padding: LinkPadding = NO_PADDING,
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
    triangle_pairs
        Pairs of links that are checked by their triangles where their spheres overlap only slightly.
    padding
        Of the links, where they are checked against obstacles.
    """
    places = compile_tree(robot.description).places
    links = _links(robot, places, shrink, resolution)
    parts = links + [
        _Part(
            thing.name,
            _place(places, thing),
            object_cover(thing.name, thing.shape, resolution or RESOLUTION).spheres,
            min(shrink, 0.0),
            0.0,
        )
        for thing in objects
    ]
    names = tuple(part.name for part in parts)
    larger = padded_covers(robot, objects, padding, resolution) if padding else {}
    padded = [part._replace(spheres=larger[part.name].spheres) for part in parts if part.name in larger]
    pairs = checked_pairs(robot, names, objects, allowed)
    by_solids = [shrink >= 0.0 and frozenset((names[i], names[j])) in triangle_pairs for i, j in pairs]
    # tables know in which cells spheres of the usual resolution collide
    usual = {
        part.name for part in links if part.shrink == 0.0 and _has_default_resolution(robot, part.name, resolution)
    }
    tables = [_in_body(part) for part in (*parts, *padded)]
    core = _core.Spheres(
        np.array([part.place.body for part in (*parts, *padded)], dtype=np.int32),
        np.cumsum([0, *map(len, tables)]).astype(np.int32),
        np.concatenate([np.zeros((0, 4)), *tables]),
        *_with_tables(robot, names, pairs, by_solids, usual),
    )
    if any(by_solids):
        core.decide_by_solids(*_solids(robot, (*parts, *padded), pairs, by_solids))
    return SphereForm((*names, *(part.name for part in padded)), core, objects, len(names))


def _links(robot: Robot, places: dict[str, Place], shrink: float, resolution: float | None) -> list[_Part]:
    spheres = robot_spheres(robot, resolution)
    found = []
    for link, own, over in zip(spheres.links, spheres.resolutions, spheres.overshoot, strict=True):
        less = shrink * min(own / RESOLUTION, 1.0) if shrink > 0 else shrink
        found.append(_Part(link, places[link], spheres.of_link(link), less, max(own, over.max)))
    return found


def padded_covers(robot: Robot, objects: Objects, padding: LinkPadding, resolution: float | None) -> dict[str, Cover]:
    """Return spheres of the links and attached objects that are padded, each in its own frame."""
    padding.check([link.name for link in robot.description.links])
    spheres, parts = robot_spheres(robot, resolution), dict[str, list[LinkGeometry]]()
    for part in robot_geometry(robot):
        parts.setdefault(part.link, []).append(part)
    found = {
        link: padded_cover(parts[link], own, padding.of(link))
        for link, own in zip(spheres.links, spheres.resolutions, strict=True)
        if padding.of(link) != Padding()
    }
    held = {thing.name: (thing.shape, padding.of(str(thing.attached_to))) for thing in objects}
    return found | {
        name: object_cover(name, shape, resolution or RESOLUTION, own)
        for name, (shape, own) in held.items()
        if own != Padding()
    }


def _has_default_resolution(robot: Robot, link: str, resolution: float | None) -> bool:
    spheres = robot_spheres(robot, resolution)
    return spheres.resolutions[spheres.links.index(link)] == RESOLUTION


def _place(places: dict[str, Place], thing: WorldObject) -> Place:
    frame = str(thing.attached_to)
    if frame not in places:
        raise unknown_name("frame", frame, places)
    return places[frame].then(thing.pose)


def _in_body(part: _Part) -> Array:
    centres = part.spheres[:, :3] @ part.place.R.T + part.place.p
    return np.hstack([centres, np.maximum(part.spheres[:, 3:] - part.shrink, 0.0)])


def checked_pairs(robot: Robot, names: Sequence[str], objects: Objects, allowed: Pairs) -> list[tuple[int, int]]:
    """Return the pairs of groups that must not touch: of links and attached objects."""
    free = set(allowed_pairs(robot).pairs | allowed)
    free |= {
        frozenset((thing.name, link)) for thing in objects for link in (*thing.touch_links, str(thing.attached_to))
    }
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
