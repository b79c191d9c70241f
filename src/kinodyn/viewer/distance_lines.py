"""Lines between the parts that are nearest to each other."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import viser

from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.near import NearPair, near_pairs
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.model.robot import Robot
from kinodyn.viewer.stage import WORLD

MAX_LINES = 8
MAX_DRAWN_DISTANCE = 0.15  # largest distance that is drawn, relative to the robot's size
PERIOD = 0.06  # [s] between two measurements, which may take milliseconds each
RED, GREEN = np.array([214, 52, 42]), np.array([52, 150, 82])


class DistanceLines:
    """The layer "distances": a line for each near pair, and the smallest distance in millimetres.

    Attributes
    ----------
    pairs : list of NearPair
        What was measured last, nearest first.
    due : bool
        Whether what is drawn is out of date: it was measured too recently to measure again.
    """

    def __init__(self, scene: viser.SceneApi, robot: Robot, size: float) -> None:
        self._scene, self._robot, self._reach = scene, robot, MAX_DRAWN_DISTANCE * size
        self._thickness = 0.012 * size
        self._nodes: list[Any] = []  # handles of viser: the lines and the label
        self._measured = 0.0
        self._key: tuple[Any, ...] = ()
        self.pairs: list[NearPair] = []
        self.due = False

    def draw(self, q: Array, snapshot: WorldSnapshot, allowed: Iterable[Iterable[str]] | None) -> None:
        """Measure and draw the distances at q (nq,), unless that was just done."""
        key = (q.tobytes(), id(snapshot))
        now = time.perf_counter()
        self.due = key != self._key and now - self._measured < PERIOD
        if key == self._key or self.due:
            return
        self._key, self._measured = key, now
        self.pairs = near_pairs(
            self._robot, q, snapshot, max_distance=self._reach, allowed=allowed, exact=exact.is_available()
        )
        self._show(self.pairs[:MAX_LINES])

    @property
    def colliding(self) -> set[str]:
        """Names of the links and objects that penetrate another one."""
        return {name for pair in self.pairs if pair.distance <= 0.0 for name in pair.names}

    def hide(self) -> None:
        """Hide everything."""
        self.pairs, self._key, self.due = [], (), False
        for node in self._nodes:
            if node.visible:
                node.visible = False

    def _show(self, pairs: list[NearPair]) -> None:
        if not pairs:
            self.hide()
            return
        # the number of lines is fixed; those that are not needed have no length
        points = np.array([pair.points for pair in pairs] + [[pairs[0].points[0]] * 2] * (MAX_LINES - len(pairs)))
        share = np.array([pair.distance for pair in pairs] + [0.0] * (MAX_LINES - len(pairs))) / self._reach
        colours = RED + np.clip(share, 0.0, 1.0)[:, None] * (GREEN - RED)
        colours = np.repeat(colours[:, None], 2, axis=1).astype(np.uint8)
        text = f"{1e3 * pairs[0].distance:.1f} mm"
        if not self._nodes:
            self._nodes = [
                self._scene.add_line_segments(f"{WORLD}/distances", points, colours, thickness=self._thickness),
                self._scene.add_label(f"{WORLD}/distance", text, font_screen_scale=0.9, depth_test=False),
            ]
        lines, label = self._nodes
        lines.points, lines.colors = points.astype(np.float32), colours
        label.text, label.position = text, points[0].mean(axis=0)
        for node in self._nodes:
            if not node.visible:
                node.visible = True
