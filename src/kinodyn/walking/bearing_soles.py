"""Soles that bear load: reduced by the margin of the ZMP, and only as far as the ground supports them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.polygon import intersection, largest_rectangle, shrink
from kinodyn.walking.biped import Biped
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.phases import PlacedSole, place

Corners = tuple[tuple[float, float], ...]
MAX_PLACED = 64  # footsteps whose soles are kept: those of a few plans
EDGES = ("toe", "heel")
EDGE = 0.02  # [m] length of the part of a sole that bears a foot on its toes or heel


class BearingSoles:
    """Regions of the soles of footsteps in which the ZMP is planned.

    Parameters
    ----------
    body
        The biped.
    margin
        Distance of the ZMP from the edges of the soles [m].
    """

    def __init__(self, body: Biped, margin: float) -> None:
        self._feet, self._margin = body.feet, margin
        self._whole = {side: shrink(_corners(foot.rectangle), margin) for side, foot in body.feet.items()}
        self._partial: dict[tuple[str, Corners], Array] = {}
        self._edges: dict[tuple[str, Corners | None, str], Corners] = {}
        self._placed: dict[Footstep, PlacedSole] = {}

    def prepare(self, steps: Iterable[Footstep]) -> None:
        """Compute the soles and the edges of footsteps before they are planned on: it takes tenths of a millisecond."""
        for step in steps:
            self._sole(step)
            for edge in EDGES:
                self.edge(step, edge)

    def placed(self, step: Footstep) -> PlacedSole:
        """Return the reduced sole of a footstep in the world; phases and plans that share a footstep share it."""
        found = self._placed.get(step)
        if found is None:
            if len(self._placed) >= MAX_PLACED:
                self._placed.clear()
            sole, middle = self._sole(step), self._feet[step.side].middle
            if step.support is not None:
                middle = 0.5 * (sole.min(axis=0) + sole.max(axis=0))
            points = place(np.concatenate([sole, middle[None]]), step)
            found = self._placed[step] = PlacedSole(points[:-1], points[-1])
        return found

    def polygon(self, step: Footstep) -> Array:
        """Return the corners (m, 2) of the reduced sole of a footstep in the world [m]."""
        return self.placed(step).corners

    def centre(self, step: Footstep) -> Array:
        """Return the centre (2,) of a sole in the world [m], where the ZMP is planned."""
        return self.placed(step).centre

    def edge(self, step: Footstep, edge: str) -> Corners:
        """Return the corners [m], in the frame of the sole, of the strip on which a foot rolls: "toe" or "heel"."""
        key = step.side, step.support, edge
        if key not in self._edges:
            self._edges[key] = self._edge(step, edge)
        return self._edges[key]

    def _edge(self, step: Footstep, edge: str) -> Corners:
        outline = self._feet[step.side].corners if step.support is None else np.array(step.support)
        (x0, y0), (x1, y1) = outline.min(axis=0), outline.max(axis=0)
        low, high = (x1 - EDGE, x1) if edge == "toe" else (x0, x0 + EDGE)
        strip = largest_rectangle(intersection(outline, [(low, y0), (high, y0), (high, y1), (low, y1)]))
        return tuple((float(x), float(y)) for x, y in _corners(strip))

    def _sole(self, step: Footstep) -> Array:
        """Return the reduced sole (m, 2) of a footstep in its frame: the part of it that the ground bears."""
        if step.support is None:
            return self._whole[step.side]
        key = step.side, step.support
        if key not in self._partial:
            self._partial[key] = self._borne(step.side, np.array(step.support))
        return self._partial[key]

    def _borne(self, side: str, support: Array) -> Array:
        """Reduce the part of a sole that the ground bears; by less than the margin where it is narrow."""
        sole = _corners(self._feet[side].rectangle)
        borne = intersection(sole, support)
        borne = borne if len(borne) else support  # the edge of a foot that rolls
        edges = np.roll(borne, -1, axis=0) - borne
        area = 0.5 * float(np.sum(borne[:, 0] * edges[:, 1] - borne[:, 1] * edges[:, 0]))
        # a circle of radius area / perimeter is inside of every convex polygon
        inside = area / float(np.linalg.norm(edges, axis=1).sum())
        return shrink(borne, min(self._margin, 0.5 * inside))


def _corners(rectangle: Array) -> Array:
    (x0, y0), (x1, y1) = rectangle
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
