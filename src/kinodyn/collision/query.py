"""Queries: the sphere model of a robot among the obstacles of a world, as the compiled core checks them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array, stored
from kinodyn.checks import positive
from kinodyn.collision.obstacles import obstacles
from kinodyn.collision.padding import NO_PADDING, LinkPadding
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.sphere_forms import Objects, SphereForm, make_form
from kinodyn.collision.sphere_forms import Pairs as Pairs
from kinodyn.collision.triangle_pairs import triangle_pairs
from kinodyn.collision.world import World
from kinodyn.description.types import Description
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

EMPTY = WorldSnapshot()
MAX_FORMS = 16  # sphere models cached for a robot; each change of its attached objects creates one

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


def as_resolution(resolution: float | None) -> float | None:
    """Check how far spheres may reach beyond the shapes [m]; None for the default of each link."""
    return None if resolution is None else positive("resolution", resolution)


def as_pairs(pairs: Iterable[Iterable[str]] | None, what: str = "allowed") -> Pairs:
    """Return pairs of names in a canonical form; `what` is the name of the argument."""
    if isinstance(pairs, frozenset):
        return _checked(pairs, what)
    pairs = () if pairs is None else pairs
    try:
        given = frozenset(pair if isinstance(pair, str) else tuple(pair) for pair in pairs)
    except TypeError as cause:
        raise InputError(f"{what} must be pairs of names of links or objects, got {pairs!r}") from cause
    return _checked(given, what)


@lru_cache(maxsize=64)
def _checked(given: frozenset[Iterable[str]], what: str) -> Pairs:
    for pair in given:
        names = () if isinstance(pair, str) else tuple(pair)
        least = 1 if isinstance(pair, frozenset) else 2  # the set of a name and itself has one element
        if not least <= len(names) <= 2 or not all(isinstance(name, str) for name in names):
            raise InputError(f"{what} must contain pairs of names: two names of links or objects, got {pair!r}")
    return frozenset(frozenset(pair) for pair in given)


def sphere_form(
    robot: Robot,
    objects: Objects = (),
    allowed: Pairs = frozenset(),
    shrink: float = 0.0,
    resolution: float | None = None,
    padding: LinkPadding = NO_PADDING,
) -> SphereForm:
    """Return the spheres of a robot and of attached objects, cached for the same arguments: see `make_form`."""
    forms = _FORMS.setdefault(robot.description, {})
    key = (tuple(map(id, objects)), allowed, shrink, resolution, padding)
    if key not in forms:
        if len(forms) >= MAX_FORMS:
            forms.clear()
        forms[key] = make_form(
            robot,
            objects,
            allowed,
            shrink=shrink,
            resolution=resolution,
            triangle_pairs=triangle_pairs(robot),
            padding=padding,
        )
    return forms[key]


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
        self.resolution = resolution
        self.form = sphere_form(robot, attached(snapshot), allowed, shrink, resolution, snapshot.padding)
        self.obstacles = obstacles(snapshot)
        self.core = _core.CollisionQuery(
            robot,
            self.form.core,
            self.obstacles.core,
            unchecked_obstacles(self.obstacles.owners, self.form, allowed),
            self.q,
            *(bounds or (robot.limits.lower, robot.limits.upper)),
            np.ones(robot.nv, dtype=bool) if moves is None else moves,
            moves is None,
        )

    def of_all_joints(self, allowed: Pairs, *, shrink: float = 0.0, bounds: tuple[Array, Array] | None = None) -> Query:
        """Return a query with spheres of the same resolution in the same world, in which all joints move."""
        return Query(self.robot, self.snapshot, allowed, shrink=shrink, bounds=bounds, resolution=self.resolution)

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
    lower, upper = (stored(robot.limits, name) for name in ("lower", "upper"))
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


def unchecked_obstacles(owners: tuple[str, ...], form: SphereForm, allowed: Pairs) -> NDArray[np.bool_]:
    """Return which obstacles and groups are not checked against each other: (owners, groups)."""
    table = named_pairs(owners, form.groups, allowed)
    return table if form.unpadded == len(form.groups) else table | ~form.meets_obstacles


@lru_cache(maxsize=64)
def named_pairs(owners: tuple[str, ...], groups: tuple[str, ...], pairs: Pairs) -> NDArray[np.bool_]:
    """Return for which obstacles and groups their pair is in a set of pairs of names: (owners, groups)."""
    table = np.zeros((len(owners), len(groups)), dtype=bool)
    if pairs:
        rows = {name: i for i, name in enumerate(owners)}
        columns: dict[str, list[int]] = {}
        for i, name in enumerate(groups):
            columns.setdefault(name, []).append(i)
        for pair in pairs:
            if pair.isdisjoint(rows):
                continue
            for a, b in ((tuple(pair) * 2)[:2], (tuple(pair) * 2)[1::-1]):
                if a in rows and b in columns:
                    table[rows[a], columns[b]] = True
    return table
