"""Collision objects of a scene, in the world and attached to links, as objects of a `World`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.shapes import Shape
from kinodyn.collision.world import World
from kinodyn.description.packages import PackageFinder
from kinodyn.errors import InputError
from kinodyn.interop.moveit.fields import Fields
from kinodyn.interop.moveit.poses import Frames, read_pose
from kinodyn.interop.moveit.solids import read_solids

_ADD = ("", "0", "2", "add", "append")  # the constants of moveit_msgs/CollisionObject, and their names


class Objects:
    """Adds the objects of messages to a world.

    An object with several shapes becomes as many objects of the world: `shelf` becomes `shelf/0`, `shelf/1`, ...

    Attributes
    ----------
    world : World
    names : dict
        Names in the world of each object.
    frames : Frames
        The frames that poses may refer to. Objects and their subframes are among them unless they are attached.
    """

    def __init__(self, frames: Frames, finder: PackageFinder) -> None:
        self.world = World()
        self.names: dict[str, tuple[str, ...]] = {}
        self.frames, self._finder = frames, finder

    def add(self, fields: Fields) -> tuple[str, ...]:
        """Add a moveit_msgs/CollisionObject and return the names of its parts."""
        name = fields.text("id")
        if not name:
            raise fields.error("id", name, "the name of the object")
        operation = fields.raw("operation")
        if operation is not None and str(operation).lower() not in _ADD:
            raise fields.error("operation", operation, "add or append: other operations change an earlier scene")
        T_world_object = self._pose(fields)
        solids = [(shape, T_world_object @ T) for shape, T in read_solids(fields, self._finder)]
        if not solids:
            raise fields.fault("", f"the object {name!r} has no shapes; give primitives, meshes or planes")
        self._put(fields, name, solids)
        self.frames.add(name, T_world_object)
        for subframe, T in _subframes(fields):
            self.frames.add(f"{name}/{subframe}", T_world_object @ T)
        return self.names[name]

    def attach(self, fields: Fields) -> None:
        """Attach a moveit_msgs/AttachedCollisionObject.

        One without shapes is an object of the world; one with shapes replaces an earlier object of its name.
        """
        link, thing = fields.text("link_name"), fields.child("object")
        name = thing.text("id")
        shapeless = not any(thing.raw(kind) for kind in ("primitives", "meshes", "planes"))
        if not shapeless:
            self._remove(name)
        parts = self.names[name] if shapeless and name in self.names else self.add(thing)
        self.frames.remove_below(name)
        for part in parts:
            T_link_part = self.frames.relative(link, self.world[part].pose)
            self.world.attach(part, link, T_link_part, touch_links=fields.texts("touch_links"))

    def _remove(self, name: str) -> None:
        self.frames.remove_below(name)
        for part in self.names.pop(name, ()):
            self.world.remove(part)

    def _pose(self, fields: Fields) -> Array:
        return np.asarray(self.frames.header_pose(fields) @ read_pose(fields.child("pose")))

    def _put(self, fields: Fields, name: str, solids: list[tuple[Shape, Array]]) -> None:
        """Add the parts; if the object exists already, they are appended to its parts."""
        before = self.names.get(name, ())
        if before and str(fields.raw("operation")).lower() not in ("2", "append"):
            raise fields.fault("id", f"{name!r} is the name of an earlier object; names must differ")
        single = len(solids) == 1 and not before
        parts = (name,) if single else tuple(f"{name}/{len(before) + k}" for k in range(len(solids)))
        for part, (shape, pose) in zip(parts, solids, strict=True):
            try:
                self.world.add(part, shape, pose)
            except InputError as cause:
                raise fields.fault("", str(cause)) from cause
        self.names[name] = (*before, *parts)


def _subframes(fields: Fields) -> Iterator[tuple[str, Array]]:
    """Yield the names of subframes and their poses (4, 4) in the object."""
    names, poses = fields.texts("subframe_names"), [read_pose(part) for part in fields.children("subframe_poses")]
    if len(names) != len(poses):
        raise fields.error("subframe_names", names, f"one name for each of the {len(poses)} subframe_poses")
    return zip(names, poses, strict=True)
