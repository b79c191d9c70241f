"""The objects of a world in the scene."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import viser

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.collision.shapes import PointCloud
from kinodyn.collision.snapshot import WorldObject, WorldSnapshot
from kinodyn.model.robot import Robot
from kinodyn.viewer.collision_meshes import add_shape, drawn_mesh
from kinodyn.viewer.colours import Colour
from kinodyn.viewer.snapshot import wxyz_from_matrix
from kinodyn.viewer.stage import WORLD

OBSTACLE: Colour = (206, 186, 152)
ATTACHED: Colour = (122, 170, 128)
COLLIDING: Colour = (214, 72, 62)
MAX_OBJECT_SIZE = 10.0  # [m] larger objects, such as a floor, do not count for the camera


class WorldVisual:
    """The objects of a world in the scene, drawn once and then moved.

    Parameters
    ----------
    scene : viser.SceneApi
    robot : Robot
        Attached objects move with its frames.
    on_click : function of a name
        Called when an object is clicked.
    """

    def __init__(self, scene: viser.SceneApi, robot: Robot, on_click: Callable[[str], None]) -> None:
        self._scene, self._robot, self._on_click = scene, robot, on_click
        self._root = scene.add_frame(f"{WORLD}/obstacles", show_axes=False)
        self.nodes: dict[str, Any] = {}  # handles of viser
        self._objects: dict[str, WorldObject] = {}
        self._count = 0

    def draw(self, snapshot: WorldSnapshot, q: Array, colliding: Collection[str] = ()) -> None:
        """Draw the objects of a snapshot with the robot at q (nq,); those that collide are red."""
        shapes = {thing.name: thing.shape for thing in snapshot}
        for name in [name for name, thing in self._objects.items() if shapes.get(name) is not thing.shape]:
            self.nodes.pop(name).remove()
            del self._objects[name]
        for thing in snapshot:
            if thing.name not in self.nodes:
                self.nodes[thing.name] = self._add(thing)
            self._place(thing, q)
            self._paint(self.nodes[thing.name], thing, thing.name in colliding)
        self._objects = {thing.name: thing for thing in snapshot}

    def bounding_box(self) -> Array | None:
        """Return the corners (2, 3) of a box around the objects that are not attached [m]; None without any."""
        boxes = [_bounds(thing) for thing in self._objects.values() if thing.attached_to is None]
        seen = [box for box in boxes if np.ptp(box, axis=0).max() < MAX_OBJECT_SIZE]
        return np.array([np.min(seen, axis=0)[0], np.max(seen, axis=0)[1]]) if seen else None

    def _add(self, thing: WorldObject) -> Any:
        self._count += 1  # a name that is used again is another node: viser removes nodes later
        name = f"{WORLD}/obstacles/{self._count} {thing.name.replace('/', '|')}"
        node = add_shape(self._scene, name, thing.shape, thing.pose, OBSTACLE)
        if not isinstance(thing.shape, PointCloud):
            node.on_click(lambda _: self._on_click(thing.name))
        return node

    def _place(self, thing: WorldObject, q: Array) -> None:
        before = self._objects.get(thing.name)
        if thing.attached_to is None and before is not None and before.pose is thing.pose:
            return
        T = thing.pose if thing.attached_to is None else self._in_world(thing, q)
        node = self.nodes[thing.name]
        node.wxyz, node.position = wxyz_from_matrix(T[:3, :3]), T[:3, 3]

    def _in_world(self, thing: WorldObject, q: Array) -> Array:
        return np.asarray(kinematics.pose(self._robot, q, str(thing.attached_to)) @ thing.pose)

    def _paint(self, node: Any, thing: WorldObject, colliding: bool) -> None:
        colour = COLLIDING if colliding else OBSTACLE if thing.attached_to is None else ATTACHED
        if isinstance(thing.shape, PointCloud):
            if node.colors.tolist() != list(colour):
                node.colors = np.array(colour, dtype=np.uint8)
        elif tuple(node.color) != colour:
            node.color = colour


def _bounds(thing: WorldObject) -> Array:
    shape = thing.shape
    points = shape.points if isinstance(shape, PointCloud) else drawn_mesh(shape).vertices
    placed = points @ thing.pose[:3, :3].T + thing.pose[:3, 3]
    return np.array([placed.min(axis=0), placed.max(axis=0)])
