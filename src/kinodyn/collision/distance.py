"""Distances: the nearest pair of parts, the witness points, and the gradient."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.checks import flag, numbers
from kinodyn.collision.distance_query import DistanceQuery, distance_query
from kinodyn.collision.exact_distance import ExactDistances
from kinodyn.collision.query import Pairs, as_pairs, as_resolution, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import constant
from kinodyn.model.robot import Robot

UNLIMITED = constant("no_limit")  # [m] replaces infinity in the core, which accepts finite numbers only


@displayed
@dataclass(frozen=True, eq=False)
class Distance:
    """The smallest distance of a robot to itself and to a world; batch axes come first.

    Attributes
    ----------
    distance : (...)
        [m], negative if the two parts penetrate; infinite, or the given `max_distance`, if no pair is that near.
    names : (..., 2) array of str
        Links or objects that are nearest to each other; empty if there is no pair.
    points : (..., 2, 3)
        Witness points: the nearest points of the two parts, in the world [m]; NaN if there is no pair.
    gradient : (..., nv)
        The rate of the distance is `gradient @ v`.
    error_bound : (...)
        How much larger the distance between the exact shapes can be, if the parts do not penetrate [m].
    """

    distance: Array
    names: NDArray[np.str_]
    points: Array
    gradient: Array
    error_bound: Array

    def __repr__(self) -> str:
        if self.distance.ndim:
            return (
                f"Distance(of {self.distance.shape} configurations, smallest {self.distance.min(initial=np.inf):.4g} m)"
            )
        return f"Distance({float(self.distance):.4g} m, {' - '.join(self.names) or 'no pair'})"


def distance(
    robot: Robot,
    q: ArrayLike,
    world: World | WorldSnapshot | None = None,
    *,
    allowed: Iterable[Iterable[str]] | None = None,
    pairs: Iterable[Iterable[str]] | None = None,
    exact: bool = False,
    max_distance: float | None = None,
    resolution: float | None = None,
) -> Distance:
    """Measure the smallest distance of a robot to itself and to a world.

    Parameters
    ----------
    robot
    q : (..., nq)
        Configurations.
    world
        Obstacles and attached objects; None for distances of the robot to itself alone.
    allowed : pairs of names, optional
        Links or objects whose distance is ignored, beyond `allowed_pairs` of the robot.
    pairs : pairs of names, optional
        Links or objects whose distance is measured, and no others, even if the robot allows them to touch.
    exact
        False: between the spheres that cover robot and objects (see `robot_spheres`), and from them to boxes, spheres,
        cylinders and capsules. This takes microseconds. Where nothing penetrates, it is a lower bound of the exact
        distance, too small by `error_bound` at most; the depth of a penetration is that of two spheres.
        True: between the exact shapes, by coal. This takes milliseconds for each configuration.
    max_distance
        Pairs that are farther apart are ignored [m], which is faster.
    resolution
        How far spheres may reach beyond the shapes [m], see `robot_spheres`. Finer spheres take longer.

    Returns
    -------
    result : Distance
        Distances with names, witness points and gradients.

    Notes
    -----
    Gradients are those of the two nearest spheres or points. Where two pairs are equally near, the
    smallest distance has no gradient, and that of one of them is returned.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot, world = kd.load("panda"), kd.collision.World()
    >>> world.add_sphere("ball", 0.1, [0.47, 0.0, 0.75])
    >>> near = kd.collision.distance(robot, robot.configuration("ready"), world)
    >>> print(near.names, near.gradient.shape)
    ['panda_link6' 'ball'] (7,)
    """
    query, bound = _prepared(robot, world, allowed, pairs, max_distance, resolution)
    if flag("exact", exact):
        configurations = numbers("q", q, robot.nq)
        return Distance(*ExactDistances(query).smallest(configurations, bound))
    found = _core.collision_distance(robot, query.core, q, UNLIMITED if bound == np.inf else bound)
    pair = np.asarray(found.pair).astype(np.intp)
    missing = pair < 0
    points = np.where(missing[..., None, None], np.nan, found.points)
    measured = np.where(missing, bound, found.distance)
    return Distance(measured, query.name_table[pair], points, found.gradient, query.error_bounds[pair])


def _prepared(
    robot: Robot,
    world: World | WorldSnapshot | None,
    allowed: Iterable[Iterable[str]] | None,
    pairs: Iterable[Iterable[str]] | None,
    max_distance: float | None,
    resolution: float | None,
) -> tuple[DistanceQuery, float]:
    chosen: Pairs | None = None if pairs is None else as_pairs(pairs, "pairs")
    query = distance_query(robot, snapshot_of(world), as_pairs(allowed), chosen, as_resolution(resolution))
    if max_distance is None:
        return query, np.inf
    try:
        bound = float(max_distance)
    except (TypeError, ValueError, OverflowError):
        bound = np.nan
    if np.isnan(bound):
        raise InputError(f"max_distance must be a number [m], got {max_distance!r}")
    return query, bound
