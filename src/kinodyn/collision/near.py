"""Pairs of links and objects that are near each other at one configuration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive, vector
from kinodyn.collision.distance import distance
from kinodyn.collision.distance_query import distance_query
from kinodyn.collision.exact_distance import ExactDistances
from kinodyn.collision.query import as_pairs, as_resolution, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.model.robot import Robot


@displayed
class NearPair(NamedTuple):
    """Two parts that are near each other.

    Attributes
    ----------
    names : (str, str)
        Links or objects.
    distance : float
        [m], negative if they penetrate.
    points : (2, 3)
        Witness points: the nearest points of the two parts, in the world [m].
    """

    names: tuple[str, str]
    distance: float
    points: Array


@check_types
def near_pairs(
    robot: Robot,
    q: ArrayLike,
    world: World | WorldSnapshot | None = None,
    *,
    allowed: Iterable[Iterable[str]] | None = None,
    max_distance: float = 0.1,
    exact: bool = True,
    resolution: float | None = None,
) -> list[NearPair]:
    """List the pairs of links and objects that are near each other at one configuration, the nearest first.

    Parameters
    ----------
    robot
    q : (nq,)
        The configuration.
    world, allowed
        See `distance`.
    max_distance
        Pairs that are farther apart are left out [m].
    exact
        True: distances of the exact shapes, by coal, which must be installed. False: of the spheres that cover them.
    resolution
        Of the spheres, see `distance`.

    Returns
    -------
    pairs : list of NearPair

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot, world = kd.load("panda"), kd.collision.World()
    >>> world.add_sphere("ball", 0.1, [0.47, 0.0, 0.75])
    >>> world.add_box("table", (0.6, 1.0, 0.1), ((0.6, 0.0, 0.2), None))
    >>> q = robot.configuration("ready")
    >>> [pair.names for pair in kd.collision.near_pairs(robot, q, world, max_distance=0.25, exact=False)][:1]
    [('panda_link6', 'ball')]
    """
    configuration = vector("q", q, robot.nq)
    bound = positive("max_distance", max_distance)
    fine = as_resolution(resolution)
    query = distance_query(robot, snapshot_of(world), as_pairs(allowed), resolution=fine)
    names = query.pairs_within(configuration, bound)
    if exact:
        measured = ExactDistances(query).of_pairs(configuration, names)
        found = [NearPair(pair, part.distance, part.points) for pair, part in measured]
    else:
        spheres = [(pair, distance(robot, configuration, world, pairs=[pair], resolution=fine)) for pair in names]
        found = [NearPair(pair, float(part.distance), part.points) for pair, part in spheres]
    return sorted((pair for pair in found if pair.distance < bound), key=lambda pair: pair.distance)
