"""The collision shapes of a robot in the scene: as they are described, and the spheres that cover them."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from kinodyn.arrays import Array
from kinodyn.collision.geometry import robot_geometry
from kinodyn.collision.refinement import robot_spheres
from kinodyn.viewer.collision_meshes import add_shape, add_spheres
from kinodyn.viewer.colours import Colour, link_colour
from kinodyn.viewer.robot_visual import RobotVisual

SPHERE: Colour = (226, 140, 60)
OPACITY = 0.5


class CollisionLayers:
    """The layers "spheres" and "shapes" of one robot; they are children of its bodies and move with them.

    Collision shapes are drawn in place of the visual ones.
    """

    def __init__(self, scene: viser.SceneApi, visual: RobotVisual) -> None:
        self._scene, self._visual = scene, visual
        self._nodes: dict[str, list[Any]] = {}  # handles of viser by layer

    def draw(self, on: set[str]) -> None:
        """Show the layers that are on; each is created when it is first needed."""
        for layer, create in (("spheres", self._spheres), ("shapes", self._shapes)):
            if layer in on and layer not in self._nodes:
                self._nodes[layer] = create()
            for node in self._nodes.get(layer, ()):
                if node.visible != (layer in on):
                    node.visible = layer in on
        self._visual.show(() if "shapes" in on else self._visual.bodies)

    def _spheres(self) -> list[Any]:
        fitted, visual = robot_spheres(self._visual.robot), self._visual
        rows: dict[str, list[Array]] = {}
        for link in fitted.links:
            T, spheres = visual.T_body_link[link], fitted.of_link(link)
            centres = spheres[:, :3] @ T[:3, :3].T + T[:3, 3]
            rows.setdefault(visual.bodies_of_links[link], []).append(np.column_stack([centres, spheres[:, 3]]))
        return [
            add_spheres(self._scene, f"{visual.node_names[body]}/spheres", np.concatenate(parts), SPHERE, OPACITY)
            for body, parts in rows.items()
        ]

    def _shapes(self) -> list[Any]:
        visual, nodes = self._visual, []
        order = {body: k for k, body in enumerate(visual.bodies)}
        for k, part in enumerate(robot_geometry(visual.robot)):
            body = visual.bodies_of_links[part.link]
            T, name = visual.T_body_link[part.link] @ part.T_link_shape, f"{visual.node_names[body]}/shape {k}"
            nodes.append(add_shape(self._scene, name, part.shape, T, link_colour(order[body])))
        return nodes
