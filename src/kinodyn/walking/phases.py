"""Support phases: which feet stand, and the polygon that they span."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, hypot, inf, sin

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.polygon import hull
from kinodyn.display import displayed
from kinodyn.walking.footsteps import Footstep

DIRECTIONS = np.array([(np.cos(a), np.sin(a)) for a in np.arange(8) * (np.pi / 4)])  # of support functions


class PlacedSole:
    """A reduced sole on the ground. What follows from its corners is computed once for all phases that it is part of.

    Parameters
    ----------
    corners
        (m, 2), counter-clockwise [m].
    centre
        (2,) of the sole, where the ZMP is planned [m].
    """

    def __init__(self, corners: Array, centre: Array) -> None:
        self.corners, self.centre = corners, centre

    @cached_property
    def support(self) -> Array:
        """Support function in `DIRECTIONS` (8,) [m]."""
        return support_function(self.corners)

    @cached_property
    def rows(self) -> Array:
        """Rows as in `Phase.rows`."""
        return two_sided(self.corners)


@displayed
@dataclass(frozen=True, eq=False)
class Phase:
    """A time interval in which the same feet stand.

    Attributes
    ----------
    kind : str
        "single"; "double" between two steps; "start" and "stop" on both feet before the first and after the last;
        "stand" without an end.
    start, end : float
        [s]
    feet : dict of side -> Footstep
        Feet on the ground; the one that landed last comes last.
    swing : Footstep or None
        Target of the other foot at the end of a single support.
    lifted : Footstep or None
        Position of that foot before lift-off.
    step : int
        Number of planned steps that have landed before.
    zmp : (2, 2)
        Planned zero moment point (ZMP) at the start and at the end [m].
    placed_soles : tuple of PlacedSole
        The reduced soles of the feet, in the order of `feet`.
    """

    kind: str
    start: float
    end: float
    feet: dict[str, Footstep]
    swing: Footstep | None
    lifted: Footstep | None
    step: int
    zmp: Array
    placed_soles: tuple[PlacedSole, ...]

    @property
    def length(self) -> float:
        """Duration [s]."""
        return self.end - self.start

    @property
    def soles(self) -> tuple[Array, ...]:
        """Corners (n, 2) of the reduced soles [m]."""
        return tuple(sole.corners for sole in self.placed_soles)

    @cached_property
    def polygon(self) -> Array:
        """Region (m, 2) of the ZMP: the support polygon reduced by the plan's margin [m]."""
        return hull(np.concatenate(self.soles)) if len(self.placed_soles) > 1 else self.placed_soles[0].corners

    @cached_property
    def rows(self) -> Array:
        """The polygon as rows (m, 4) of a, b, lower, upper with lower <= a x + b y <= upper; see `two_sided`."""
        return two_sided(self.polygon) if len(self.placed_soles) > 1 else self.placed_soles[0].rows

    @cached_property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """`zmp` as plain floats."""
        (x, y), (u, v) = self.zmp.tolist()
        return (x, y), (u, v)

    def blended(self, new: float) -> Array:
        """Return the constraint rows of a polygon that moves linearly with both feet and stays inside the support
        polygon.

        Parameters
        ----------
        new
            Weight of the foot that landed last, from 0 to 1.

        Returns
        -------
        (m, 4)
            Rows as in `rows`.

        Notes
        -----
        It is the Minkowski sum of `new` times the sole of the foot that landed last and (1 - new) times the other; a
        Minkowski sum has no other edges than those of its parts.
        """
        old, latest = self._both
        return np.asarray((1.0 - new) * old + new * latest)

    @cached_property
    def _both(self) -> list[Array]:
        A = np.concatenate([sole.rows[:, :2] for sole in self.placed_soles])
        A = A[[k for k in range(len(A)) if not (np.abs(A[:k] @ A[k]) > 1.0 - 1e-12).any()]]
        reach = [A @ sole.T for sole in self.soles]
        return [np.column_stack([A, points.min(axis=1), points.max(axis=1)]) for points in reach]

    @property
    def sole_supports(self) -> list[Array]:
        """Support function of each sole in `DIRECTIONS` (8,) [m]."""
        return [sole.support for sole in self.placed_soles]

    @cached_property
    def support(self) -> Array:
        """Support function of the polygon in `DIRECTIONS` (8,) [m]."""
        supports = self.sole_supports
        return np.maximum(*supports) if len(supports) > 1 else supports[0]


def support_function(points: Array) -> Array:
    """Compute the support function (..., 8) of points (..., n, 2) in `DIRECTIONS` [m]."""
    return np.asarray((points @ DIRECTIONS.T).max(axis=-2))


def two_sided(polygon: Array) -> Array:
    """Write a convex polygon (m, 2) as rows (k, 4) of a, b, lower, upper; parallel edges share one row."""
    corners, edges, rows = polygon.tolist(), [], []
    for (x, y), (u, v) in zip(corners, [*corners[1:], corners[0]], strict=True):
        length = hypot(u - x, v - y)
        a, b = (v - y) / length, (x - u) / length
        edges.append((a, b, a * x + b * y))
    taken = set()
    for i, (a, b, upper) in enumerate(edges):
        if i in taken:
            continue
        lower = -inf
        for j in range(i + 1, len(edges)):
            c, d, offset = edges[j]
            if a * c + b * d < -1.0 + 1e-12:
                lower = -offset
                taken.add(j)
                break
        rows.append((a, b, lower, upper))
    return np.array(rows)


def place(corners: Array, step: Footstep) -> Array:
    """Transform points (n, 2) from the sole frame of a footstep to the world."""
    c, s = cos(step.yaw), sin(step.yaw)
    return np.asarray(corners @ np.array([[c, s], [-s, c]]) + (step.x, step.y))
