"""The web page: server, stage, robots, gizmos and the tabs with their panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.model.robot import Robot
from kinodyn.viewer.dragging import Dragging
from kinodyn.viewer.gizmos import Gizmos
from kinodyn.viewer.initial_pose import grounded, initial_configuration
from kinodyn.viewer.overlays import Layers
from kinodyn.viewer.plan_panel import PlanPanel
from kinodyn.viewer.planning import Planning
from kinodyn.viewer.play_panel import PlayPanel
from kinodyn.viewer.playback import Player, Track
from kinodyn.viewer.pose_panel import DragPanel, PosePanel, ShowPanel
from kinodyn.viewer.protocol import Mode, PlanControls, ViewerControls
from kinodyn.viewer.robot_group import RobotGroup
from kinodyn.viewer.server import PageServer, close_server
from kinodyn.viewer.snapshot import Snapshot
from kinodyn.viewer.stage import WORLD_DIRECTION, Stage
from kinodyn.viewer.walk_panel import WalkPanel

AnyWorld = World | WorldSnapshot | None


class Page:
    """Everything that a browser shows; the viewer decides what is drawn.

    Parameters
    ----------
    server : PageServer
    robot : Robot
    q : (nq,) array or None
        Initial configuration; None: a named one, with the robot on the ground.
    dragging : Dragging
        Its feet are set to those of the robot.
    world : World, WorldSnapshot or None
        Obstacles.

    Attributes
    ----------
    robots : RobotGroup
    gizmos : Gizmos
    planning : Planning
    q_start : (nq,)
    """

    def __init__(self, server: PageServer, robot: Robot, q: Array | None, dragging: Dragging, world: AnyWorld) -> None:
        self.server, self.robot = server, robot
        self.stage = Stage(server)
        start = initial_configuration(robot) if q is None else q
        self.robots = RobotGroup(server.scene, robot, start)
        self.q_start = grounded(robot, start, self.robots.visuals[0]) if q is None else q
        self.robots.snapshots = [Snapshot(self.q_start)]
        dragging.feet = self.robots.overlays[0].feet()
        self.gizmos = Gizmos(server.scene, dragging, self.q_start, self.robots.size)
        self.planning = Planning(server.scene, robot, self.robots.size, world)
        self._tabs = server.gui.add_tab_group()
        self._play_tab: Any = None
        self._panels: dict[str, DragPanel | ShowPanel | PlayPanel | WalkPanel | PlanPanel] = {}

    def add_panels(self, viewer: ViewerControls) -> None:
        """Add the tabs Joints, Drag, Show and, for a biped, Walk."""
        gui = self.server.gui
        with self._tabs.add_tab("Joints"):
            self._pose_panel = PosePanel(viewer, gui)
        with self._tabs.add_tab("Drag"):
            self._panels["drag"] = DragPanel(viewer, gui)
        with self._tabs.add_tab("Show"):
            self._panels["show"] = ShowPanel(viewer, gui)
        if self.robot.base == "floating" and len(viewer.dragging.feet) == 2:
            with self._tabs.add_tab("Walk"):
                self._panels["walk"] = WalkPanel(viewer, gui)

    def add_play_panel(self, viewer: ViewerControls, player: Player) -> None:
        """Add the tab Play, in place of that of the recording before."""
        if self._play_tab is not None:
            self._play_tab.remove()
        self._play_tab = self._tabs.add_tab("Play")
        with self._play_tab:
            self._panels["play"] = PlayPanel(viewer, self.server.gui, player)

    def add_plan_panel(self, viewer: PlanControls) -> None:
        """Add the tab Plan, unless it is there."""
        if "plan" not in self._panels:
            with self._tabs.add_tab("Plan"):
                self._panels["plan"] = PlanPanel(viewer, self.server.gui)

    def aim_camera(self) -> None:
        """Aim the camera at robots and obstacles."""
        robots, objects = self.robots.bounding_box(), self.planning.bounding_box()
        if objects is None:
            self.stage.aim_camera(robots)
        else:
            both = np.array([np.minimum(robots[0], objects[0]), np.maximum(robots[1], objects[1])])
            self.stage.aim_camera(both, WORLD_DIRECTION)

    def set_tracks(self, tracks: Sequence[Track]) -> None:
        """Show one robot per track; without tracks one robot on level ground."""
        self.robots.set_tracks(tracks)
        self.stage.hide_ground_below(self.robots.lowest)

    def draw(self, snapshots: Sequence[Snapshot], layers: Layers, mode: Mode, *, follow: bool) -> None:
        """Draw the robots with their overlays; `follow` moves the camera with a robot that walks or is played."""
        with self.server.atomic():
            self.robots.draw(snapshots, layers)
            if follow and mode in ("walk", "play") and self.robot.base == "floating":
                self.stage.follow(snapshots[0].q[:2])
            self.planning.draw(snapshots[0].q, mode == "plan", "distances" in layers.on)
            if mode in ("pose", "drag"):
                self.gizmos.show(snapshots[0].q)

    def refresh_panels(self) -> None:
        """Update the panels to the current state."""
        self._pose_panel.sliders.show(self.robots.snapshots[0].q)
        for panel in self._panels.values():
            panel.refresh()

    def show_velocity(self, velocity: Array) -> None:
        """Set the sliders of the tab Walk to a velocity (3,)."""
        panel = self._panels.get("walk")
        if isinstance(panel, WalkPanel):
            panel.show(velocity)

    def notify(self, message: str) -> None:
        """Show a message in all open pages."""
        for client in self.server.get_clients().values():
            client.add_notification("kinodyn", message, color="red", auto_close_seconds=15.0)

    def close(self) -> None:
        """Stop planning and the server."""
        self.planning.close()
        close_server(self.server)
