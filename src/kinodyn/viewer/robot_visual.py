"""A robot in the scene: one node per moving body, with its shapes as children."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import viser

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.description.messages import one_warning, warn
from kinodyn.description.types import Link, Shape
from kinodyn.errors import DescriptionError
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose
from kinodyn.viewer.colours import Colour, colourful, link_colour, shape_colour, shape_opacity
from kinodyn.viewer.meshes import DrawnMesh, cylinder_between, mesh_of, sphere_at
from kinodyn.viewer.snapshot import wxyz_from_matrix

GHOST_OPACITY = 0.3


class RobotVisual:
    """A robot in the scene.

    Parameters
    ----------
    scene : viser.SceneApi
    robot : Robot
    root : str
        Name of the root node, such as "/robot".
    offset : (3,)
        Where the origin of this robot's world is drawn [m]; several robots stand side by side.
    ghost : colour, optional
        Draw it transparent and in one colour.

    Attributes
    ----------
    bodies : tuple of str
        The links that joints move, and the root.
    bodies_of_links : dict of link -> body
    T_body_link : dict of link -> (4, 4)
    node_names : dict of body -> name of its node
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        robot: Robot,
        root: str = "/robot",
        *,
        offset: tuple[float, float, float] = (0, 0, 0),
        ghost: Colour | None = None,
    ) -> None:
        self.scene, self.robot, self.root, self._ghost = scene, robot, root, ghost
        self.bodies_of_links = _bodies_of_links(robot)
        self.bodies = tuple(dict.fromkeys(self.bodies_of_links.values()))
        self._node = scene.add_frame(root, show_axes=False, position=offset)
        self.T_body_link = _fixed(robot, self.bodies_of_links)
        self.node_names = {body: f"{root}/{k} {body.replace('/', '|')}" for k, body in enumerate(self.bodies)}
        self._nodes = [scene.add_frame(self.node_names[body], show_axes=False) for body in self.bodies]
        self._points: dict[str, list[Array]] = {body: [] for body in self.bodies}
        self._meshes: dict[str, list[viser.MeshHandle]] = {body: [] for body in self.bodies}
        self._visible = frozenset(self.bodies)
        self._draw()

    @property
    def offset(self) -> Array:
        """Where the origin of its world is drawn (3,) [m]."""
        return np.array(self._node.position)

    @offset.setter
    def offset(self, place: Array) -> None:
        self._node.position = place

    def pose(self, q: Array) -> None:
        """Draw it at a valid configuration q (nq,)."""
        T = kinematics.poses(self.robot, q, frames=list(self.bodies))
        for node, wxyz, position in zip(self._nodes, wxyz_from_matrix(T[:, :3, :3]), T[:, :3, 3], strict=True):
            node.wxyz = wxyz
            node.position = position

    def bounding_box(self, q: Array) -> Array:
        """Return the lowest and the highest corner (2, 3) of everything drawn at q, in the robot's own world [m]."""
        T = dict(zip(self.bodies, kinematics.poses(self.robot, q, frames=list(self.bodies)), strict=True))
        corners = [
            points @ T[body][:3, :3].T + T[body][:3, 3] for body, parts in self._points.items() for points in parts
        ]
        places = np.concatenate(corners or [np.array([pose[:3, 3] for pose in T.values()])])
        return np.array([places.min(axis=0), places.max(axis=0)])

    def show(self, bodies: Iterable[str]) -> None:
        """Draw the shapes of these bodies and no others; other children of bodies are not affected."""
        visible = frozenset(bodies)
        for body in visible ^ self._visible:
            for mesh in self._meshes[body]:
                mesh.visible = body in visible
        self._visible = visible

    def differing(self, q: Array, other: Array) -> list[str]:
        """Return the bodies that are elsewhere at q (nq,) than at another configuration (nq,)."""
        T = kinematics.poses(self.robot, np.stack([q, other]), frames=list(self.bodies))
        apart = np.abs(T[0] - T[1]).max(axis=(1, 2)) > 1e-3
        return [body for body, differs in zip(self.bodies, apart, strict=True) if differs]

    def remove(self) -> None:
        """Remove it from the scene."""
        self._node.remove()

    def _draw(self) -> None:
        links = self.robot.description.links
        with one_warning(self.robot.description.source or self.robot.name):
            shown = {link.name: _visible(link) for link in links}
        by_link = not colourful([shape for shapes in shown.values() for shape, _ in shapes])
        order = {body: k for k, body in enumerate(self.bodies)}
        for link in links:
            body = self.bodies_of_links[link.name]
            colour = link_colour(order[body])
            for k, (shape, mesh) in enumerate(shown[link.name]):
                own = colour if by_link else shape_colour(shape, colour)
                name = f"{self.node_names[body]}/{link.name.replace('/', '|')} {k}"
                self._add(name, body, self.T_body_link[link.name], mesh, own, shape)
        if not any(shown.values()):
            for k, (body, mesh) in enumerate(_stick_figure(self.robot, self.bodies_of_links)):
                self._add(f"{self.node_names[body]}/stick {k}", body, np.eye(4), mesh, link_colour(order[body]), None)

    def _add(self, name: str, body: str, T: Array, mesh: DrawnMesh, colour: Colour, shape: Shape | None) -> None:
        is_mesh = shape is not None and shape.kind == "mesh"
        opacity = None if shape is None else shape_opacity(shape)
        node = self.scene.add_mesh_simple(
            name,
            mesh.vertices,
            mesh.faces,
            color=self._ghost or colour,
            flat_shading=mesh.flat,
            opacity=GHOST_OPACITY if self._ghost else opacity,
            side="double" if is_mesh else "front",  # meshes may be open, and shadows would appear on both sides
            cast_shadow=not self._ghost,
            receive_shadow=not is_mesh and not self._ghost,
            wxyz=wxyz_from_matrix(T[:3, :3]),
            position=T[:3, 3],
        )
        self._meshes[body].append(node)
        low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
        if len(mesh.vertices) > 400:  # its bounding box is enough
            corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
        else:
            corners = mesh.vertices
        self._points[body].append(corners.astype(float) @ T[:3, :3].T + T[:3, 3])


def _visible(link: Link) -> list[tuple[Shape, DrawnMesh]]:
    """Return the visual shapes of a link, or its collision shapes if no visual shape can be read."""
    shapes = _readable(link.name, link.visuals)
    return shapes or _readable(link.name, link.collisions)


def _readable(link: str, shapes: tuple[Shape, ...]) -> list[tuple[Shape, DrawnMesh]]:
    found = []
    for shape in shapes:
        try:
            found.append((shape, mesh_of(shape)))
        except DescriptionError as cause:
            warn(f"link {link!r} is drawn without a shape: {cause}", None)
    return found


def _bodies_of_links(robot: Robot) -> dict[str, str]:
    """Map each link to the moving body it belongs to: itself or the nearest ancestor that a joint moves."""
    above = {joint.child: joint for joint in robot.description.joints}
    bodies_of_links: dict[str, str] = {}
    for link in robot.description.links:
        name = link.name
        while name in above and above[name].kind == "fixed":
            name = above[name].parent
        bodies_of_links[link.name] = name
    return bodies_of_links


def _fixed(robot: Robot, bodies_of_links: dict[str, str]) -> dict[str, Array]:
    """Return the fixed pose of each link in its moving body."""
    pose = dict(zip(robot.frame_names, kinematics.poses(robot, robot.neutral()), strict=True))
    return {link: inverse_pose(pose[body]) @ pose[link] for link, body in bodies_of_links.items()}


def _stick_figure(robot: Robot, bodies_of_links: dict[str, str]) -> Iterator[tuple[str, DrawnMesh]]:
    """Generate cylinders between joints and spheres at joints, for a robot without any shape."""
    pose = dict(zip(robot.frame_names, kinematics.poses(robot, robot.neutral()), strict=True))
    places = np.array([T[:3, 3] for T in pose.values()])
    thick = 0.02 * max(float(np.ptp(places, axis=0).max()), 0.1)
    ends = [(joint.parent, joint.child) for joint in robot.description.joints]
    ends += [(frame.link, frame.name) for frame in robot.description.frames]
    for parent, child in ends:
        body = bodies_of_links[parent]
        away = (inverse_pose(pose[body]) @ pose[child])[:3, 3]
        start = (inverse_pose(pose[body]) @ pose[parent])[:3, 3]
        if np.linalg.norm(away - start) > thick:
            yield body, cylinder_between(start, away, thick)
        yield body, sphere_at(away, 1.6 * thick)
