"""WorldSnapshot: the objects of a world at one moment, immutable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kinodyn.arrays import Array, copied_on_access, stored
from kinodyn.collision.padding import NO_PADDING, LinkPadding
from kinodyn.collision.shapes import Shape
from kinodyn.display import displayed
from kinodyn.errors import unknown_name


@displayed
@copied_on_access("pose")
@dataclass(frozen=True, eq=False, init=False)
class WorldObject:
    """An object of a world.

    Attributes
    ----------
    name : str
    shape : Shape
    pose : (4, 4) array
        Pose of the shape in the world, or in the frame that it is attached to; a copy.
    attached_to : str or None
        The frame of the robot that it moves with.
    touch_links : tuple of str
        Links that may touch an attached object.
    """

    name: str
    shape: Shape
    pose: Array
    attached_to: str | None = None
    touch_links: tuple[str, ...] = ()

    def __init__(
        self, name: str, shape: Shape, pose: Array, attached_to: str | None = None, touch_links: tuple[str, ...] = ()
    ) -> None:
        # planners make worlds thousands of times a second: this takes half the time of a generated `__init__`
        self.__dict__.update(name=name, shape=shape, pose=pose, attached_to=attached_to, touch_links=touch_links)

    def __repr__(self) -> str:
        place = "" if self.attached_to is None else f", attached_to={self.attached_to!r}"
        x, y, z = stored(self, "pose")[:3, 3]
        return f"WorldObject({self.name!r}, {type(self.shape).__name__}, at {x:.4g} {y:.4g} {z:.4g}{place})"


@displayed
class WorldSnapshot:
    """The objects of a world at one moment. It never changes, so threads may share it.

    Parameters
    ----------
    objects : tuple of WorldObject
        In the order in which they were added.
    version
        Version of the world, which increases with every change.
    padding
        By how much links are enlarged where they are checked against objects, see `World.pad_links`.
    """

    objects: tuple[WorldObject, ...]
    version: int
    padding: LinkPadding

    def __init__(
        self, objects: tuple[WorldObject, ...] = (), version: int = 0, padding: LinkPadding = NO_PADDING
    ) -> None:
        self.__dict__.update(objects=objects, version=version, padding=padding)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a WorldSnapshot never changes: {name} cannot be set; change the World")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a WorldSnapshot never changes: {name} cannot be deleted")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the objects."""
        return tuple(self._by_name)

    @cached_property
    def _by_name(self) -> dict[str, WorldObject]:
        return {thing.name: thing for thing in self.objects}

    def __getitem__(self, name: str) -> WorldObject:
        if not isinstance(name, str) or name not in self._by_name:
            raise unknown_name("object", name, self._by_name)
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._by_name

    def __len__(self) -> int:
        return len(self.objects)

    def __iter__(self) -> Iterator[WorldObject]:
        return iter(self.objects)

    def __repr__(self) -> str:
        return f"WorldSnapshot({self.summary()}; version {self.version})"

    def summary(self) -> str:
        """Return the number of objects and the first few names as text.

        Returns
        -------
        text : str
        """
        count = len(self.objects)
        shown = ", ".join(thing.name for thing in self.objects[:6]) + (", ..." if count > 6 else "")
        return f"{count} object{'s' * (count != 1)}" + (f": {shown}" if count else "")
