"""ObjectStore: objects by name that threads may change, with a version and immutable snapshots."""

from __future__ import annotations

from threading import RLock

from kinodyn.arrays import Array
from kinodyn.collision.padding import NO_PADDING, LinkPadding
from kinodyn.collision.shapes import Shape
from kinodyn.collision.snapshot import WorldObject, WorldSnapshot
from kinodyn.errors import InputError, unknown_name


class ObjectStore:
    """The objects of a world by name; every change is atomic and increases the version.

    Parameters
    ----------
    objects
        Those at the beginning, version 0.
    padding
        Of the links of the robot.

    Attributes
    ----------
    lock : RLock
        Held while an object is read and replaced.
    version : int
        Increases with every change.
    """

    def __init__(self, objects: tuple[WorldObject, ...] = (), padding: LinkPadding = NO_PADDING) -> None:
        self.lock, self.version = RLock(), 0
        self._padding = padding
        self._objects = {thing.name: thing for thing in objects}
        self._snapshot: WorldSnapshot | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the objects, in the order in which they were added."""
        with self.lock:
            return tuple(self._objects)

    def __getitem__(self, name: str) -> WorldObject:
        try:
            return self._objects[name]
        except (KeyError, TypeError):
            raise unknown_name("object", name, self.names) from None

    def __contains__(self, name: str) -> bool:
        return name in self._objects

    def __len__(self) -> int:
        return len(self._objects)

    def add(self, name: str, shape: Shape, pose: Array) -> None:
        """Add an object under a name that no other one has."""
        if type(name) is not str or not name:
            raise InputError(f"name must be a nonempty string, got {name!r}")
        with self.lock:
            if name in self._objects:
                raise InputError(f"there already is an object {name!r}; choose another name, or remove it first")
            self.put(WorldObject(name, shape, pose))

    def put(self, thing: WorldObject) -> None:
        """Add or replace an object."""
        with self.lock:
            self._objects[thing.name] = thing
            self._changed()

    def remove(self, name: str) -> None:
        """Remove an object."""
        with self.lock:
            del self._objects[self[name].name]
            self._changed()

    def pad(self, padding: LinkPadding) -> None:
        """Replace the padding of the links of the robot."""
        with self.lock:
            self._padding = padding
            self._changed()

    def snapshot(self) -> WorldSnapshot:
        """Return the current objects: the same snapshot as before if nothing has changed."""
        with self.lock:
            if self._snapshot is None:
                self._snapshot = WorldSnapshot(tuple(self._objects.values()), self.version, self._padding)
            return self._snapshot

    def _changed(self) -> None:
        self.version += 1
        self._snapshot = None
