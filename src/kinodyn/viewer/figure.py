"""A robot drawn in the scene: one node for each body that moves, its shapes below it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import viser

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.description.types import Link, Shape
from kinodyn.errors import DescriptionError, DescriptionWarning
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose
from kinodyn.viewer.colours import Colour, colourful, link_colour, shape_colour, shape_opacity
from kinodyn.viewer.moment import wxyz_of
from kinodyn.viewer.solids import Solid, ball, rod, solid_of


class Figure:
    """A robot in the scene.

    Parameters
    ----------
    scene
        Viser's scene.
    robot
    root
        Name of the node that carries everything, such as "/robot".
    offset
        Where the world's origin of this robot is drawn (3,) [m]: several stand side by side.

    Attributes
    ----------
    bounds : (2, 3)
        Lowest and highest corner of what is drawn at the neutral configuration, in the robot's own world [m].
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        robot: Robot,
        root: str = "/robot",
        *,
        offset: tuple[float, float, float] = (0, 0, 0),
    ) -> None:
        self.scene, self.robot, self.root = scene, robot, root
        self.carriers = _carriers(robot)
        self.bodies = tuple(dict.fromkeys(self.carriers.values()))
        self._node = scene.add_frame(root, show_axes=False, position=offset)
        names = {body: f"{root}/{k} {body.replace('/', '|')}" for k, body in enumerate(self.bodies)}
        self._nodes = [scene.add_frame(names[body], show_axes=False) for body in self.bodies]
        self._points: dict[str, list[Array]] = {body: [] for body in self.bodies}
        self._draw(names)

    @property
    def offset(self) -> Array:
        """Where its origin is drawn (3,) [m]."""
        return np.array(self._node.position)

    @offset.setter
    def offset(self, place: Array) -> None:
        self._node.position = place

    def pose(self, q: Array) -> None:
        """Draw it at q (nq,), which must be checked."""
        T = kinematics.poses(self.robot, q, frames=list(self.bodies))
        for node, wxyz, position in zip(self._nodes, wxyz_of(T[:, :3, :3]), T[:, :3, 3], strict=True):
            node.wxyz = wxyz
            node.position = position

    def extent(self, q: Array) -> Array:
        """Find the lowest and the highest corner (2, 3) of everything drawn at q, in the robot's own world [m]."""
        T = dict(zip(self.bodies, kinematics.poses(self.robot, q, frames=list(self.bodies)), strict=True))
        corners = [
            points @ T[body][:3, :3].T + T[body][:3, 3] for body, parts in self._points.items() for points in parts
        ]
        places = np.concatenate(corners or [np.array([pose[:3, 3] for pose in T.values()])])
        return np.array([places.min(axis=0), places.max(axis=0)])

    def remove(self) -> None:
        """Take it out of the scene."""
        self._node.remove()

    def _draw(self, names: dict[str, str]) -> None:
        links = self.robot.description.links
        shown = {link.name: _visible(link) for link in links}
        by_link = not colourful([shape for shapes in shown.values() for shape, _ in shapes])
        T_body_link = _fixed(self.robot, self.carriers)
        order = {body: k for k, body in enumerate(self.bodies)}
        for link in links:
            body = self.carriers[link.name]
            colour = link_colour(order[body])
            for k, (shape, solid) in enumerate(shown[link.name]):
                own = colour if by_link else shape_colour(shape, colour)
                self._add(
                    f"{names[body]}/{link.name.replace('/', '|')} {k}", body, T_body_link[link.name], solid, own, shape
                )
        if not any(shown.values()):
            for k, (body, solid) in enumerate(_sticks(self.robot, self.carriers)):
                self._add(f"{names[body]}/stick {k}", body, np.eye(4), solid, link_colour(order[body]), None)

    def _add(self, name: str, body: str, T: Array, solid: Solid, colour: Colour, shape: Shape | None) -> None:
        is_mesh = shape is not None and shape.kind == "mesh"
        self.scene.add_mesh_simple(
            name,
            solid.vertices,
            solid.faces,
            color=colour,
            flat_shading=solid.flat,
            opacity=None if shape is None else shape_opacity(shape),
            side="double" if is_mesh else "front",  # meshes may be open; shadows would stain both their sides
            receive_shadow=not is_mesh,
            wxyz=wxyz_of(T[:3, :3]),
            position=T[:3, 3],
        )
        low, high = solid.vertices.min(axis=0), solid.vertices.max(axis=0)
        if len(solid.vertices) > 400:  # a box around it does
            corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
        else:
            corners = solid.vertices
        self._points[body].append(corners.astype(float) @ T[:3, :3].T + T[:3, 3])


def _visible(link: Link) -> list[tuple[Shape, Solid]]:
    """Read the shapes of a link: those to be seen, or its collision shapes where there are none that can be read."""
    shapes = _readable(link.name, link.visuals)
    return shapes or _readable(link.name, link.collisions)


def _readable(link: str, shapes: tuple[Shape, ...]) -> list[tuple[Shape, Solid]]:
    found = []
    for shape in shapes:
        try:
            found.append((shape, solid_of(shape)))
        except DescriptionError as cause:
            warnings.warn(f"link {link!r} is drawn without a shape: {cause}", DescriptionWarning, stacklevel=6)
    return found


def _carriers(robot: Robot) -> dict[str, str]:
    """Find for each link the one that it moves with: the nearest above it, itself included, that a joint moves."""
    above = {joint.child: joint for joint in robot.description.joints}
    carriers: dict[str, str] = {}
    for link in robot.description.links:
        name = link.name
        while name in above and above[name].kind == "fixed":
            name = above[name].parent
        carriers[link.name] = name
    return carriers


def _fixed(robot: Robot, carriers: dict[str, str]) -> dict[str, Array]:
    """Find where each link is in its carrier, whatever the configuration."""
    pose = dict(zip(robot.frame_names, kinematics.poses(robot, robot.neutral()), strict=True))
    return {link: inverse_pose(pose[body]) @ pose[link] for link, body in carriers.items()}


def _sticks(robot: Robot, carriers: dict[str, str]) -> Iterator[tuple[str, Solid]]:
    """Make rods from each body to what it carries, and balls at joints, for a robot without any shape."""
    pose = dict(zip(robot.frame_names, kinematics.poses(robot, robot.neutral()), strict=True))
    places = np.array([T[:3, 3] for T in pose.values()])
    thick = 0.02 * max(float(np.ptp(places, axis=0).max()), 0.1)
    ends = [(joint.parent, joint.child) for joint in robot.description.joints]
    ends += [(frame.link, frame.name) for frame in robot.description.frames]
    for parent, child in ends:
        body = carriers[parent]
        away = (inverse_pose(pose[body]) @ pose[child])[:3, 3]
        start = (inverse_pose(pose[body]) @ pose[parent])[:3, 3]
        if np.linalg.norm(away - start) > thick:
            yield body, rod(start, away, thick)
        yield body, ball(away, 1.6 * thick)
