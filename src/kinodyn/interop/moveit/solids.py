"""shape_msgs: primitives, meshes and planes as shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.shapes import Box, Cylinder, Mesh, Shape, Sphere
from kinodyn.collision.world_meshes import mesh_shape
from kinodyn.description.packages import PackageFinder
from kinodyn.errors import InputError
from kinodyn.interop.moveit.fields import Fields
from kinodyn.interop.moveit.poses import read_pose

PLANE = (100.0, 100.0, 1e-3)  # [m] of the slab that stands for an infinite plane
CONE_SIDES = 32
_KINDS = ("", "box", "sphere", "cylinder", "cone", "prism")  # the constants of shape_msgs/SolidPrimitive


def read_solids(fields: Fields, finder: PackageFinder) -> Iterator[tuple[Shape, Array]]:
    """Yield the shapes of an object with their poses (4, 4) in the frame of the object."""
    for shape, pose in _with_poses(fields, "primitives", "primitive_poses"):
        yield read_primitive(shape), pose
    for shape, pose in _with_poses(fields, "meshes", "mesh_poses"):
        yield _read_mesh(shape, finder), pose
    for shape, pose in _with_poses(fields, "planes", "plane_poses"):
        yield Box(np.array(PLANE)), pose @ _read_plane(shape)


def _with_poses(fields: Fields, shapes: str, poses: str) -> Iterator[tuple[Fields, Array]]:
    """Pair shapes with their poses; without any, all are in the frame of the object."""
    found, placed = list(fields.children(shapes)), [read_pose(pose) for pose in fields.children(poses)]
    if placed and len(placed) != len(found):
        raise fields.fault(poses, f"there are {len(placed)} poses for {len(found)} {shapes}; give one for each")
    return zip(found, placed or [np.eye(4)] * len(found), strict=True)


def read_primitive(fields: Fields) -> Shape:
    """Read a shape_msgs/SolidPrimitive: its type as a constant or a name, lengths in MoveIt's order."""
    kind, dimensions = _kind(fields), fields.numbers("dimensions")
    counts = {"box": 3, "sphere": 1, "cylinder": 2, "cone": 2}
    if kind not in counts:
        raise fields.error("type", fields.raw("type"), f"one of {', '.join(counts)}")
    if len(dimensions) != counts[kind] or not min(dimensions) > 0.0:
        raise fields.error("dimensions", dimensions, f"{counts[kind]} lengths above 0 for a {kind}")
    if kind == "box":
        return Box(np.array(dimensions))
    if kind == "sphere":
        return Sphere(dimensions[0])
    height, radius = dimensions
    return Cylinder(radius, height) if kind == "cylinder" else cone(radius, height)


def _kind(fields: Fields) -> str:
    value: Any = fields.raw("type")
    if str(value).isdigit() and int(value) < len(_KINDS):
        return _KINDS[int(value)]
    return value.lower() if isinstance(value, str) else ""


def cone(radius: float, height: float) -> Mesh:
    """Return a pyramid around a cone along z, whose tip is up and whose centre is at half its height."""
    turns = np.arange(CONE_SIDES) * (2.0 * np.pi / CONE_SIDES)
    outer = radius / np.cos(np.pi / CONE_SIDES)
    rim = np.column_stack([outer * np.cos(turns), outer * np.sin(turns), np.full(CONE_SIDES, -0.5 * height)])
    ends = np.array([[0.0, 0.0, -0.5 * height], [0.0, 0.0, 0.5 * height]])
    this, following = np.arange(CONE_SIDES), (np.arange(CONE_SIDES) + 1) % CONE_SIDES
    bottom = np.column_stack([following, this, np.full(CONE_SIDES, CONE_SIDES)])
    side = np.column_stack([this, following, np.full(CONE_SIDES, CONE_SIDES + 1)])
    return Mesh(np.vstack([rim, ends]), np.vstack([bottom, side]), convex=True)


def _read_mesh(fields: Fields, finder: PackageFinder) -> Mesh:
    """Read a shape_msgs/Mesh, or a mesh file with its scale."""
    uri = fields.text("resource")
    path = finder.find(uri) if uri else None
    if uri and path is None:
        raise fields.fault("resource", f"the file {uri!r} is not on this machine; give its path or package_dirs=")
    try:
        if path is None:
            return mesh_shape(fields.place, (_vertices(fields), _faces(fields)), 1.0)
        return mesh_shape(fields.place, path, fields.vector("dimensions", "xyz") or 1.0)
    except InputError as cause:
        raise fields.fault("", str(cause)) from cause


def _vertices(fields: Fields) -> Array:
    return np.array([fields.as_vector("vertices", vertex, "xyz") for vertex in fields.raw("vertices") or ()])


def _faces(fields: Fields) -> Array:
    indices = [face.get("vertex_indices") if isinstance(face, dict) else face for face in fields.raw("triangles") or ()]
    return np.array([fields.as_vector("triangles", face, "abc") for face in indices]).astype(np.int64)


def _read_plane(fields: Fields) -> Array:
    """Return the pose of the plane a x + b y + c z + d = 0, whose normal is its z axis."""
    coefficients = fields.numbers("coef")
    normal = np.array(coefficients[:3])
    if len(coefficients) != 4 or not np.linalg.norm(normal) > 0.0:
        raise fields.error("coef", coefficients, "a, b, c, d of a x + b y + c z + d = 0, with a normal a b c")
    length = float(np.linalg.norm(normal))
    z = normal / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    T[:3, 3] = -coefficients[3] / length * z
    return T
