"""Queries: the sphere model of a robot among the obstacles of a world, as the compiled core checks them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.clearances import Table, joined, link_clearances
from kinodyn.collision.clouds import cloud_spheres
from kinodyn.collision.fitting import link_spheres
from kinodyn.collision.geometry import LinkGeometry
from kinodyn.collision.obstacles import obstacles
from kinodyn.collision.pairs import allowed_pairs
from kinodyn.collision.refinement import robot_spheres
from kinodyn.collision.shapes import PointCloud, Shape
from kinodyn.collision.snapshot import WorldObject, WorldSnapshot
from kinodyn.collision.spheres import RESOLUTION
from kinodyn.collision.world import World
from kinodyn.description.types import Description
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.compile import Place, compile_tree
from kinodyn.model.robot import Robot

Pairs = frozenset[frozenset[str]]
Objects = tuple[WorldObject, ...]

EMPTY = WorldSnapshot()
MAX_FORMS = 16  # sphere models cached for a robot; each change of its attached objects creates one


@dataclass(frozen=True, eq=False)
class SphereForm:
    """The spheres of a robot and of objects.

    A group is a link or an object attached to a link; other objects are `obstacles`.
    """

    groups: tuple[str, ...]
    core: _core.Spheres
    objects: Objects  # kept, because sphere models are found by the identity of objects


_FORMS: WeakKeyDictionary[Description, dict[tuple[object, ...], SphereForm]] = WeakKeyDictionary()


def snapshot_of(world: World | WorldSnapshot | None) -> WorldSnapshot:
    """Return the current content of a world; None is the empty world."""
    if world is None:
        return EMPTY
    if isinstance(world, World):
        return world.snapshot()
    if isinstance(world, WorldSnapshot):
        return world
    raise InputError(f"world must be a kd.collision.World or a snapshot of one, got {type(world).__name__}")


def as_pairs(allowed: Iterable[Iterable[str]] | None) -> Pairs:
    """Return pairs of names in a canonical form."""
    if isinstance(allowed, frozenset):
        return _checked(allowed)
    return _checked(frozenset(pair if isinstance(pair, str) else frozenset(pair) for pair in allowed or ()))


@lru_cache(maxsize=64)
def _checked(given: frozenset[Iterable[str]]) -> Pairs:
    for pair in given:
        names = () if isinstance(pair, str) else tuple(pair)
        if not 1 <= len(names) <= 2 or not all(isinstance(name, str) for name in names):
            raise InputError(f"allowed must contain pairs of names of links or objects, got {pair!r}")
    return frozenset(frozenset(pair) for pair in given)


def sphere_form(
    robot: Robot,
    objects: Objects = (),
    allowed: Pairs = frozenset(),
    shrink: float = 0.0,
    resolution: float | None = None,
) -> SphereForm:
    """Return the spheres of a robot and of objects.

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
    """
    forms = _FORMS.setdefault(robot.description, {})
    key = (tuple(map(id, objects)), allowed, shrink, resolution)
    if key not in forms:
        if len(forms) >= MAX_FORMS:
            forms.clear()
        forms[key] = _make_form(robot, objects, allowed, shrink, resolution)
    return forms[key]


def _make_form(robot: Robot, objects: Objects, allowed: Pairs, shrink: float, resolution: float | None) -> SphereForm:
    places = compile_tree(robot.description).places
    spheres = robot_spheres(robot, resolution)
    finer = dict(zip(spheres.links, spheres.resolutions, strict=True))
    parts = [
        (
            link,
            places[link],
            spheres.of_link(link),
            shrink * min(finer[link] / RESOLUTION, 1.0) if shrink > 0 else shrink,
        )
        for link in spheres.links
    ]
    parts += [
        (thing.name, _place(places, thing), object_spheres(thing.shape, resolution), min(shrink, 0.0))
        for thing in objects
    ]
    names = tuple(name for name, *_ in parts)
    tables = [_in_body(place, rows, less) for _, place, rows, less in parts]
    # tables know in which cells spheres of the usual resolution collide
    usual = {link for link in spheres.links if shrink == 0.0 and finer[link] == RESOLUTION}
    core = _core.Spheres(
        np.array([place.body for _, place, *_ in parts], dtype=np.int32),
        np.cumsum([0, *map(len, tables)]).astype(np.int32),
        np.concatenate([np.zeros((0, 4)), *tables]),
        *_with_tables(robot, names, checked_pairs(robot, names, objects, allowed), usual),
    )
    return SphereForm(names, core, objects)


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


def _in_body(place: Place, spheres: Array, shrink: float) -> Array:
    centres = spheres[:, :3] @ place.R.T + place.p
    return np.hstack([centres, np.maximum(spheres[:, 3:] - shrink, 0.0)])


def checked_pairs(robot: Robot, names: Sequence[str], objects: Objects, allowed: Pairs) -> list[tuple[int, int]]:
    """Return the pairs of groups that must not touch: of links and attached objects."""
    free = set(allowed_pairs(robot).pairs | allowed)
    free |= {frozenset((thing.name, link)) for thing in objects for link in (*thing.touch, str(thing.attached_to))}
    return [(i, j) for i in range(len(names)) for j in range(i) if frozenset((names[i], names[j])) not in free]


def _with_tables(
    robot: Robot, names: Sequence[str], pairs: Sequence[tuple[int, int]], usual: Set[str]
) -> tuple[NDArray[np.int32], list[_core.ClearanceTable]]:
    """Return the pairs, each with the index of a table or -1, and the tables.

    Tables decide in which cells the spheres of `usual` links collide.
    """
    known = link_clearances(robot)
    own = [known.get(frozenset((names[i], names[j]))) for i, j in pairs]
    by_bodies: dict[tuple[int, int], list[Table]] = {}
    certain: dict[tuple[int, int], bool] = {}
    for table, (i, j) in zip(own, pairs, strict=True):
        if table is not None:
            by_bodies.setdefault(table.bodies, []).append(table)
            certain[table.bodies] = certain.get(table.bodies, True) and {names[i], names[j]} <= usual
    number = {bodies: k for k, bodies in enumerate(by_bodies)}
    rows = [(i, j, -1 if t is None else number[t.bodies]) for (i, j), t in zip(pairs, own, strict=True)]
    return (
        np.array(rows, dtype=np.int32).reshape(-1, 3),
        [joined(tables, certain[bodies]) for bodies, tables in by_bodies.items()],
    )


class Query:
    """A robot among obstacles, some of whose joints move.

    Parameters
    ----------
    robot
    snapshot
        The world.
    allowed
        Pairs of links or objects that may touch, beyond those of the robot itself.
    q : (nq,), optional
        Position of the joints that do not move, by default neutral.
    moves : (nv,) bool, optional
        Which degrees of freedom move, by default all. Parts that do not move are checked only by default.
    shrink
        By how much the spheres are reduced [m].
    bounds : two arrays (nq,), optional
        Range of each coordinate in this query, by default the joint limits. It bounds what the robot can reach.
    resolution
        Of the spheres [m], see `robot_spheres`.
    """

    def __init__(
        self,
        robot: Robot,
        snapshot: WorldSnapshot,
        allowed: Pairs = frozenset(),
        q: Array | None = None,
        moves: NDArray[np.bool_] | None = None,
        shrink: float = 0.0,
        bounds: tuple[Array, Array] | None = None,
        resolution: float | None = None,
    ) -> None:
        self.robot, self.snapshot = robot, snapshot
        self.q, self.allowed, self.shrink = robot.neutral() if q is None else q, allowed, shrink
        self.form = sphere_form(robot, attached(snapshot), allowed, shrink, resolution)
        self.obstacles = obstacles(snapshot)
        self.core = _core.CollisionQuery(
            robot,
            self.form.core,
            self.obstacles.core,
            may_touch(self.obstacles.owners, self.form.groups, allowed),
            self.q,
            *(bounds or (robot.limits.lower, robot.limits.upper)),
            np.ones(robot.nv, dtype=bool) if moves is None else moves,
            moves is None,
        )

    def free(self, q: Array) -> NDArray[np.bool_]:
        """Return which configurations (..., nq) are collision-free."""
        return np.asarray(_core.collision_free(self.robot, self.core, q) != 0)

    def motion_free(self, q0: Array, q1: Array, resolution: float) -> NDArray[np.bool_]:
        """Return which straight motions from q0 to q1 (..., nq) are free throughout."""
        return np.asarray(_core.motion_free(self.robot, self.core, q0, q1, resolution) != 0)

    def touching(self, q: Array) -> list[tuple[str, str]]:
        """Return the pairs of links, attached objects and obstacles whose spheres touch at one configuration (nq,)."""
        found = _core.touching(self.robot, self.core, q)
        groups, owners = self.form.groups, self.obstacles.owners
        pairs = [(groups[a], groups[b]) for (a, b), hit in zip(self.core.pairs, found.pairs, strict=True) if hit]
        return [(groups[g], owners[o]) for o, g in np.argwhere(found.obstacles)] + pairs


def attached(snapshot: WorldSnapshot) -> Objects:
    """Return the objects that move with the robot, which are covered by spheres."""
    return tuple(thing for thing in snapshot.objects if thing.attached_to is not None)


def range_of(robot: Robot, *configurations: Array) -> tuple[Array, Array]:
    """Return bounds of the coordinates: the joint limits, widened to the translations in some configurations (..., nq).

    Motions between the configurations are within the bounds too: on the geodesic of a floating joint, the distance
    covered is up to pi / 2 times the straight one.
    """
    lower, upper = robot.limits.lower, robot.limits.upper
    columns = translations(robot)
    if not columns:
        return lower, upper
    values = np.concatenate([q[..., columns].reshape(-1, len(columns)) for q in configurations])
    low, high = values.min(axis=0, initial=0.0), values.max(axis=0, initial=0.0)
    margin = 0.5 * np.pi * np.linalg.norm(high - low)
    lower, upper = lower.copy(), upper.copy()
    lower[columns] = np.where(np.isfinite(lower[columns]), np.minimum(lower[columns], low), low - margin)
    upper[columns] = np.where(np.isfinite(upper[columns]), np.maximum(upper[columns], high), high + margin)
    return lower, upper


def translations(robot: Robot) -> list[int]:
    """Return the coordinates that are lengths."""
    columns: list[int] = []
    for joint in robot.joints:
        count = {"prismatic": 1, "floating": 3, "planar": 2}.get(joint.kind, 0) if joint.mimic is None else 0
        columns += range(joint.q.start, joint.q.start + count)
    followed = {joint.mimic.joint for joint in robot.joints if joint.mimic is not None}
    return columns + [
        joint.q.start for joint in robot.joints if joint.name in followed and joint.q.start not in columns
    ]


@lru_cache(maxsize=64)
def may_touch(owners: tuple[str, ...], groups: tuple[str, ...], allowed: Pairs) -> NDArray[np.bool_]:
    """Return for which obstacles and groups their pair is in a set of pairs of names: (owners, groups)."""
    table = np.zeros((len(owners), len(groups)), dtype=bool)
    if allowed:
        rows, columns = {name: i for i, name in enumerate(owners)}, {name: i for i, name in enumerate(groups)}
        for pair in allowed:
            if pair.isdisjoint(rows):
                continue
            for a, b in ((tuple(pair) * 2)[:2], (tuple(pair) * 2)[1::-1]):
                if a in rows and b in columns:
                    table[rows[a], columns[b]] = True
    return table
