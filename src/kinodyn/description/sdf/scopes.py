"""Scopes and frames: poses are relative to named frames, in the scope of a model or in one nested in it.

Reference: "Pose frame semantics", http://sdformat.org/tutorials?tut=pose_frame_semantics
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.sdf import values
from kinodyn.description.sdf.includes import Includer, Model
from kinodyn.description.xml_tree import Node
from kinodyn.errors import unknown_name
from kinodyn.spatial.poses import inverse_pose

MODEL = "__model__"
WORLD = "world"
DELIMITER = "::"
KINDS = ("link", "joint", "frame")


@dataclass(frozen=True, eq=False)
class Entry:
    """A frame of a scope: that of a link, of a joint or a `<frame>`, or of a nested model.

    `T` is its pose in the frame `relative_to`; `attached_to` is the frame that moves it, empty for the model's.
    """

    node: Node
    kind: str
    T: Array
    relative_to: str
    attached_to: str = ""


class Scope:
    """A model with its frames, and the models nested in it.

    Attributes
    ----------
    model : Model
    prefix : str
        Of names in the whole robot, such as "arm::"; empty for the outermost model.
    entries : dict of str -> Entry
    nested : dict of str -> Scope
    T_top : (4, 4)
        Pose of its frame in the outermost model.
    """

    def __init__(self, model: Model, includer: Includer, prefix: str = "", depth: int = 0) -> None:
        self.model, self.prefix, self.T_top = model, prefix, np.eye(4)
        self.nested: dict[str, Scope] = {}
        self.entries: dict[str, Entry] = {}
        self._poses: dict[str, Array] = {}
        inner = includer.models(model.node, model.version, depth)
        for each in inner:
            scope = Scope(each, includer, f"{prefix}{each.name}{DELIMITER}", depth + 1)
            self._add(each.name, Entry(each.node, "model", each.pose.T, each.pose.relative_to))
            self.nested[each.name] = scope
        for node in model.node.children:
            if node.tag in KINDS:
                self._add(node.word("name"), _entry(node))

    def _add(self, name: str, entry: Entry) -> None:
        if name in self.entries:
            raise entry.node.error(f"name {name!r} is used twice in model {self.model.name!r}; rename one")
        if DELIMITER in name or name in (MODEL, WORLD):
            raise entry.node.error(f"name must not be {MODEL}, {WORLD} or contain {DELIMITER}, got {name!r:.60}")
        self.entries[name] = entry

    def all(self) -> Iterator[Scope]:
        """Iterate over this scope and those nested in it, at any depth."""
        yield self
        for scope in self.nested.values():
            yield from scope.all()

    def place_nested(self) -> None:
        """Find the pose of each nested model in the outermost one."""
        for name, scope in self.nested.items():
            scope.T_top = self.T_top @ self.pose(name, self.entries[name].node)
            scope.place_nested()

    def pose(self, name: str, node: Node) -> Array:
        """Return the pose (4, 4) of a frame in the frame of this model; `node` is where an error points."""
        chain: list[str] = []
        while name not in ("", MODEL) and name not in self._poses:
            if name in chain:
                raise node.error(f"poses must not be relative to each other in a cycle, got {' -> '.join(chain[:6])}")
            chain.append(name)
            outer, delimiter, _ = name.partition(DELIMITER)
            name = outer if delimiter else self._entry(name, node).relative_to
        T = np.eye(4) if name in ("", MODEL) else self._poses[name]
        for each in reversed(chain):
            T = T @ self._step(each, node)
            self._poses[each] = T
        return T

    def _step(self, name: str, node: Node) -> Array:
        """Return the pose of a frame in the one it is relative to."""
        outer, delimiter, inner = name.partition(DELIMITER)
        if delimiter:
            return self._nested(outer, name, node).pose(inner, node)
        entry = self.entries[name]
        if entry.kind != "model":
            return entry.T
        scope = self.nested[name]
        return entry.T @ inverse_pose(scope.pose(scope.model.placement, entry.node))

    def top_pose(self, name: str, node: Node) -> Array:
        """Return the pose (4, 4) of a frame in the frame of the outermost model."""
        return self.T_top @ self.pose(name, node)

    def link(self, name: str, node: Node) -> str:
        """Return the link to which a frame is attached, by its name in the whole robot."""
        scope, seen = self, set[tuple[str, str]]()
        while True:
            if (scope.prefix, name) in seen:
                raise node.error(f"frames must not be attached to each other in a cycle, as {name!r} is")
            seen.add((scope.prefix, name))
            outer, delimiter, inner = name.partition(DELIMITER)
            if delimiter:
                scope, name = scope._nested(outer, name, node), inner
            elif name in ("", MODEL):
                scope, name = scope._canonical(node)
            elif (entry := scope._entry(name, node)).kind == "link":
                return f"{scope.prefix}{name}"
            elif entry.kind == "model":
                scope, name = scope.nested[name], MODEL
            else:
                name = entry.attached_to

    def _canonical(self, node: Node) -> tuple[Scope, str]:
        """Return where the frame of the model is attached: its canonical link, by default the first one."""
        written = self.model.node.attributes.get("canonical_link", "").strip()
        if written:
            return self, written
        links = [name for name, entry in self.entries.items() if entry.kind == "link"]
        if links:
            return self, links[0]
        if not self.nested:
            raise node.error(f"model {self.model.name!r} must have a link")
        return next(iter(self.nested.values())), MODEL

    def _entry(self, name: str, node: Node) -> Entry:
        if name not in self.entries:
            raise node.error(str(unknown_name("frame", name, [MODEL, *self.entries])))
        return self.entries[name]

    def _nested(self, outer: str, name: str, node: Node) -> Scope:
        if outer not in self.nested:
            raise node.error(str(unknown_name("nested model", outer, list(self.nested))) + f", in {name!r}")
        return self.nested[outer]


def _entry(node: Node) -> Entry:
    """Read a frame: by default, that of a joint is relative to its child, a `<frame>` to what it is attached to."""
    pose = values.pose(node)
    if node.tag == "link":
        return Entry(node, "link", pose.T, pose.relative_to)
    if node.tag == "joint":
        child = values.text(node, "child")
        return Entry(node, "joint", pose.T, pose.relative_to or child, child)
    attached_to = node.attributes.get("attached_to", "").strip()
    return Entry(node, "frame", pose.T, pose.relative_to or attached_to, attached_to)
