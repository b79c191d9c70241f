"""Read links of SDF: mass properties, visual and collision shapes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.messages import counted, listed, warn, warn_missing_meshes
from kinodyn.description.packages import PackageFinder
from kinodyn.description.sdf import values
from kinodyn.description.sdf.scopes import Scope
from kinodyn.description.shape_inertias import inertia_of_shape
from kinodyn.description.solids import combine
from kinodyn.description.types import Inertia, Link, Shape, ShapeKind
from kinodyn.description.xml_tree import Node
from kinodyn.spatial.poses import inverse_pose

DENSITY = 1000.0  # [kg/m^3], of collision shapes whose inertia is computed
SIZES: dict[str, tuple[tuple[str, int], ...]] = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
    "ellipsoid": (("radii", 3),),
}


class LinkReader:
    """Reads the links of one robot, and collects what it warns of."""

    def __init__(self, finder: PackageFinder) -> None:
        self._finder = finder
        self._meshes: dict[str, Path | None] = {}
        self._skipped: list[str] = []
        self._default_inertias: list[str] = []

    def read(self, node: Node, scope: Scope) -> Link:
        """Read one `<link>`."""
        name = f"{scope.prefix}{node.word('name')}"
        T_link_model = inverse_pose(scope.pose(node.word("name"), node))
        collisions = self._shapes(node, "collision", scope, T_link_model)
        return Link(
            name=name,
            inertia=self._inertia(node, name, collisions),
            visuals=tuple(shape for _, shape in self._shapes(node, "visual", scope, T_link_model)),
            collisions=tuple(shape for _, shape in collisions),
            line=node.line,
        )

    def warn_questionable(self, file: Path | None) -> None:
        """Warn once of each: missing meshes, shapes that are left out, links with the inertia that SDF assumes."""
        warn_missing_meshes(self._meshes, self._finder.outside, file)
        if self._skipped:
            warn(f"{counted(len(self._skipped), 'shape')} not supported and left out: {listed(self._skipped)}", file)
        if self._default_inertias:
            message = f"give <inertial> to {counted(len(self._default_inertias), 'link')}, taken as 1 kg and 1 kg m^2"
            warn(f"{message}: {listed(self._default_inertias)}", file)

    def _inertia(self, link: Node, name: str, collisions: list[tuple[Node, Shape]]) -> Inertia:
        """Read `<inertial>`; without one SDF says 1 kg and 1 kg m^2 about each axis."""
        inertial = link.child("inertial")
        if inertial is None:
            self._default_inertias.append(name)
            return Inertia(1.0, np.zeros(3), np.eye(3))
        if values.boolean(inertial, inertial.attributes.get("auto", "false")):
            return _computed(inertial, collisions)
        pose = values.pose(inertial)
        if pose.relative_to:
            raise inertial.error("the pose of <inertial> is relative to its link; remove relative_to")
        R = pose.T[:3, :3]
        matrix = R @ _matrix(inertial.child("inertia")) @ R.T
        mass = values.number(inertial, "mass", 1.0)
        return Inertia(mass, pose.T[:3, 3].copy(), (matrix + matrix.T) / 2.0)

    def _shapes(self, link: Node, tag: str, scope: Scope, T_link_model: Array) -> list[tuple[Node, Shape]]:
        found = []
        for node in link.all(tag):
            shape = self._shape(node, scope, T_link_model)
            if shape is not None:
                found.append((node, shape))
        return found

    def _shape(self, node: Node, scope: Scope, T_link_model: Array) -> Shape | None:
        pose = values.pose(node)
        T = T_link_model @ scope.pose(pose.relative_to, node) @ pose.T if pose.relative_to else pose.T
        geometry = node.need("geometry")
        written = next(iter(geometry.children), None)
        name = node.attributes.get("name", "")
        if written is None or written.tag == "empty":
            return None
        if written.tag == "mesh" and written.child("submesh") is None:
            uri = values.text(written, "uri")
            scale = values.vector(written, "scale", 3, (1.0, 1.0, 1.0))
            return Shape("mesh", scale, T, name, self._find(uri, written), uri, _colour(node))
        if written.tag == "plane":
            return _plane(written, T, name, _colour(node))
        if written.tag not in SIZES:
            self._skipped.append(f"{written.tag} {name!r} of {scope.prefix}{node.parent and node.parent.word('name')}")
            return None
        kind: ShapeKind = written.tag  # type: ignore[assignment]
        size = tuple(part for tag, count in SIZES[kind] for part in values.vector(written, tag, count))
        if min(size) < 0.0:
            raise written.error(f"sizes must be at least 0, got {size}")
        return Shape(kind, size, T, name, rgba=_colour(node))

    def _find(self, uri: str, node: Node) -> Path | None:
        if uri not in self._meshes:
            here = None if node.file is None or "://" in uri else node.file.parent / uri
            readable = here is not None and here.is_file() and self._finder.may_read(here, uri)
            self._meshes[uri] = here if readable else self._finder.find(uri)
        return self._meshes[uri]


def _matrix(node: Node | None) -> Array:
    """Read the six entries of the inertia [kg m^2]; missing moments are 1, missing products 0."""
    xx, yy, zz = (values.number(node, key, 1.0) for key in ("ixx", "iyy", "izz"))
    xy, xz, yz = (values.number(node, key, 0.0) for key in ("ixy", "ixz", "iyz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _computed(inertial: Node, collisions: list[tuple[Node, Shape]]) -> Inertia:
    """Compute the mass properties from the collision shapes and their densities."""
    general = values.number(inertial, "density", DENSITY)
    parts = []
    for node, shape in collisions:
        part = inertia_of_shape(shape, values.number(node, "density", general))
        if part is None:
            raise node.error(f"the inertia of its {shape.kind} cannot be computed; write it in <inertial>")
        parts.append(part)
    if not parts:
        raise inertial.error("auto must have collision shapes from which it is computed; write the inertia")
    total = combine(parts)
    mass = values.number(inertial, "mass", total.mass)
    return replace(total, mass=mass, matrix=total.matrix * mass / total.mass)


def _plane(node: Node, T: Array, name: str, rgba: tuple[float, float, float, float] | None) -> Shape:
    normal = np.array(values.vector(node, "normal", 3, (0.0, 0.0, 1.0)))
    length = np.linalg.norm(normal)
    if length == 0.0:
        raise node.error("normal must not be zero")
    x, y = values.vector(node, "size", 2, (0.0, 0.0))
    turned = T.copy()
    turned[:3, :3] = T[:3, :3] @ _with_z(normal / length)
    return Shape("plane", (x / 2.0, y / 2.0), turned, name, rgba=rgba)


def _with_z(z: Array) -> Array:
    """Return a rotation whose third column is z."""
    if z[2] == 1.0:
        return np.eye(3)
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _colour(node: Node) -> tuple[float, float, float, float] | None:
    """Return the diffuse or ambient colour; three numbers are opaque."""
    material = node.child("material")
    for tag in ("diffuse", "ambient"):
        found = None if material is None else material.child(tag)
        if found is not None:
            opaque = len(found.text.split()) == 3
            red, green, blue, alpha = (*values.numbers(found, 3), 1.0) if opaque else values.numbers(found, 4)
            return red, green, blue, alpha
    return None
