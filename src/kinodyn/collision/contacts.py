"""Contacts: the pairs of links and objects that are in contact at one configuration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import vector
from kinodyn.collision.distance import distance
from kinodyn.collision.distance_query import DistanceQuery, distance_query
from kinodyn.collision.exact_distance import ExactDistances
from kinodyn.collision.query import as_pairs, as_resolution, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.model.robot import Robot


@displayed
class CollisionContact(NamedTuple):
    """Two parts that touch.

    Attributes
    ----------
    names : (str, str)
        Links or objects.
    depth : float
        Penetration [m].
    point : (3,)
        In the world [m], in the middle between the two surfaces.
    normal : (3,)
        Unit vector from the first part to the second.
    """

    names: tuple[str, str]
    depth: float
    point: Array
    normal: Array


@check_types
def contacts(
    robot: Robot,
    q: ArrayLike,
    world: World | WorldSnapshot | None = None,
    *,
    allowed: Iterable[Iterable[str]] | None = None,
    exact: bool = True,
    resolution: float | None = None,
) -> list[CollisionContact]:
    """List the pairs that touch at one configuration, the deepest first.

    Parameters
    ----------
    robot
    q : (nq,)
        The configuration.
    world, allowed
        See `distance`.
    exact
        True: contacts of the exact shapes, by coal, which must be installed. Where a mesh is not convex, the depth is
        that of the deepest vertex, a lower bound. False: contacts of the spheres that cover the shapes, which need
        nothing else; they include pairs whose shapes are some centimetres apart, by `Distance.error_bound` at most.
    resolution
        Of the spheres, see `distance`.

    Returns
    -------
    contacts : list of CollisionContact
        One contact, the deepest, for each pair of links or objects.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot, world = kd.load("panda"), kd.collision.World()
    >>> world.add_sphere("ball", 0.2, [0.5, 0.0, 0.7])
    >>> found = kd.collision.contacts(robot, robot.configuration("ready"), world, exact=False)
    >>> found[0].names
    ('panda_link6', 'ball')
    """
    configuration = vector("q", q, robot.nq)
    snapshot, pairs = snapshot_of(world), as_pairs(allowed)
    query = distance_query(robot, snapshot, pairs, resolution=as_resolution(resolution))
    if exact:
        touching = ExactDistances(query).touching(configuration)
        found = [CollisionContact(names, c.depth, c.point, c.normal) for names, c in touching]
    else:
        found = [_of_spheres(query, configuration, pair) for pair in query.pairs_within(configuration, 0.0)]
    return sorted(found, key=lambda contact: -contact.depth)


def _of_spheres(query: DistanceQuery, q: Array, pair: tuple[str, str]) -> CollisionContact:
    near = distance(query.robot, q, query.snapshot, pairs=[pair], resolution=query.resolution)
    names, points = (str(near.names[0]), str(near.names[1])), near.points
    if names != pair:
        names, points = pair, points[::-1]
    depth = -float(near.distance)
    return CollisionContact(names, depth, points.mean(axis=0), (points[0] - points[1]) / depth)
