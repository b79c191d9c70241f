"""The web page: server, stage, robots, gizmos and the tabs with their panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.viewer.dragging import Dragging
from kinodyn.viewer.gizmos import Gizmos
from kinodyn.viewer.initial_pose import grounded, initial_configuration
from kinodyn.viewer.overlays import Layers
from kinodyn.viewer.play_panel import PlayPanel
from kinodyn.viewer.playback import Player, Track
from kinodyn.viewer.pose_panel import DragPanel, PosePanel, ShowPanel
from kinodyn.viewer.protocol import Mode, ViewerControls
from kinodyn.viewer.robot_group import RobotGroup
from kinodyn.viewer.server import PageServer, close_server
from kinodyn.viewer.snapshot import Snapshot
from kinodyn.viewer.stage import Stage
from kinodyn.viewer.walk_panel import WalkPanel


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

    Attributes
    ----------
    robots : RobotGroup
    gizmos : Gizmos
    q_start : (nq,)
    """

    def __init__(self, server: PageServer, robot: Robot, q: Array | None, dragging: Dragging) -> None:
        self.server, self.robot = server, robot
        self.stage = Stage(server)
        start = initial_configuration(robot) if q is None else q
        self.robots = RobotGroup(server.scene, robot, start)
        self.q_start = grounded(robot, start, self.robots.visuals[0]) if q is None else q
        self.robots.snapshots = [Snapshot(self.q_start)]
        dragging.feet = self.robots.overlays[0].feet()
        self.gizmos = Gizmos(server.scene, dragging, self.q_start, self.robots.size)
        self._tabs = server.gui.add_tab_group()
        self._play_tab: Any = None
        self._panels: dict[str, DragPanel | ShowPanel | PlayPanel | WalkPanel] = {}

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
            if mode in ("pose", "drag"):
                self.gizmos.show(snapshots[0].q)

    def refresh_panels(self) -> None:
        """Update the panels to the present state."""
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
        """Stop the server."""
        close_server(self.server)
