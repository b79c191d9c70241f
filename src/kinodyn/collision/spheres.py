"""The collision shapes of a robot as spheres, fitted on first use and cached on disk by content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, copied_on_access
from kinodyn.collision.fitting import LinkSpheres, Overshoot, link_spheres
from kinodyn.collision.geometry import robot_geometry
from kinodyn.description.messages import one_warning, warn
from kinodyn.description.types import Description
from kinodyn.display import displayed
from kinodyn.errors import unknown_name
from kinodyn.model.robot import Robot
from kinodyn.progress import ProgressBar
from kinodyn.threads import map_in_threads

RESOLUTION = 0.015  # [m] the median overshoot is about three quarters of it

Resolutions = tuple[float, ...]

_SETS: WeakKeyDictionary[Description, dict[float | Resolutions, SphereSet]] = WeakKeyDictionary()


@check_types
@displayed
@copied_on_access("bounding", "coarse", "coarse_start", "fine", "fine_start")
@dataclass(frozen=True, eq=False)
class SphereSet:
    """Spheres that cover the collision shapes of a robot, in three levels.

    The bounding sphere of a link contains its coarse spheres, each of which contains its fine ones. The fine spheres
    together contain every point of the link's shapes. A sphere is a row x, y, z, radius [m] in the link frame.

    Parameters
    ----------
    links : tuple of str
        The links that have shapes.
    bounding : (n_links, 4) array
        One sphere around each link.
    coarse : (n_coarse, 4) array
        Those of link i are the rows from coarse_start[i] to coarse_start[i + 1].
    coarse_start : (n_links + 1,) array of int
        See `coarse`.
    fine : (n_fine, 4) array
        Those in coarse sphere k are the rows from fine_start[k] to fine_start[k + 1].
    fine_start : (n_coarse + 1,) array of int
        See `fine`.
    resolutions : tuple of float
        How far the spheres of each link may reach beyond its shapes [m].
    overshoot : tuple of Overshoot
        Measured distances from the boundary of the spheres of each link to its shapes.
    """

    links: tuple[str, ...]
    bounding: Array
    coarse: Array
    coarse_start: NDArray[np.int64]
    fine: Array
    fine_start: NDArray[np.int64]
    resolutions: Resolutions
    overshoot: tuple[Overshoot, ...]

    @check_types
    def of_link(self, link: str) -> Array:
        """Return the fine spheres of one link.

        Parameters
        ----------
        link
            One of `links`.

        Returns
        -------
        spheres : (n, 4) array
            x, y, z, radius [m] in the link frame.
        """
        if link not in self.links:
            raise unknown_name("link", link, self.links)
        first, last = self.coarse_start[self.links.index(link) :][:2]
        return self.fine[self.fine_start[first] : self.fine_start[last]]


def fitted_spheres(robot: Robot, resolution: float | Resolutions, progress: bool = True) -> SphereSet:
    """Return spheres that cover the collision shapes of a robot.

    Parameters
    ----------
    robot
    resolution
        How far a sphere may extend beyond the shapes [m], or that of each link with shapes.
    progress
        Whether a bar is shown on a terminal while spheres are fitted.
    """
    known = _SETS.setdefault(robot.description, {})
    if resolution not in known:
        known[resolution] = _compute(robot, resolution, progress)
    return known[resolution]


class _Work(NamedTuple):
    link: str
    spheres: LinkSpheres


def _compute(robot: Robot, resolution: float | Resolutions, progress: bool) -> SphereSet:
    groups = [(link, list(parts)) for link, parts in groupby(robot_geometry(robot), key=lambda part: part.link)]
    resolutions = resolution if isinstance(resolution, tuple) else (resolution,) * len(groups)
    bar, done = ProgressBar(progress, max(len(groups), 1), "links with collision spheres"), list[_Work]()
    for (link, _), spheres in zip(
        groups, map_in_threads(link_spheres, [parts for _, parts in groups], resolutions), strict=True
    ):
        done.append(_Work(link, spheres))
        bar.update(len(done))
    bar.close()
    with one_warning(robot.description.source or robot.name):
        for (_, parts), work, own in zip(groups, done, resolutions, strict=True):
            if message := work.spheres.warning(parts, own):
                warn(f"link {message}", None)
    return _assembled(done, resolutions)


def _assembled(links: Sequence[_Work], resolutions: Resolutions) -> SphereSet:
    coarse = [work.spheres.coarse for work in links]
    return SphereSet(
        links=tuple(work.link for work in links),
        bounding=_stacked([work.spheres.bounding[None] for work in links]),
        coarse=_stacked(coarse),
        coarse_start=np.cumsum([0, *map(len, coarse)]),
        fine=_stacked([work.spheres.fine for work in links]),
        fine_start=np.cumsum([0, *(count for work in links for count in work.spheres.counts)]),
        resolutions=resolutions,
        overshoot=tuple(work.spheres.overshoot for work in links),
    )


def _stacked(parts: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros((0, 4)), *parts])
