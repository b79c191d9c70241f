"""Spheres of a robot with a resolution for each link: finer where pairs of links need it.

Spheres of one resolution are too large for fingers: they overlap where the shapes are apart. Pairs of links whose
spheres overlap in many configurations in which their shapes are free get spheres about as fine as the clearance between
them. Large links keep coarse spheres: many small ones would be slow, and the gain is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.collision.clearances import link_clearances
from kinodyn.collision.false_overlaps import false_overlaps
from kinodyn.collision.pairs import allowed_pairs
from kinodyn.collision.solids import link_solids
from kinodyn.collision.spheres import RESOLUTION, SphereSet, fitted_spheres
from kinodyn.description.types import Description
from kinodyn.model.robot import Robot

MAX_FALSE_FRACTION = 0.005  # of random configurations in which only the spheres of a pair overlap, not the shapes
CLEARANCE_FRACTION = 0.4  # resolution of both links, as a fraction of the clearance of shapes whose spheres overlap
MAX_RELATIVE_RESOLUTION = 0.6  # a resolution above this fraction of the usual one gains too little
SIZE_FRACTION = 0.045  # smallest resolution, as a fraction of the square root of the area of a link: about 100 spheres
MIN_RESOLUTION = 0.0015  # [m]

_KNOWN: WeakKeyDictionary[Description, SphereSet] = WeakKeyDictionary()


@check_types
def robot_spheres(robot: Robot, resolution: float | None = None, *, progress: bool = True) -> SphereSet:
    """Return spheres that cover the collision shapes of a robot.

    Parameters
    ----------
    robot
    resolution
        How far a sphere may extend beyond the shapes [m]; more for links larger than about half a metre. Half of it
        gives about three times as many spheres. By default 15 mm, and less for links, such as those of fingers, whose
        spheres would often overlap where the shapes are free.
    progress
        Whether a bar is shown on a terminal while spheres are fitted.

    Returns
    -------
    spheres : SphereSet

    Notes
    -----
    A collision shape that is a sphere is used unchanged; to choose the spheres of a link, describe its collision shape
    by spheres. All other shapes are covered: greedy set cover with balls inside the solid, after G. Bradshaw and
    C. O'Sullivan, "Adaptive medial-axis approximation for sphere-tree construction", 2004. The result is kept in
    $KINODYN_CACHE, or kinodyn in $XDG_CACHE_HOME or ~/.cache, keyed by the content of the shapes.
    """
    if resolution is not None:
        return fitted_spheres(robot, positive("resolution", resolution), progress)
    if robot.description not in _KNOWN:
        _KNOWN[robot.description] = _refined(robot, fitted_spheres(robot, RESOLUTION, progress), progress)
    return _KNOWN[robot.description]


def _refined(robot: Robot, spheres: SphereSet, progress: bool) -> SphereSet:
    resolutions = _needed(robot, spheres)
    if all(own == RESOLUTION for own in resolutions):
        return spheres
    return fitted_spheres(robot, tuple(resolutions.tolist()), progress)


def _needed(robot: Robot, spheres: SphereSet) -> Array:
    """Return the resolution that each link needs [m]."""
    needed = np.full(len(spheres.links), RESOLUTION)
    for pair, found in false_overlaps(robot, spheres, list(_pairs_without_table(robot, spheres))).items():
        if found.fraction >= MAX_FALSE_FRACTION:
            links = list(pair)
            needed[links] = np.minimum(needed[links], CLEARANCE_FRACTION * found.clearance)
    solids = link_solids(robot)
    for k in np.flatnonzero(needed < MAX_RELATIVE_RESOLUTION * RESOLUTION):
        needed[k] = max(needed[k], MIN_RESOLUTION, SIZE_FRACTION * _size(solids.triangles(spheres.links[k])))
    return np.where(needed < MAX_RELATIVE_RESOLUTION * RESOLUTION, needed, RESOLUTION)


def _pairs_without_table(robot: Robot, spheres: SphereSet) -> Iterator[tuple[int, int]]:
    free, decided = allowed_pairs(robot).pairs, link_clearances(robot)
    for i, first in enumerate(spheres.links):
        for k, second in enumerate(spheres.links[:i]):
            pair = frozenset((first, second))
            if pair not in free and pair not in decided:
                yield k, i


def _size(triangles: Array) -> float:
    """Return the square root of the area of triangles (n, 9) [m]."""
    a, b, c = triangles.reshape(-1, 3, 3).transpose(1, 0, 2)
    return float(np.sqrt(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()))
