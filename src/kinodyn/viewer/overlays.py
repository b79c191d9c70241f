"""Layers drawn with a robot: frames, CoM, support polygon, ZMP, contact forces, ellipsoid, workspace, human."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
from kinodyn.model.chain import moving_joints
from kinodyn.model.robot import Robot
from kinodyn.retarget.keypoints import BONES
from kinodyn.viewer.colours import Colour
from kinodyn.viewer.markers import RISE, Markers
from kinodyn.viewer.snapshot import Snapshot
from kinodyn.viewer.workspace_cloud import WorkspaceCloud

TITLES = {
    "frames": "Frames",
    "com": "Centre of mass",
    "projection": "CoM projection",
    "support": "Support polygon",
    "zmp": "Zero moment point",
    "forces": "Contact forces",
    "ellipsoid": "Manipulability ellipsoid",
    "workspace": "Workspace cloud",
    "spheres": "Collision spheres",
    "shapes": "Collision shapes",
    "distances": "Smallest distances",
    "human": "Human next to the robot",
}
LAYERS = tuple(TITLES)
STANCE_HEIGHT = 0.01  # where forces are not known, a sole below this height supports the robot [m per m of its size]
STANCE_LOAD = 0.02  # a foot that bears more than this fraction of the weight supports the robot
FORCE_LENGTH = 0.45  # length of an arrow for a force equal to the weight, relative to the robot's size
ELLIPSOID_SCALE = 0.25  # m per m/s
BESIDE = 0.9  # distance of the human from the robot that follows it, relative to the robot's size
YELLOW: Colour = (240, 190, 50)
RED: Colour = (214, 62, 62)
GREEN: Colour = (64, 160, 92)
VIOLET: Colour = (136, 84, 190)
BLUE: Colour = (58, 110, 190)


@dataclass
class Layers:
    """Which layers are on, and the frame of the ellipsoid and the workspace."""

    on: set[str]
    frame: str

    def set(self, layer: str, shown: bool) -> None:
        """Switch a layer on or off."""
        if layer not in LAYERS:
            raise unknown_name("layer", layer, LAYERS)
        (self.on.add if shown else self.on.discard)(layer)


def main_frame(robot: Robot) -> str:
    """Return the frame whose ellipsoid and workspace are shown first: the first end effector, or the last frame."""
    ends = list(robot.description.end_effectors.values())
    return ends[0] if ends else robot.frame_names[-1]


class Overlays:
    """The layers of one robot; markers are created when a layer is first switched on."""

    def __init__(self, scene: viser.SceneApi, robot: Robot, root: str, size: float) -> None:
        self.robot, self.size = robot, size
        self.cloud = WorkspaceCloud(scene, robot, f"{root}/workspace", size)
        self._markers = Markers(scene, root, size)
        self._weight = robot.mass * float(np.linalg.norm(robot.gravity))
        self._feet: tuple[Foot, ...] | None = None

    def draw(self, snapshot: Snapshot, layers: Layers) -> None:
        """Draw the layers that are on and hide the others, and those that do not exist at this instant."""
        for layer, draw in self._drawers(snapshot, layers).items():
            self._markers.set_visible(layer, layer in layers.on and draw())
        if "workspace" in layers.on:
            self.cloud.draw(snapshot.q, layers.frame)
        else:
            self.cloud.hide()

    def _drawers(self, snapshot: Snapshot, layers: Layers) -> dict[str, Callable[[], bool]]:
        """Map each layer to a function that draws it and returns whether it exists."""
        return {
            "frames": lambda: self._draw_frames(snapshot),
            "com": lambda: self._draw_com(snapshot),
            "projection": lambda: self._draw_projection(snapshot),
            "support": lambda: self._draw_support(snapshot),
            "zmp": lambda: self._draw_zmp(snapshot),
            "forces": lambda: self._draw_forces(snapshot),
            "ellipsoid": lambda: self._draw_ellipsoid(snapshot, layers.frame),
            "human": lambda: self._draw_human(snapshot),
        }

    def _draw_frames(self, snapshot: Snapshot) -> bool:
        self._markers.axes("frames", kinematics.poses(self.robot, snapshot.q))
        return True

    def _draw_com(self, snapshot: Snapshot) -> bool:
        if not self._has_mass():
            return False
        self._markers.point("com", kinematics.com(self.robot, snapshot.q), YELLOW, 0.022)
        return True

    def _draw_projection(self, snapshot: Snapshot) -> bool:
        if not self._has_mass():
            return False
        com = kinematics.com(self.robot, snapshot.q)
        ground = np.array([com[0], com[1], 0.0])
        self._markers.disc("projection", ground, YELLOW)
        self._markers.lines("projection line", np.array([[com, ground]]), YELLOW, 0.003)
        return True

    def _draw_support(self, snapshot: Snapshot) -> bool:
        feet = self._stance_feet(snapshot)
        corners = hull(sole_points(self.robot, snapshot.q, feet)[:, :2]) if feet else np.zeros((0, 2))
        if len(corners) < 2:
            return False
        flat = np.column_stack([corners, np.full(len(corners), RISE)])
        self._markers.lines("support edge", np.stack([flat, np.roll(flat, -1, axis=0)], axis=1), GREEN, 0.005)
        if len(corners) >= 3:
            self._markers.area("support", flat, GREEN)
        return True

    def _draw_zmp(self, snapshot: Snapshot) -> bool:
        point = self.zmp(snapshot)
        if point is None:
            return False
        self._markers.disc("zmp", point, RED)
        return True

    def _draw_forces(self, snapshot: Snapshot) -> bool:
        arrows, scale = [], FORCE_LENGTH * self.size / max(self._weight, 1e-9)
        for frame, wrench in snapshot.forces.items():
            if np.isfinite(wrench).all() and np.linalg.norm(wrench[:3]) > 1e-3 * self._weight:
                start = kinematics.pose(self.robot, snapshot.q, frame)[:3, 3]
                arrows.append([start, start + scale * wrench[:3]])
        if not arrows:
            return False
        self._markers.arrows("forces", np.array(arrows), VIOLET)
        return True

    def _draw_ellipsoid(self, snapshot: Snapshot, frame: str) -> bool:
        joints = [joint.name for joint in moving_joints(self.robot, frame)]
        if not joints:
            return False
        axes, radii = velocity_ellipsoid(self.robot, snapshot.q, frame, joints=joints)
        position = kinematics.pose(self.robot, snapshot.q, frame)[:3, 3]
        self._markers.ellipsoid("ellipsoid", position, axes, ELLIPSOID_SCALE * radii, BLUE)
        return True

    def human(self, snapshot: Snapshot) -> dict[str, Array]:
        """Return the key points (3,) of the human whom the robot follows, next to the robot; empty if there is none."""
        points = snapshot.human
        if self.robot.base != "floating" or not {"left_hip", "right_hip"} <= set(points):
            return {}
        hips = 0.5 * (points["left_hip"] + points["right_hip"])
        shift = np.array([snapshot.q[0] - hips[0], snapshot.q[1] - hips[1] + BESIDE * self.size, 0.0])
        return {name: point + shift for name, point in points.items()}

    def _draw_human(self, snapshot: Snapshot) -> bool:
        points = self.human(snapshot)
        for a, b in BONES:
            if a in points and b in points:
                self._markers.rod(f"human {a} {b}", points[a], points[b], BLUE, 0.009)
        for name, point in points.items():
            self._markers.point(f"human {name}", point, BLUE, 0.015)
        return bool(points)

    def zmp(self, snapshot: Snapshot) -> Array | None:
        """Return the ZMP (3,) on the ground, from measured forces or from the motion; None if it does not exist."""
        robot = self.robot
        if robot.base != "floating" or not self._has_mass():
            return None
        try:
            if snapshot.forces:
                if sum(float(wrench[2]) for wrench in snapshot.forces.values()) < STANCE_LOAD * self._weight:
                    return None
                return zmp_from_wrenches(robot, snapshot.q, snapshot.forces)
            rest = np.zeros(robot.nv)
            v, a = (rest if part is None else part for part in (snapshot.v, snapshot.a))
            return zmp(robot, snapshot.q, v, a)
        except SingularError:
            return None

    def feet(self) -> tuple[Foot, ...]:
        """Return the feet; empty for a robot without feet."""
        if self._feet is None:
            try:
                self._feet = feet_of(self.robot)
            except KinodynError:
                self._feet = ()
        return self._feet

    def _stance_feet(self, snapshot: Snapshot) -> list[Foot]:
        """Return the feet that bear weight or, where forces are not known, those on the ground."""
        if snapshot.forces:
            load = {foot.frame: snapshot.forces[foot.frame][2] for foot in self.feet() if foot.frame in snapshot.forces}
            return [foot for foot in self.feet() if load.get(foot.frame, 0.0) > STANCE_LOAD * self._weight]
        bound = STANCE_HEIGHT * max(self.size, 1.0)
        return [foot for foot in self.feet() if sole_points(self.robot, snapshot.q, [foot])[:, 2].min() < bound]

    def _has_mass(self) -> bool:
        return self.robot.mass > 0
