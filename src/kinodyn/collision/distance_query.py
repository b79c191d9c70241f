"""Pairs of links, attached objects and obstacles between which the compiled core measures distances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.covers import object_cover, overshoot_bound
from kinodyn.collision.geometry import robot_geometry
from kinodyn.collision.obstacles import obstacles
from kinodyn.collision.padding import LinkPadding
from kinodyn.collision.query import attached, named_pairs, sphere_form, unchecked_obstacles
from kinodyn.collision.refinement import robot_spheres
from kinodyn.collision.shapes import TOLERANCE, Ellipsoid, Shape
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.sphere_forms import Objects, Pairs, checked_pairs, padded_covers
from kinodyn.collision.spheres import RESOLUTION
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot, require_robot

Pair = tuple[str, str]

MAX_QUERIES = 16  # cached for a robot
FLOAT32_ROUNDING = 3e-5  # [m] of float32, which the radii of two spheres include

_QUERIES: WeakKeyDictionary[Robot, dict[tuple[object, ...], DistanceQuery]] = WeakKeyDictionary()


class DistanceQuery:
    """The pairs of a robot in a world whose distances are measured.

    Parameters
    ----------
    robot, snapshot
        The robot and the world.
    allowed
        Pairs that may touch, beyond those of the robot itself: their distances are ignored.
    pairs
        The pairs to measure, and no others; None for all but those that may touch.
    resolution
        Of the spheres [m], see `robot_spheres`.
    """

    def __init__(
        self,
        robot: Robot,
        snapshot: WorldSnapshot,
        allowed: Pairs,
        pairs: Pairs | None,
        resolution: float | None = None,
    ) -> None:
        self.robot, self.snapshot, self.resolution = robot, snapshot, resolution
        objects = attached(snapshot)
        self.form = sphere_form(robot, objects, resolution=resolution, padding=snapshot.padding)
        self.obstacles = obstacles(snapshot)
        groups, owners = self.form.groups, self.obstacles.owners
        if pairs is None:
            own = groups[: self.form.unpadded]
            index = np.array(checked_pairs(robot, own, objects, allowed), dtype=np.int32).reshape(-1, 2)
            checked = ~unchecked_obstacles(owners, self.form, allowed)
        else:
            _check_names(robot, pairs, groups, owners)
            index = _chosen(groups[: self.form.unpadded], pairs - allowed)
            checked = named_pairs(owners, groups, pairs - allowed) & self.form.meets_obstacles
        self.core = _core.DistanceQuery(robot, self.form.core, self.obstacles.core, index, checked)
        with_obstacles = self.core.obstacle_pairs
        self.names: list[Pair] = [(groups[a], groups[b]) for a, b in index]
        self.names += [(groups[g], owners[o]) for g, o in with_obstacles]
        self.own_pairs_key = (allowed, pairs, resolution, snapshot.padding)  # what the pairs of links depend on

    def pairs_within(self, q: Array, bound: float) -> list[Pair]:
        """Return the names of the pairs whose spheres are nearer than a bound [m] at one configuration (nq,)."""
        lower = np.asarray(_core.pair_distances(self.robot, self.core, q, bound))
        return list(dict.fromkeys(self.names[k] for k in np.flatnonzero(lower < bound)))

    @cached_property
    def name_table(self) -> NDArray[np.str_]:
        """Names (pairs + 1, 2); the last row, that of no pair, is empty."""
        return np.array([*self.names, ("", "")])

    @cached_property
    def error_bounds(self) -> Array:
        """Bounds (pairs + 1,) of how much nearer spheres are than the shapes of each pair [m]; the last is zero."""
        bounds = _overshoots(self.robot, self.form.objects, self.resolution, self.snapshot.padding)
        bounds |= {
            thing.name: TOLERANCE
            for thing in self.snapshot
            if isinstance(thing.shape, Ellipsoid) and not thing.attached_to
        }
        return np.array([*(sum(bounds.get(name, 0.0) for name in pair) + FLOAT32_ROUNDING for pair in self.names), 0.0])


def distance_query(
    robot: Robot,
    snapshot: WorldSnapshot,
    allowed: Pairs = frozenset(),
    pairs: Pairs | None = None,
    resolution: float | None = None,
) -> DistanceQuery:
    """Return a query, cached for the same arguments."""
    require_robot(robot)
    known = _QUERIES.setdefault(robot, {})
    key = (snapshot, allowed, pairs, resolution)
    query = known.get(key)
    if query is None:
        if len(known) >= MAX_QUERIES:
            known.clear()
        query = known[key] = DistanceQuery(robot, snapshot, allowed, pairs, resolution)
    return query


def _chosen(groups: Sequence[str], pairs: Pairs) -> NDArray[np.int32]:
    number = {name: k for k, name in enumerate(groups)}
    rows = [sorted((number[name] for name in pair), reverse=True) for pair in pairs if pair <= number.keys()]
    return np.array(sorted(rows), dtype=np.int32).reshape(-1, 2)


def _check_names(robot: Robot, pairs: Pairs, groups: Sequence[str], owners: Sequence[str]) -> None:
    fixed = set(owners)
    known = [*groups, *owners]
    for pair in pairs:
        for name in pair:
            if name in robot.frame_names and name not in known:
                raise InputError(f"{name!r} has no collision shape")
            if name not in known:
                raise unknown_name("link or object", name, known)
        if len(pair) != 2:
            raise InputError(f"a pair needs two names, got {tuple(pair)}")
        if pair <= fixed:
            raise InputError(f"of the pair {tuple(sorted(pair))} neither is part of the robot or attached to it")


def _overshoots(robot: Robot, objects: Objects, resolution: float | None, padding: LinkPadding) -> dict[str, float]:
    """Return the maximum overshoot of the spheres of each link and object beyond its shapes [m]."""
    spheres = robot_spheres(robot, resolution)
    shapes: dict[str, list[Shape]] = {}
    for part in robot_geometry(robot):
        shapes.setdefault(part.link, []).append(part.shape)
    bounds = {
        link: overshoot_bound(shapes[link], measured.max, own)
        for link, measured, own in zip(spheres.links, spheres.overshoot, spheres.resolutions, strict=True)
    }
    bounds |= {
        thing.name: object_cover(thing.name, thing.shape, resolution or RESOLUTION).overshoot for thing in objects
    }
    if padding:
        for name, cover in padded_covers(robot, objects, padding, resolution).items():
            bounds[name] = max(bounds[name], cover.overshoot)
    return bounds
