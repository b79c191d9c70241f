"""Read the shapes of URDF links: boxes, spheres, cylinders, capsules and meshes, with their colours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.messages import listed, warn_missing_meshes
from kinodyn.description.packages import PackageFinder
from kinodyn.description.types import Shape, ShapeKind
from kinodyn.description.xml_tree import Node

Colour = tuple[float, float, float, float]

_GEOMETRIES = ("box", "sphere", "cylinder", "capsule", "mesh")


def placement(node: Node) -> Array:
    """Return the pose (4, 4) of an element's `<origin>`: xyz [m], rpy [rad] about fixed axes; identity without one."""
    origin = node.child("origin")
    if origin is None:
        return np.eye(4)
    return pose_matrix(origin.numbers("xyz", 3, (0.0, 0.0, 0.0)), origin.numbers("rpy", 3, (0.0, 0.0, 0.0)))


def pose_matrix(xyz: tuple[float, ...], rpy: tuple[float, ...]) -> Array:
    """Compute Rz(yaw) Ry(pitch) Rx(roll) directly; SciPy takes seconds for some thousand joints."""
    (x, y, z), (roll, pitch, yaw) = xyz, rpy
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr, x],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr, y],
            [-sp, cp * sr, cp * cr, z],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


class ShapeReader:
    """Reads the shapes of one robot, and collects the meshes that were not found."""

    def __init__(self, robot: Node, finder: PackageFinder) -> None:
        self._finder = finder
        self._colours = _named_colours(robot)
        self._meshes: dict[str, Path | None] = {}

    def read(self, link: Node, tag: str) -> tuple[Shape, ...]:
        """Read the `visual` or the `collision` shapes of a link."""
        return tuple(self._shape(node) for node in link.all(tag))

    def warn_missing_meshes(self, file: Path | None) -> None:
        """Warn of the meshes that are left out."""
        warn_missing_meshes(self._meshes, self._finder.outside, file)

    def _shape(self, node: Node) -> Shape:
        geometry = node.need("geometry")
        found = [child for child in geometry.children if child.tag in _GEOMETRIES]
        if len(found) != 1:
            received = listed(child.tag for child in geometry.children) or "nothing"
            raise geometry.error(f"contains {received}; give one of {', '.join(_GEOMETRIES)}")
        kind, size = _kind_and_size(found[0])
        uri = found[0].word("filename") if kind == "mesh" else ""
        return Shape(
            kind=kind,
            size=size,
            T_link_shape=placement(node),
            name=node.attributes.get("name", ""),
            mesh=self._find(uri) if uri else None,
            uri=uri,
            rgba=self._colour(node),
        )

    def _find(self, uri: str) -> Path | None:
        if uri not in self._meshes:
            self._meshes[uri] = self._finder.find(uri)
        return self._meshes[uri]

    def _colour(self, node: Node) -> Colour | None:
        material = node.child("material")
        if material is None:
            return None
        return _own_colour(material) or self._colours.get(material.attributes.get("name", ""))


def _kind_and_size(node: Node) -> tuple[ShapeKind, tuple[float, ...]]:
    if node.tag == "mesh":
        return "mesh", node.numbers("scale", 3, (1.0, 1.0, 1.0))
    if node.tag == "box":
        return "box", _lengths(node, node.numbers("size", 3))
    if node.tag == "sphere":
        return "sphere", _lengths(node, (node.number("radius"),))
    kind: ShapeKind = "cylinder" if node.tag == "cylinder" else "capsule"
    return kind, _lengths(node, (node.number("radius"), node.number("length")))


def _lengths(node: Node, values: tuple[float, ...]) -> tuple[float, ...]:
    if min(values) < 0.0:
        raise node.error(f"has a negative length in {values}; sizes are in metres and at least 0")
    return values


def _own_colour(material: Node) -> Colour | None:
    colour = material.child("color")
    if colour is None:
        return None
    red, green, blue, alpha = colour.numbers("rgba", 4)
    return red, green, blue, alpha


def _named_colours(robot: Node) -> dict[str, Colour]:
    """Collect the named colours: those of the robot first, then those inside links."""
    colours: dict[str, Colour] = {}
    for material in _materials(robot):
        colour = _own_colour(material)
        name = material.attributes.get("name")
        if colour is not None and name:
            colours.setdefault(name, colour)
    return colours


def _materials(robot: Node) -> Iterator[Node]:
    yield from robot.all("material")
    for link in robot.all("link"):
        for shape in link.children:
            if shape.tag in ("visual", "collision"):
                yield from shape.all("material")
