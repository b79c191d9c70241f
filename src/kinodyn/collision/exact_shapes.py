"""The exact shapes of links and objects at one configuration."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.collision.exact import Placed, placed_links
from kinodyn.collision.geometry import robot_geometry
from kinodyn.collision.padding import padded_shape
from kinodyn.collision.shapes import Shape
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.model.robot import Robot

Pair = tuple[str, str]
Parts = tuple[Placed, ...]


class ExactShapes:
    """The shapes of links and objects at one configuration q (nq,), in the world."""

    def __init__(self, robot: Robot, snapshot: WorldSnapshot, q: Array) -> None:
        self._robot, self._snapshot, self._q = robot, snapshot, q
        self._links = placed_links(robot, q)
        self._objects: dict[str, Parts] = {}

    def of_pair(self, pair: Pair) -> tuple[Parts, Parts]:
        """Return the shapes of two links or objects, padded if the other one is an obstacle."""
        first, second = pair
        obstacles = _is_obstacle(self._snapshot, first), _is_obstacle(self._snapshot, second)
        return self._of(first, obstacles[1]), self._of(second, obstacles[0])

    def _of(self, name: str, padded: bool) -> Parts:
        parts = self._links.get(name) or self._object(name)
        if not (padded and self._snapshot.padding) or _is_obstacle(self._snapshot, name):
            return parts
        own = self._snapshot.padding.of(_holder(self._snapshot, name))
        larger = [padded_shape(part.shape, own) for part in parts]
        return tuple(Placed(to.shape, part.pose, to.margin) for to, part in zip(larger, parts, strict=True))

    def _object(self, name: str) -> Parts:
        if name not in self._objects:
            thing = self._snapshot[name]
            frame = thing.attached_to
            T = np.eye(4) if frame is None else kinematics.pose(self._robot, self._q, frame)
            self._objects[name] = (Placed(thing.shape, T @ thing.pose),)
        return self._objects[name]


def named_shapes(robot: Robot, snapshot: WorldSnapshot, names: Collection[str]) -> list[Shape]:
    """Return the shapes of some links and objects, those that are padded in both forms."""
    own = [(part.link, part.shape) for part in robot_geometry(robot) if part.link in names]
    own += [(thing.name, thing.shape) for thing in snapshot.objects if thing.name in names]
    found = [shape for _, shape in own]
    if snapshot.padding:
        found += [
            padded_shape(shape, snapshot.padding.of(_holder(snapshot, name))).shape
            for name, shape in own
            if not _is_obstacle(snapshot, name)
        ]
    return found


def _is_obstacle(snapshot: WorldSnapshot, name: str) -> bool:
    return name in snapshot and snapshot[name].attached_to is None


def _holder(snapshot: WorldSnapshot, name: str) -> str:
    """Return the link whose padding a link or an attached object has."""
    return str(snapshot[name].attached_to) if name in snapshot else name
