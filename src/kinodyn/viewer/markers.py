"""Markers in the scene: points, discs, lines, areas, arrows and ellipsoids, created once and then moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import trimesh
import viser
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.viewer.colours import Colour
from kinodyn.viewer.snapshot import wxyz_from_matrix

RISE = 2e-3  # flat markers are drawn this far above the ground, so that they do not flicker [m]


class Markers:
    """The markers of one robot, by name. A name starts with that of its layer, such as "support edge".

    Parameters
    ----------
    scene : viser.SceneApi
    root : str
        Name of the parent node.
    size : float
        Size of the robot [m]; all other lengths are relative to it, unless they are coordinates.
    """

    def __init__(self, scene: viser.SceneApi, root: str, size: float) -> None:
        self.scene, self.root, self.size = scene, root, size
        self._nodes: dict[str, Any] = {}  # handles of viser, whose properties depend on their kind

    def set_visible(self, layer: str, visible: bool) -> None:
        """Show or hide all markers of a layer."""
        for name, node in self._nodes.items():
            if name.partition(" ")[0] == layer:
                node.visible = visible

    def axes(self, name: str, T: Array) -> None:
        """Draw coordinate axes at poses (n, 4, 4)."""
        wxyz, position = wxyz_from_matrix(T[:, :3, :3]), T[:, :3, 3]
        if name in self._nodes:
            self._nodes[name].batched_wxyzs = wxyz
            self._nodes[name].batched_positions = position
        else:
            length, radius = 0.06 * self.size, 0.0025 * self.size
            self._nodes[name] = self.scene.add_batched_axes(
                f"{self.root}/{name}", wxyz, position, axes_length=length, axes_radius=radius
            )

    def point(self, name: str, position: Array, colour: Colour, radius: float) -> None:
        """Draw a sphere at a position (3,)."""
        if name not in self._nodes:
            self._nodes[name] = self.scene.add_icosphere(f"{self.root}/{name}", radius * self.size, colour)
        self._nodes[name].position = position

    def disc(self, name: str, position: Array, colour: Colour) -> None:
        """Draw a horizontal disc at a position (3,)."""
        if name not in self._nodes:
            self._nodes[name] = self.scene.add_cylinder(
                f"{self.root}/{name}", 0.016 * self.size, RISE, color=colour, cast_shadow=False
            )
        self._nodes[name].position = position + np.array([0.0, 0.0, 2 * RISE])

    def lines(self, name: str, points: Array, colour: Colour, thickness: float) -> None:
        """Draw line segments (n, 2, 3)."""
        if name in self._nodes and self._nodes[name].points.shape == points.shape:
            self._nodes[name].points = points.astype(np.float32)
        else:
            self._nodes[name] = self.scene.add_line_segments(
                f"{self.root}/{name}", points, colour, thickness=thickness * self.size
            )

    def rod(self, name: str, start: Array, end: Array, colour: Colour, radius: float) -> None:
        """Draw a cylinder from one point (3,) to another."""
        if name not in self._nodes:
            cylinder = trimesh.creation.cylinder(radius=radius * self.size, height=1.0, sections=12)
            self._nodes[name] = self.scene.add_mesh_simple(
                f"{self.root}/{name}", np.asarray(cylinder.vertices), np.asarray(cylinder.faces), color=colour
            )
        node, along = self._nodes[name], end - start
        length = max(float(np.linalg.norm(along)), 1e-6)
        node.scale = (1.0, 1.0, length)
        node.wxyz = wxyz_from_matrix(Rotation.align_vectors(along[None] / length, [[0.0, 0.0, 1.0]])[0].as_matrix())
        node.position = 0.5 * (start + end)

    def area(self, name: str, corners: Array, colour: Colour) -> None:
        """Fill a convex polygon (m, 3); another number of corners needs a new mesh."""
        if name in self._nodes and self._nodes[name].vertices.shape == corners.shape:
            self._nodes[name].vertices = corners.astype(np.float32)
            return
        fan = np.array([[0, k, k + 1] for k in range(1, len(corners) - 1)])
        self._nodes[name] = self.scene.add_mesh_simple(
            f"{self.root}/{name}", corners, fan, color=colour, opacity=0.35, side="double", cast_shadow=False
        )

    def arrows(self, name: str, points: Array, colour: Colour) -> None:
        """Draw arrows (n, 2, 3) from start to end."""
        if name in self._nodes:
            self._nodes[name].points = points.astype(np.float32)
            return
        thickness = 0.008 * self.size
        self._nodes[name] = self.scene.add_arrows(
            f"{self.root}/{name}",
            points,
            colour,
            shaft_radius=thickness,
            head_radius=2.2 * thickness,
            head_length=5 * thickness,
        )

    def ellipsoid(self, name: str, position: Array, axes: Array, radii: Array, colour: Colour) -> None:
        """Draw an ellipsoid at a position (3,) with axes (3, 3), as columns, and radii (3,) [m]."""
        if name not in self._nodes:
            sphere = trimesh.creation.icosphere(subdivisions=3, radius=1.0)
            self._nodes[name] = self.scene.add_mesh_simple(
                f"{self.root}/{name}",
                np.asarray(sphere.vertices),
                np.asarray(sphere.faces),
                color=colour,
                opacity=0.35,
                cast_shadow=False,
                receive_shadow=False,
            )
        node = self._nodes[name]
        node.scale = tuple(float(radius) for radius in np.maximum(radii, 2e-3 * self.size))
        node.wxyz = wxyz_from_matrix(axes * np.array([1.0, 1.0, np.linalg.det(axes)]))  # a rotation, not a reflection
        node.position = position
