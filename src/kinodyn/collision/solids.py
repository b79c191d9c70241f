"""The links of a robot as solids of triangles, which the compiled core compares with each other."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.fitting import placed_triangles
from kinodyn.collision.geometry import LinkGeometry, robot_geometry
from kinodyn.collision.simplification import searchable
from kinodyn.description.meshes import TriangleMesh
from kinodyn.description.types import Description
from kinodyn.model.compile import compile_tree
from kinodyn.model.robot import Robot

TOLERANCE = 1e-3  # [m] of the triangles of round shapes, which contain them
RESOLUTION = 0.015  # [m] of cubes that take the place of triangles: four of them

_KNOWN: WeakKeyDictionary[Description, LinkSolids] = WeakKeyDictionary()


class LinkSolids:
    """The solids of a robot's links, in the frames of the bodies that they belong to, made when they are needed."""

    def __init__(self, robot: Robot) -> None:
        self.places = compile_tree(robot.description).places
        self._parts: dict[str, list[LinkGeometry]] = {}
        for part in robot_geometry(robot):
            self._parts.setdefault(part.link, []).append(part)
        self._solids: dict[str, _core.Solid] = {}

    def triangles(self, link: str) -> Array:
        """Return the corners (n, 9) of the triangles of a link in the frame of its body."""
        place = self.places[link]
        meshes = [placed_triangles(part, TOLERANCE) for part in self._parts[link]]
        corners = np.concatenate([mesh.vertices[mesh.faces].reshape(-1, 3) for mesh in meshes])
        return np.asarray(corners @ place.R.T + place.p).reshape(-1, 9)

    def __getitem__(self, link: str) -> _core.Solid:
        if link not in self._solids:
            self._solids[link] = _core.make_solid(_searchable(self.triangles(link)))
        return self._solids[link]

    def relative_poses(self, first: str, second: str, poses: Array) -> Array:
        """Return rows (n, 12) with the pose of one body in the other, from the poses (n, 2, 4, 4) of two links."""
        bodies = [poses[:, k] @ np.linalg.inv(self._T_body_link(link)) for k, link in enumerate((first, second))]
        T = np.linalg.inv(bodies[0]) @ bodies[1]
        return np.hstack([T[:, :3, :3].reshape(-1, 9), T[:, :3, 3]])

    def distances(self, first: str, second: str, poses: Array, bound: float) -> Array:
        """Return the distances of two links at poses (n, 2, 4, 4) [m]: 0 in collision, at most a bound."""
        rows = self.relative_poses(first, second, poses)
        return np.array(_core.solid_distances(self[first], self[second], rows, bound))

    def _T_body_link(self, link: str) -> Array:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self.places[link].R, self.places[link].p
        return T


def _searchable(corners: Array) -> Array:
    """Return the triangles (n, 9), or those around cubes that contain them if searches would take too long."""
    mesh = TriangleMesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    found = searchable(mesh, RESOLUTION).mesh
    return corners if found is mesh else found.vertices[found.faces].reshape(-1, 9)


def link_solids(robot: Robot) -> LinkSolids:
    """Return the solids of a robot."""
    if robot.description not in _KNOWN:
        _KNOWN[robot.description] = LinkSolids(robot)
    return _KNOWN[robot.description]
