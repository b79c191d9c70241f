"""Collision checks of configurations and motions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.checks import flag, numbers, positive
from kinodyn.collision.exact import require_coal
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Query, as_pairs, as_resolution, range_of, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.model.robot import Robot, require_robot

RESOLUTION = 2e-4  # [m]


def free(
    robot: Robot,
    q: ArrayLike,
    world: World | WorldSnapshot | None = None,
    *,
    allowed: Iterable[Iterable[str]] | None = None,
    resolution: float | None = None,
    exact: bool = False,
) -> NDArray[np.bool_]:
    """Return which configurations are free of self-collisions and of collisions with the world.

    Parameters
    ----------
    robot
        Its collision shapes are covered by spheres, see `robot_spheres`. They are conservative: what is reported free
        is free on the exact shapes.
    q : (..., nq)
        Configurations.
    world
        Obstacles and attached objects; None for collisions of the robot with itself alone.
    allowed : pairs of names, optional
        Links or objects that may touch, beyond `allowed_pairs` of the robot.
    resolution
        How far spheres may reach beyond the shapes [m], see `robot_spheres`. Finer spheres take longer.
    exact
        True: where spheres overlap, the exact shapes are checked by coal, which must be installed. This takes
        milliseconds for each such configuration. False: only spheres are checked.

    Returns
    -------
    free : (...) bool array

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> world = kd.collision.World()
    >>> world.add_sphere("ball", 0.1, (0.6, 0.0, 0.9))
    >>> bool(kd.collision.free(robot, robot.configuration("ready"), world))
    True
    """
    require_robot(robot)
    q = numbers("q", q, robot.nq)
    pairs = as_pairs(allowed)
    query = Query(robot, snapshot_of(world), pairs, bounds=range_of(robot, q), resolution=as_resolution(resolution))
    found = query.free(q)
    if flag("exact", exact) and not found.all():
        require_coal()
        checks, found = ExactChecks(query, pairs), np.array(found)
        for index in np.argwhere(~found):
            found[tuple(index)] = not checks.colliding(q[tuple(index)])
    return found


@check_types
def motion_free(
    robot: Robot,
    q0: ArrayLike,
    q1: ArrayLike,
    world: World | WorldSnapshot | None = None,
    *,
    allowed: Iterable[Iterable[str]] | None = None,
    resolution: float = RESOLUTION,
    sphere_resolution: float | None = None,
) -> NDArray[np.bool_]:
    """Return which straight motions in joint space are collision-free from start to end.

    Parameters
    ----------
    robot
        See `free`.
    q0, q1 : (..., nq)
        Start and end of the motions. Ball and floating joints move along geodesics.
    world, allowed
        See `free`.
    resolution
        A motion is divided until points of the robot move less than this between checks [m]. A motion that comes nearer
        than this to an obstacle may be reported as a collision.
    sphere_resolution
        How far spheres may reach beyond the shapes [m], the `resolution` of `free`.

    Returns
    -------
    free : (...) bool array
        A motion is reported free only if all of it is: each check covers the motion around it, by a bound on the
        motion of every link.
    """
    q0, q1 = numbers("q0", q0, robot.nq), numbers("q1", q1, robot.nq)
    bounds, spheres = range_of(robot, q0, q1), as_resolution(sphere_resolution)
    query = Query(robot, snapshot_of(world), as_pairs(allowed), bounds=bounds, resolution=spheres)
    return query.motion_free(q0, q1, positive("resolution", resolution))
