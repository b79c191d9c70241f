"""Robots on the stage: figures with their overlays, side by side, and how they are framed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import viser

from kinodyn.description.types import Array
from kinodyn.robot import Robot
from kinodyn.viewer.figure import Figure
from kinodyn.viewer.moment import Moment
from kinodyn.viewer.overlays import Overlays, Switches
from kinodyn.viewer.stage import WORLD


class Troupe:
    """Several copies of a robot in one scene; the first is always there.

    Attributes
    ----------
    figures, overlays : lists, one entry for each robot
    moments : list of Moment
        What each shows.
    size : float
        The robot's height or reach [m], which sizes everything that is drawn with it.
    """

    def __init__(self, scene: viser.SceneApi, robot: Robot, q: Array) -> None:
        self.scene, self.robot = scene, robot
        first = Figure(scene, robot, f"{WORLD}/robot")
        low, high = first.extent(q)
        self.bounds = np.array([low, high])
        self.size = max(float((high - low).max()), 0.05)
        self.width = max(1.4 * float(high[1] - low[1]), 0.7 * self.size)
        self.figures = [first]
        self.overlays = [Overlays(scene, robot, f"{WORLD}/robot", self.size)]
        self.moments = [Moment(q)]

    def resize(self, count: int) -> None:
        """Have so many robots on the stage."""
        while len(self.figures) > max(count, 1):
            self.figures.pop().remove()
            self.overlays.pop()
            self.moments.pop()
        while len(self.figures) < count:
            k = len(self.figures)
            root = f"{WORLD}/robot {k + 1}"
            offset = (0.0, self.width * ((k + 1) // 2) * (-1.0 if k % 2 else 1.0), 0.0)
            self.figures.append(Figure(self.scene, self.robot, root, offset=offset))
            self.overlays.append(Overlays(self.scene, self.robot, root, self.size))
            self.moments.append(self.moments[0])

    def show(self, moments: Sequence[Moment], switches: Switches) -> None:
        """Draw each robot at its moment, with the layers that are on."""
        self.moments = list(moments)
        for figure, overlay, moment in zip(self.figures, self.overlays, self.moments, strict=True):
            figure.pose(moment.q)
            overlay.draw(moment, switches)

    def framed(self) -> Array:
        """Find the corners (2, 3) of everything on the stage [m]."""
        extents = [
            figure.extent(moment.q) + figure.offset for figure, moment in zip(self.figures, self.moments, strict=True)
        ]
        return np.array([np.min(extents, axis=0)[0], np.max(extents, axis=0)[1]])
