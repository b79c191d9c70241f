"""Viewer: a robot in a web page, moved by sliders, by dragging, by a recording or by a walking controller."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.viewer.dragging import Dragging
from kinodyn.viewer.export import export_html
from kinodyn.viewer.initial_pose import grounded
from kinodyn.viewer.planning_viewer import PlanningViewer
from kinodyn.viewer.playback import Player, Recordings, make_tracks
from kinodyn.viewer.protocol import Mode
from kinodyn.viewer.server import LOCALHOST
from kinodyn.viewer.sliders import SliderCoordinate
from kinodyn.viewer.snapshot import Snapshot, check_configuration
from kinodyn.viewer.walker import Walker
from kinodyn.viewer.walking_viewer import WalkingViewer

PANEL_PERIOD = 12  # ticks between updates of the panels: five updates per second


@displayed
class Viewer(WalkingViewer, PlanningViewer):
    """A robot in a web page served by this machine.

    All methods may be called from any thread. `kinodyn.view` makes a viewer and prints its address.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array, optional
        Initial configuration; by default a named one such as "standing" or "ready", with the robot on the ground.
    host : str
        Address to listen on. Only this machine can reach 127.0.0.1; any other host raises a warning.
    port : int, optional
        Port to listen on; by default a free one.
    recording : Recording, or a list or dict of them, optional
        Motions to play, side by side.
    show : iterable of str
        Layers that are on initially, see `layer`.
    drag : sequence of str, optional
        Frames that can be dragged; by default hands, feet and tools.
    world : World or WorldSnapshot, optional
        Obstacles. Changes of a World are drawn.

    Attributes
    ----------
    url : str
        Address of the page.
    mode : "pose", "drag", "play", "walk" or "plan"
        What moves the robot currently.
    problem : str
        The last error in the viewer's own thread; empty if there was none.

    Examples
    --------
    >>> import kinodyn as kd
    >>> with kd.viewer.Viewer(kd.load("panda")) as viewer:
    ...     viewer.show(viewer.robot.configuration("ready"))
    ...     viewer.layer("ellipsoid")
    ...     viewer.url.startswith("http://127.0.0.1:")
    True
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        q: ArrayLike | None = None,
        *,
        host: str = LOCALHOST,
        port: int | None = None,
        recording: Recordings | None = None,
        show: Iterable[str] = (),
        drag: Sequence[str] | None = None,
        world: World | WorldSnapshot | None = None,
    ) -> None:
        tracks = None if recording is None else make_tracks(robot, recording)
        start = None if q is None else check_configuration(robot, q)
        self.mode: Mode = "pose"
        self.follow = True
        self.walker: Walker | None = None
        self.player: Player | None = None
        self._ticks = 0
        self.dragging = Dragging(robot, drag)
        super().__init__(robot, start, self.dragging, host=host, port=port, show=show, world=world)
        with self._close_on_error():
            self._page.add_panels(self)
            if tracks is not None:
                self._load(Player(tracks))
            if world is not None:
                self._page.add_plan_panel(self)
            self._tick(0.0)
            self._page.aim_camera()
            self._start()

    # What is shown

    @property
    def q(self) -> Array:
        """The configuration (nq,) that is shown; assign one to show it."""
        with self._lock:
            return np.array(self._page.robots.snapshots[0].q)

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self.show(value)

    @check_types
    def show(self, q: ArrayLike, v: ArrayLike | None = None, *, forces: Mapping[str, ArrayLike] | None = None) -> None:
        """Show a configuration.

        Parameters
        ----------
        q : (nq,) array
        v : (nv,) array, optional
            Velocity, for the ZMP.
        forces : dict of frame -> (6,), optional
            Contact wrenches on frames, world axes [N, N m].
        """
        checked = check_configuration(self.robot, q)
        velocity = None if v is None else numbers("v", v, self.robot.nv)
        wrenches = {}
        for frame, wrench in (forces or {}).items():
            self.robot.frame_index(frame)
            wrenches[frame] = numbers(f"wrench on {frame!r}", wrench, 6)
        with self._lock:
            self._enter("pose")
            self.dragging.release()
            self._draw([Snapshot(checked, velocity, None, wrenches)])

    @check_types
    def set_coordinate(self, coordinate: SliderCoordinate, value: float) -> None:
        """Move one coordinate, as a slider does.

        Parameters
        ----------
        coordinate : SliderCoordinate
        value : float
            [rad or m]
        """
        with self._lock:
            if not self._closed:
                self.show(coordinate.write(self.q, value))

    def grounded(self, q: Array) -> Array:
        """Place a floating robot on the ground.

        Parameters
        ----------
        q : (nq,) array

        Returns
        -------
        (nq,) array
            q with the height of the base changed so that the lowest point that is drawn touches the ground.
        """
        return grounded(self.robot, q, self._page.robots.visuals[0])

    def heading(self) -> Array:
        """Return the direction (3,) of the base's x axis along the ground."""
        ahead = kinematics.pose(self.robot, self.q, self.robot.joints[0].child)[:3, 0].copy()
        ahead[2] = 0.0
        length = float(np.linalg.norm(ahead))
        return np.asarray(ahead / length if length > 1e-9 else np.array([1.0, 0.0, 0.0]))

    # What moves the robot

    @check_types
    def drag(self, name: str, target: MatrixLike) -> None:
        """Drag a frame; the whole body follows from now on.

        Parameters
        ----------
        name : str
            A frame, or "com".
        target : (4, 4) pose or (3,) position [m]
            The CoM takes a position.
        """
        with self._lock:
            self.dragging.drag(name, target, self.q)
            self._enter("drag")

    @check_types
    def release(self, name: str | None = None) -> None:
        """Release what was dragged.

        Parameters
        ----------
        name : str, optional
            A frame or "com"; by default everything.
        """
        with self._lock:
            self.dragging.release(name)

    @check_types
    def play(
        self, recording: Recordings | None = None, *, speed: float | None = None, loop: bool | None = None
    ) -> None:
        """Play a recording, or several side by side.

        Parameters
        ----------
        recording : Recording, or a list or dict of them, optional
            By default the loaded one continues where it is.
        speed : float, optional
            1 is real time.
        loop : bool, optional
            Start again after the end.
        """
        tracks = None if recording is None else make_tracks(self.robot, recording)
        with self._lock:
            if tracks is not None:
                self._load(Player(tracks))
            player = self._require_player()
            if speed is not None:
                player.speed = Player(player.tracks, speed=speed).speed
            if loop is not None:
                player.loop = bool(loop)
            self._enter("play")
            player.play()

    def pause(self) -> None:
        with self._lock:
            self.planning.player.pause()
            if self.player is not None:
                self.player.pause()

    def seek(self, t: float) -> None:
        """Go to a time of the recording.

        Parameters
        ----------
        t : float
            Time after the start [s].
        """
        with self._lock:
            player = self._require_player()
            self._enter("play")
            player.seek(t)
            self._changed = True

    @check_types
    def export_html(self, recording: Recordings, path: str | os.PathLike[str], *, fps: float = 30.0) -> Path:
        """Write a recording, with the layers that are on, to a self-contained HTML file.

        Parameters
        ----------
        recording : Recording, or a list or dict of them
        path : path-like
        fps : float
            Animation frames per second of the motion [Hz].

        Returns
        -------
        Path
            The file that was written.
        """
        return export_html(self.robot, recording, path, fps=fps, show=sorted(self.layers.on), frame=self.layers.frame)

    # The viewer's thread

    def _stop(self) -> None:
        if self.walker is not None:
            self.walker.stop()

    def _fail(self) -> None:
        self.mode = "pose"

    def _require_player(self) -> Player:
        if self.player is None:
            raise InputError("there is nothing to play; give a recording")
        return self.player

    def _enter(self, mode: Mode) -> None:
        if mode != "walk" and self.walker is not None:
            self.walker.stop()
        if mode != "play" and self.player is not None:
            self.player.pause()
        if mode != self.mode and "play" in (mode, self.mode):
            self._page.set_tracks(self.player.tracks if mode == "play" and self.player else ())
        if mode != "drag":
            self.dragging.release()
        self.mode, self._changed = mode, True
        self.gizmos.allow(mode in ("pose", "drag"))

    def _load(self, player: Player) -> None:
        """Load a recording at its start."""
        self.player = player
        self._page.add_play_panel(self, player)
        self.mode = "pose"
        self._enter("play")

    def _tick(self, dt: float) -> None:
        """Read the gizmos, move the robot, draw; every `PANEL_PERIOD` ticks update the panels."""
        for name, T in self.gizmos.take_moves().items():
            self.dragging.drag(name, T, self.q)
            self._enter("drag")
        self._changed = self.planning.update() or self._changed
        snapshots = self._next(dt)
        if snapshots is not None:
            self._draw(snapshots)
        self._ticks += 1
        if self._ticks % PANEL_PERIOD == 0:
            self._page.refresh_panels()
            self._changed = self._changed or "workspace" in self.layers.on

    def _next(self, dt: float) -> list[Snapshot] | None:
        """Return what is to be drawn now; None if nothing has changed."""
        shown = self._page.robots.snapshots
        if self.mode == "drag":
            q = self.dragging.step(shown[0].q, max(dt, 1e-3))
            return [Snapshot(q)] if self._changed or np.abs(q - shown[0].q).max() > 1e-7 else None
        if self.mode == "play" and self.player is not None:
            moves = self.player.playing or self._changed
            self.player.advance(dt)
            return self.player.snapshots() if moves else None
        if self.mode == "plan":
            moves = self.planning.player.playing or self._changed
            self.planning.player.advance(dt)
            at = self.planning.configuration
            return [Snapshot(at)] if moves and at is not None else None
        if self.mode == "walk" and self.walker is not None:
            # every second tick: drawing and walking share one interpreter
            return [self.walker.snapshot] if self._changed or self._ticks % 2 else None
        return shown if self._changed else None

    def _draw(self, snapshots: list[Snapshot]) -> None:
        self._page.draw(snapshots, self.layers, self.mode, follow=self.follow)
        self._changed = False
