"""Robots on the stage: figures with their overlays, side by side, and how they are framed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import viser

from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.viewer.figure import Figure
from kinodyn.viewer.moment import Moment
from kinodyn.viewer.overlays import Overlays, Switches
from kinodyn.viewer.playback import Take
from kinodyn.viewer.stage import WORLD

GREY = (206, 211, 219)
GAP = 0.08  # of its size: how far above its head a robot's name is written


class Troupe:
    """Several copies of a robot in one scene; the first is always there.

    Attributes
    ----------
    figures, overlays : lists, one entry for each robot
    moments : list of Moment
        What each shows.
    size : float
        The robot's height or reach [m], which sizes everything that is drawn with it.
    lowest : float
        The lowest place of the terrain that is drawn [m]; 0 without any.
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
        top = np.array([*self.bounds.mean(axis=0)[:2], high[2] + GAP * self.size])
        self._above = top - q[:3] if robot.base == "floating" else top  # where its name is, seen from its base
        self.lowest = 0.0
        self._names: list[viser.LabelHandle] = []
        self._terrains: list[viser.MeshHandle] = []

    def cast(self, takes: Sequence[Take]) -> None:
        """Have a robot for each recording, on the ground it was recorded on, and its name above it if it is not alone.

        Without recordings one robot is left, on level ground.
        """
        for node in (*self._names, *self._terrains):
            node.remove()
        self._names, self._terrains, self.lowest = [], [], 0.0
        self._resize(len(takes))
        for figure, take in zip(self.figures, takes, strict=False):
            if take.recording.terrain:
                self._terrains.append(self._terrain(figure, take.recording.terrain))
                self.lowest = min(self.lowest, float(take.recording.terrain["vertices"][:, 2].min()))
            if len(takes) > 1:
                label = self.scene.add_label(
                    f"{figure.root}/name", take.name, position=self._above, anchor="bottom-center"
                )
                self._names.append(label)

    def _terrain(self, figure: Figure, terrain: Mapping[str, Array]) -> viser.MeshHandle:
        return self.scene.add_mesh_simple(
            f"{figure.root}/terrain",
            terrain["vertices"].astype(np.float32),
            terrain["faces"].astype(np.uint32),
            color=GREY,
            flat_shading=True,
            side="double",
            cast_shadow=False,
        )

    def _resize(self, count: int) -> None:
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
        if self.robot.base == "floating":
            for name, moment in zip(self._names, self.moments, strict=False):
                name.position = moment.q[:3] + self._above

    def framed(self) -> Array:
        """Find the corners (2, 3) of everything on the stage [m]."""
        extents = [
            figure.extent(moment.q) + figure.offset for figure, moment in zip(self.figures, self.moments, strict=True)
        ]
        return np.array([np.min(extents, axis=0)[0], np.max(extents, axis=0)[1]])
