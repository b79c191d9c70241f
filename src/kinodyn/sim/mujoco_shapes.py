"""Collision shapes of links as MuJoCo geoms, the floor, and the pairs of links that do not collide."""

from __future__ import annotations

from typing import Any

import mujoco as mj
import numpy as np
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.description.hulls import convex_hull
from kinodyn.description.meshes import read_mesh
from kinodyn.description.types import Link, Shape
from kinodyn.errors import DescriptionError, warn
from kinodyn.model.robot import Robot
from kinodyn.sim.terrain_geoms import add_terrain
from kinodyn.terrain.terrain import as_terrain

MIN_SIZE = 1e-4  # [m] half length or radius of a geom: in descriptions contact points are spheres of radius 0
MUJOCO_MESH = ".msh"  # a format of MuJoCo's own, which only MuJoCo reads
GEOM_TYPES = {
    "box": mj.mjtGeom.mjGEOM_BOX,
    "sphere": mj.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mj.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mj.mjtGeom.mjGEOM_CAPSULE,
    "ellipsoid": mj.mjtGeom.mjGEOM_ELLIPSOID,
    "plane": mj.mjtGeom.mjGEOM_PLANE,
    "mesh": mj.mjtGeom.mjGEOM_MESH,
}


def geom_size(shape: Shape) -> Array:
    """Convert the size of a primitive shape to MuJoCo's (3,), which has half lengths [m]."""
    size = np.zeros(3)
    if shape.kind == "plane":
        size[:] = [*shape.size[:2], 0.1]
        return size
    if shape.kind == "box":
        given = 0.5 * np.array(shape.size)
    elif shape.kind in ("cylinder", "capsule"):
        given = np.array([shape.size[0], 0.5 * shape.size[1]])
    else:
        given = np.array(shape.size)
    size[: len(given)] = np.maximum(given, MIN_SIZE)
    return size


def placed(T: Array) -> dict[str, Array]:
    """Convert a pose (4, 4) to MuJoCo's position and quaternion, w first."""
    quaternion = Rotation.from_matrix(T[:3, :3]).as_quat()
    return {"pos": T[:3, 3], "quat": quaternion[[3, 0, 1, 2]]}


class MujocoShapes:
    """Adds shapes to bodies; links that are merged into one body never collide with each other."""

    def __init__(self, spec: mj.MjSpec, bodies: dict[str, tuple[Any, Array]], friction: float, time: float) -> None:
        self._spec, self._bodies, self._friction, self._time = spec, bodies, friction, time
        self._meshes: dict[tuple[str, tuple[float, ...]], str] = {}

    def add_link(self, link: Link) -> None:
        """Add the collision shapes of a link."""
        body, T_body_link = self._bodies[link.name]
        for k, shape in enumerate(link.collisions):
            details = self._details(link.name, shape)
            if details is not None:
                name = f"{link.name} {k}"
                self._add(body, name=name, **details, **placed(T_body_link @ shape.T_link_shape), mass=0.0)

    def add_sole(self, link: str, shape: Shape) -> None:
        """Add a shape for contact with the ground to a link."""
        body, T_body_link = self._bodies[link]
        details = self._details(link, shape)
        if details is not None:
            self._add(
                body, name=f"{link} {shape.kind} sole", **details, **placed(T_body_link @ shape.T_link_shape), mass=0.0
            )

    def add_ground(self, ground: object) -> list[Any]:
        """Add the ground of `MujocoSettings`; return the geoms."""
        world, geoms = self._spec.worldbody, list[Any]()
        add_terrain(self._spec, as_terrain(ground), lambda **details: geoms.append(self._add(world, **details)))
        return geoms

    def exclude_neighbours(self, robot: Robot) -> None:
        """Exclude contacts between links that a joint connects, and between pairs that the description excludes."""
        pairs = [(joint.parent, joint.child) for joint in robot.description.joints]
        done = set()
        for pair in (*pairs, *robot.description.collision_exclusions):
            names = tuple(sorted(self._bodies[link][0].name for link in pair))
            # excluded from the world body, a link would fall through the floor
            if names[0] != names[1] and "world" not in names and names not in done:
                done.add(names)
                self._spec.add_exclude(bodyname1=names[0], bodyname2=names[1])

    def _add(self, body: Any, **details: Any) -> Any:
        return body.add_geom(
            friction=[self._friction, 0.005, 0.0001],
            condim=3,
            solref=[self._time, 1.0],
            **details,
        )

    def _details(self, link: str, shape: Shape) -> dict[str, Any] | None:
        kind = shape.kind
        if kind == "heightfield":
            _warn(f"a height field of link {link!r} is left out of the MuJoCo model: give it as ground")
            return None
        if kind == "mesh":
            mesh = self._mesh(link, shape)
            return None if mesh is None else {"type": GEOM_TYPES[kind], "meshname": mesh}
        return {"type": GEOM_TYPES[kind], "size": geom_size(shape)}

    def _mesh(self, link: str, shape: Shape) -> str | None:
        """Add the mesh once for each scale, and return its name."""
        key = (str(shape.mesh or id(shape)), tuple(shape.size))
        if key not in self._meshes:
            asset = self._asset(link, shape)
            if asset is None:
                return None
            self._meshes[key] = f"mesh {len(self._meshes)}"
            self._spec.add_mesh(name=self._meshes[key], **asset)
        return self._meshes[key]

    def _asset(self, link: str, shape: Shape) -> dict[str, Any] | None:
        """Return the convex hull of a mesh, with which MuJoCo collides, as vertices and faces."""
        if shape.mesh is not None and shape.mesh.suffix.lower() == MUJOCO_MESH:
            return {"file": str(shape.mesh), "scale": shape.size}
        vertices, why = None, "was not found"
        if shape.triangles is not None:
            vertices = shape.triangles[0] * np.array(shape.size)
        elif shape.mesh is not None:
            try:
                vertices = read_mesh(shape.mesh, shape.size).vertices
            except DescriptionError as cause:
                why = f"cannot be read ({cause})"
        if vertices is None:
            _warn(f"the collision mesh {shape.uri!r} of link {link!r} {why} and is left out of the MuJoCo model")
            return None
        hull = convex_hull(vertices)
        return {"uservert": hull.vertices.ravel(), "userface": hull.faces.ravel()}


def _warn(message: str) -> None:
    warn(message)
