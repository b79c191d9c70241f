"""The collision shapes of a robot's links, read from its description."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from kinodyn.description import types
from kinodyn.description.meshes import TriangleMesh, open_edges, read_mesh, repaired
from kinodyn.description.messages import one_warning, warn
from kinodyn.display import displayed
from kinodyn.errors import DescriptionError, InputError
from kinodyn.model.robot import Robot

CONVEX_TOLERANCE = 1e-5  # of the extent, by which a vertex of a convex mesh may be outside one of its faces
MAX_CONVEX_FACES = 10_000  # of a mesh whose convexity is tested: every vertex against every face

_GEOMETRIES: WeakKeyDictionary[types.Description, tuple[LinkGeometry, ...]] = WeakKeyDictionary()


@displayed
@dataclass(frozen=True, eq=False)
class LinkGeometry:
    """A collision shape of a link.

    Parameters
    ----------
    link
        Name of the link.
    shape
        The shape in its own frame.
    T_link_shape : (4, 4)
        Pose of the shape in the link.
    file
        The file of a mesh.
    """

    link: str
    shape: Shape
    T_link_shape: Array
    file: Path | None = None


@check_types
def robot_geometry(robot: Robot) -> tuple[LinkGeometry, ...]:
    """Return the collision shapes of a robot, in the order of its links.

    Parameters
    ----------
    robot

    Returns
    -------
    geometry : tuple of LinkGeometry
        The visual shapes, if no link has a collision shape.

    Warns
    -----
    DescriptionWarning
        One for the robot: meshes that are broken or too large, with file and link; shapes that are left out, such
        as meshes that are missing or cannot be read, and planes; a robot without collision shapes.
    """
    if robot.description not in _GEOMETRIES:
        with one_warning(robot.description.source or robot.name):
            _GEOMETRIES[robot.description] = _Reader().read(robot.description)
    return _GEOMETRIES[robot.description]


class _Reader:
    """Reads each mesh file once for each scale."""

    def __init__(self) -> None:
        self._meshes: dict[tuple[Path, tuple[float, ...]], Mesh | None] = {}

    def read(self, description: types.Description) -> tuple[LinkGeometry, ...]:
        found = [
            LinkGeometry(link.name, shape, written.T_link_shape, written.mesh)
            for link, shapes in _chosen_shapes(description)
            for written in shapes
            if (shape := self._shape(link.name, written)) is not None
        ]
        return tuple(found)

    def _shape(self, link: str, written: types.Shape) -> Shape | None:
        size = written.size
        try:
            if written.triangles is not None:
                return _repaired(link, f"the {written.kind} {written.name!r}", TriangleMesh(*written.triangles))
            if written.kind == "mesh":
                return self._mesh(link, written)
            if written.kind == "plane":
                _warn(link, "a plane is left out of collision checking; add it to the World as a box")
                return None
            if written.kind in ("box", "ellipsoid"):
                return Box(np.array(size)) if written.kind == "box" else Ellipsoid(np.array(size))
            if written.kind == "capsule" and size[1] > 0.0:
                return Capsule(*size)
            return Cylinder(*size) if written.kind == "cylinder" else Sphere(size[0])
        except InputError as cause:
            _warn(link, f"a {written.kind} is left out of collision checking: {cause}")
            return None

    def _mesh(self, link: str, written: types.Shape) -> Mesh | None:
        if written.mesh is None:
            _warn(link, f"the mesh {written.uri!r} was not found: the link is checked without it")
            return None
        key = (written.mesh, tuple(written.size))
        if key not in self._meshes:
            self._meshes[key] = _read(link, *key)
        return self._meshes[key]


def _chosen_shapes(description: types.Description) -> list[tuple[types.Link, tuple[types.Shape, ...]]]:
    """List the shapes of each link that are checked: without any, a robot would pass through everything."""
    links = description.links
    if any(link.collisions for link in links):
        return [(link, link.collisions) for link in links]
    if any(link.visuals for link in links):
        warn("no link has a collision shape; collisions are checked with the visual shapes", None)
    else:
        warn("no link has a shape: collisions of the robot are not seen", None)
    return [(link, link.visuals) for link in links]


def _read(link: str, path: Path, scale: tuple[float, ...]) -> Mesh | None:
    try:
        mesh = read_mesh(path, scale)
    except DescriptionError as cause:
        _warn(link, f"{cause}: the link is checked without it")
        return None
    return _repaired(link, str(path), mesh)


def _repaired(link: str, what: str, given: TriangleMesh) -> Mesh | None:
    mesh, faults = repaired(given)
    if faults:
        _warn(link, f"{what}: the mesh is broken: {', '.join(faults)}")
    return Mesh(mesh.vertices, mesh.faces, is_convex(mesh)) if len(mesh) else None


def is_convex(mesh: TriangleMesh) -> bool:
    """Return whether the triangles are the whole surface of a convex solid."""
    vertices, faces = mesh.vertices, mesh.faces
    if not 4 <= len(faces) <= MAX_CONVEX_FACES or len(open_edges(faces)):
        return False
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    used = vertices[np.unique(faces)]
    tolerance = CONVEX_TOLERANCE * float(np.ptp(used, axis=0).max())
    offsets = np.einsum("ij,ij->i", normals, corners[:, 0])
    return all(
        bool((used @ normals[k : k + 256].T <= offsets[k : k + 256] + tolerance).all())
        for k in range(0, len(faces), 256)
    )


def _warn(link: str, message: str) -> None:
    warn(f"link {link!r}: {message}", None)
