"""Several copies of a robot side by side, each with its overlays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import viser

from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.viewer.collision_layers import CollisionLayers
from kinodyn.viewer.overlays import Layers, Overlays
from kinodyn.viewer.playback import Track
from kinodyn.viewer.robot_visual import RobotVisual
from kinodyn.viewer.snapshot import Snapshot
from kinodyn.viewer.stage import WORLD

GREY = (206, 211, 219)
LABEL_GAP = 0.08  # height of a robot's name above it, relative to the robot's size


class RobotGroup:
    """Several copies of a robot in one scene; the first always exists.

    Attributes
    ----------
    visuals, overlays, collisions : lists, one entry per robot
    snapshots : list of Snapshot
        The state that each robot shows.
    size : float
        The robot's height or reach [m]; markers are scaled by it.
    lowest : float
        The lowest point of the terrain [m]; 0 without a terrain.
    """

    def __init__(self, scene: viser.SceneApi, robot: Robot, q: Array) -> None:
        self.scene, self.robot = scene, robot
        first = RobotVisual(scene, robot, f"{WORLD}/robot")
        low, high = first.bounding_box(q)
        self.bounds = np.array([low, high])
        self.size = max(float((high - low).max()), 0.05)
        self.width = max(1.4 * float(high[1] - low[1]), 0.7 * self.size)
        self.visuals = [first]
        self.overlays = [Overlays(scene, robot, f"{WORLD}/robot", self.size)]
        self.collisions = [CollisionLayers(scene, first)]
        self.snapshots = [Snapshot(q)]
        top = np.array([*self.bounds.mean(axis=0)[:2], high[2] + LABEL_GAP * self.size])
        self._above = top - q[:3] if robot.base == "floating" else top  # position of its name, relative to its base
        self.lowest = 0.0
        self._names: list[viser.LabelHandle] = []
        self._terrains: list[viser.MeshHandle] = []

    def set_tracks(self, tracks: Sequence[Track]) -> None:
        """Show one robot per track on the terrain of its recording, with its name above it if there are several.

        Without tracks one robot on level ground is left.
        """
        for node in (*self._names, *self._terrains):
            node.remove()
        self._names, self._terrains, self.lowest = [], [], 0.0
        self._resize(len(tracks))
        for visual, track in zip(self.visuals, tracks, strict=False):
            if track.recording.terrain:
                self._terrains.append(self._terrain(visual, track.recording.terrain))
                self.lowest = min(self.lowest, float(track.recording.terrain["vertices"][:, 2].min()))
            if len(tracks) > 1:
                label = self.scene.add_label(
                    f"{visual.root}/name", track.name, position=self._above, anchor="bottom-center"
                )
                self._names.append(label)

    def _terrain(self, visual: RobotVisual, terrain: Mapping[str, Array]) -> viser.MeshHandle:
        return self.scene.add_mesh_simple(
            f"{visual.root}/terrain",
            terrain["vertices"].astype(np.float32),
            terrain["faces"].astype(np.uint32),
            color=GREY,
            flat_shading=True,
            side="double",
            cast_shadow=False,
        )

    def _resize(self, count: int) -> None:
        while len(self.visuals) > max(count, 1):
            self.visuals.pop().remove()
            self.overlays.pop()
            self.collisions.pop()
            self.snapshots.pop()
        while len(self.visuals) < count:
            k = len(self.visuals)
            root = f"{WORLD}/robot {k + 1}"
            offset = (0.0, self.width * ((k + 1) // 2) * (-1.0 if k % 2 else 1.0), 0.0)
            self.visuals.append(RobotVisual(self.scene, self.robot, root, offset=offset))
            self.overlays.append(Overlays(self.scene, self.robot, root, self.size))
            self.collisions.append(CollisionLayers(self.scene, self.visuals[-1]))
            self.snapshots.append(self.snapshots[0])

    def draw(self, snapshots: Sequence[Snapshot], layers: Layers) -> None:
        """Draw each robot at its snapshot, with the layers that are on."""
        self.snapshots = list(snapshots)
        parts = zip(self.visuals, self.overlays, self.collisions, self.snapshots, strict=True)
        for visual, overlay, collision, snapshot in parts:
            visual.pose(snapshot.q)
            overlay.draw(snapshot, layers)
            collision.draw(layers.on)
        if self.robot.base == "floating":
            for name, snapshot in zip(self._names, self.snapshots, strict=False):
                name.position = snapshot.q[:3] + self._above

    def bounding_box(self) -> Array:
        """Return the corners (2, 3) of a box around all robots, and the humans whom they follow [m]."""
        boxes = [
            visual.bounding_box(snapshot.q) + visual.offset
            for visual, snapshot in zip(self.visuals, self.snapshots, strict=True)
        ]
        for visual, overlay, snapshot in zip(self.visuals, self.overlays, self.snapshots, strict=True):
            points = list(overlay.human(snapshot).values())
            boxes += [np.array([np.min(points, axis=0), np.max(points, axis=0)]) + visual.offset] if points else []
        return np.array([np.min(boxes, axis=0)[0], np.max(boxes, axis=0)[1]])
