"""What can be drawn over a robot: frames, mass, support, zero moment point, forces, ellipsoid, workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance import Foot, zmp, zmp_from_wrenches
from kinodyn.balance.feet import feet as feet_of
from kinodyn.balance.polygon import hull
from kinodyn.balance.support import sole_points
from kinodyn.errors import KinodynError, SingularError, unknown_name
from kinodyn.kinematics.singularities import velocity_ellipsoid
from kinodyn.model.chain import movers
from kinodyn.model.robot import Robot
from kinodyn.viewer.cloud import Cloud
from kinodyn.viewer.colours import Colour
from kinodyn.viewer.moment import Moment, wxyz_of

LAYERS = ("frames", "com", "projection", "support", "zmp", "forces", "ellipsoid", "workspace")
TITLES = {
    "frames": "Frames",
    "com": "Centre of mass",
    "projection": "Its ground projection",
    "support": "Support polygon",
    "zmp": "Zero moment point",
    "forces": "Contact forces",
    "ellipsoid": "Manipulability ellipsoid",
    "workspace": "Workspace cloud",
}
STANDS = 0.01  # a sole that is lower than this stands, where no forces are known [m]
PRESSES = 0.02  # of the weight: what a foot bears that stands
RISE = 2e-3  # flat things are drawn this much above the ground, so that they do not flicker [m]
YELLOW: Colour = (240, 190, 50)
RED: Colour = (214, 62, 62)
GREEN: Colour = (64, 160, 92)
VIOLET: Colour = (136, 84, 190)
BLUE: Colour = (58, 110, 190)


@dataclass
class Switches:
    """Which layers are on, and of which frame ellipsoid and workspace are."""

    on: set[str]
    frame: str

    def set(self, layer: str, shown: bool) -> None:
        """Switch a layer on or off."""
        if layer not in LAYERS:
            raise unknown_name("layer", layer, LAYERS)
        (self.on.add if shown else self.on.discard)(layer)


def main_frame(robot: Robot) -> str:
    """Choose the frame whose ellipsoid and workspace are shown first: the first end effector, or the last frame."""
    ends = list(robot.description.end_effectors.values())
    return ends[0] if ends else robot.frame_names[-1]


class Overlays:
    """The layers of one robot. Nodes are made when a layer is first switched on."""

    def __init__(self, scene: viser.SceneApi, robot: Robot, root: str, size: float) -> None:
        self.scene, self.robot, self.root, self.size = scene, robot, root, size
        self.cloud = Cloud(scene, robot, f"{root}/workspace", size)
        self._nodes: dict[str, Any] = {}  # viser's handles, whose properties depend on their kind
        self._weight = robot.mass * float(np.linalg.norm(robot.gravity))
        self._feet: tuple[Foot, ...] | None = None
        self._sphere = _unit_sphere()

    def draw(self, moment: Moment, switches: Switches) -> None:
        """Draw the layers that are on and hide the others; what does not exist at this moment is hidden too."""
        for layer, draw in self._drawers(moment, switches).items():
            shown = layer in switches.on and draw()
            for name, node in self._nodes.items():
                if name.partition(" ")[0] == layer:
                    node.visible = shown
        if "workspace" in switches.on:
            self.cloud.draw(moment.q, switches.frame)
        else:
            self.cloud.hide()

    def _drawers(self, moment: Moment, switches: Switches) -> dict[str, Callable[[], bool]]:
        return {
            "frames": lambda: self._frames(moment),
            "com": lambda: self._com(moment),
            "projection": lambda: self._projection(moment),
            "support": lambda: self._support(moment),
            "zmp": lambda: self._zmp(moment),
            "forces": lambda: self._forces(moment),
            "ellipsoid": lambda: self._ellipsoid(moment, switches.frame),
        }

    def _frames(self, moment: Moment) -> bool:
        T = kinematics.poses(self.robot, moment.q)
        wxyz, position = wxyz_of(T[:, :3, :3]), T[:, :3, 3]
        if "frames" in self._nodes:
            self._nodes["frames"].batched_wxyzs = wxyz
            self._nodes["frames"].batched_positions = position
        else:
            self._nodes["frames"] = self.scene.add_batched_axes(
                f"{self.root}/frames", wxyz, position, axes_length=0.06 * self.size, axes_radius=0.0025 * self.size
            )
        return True

    def _com(self, moment: Moment) -> bool:
        return self._has_mass() and self._dot("com", kinematics.com(self.robot, moment.q), YELLOW, 0.022)

    def _projection(self, moment: Moment) -> bool:
        if not self._has_mass():
            return False
        com = kinematics.com(self.robot, moment.q)
        self._disc("projection", np.array([com[0], com[1], 0.0]), YELLOW)
        return self._lines("projection line", np.array([[com, [com[0], com[1], 0.0]]]), YELLOW, 0.003)

    def _support(self, moment: Moment) -> bool:
        standing = self._standing(moment)
        if not standing:
            return False
        corners = hull(sole_points(self.robot, moment.q, standing)[:, :2])
        if len(corners) < 2:
            return False
        flat = np.column_stack([corners, np.full(len(corners), RISE)])
        edges = np.stack([flat, np.roll(flat, -1, axis=0)], axis=1)
        self._lines("support edge", edges, GREEN, 0.005)
        if len(corners) < 3:
            return True
        self._area("support", flat)
        return True

    def _area(self, name: str, corners: Array) -> None:
        """Fill a convex polygon (m, 3); one of another number of corners is another mesh."""
        if name in self._nodes and self._nodes[name].vertices.shape == corners.shape:
            self._nodes[name].vertices = corners.astype(np.float32)
            return
        fan = np.array([[0, k, k + 1] for k in range(1, len(corners) - 1)])
        self._nodes[name] = self.scene.add_mesh_simple(
            f"{self.root}/{name}", corners, fan, color=GREEN, opacity=0.35, side="double", cast_shadow=False
        )

    def _zmp(self, moment: Moment) -> bool:
        point = self.zero_moment_point(moment)
        return point is not None and self._disc("zmp", point, RED)

    def _forces(self, moment: Moment) -> bool:
        arrows, scale = [], 0.45 * self.size / max(self._weight, 1e-9)
        for frame, wrench in moment.forces.items():
            if np.isfinite(wrench).all() and np.linalg.norm(wrench[:3]) > 1e-3 * self._weight:
                place = kinematics.pose(self.robot, moment.q, frame)[:3, 3]
                arrows.append([place, place + scale * wrench[:3]])
        if not arrows:
            return False
        points = np.array(arrows)
        if "forces" in self._nodes:
            self._nodes["forces"].points = points.astype(np.float32)
        else:
            thick = 0.008 * self.size
            self._nodes["forces"] = self.scene.add_arrows(
                f"{self.root}/forces",
                points,
                VIOLET,
                shaft_radius=thick,
                head_radius=2.2 * thick,
                head_length=5 * thick,
            )
        return True

    def _ellipsoid(self, moment: Moment, frame: str) -> bool:
        joints = [joint.name for joint in movers(self.robot, frame)]
        if not joints:
            return False
        axes, radii = velocity_ellipsoid(self.robot, moment.q, frame, joints=joints)
        axes = axes * np.array([1.0, 1.0, np.linalg.det(axes)])  # a rotation, no mirror
        drawn = np.maximum(0.25 * radii, 2e-3 * self.size)
        if "ellipsoid" not in self._nodes:
            vertices, faces = self._sphere
            self._nodes["ellipsoid"] = self.scene.add_mesh_simple(
                f"{self.root}/ellipsoid",
                vertices,
                faces,
                color=BLUE,
                opacity=0.35,
                cast_shadow=False,
                receive_shadow=False,
            )
        node = self._nodes["ellipsoid"]
        node.scale = tuple(float(radius) for radius in drawn)
        node.wxyz = wxyz_of(axes)
        node.position = kinematics.pose(self.robot, moment.q, frame)[:3, 3]
        return True

    def zero_moment_point(self, moment: Moment) -> Array | None:
        """Find the zero moment point (3,) on the ground, by measured forces or by the motion; None: there is none."""
        robot = self.robot
        if robot.base != "floating" or not self._has_mass():
            return None
        try:
            if moment.forces:
                if sum(float(wrench[2]) for wrench in moment.forces.values()) < PRESSES * self._weight:
                    return None
                return zmp_from_wrenches(robot, moment.q, moment.forces)
            still = np.zeros(robot.nv)
            v, a = (still if part is None else part for part in (moment.v, moment.a))
            return zmp(robot, moment.q, v, a)
        except SingularError:
            return None

    def feet(self) -> tuple[Foot, ...]:
        """List the feet; none for a robot that does not stand on any."""
        if self._feet is None:
            try:
                self._feet = feet_of(self.robot)
            except KinodynError:
                self._feet = ()
        return self._feet

    def _standing(self, moment: Moment) -> list[Foot]:
        """Choose the feet that bear weight, or where no forces are known those that are on the ground."""
        if moment.forces:
            least = PRESSES * self._weight
            return [
                foot for foot in self.feet() if foot.frame in moment.forces and moment.forces[foot.frame][2] > least
            ]
        heights = [float(sole_points(self.robot, moment.q, [foot])[:, 2].min()) for foot in self.feet()]
        return [
            foot for foot, height in zip(self.feet(), heights, strict=True) if height < STANDS * max(self.size, 1.0)
        ]

    def _has_mass(self) -> bool:
        return self.robot.mass > 0

    def _dot(self, name: str, place: Array, colour: Colour, radius: float) -> bool:
        if name not in self._nodes:
            self._nodes[name] = self.scene.add_icosphere(f"{self.root}/{name}", radius * self.size, colour)
        self._nodes[name].position = place
        return True

    def _disc(self, name: str, place: Array, colour: Colour) -> bool:
        if name not in self._nodes:
            self._nodes[name] = self.scene.add_cylinder(
                f"{self.root}/{name}", 0.016 * self.size, RISE, color=colour, cast_shadow=False
            )
        self._nodes[name].position = place + np.array([0.0, 0.0, 2 * RISE])
        return True

    def _lines(self, name: str, points: Array, colour: Colour, thick: float) -> bool:
        if name in self._nodes and self._nodes[name].points.shape == points.shape:
            self._nodes[name].points = points.astype(np.float32)
        else:
            self._nodes[name] = self.scene.add_line_segments(
                f"{self.root}/{name}", points, colour, thickness=thick * self.size
            )
        return True


def _unit_sphere() -> tuple[Array, Array]:
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=3, radius=1.0)
    return np.asarray(made.vertices), np.asarray(made.faces)
