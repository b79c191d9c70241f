"""Viewer: the page, the robot on it, and whoever moves it: a hand at a slider, a drag, a recording, a walk."""

from __future__ import annotations

import html
import os
import threading
import webbrowser
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers
from kinodyn.errors import InputError, KinodynError
from kinodyn.model.robot import Robot
from kinodyn.viewer.dragging import Dragging, Gizmos
from kinodyn.viewer.export import export_html
from kinodyn.viewer.loop import Loop
from kinodyn.viewer.moment import Moment, one_configuration
from kinodyn.viewer.overlays import Switches, main_frame
from kinodyn.viewer.play_panel import PlayPanel
from kinodyn.viewer.playback import Given, Player, tracks
from kinodyn.viewer.pose_panel import DragPanel, PosePanel, ShowPanel
from kinodyn.viewer.server import HERE, address, close_server, open_server
from kinodyn.viewer.sliders import Knob
from kinodyn.viewer.stage import Stage
from kinodyn.viewer.start import grounded, start_of
from kinodyn.viewer.troupe import Troupe
from kinodyn.viewer.walk_panel import WalkPanel
from kinodyn.viewer.walker import Walker

Mode = Literal["pose", "drag", "play", "walk"]
SLOW = 12  # ticks between looks at the panels: five a second


class Viewer:
    """A robot in a web page that is served from this machine.

    All methods may be called from any thread. `kinodyn.view` makes one and prints its address.

    Parameters
    ----------
    robot
    q
        Where it stands first (nq,); by default a configuration named standing, ready or the like, on the ground.
    host, port
        Where the page is served. Only this machine reaches 127.0.0.1; other hosts bring a warning. None: a free port.
    recording
        One or several recordings to play: a Recording, a list, or a dict by name; they stand side by side.
    show
        Layers that are on at first; see `layer`.
    drag
        Frames that can be dragged; by default hands, feet and tools are found.

    Attributes
    ----------
    url : str
    mode : "pose", "drag", "play" or "walk"
        Who moves the robot now.
    problem : str
        What went wrong last in the viewer's own thread; empty if nothing did.

    Example
    -------
    >>> import kinodyn as kd
    >>> with kd.viewer.Viewer(kd.load("panda")) as viewer:
    ...     viewer.show(viewer.robot.configuration("ready"))
    ...     viewer.layer("ellipsoid")
    ...     viewer.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        robot: Robot,
        q: ArrayLike | None = None,
        *,
        host: str = HERE,
        port: int | None = None,
        recording: Given | None = None,
        show: Iterable[str] = (),
        drag: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
        self.robot = robot
        parts = None if recording is None else tracks(robot, recording)
        self.switches = Switches(set(), main_frame(robot))
        for layer in show:
            self.switches.set(layer, True)
        given = None if q is None else one_configuration(robot, q)
        self._lock, self._closed = threading.RLock(), False
        self.mode: Mode = "pose"
        self.problem, self.follow = "", True
        self.walker: Walker | None = None
        self.player: Player | None = None
        self._dirty, self._ticks = True, 0
        self.dragging = Dragging(robot, drag)
        self.server = open_server(host, port, robot.name)
        try:
            self.host, self.port = host, self.server.get_port()
            self.url = address(host, self.port)
            self._furnish(given)
            if parts is not None:
                self._cue(Player(parts))
            self._tick(0.0)
            self._stage.aim_camera(self._troupe.framed())
            self._loop = Loop(self._locked_tick)
        except BaseException:
            close_server(self.server)
            raise

    def _furnish(self, q: Array | None) -> None:
        """Put stage, robot, gizmos and panels in place."""
        server, robot = self.server, self.robot
        self._stage = Stage(server)
        self._troupe = Troupe(server.scene, robot, start_of(robot) if q is None else q)
        self.q_start = self.grounded(start_of(robot)) if q is None else q
        self._troupe.moments = [Moment(self.q_start)]
        self.dragging.feet = self._troupe.overlays[0].feet()
        self.gizmos = Gizmos(server.scene, self.dragging, self.q_start, self._troupe.size)
        self._tabs = server.gui.add_tab_group()
        with self._tabs.add_tab("Joints"):
            self._pose_panel = PosePanel(self, server.gui)
        with self._tabs.add_tab("Drag"):
            self._drag_panel = DragPanel(self, server.gui)
        with self._tabs.add_tab("Show"):
            self._show_panel = ShowPanel(self, server.gui)
        self._play_tab: Any = None
        self._play_panel: PlayPanel | None = None
        self._walk_panel: WalkPanel | None = None
        if robot.base == "floating" and len(self.dragging.feet) == 2:
            with self._tabs.add_tab("Walk"):
                self._walk_panel = WalkPanel(self, server.gui)

    # What it shows

    @property
    def q(self) -> Array:
        """The configuration (nq,) that is shown; assign one to show it."""
        with self._lock:
            return np.array(self._troupe.moments[0].q)

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self.show(value)

    def show(self, q: ArrayLike, v: ArrayLike | None = None, *, forces: Mapping[str, ArrayLike] | None = None) -> None:
        """Show the robot at q (nq,), with velocity v (nv,) and contact wrenches (6,) on frames if they are known."""
        checked = one_configuration(self.robot, q)
        speed = None if v is None else numbers("v", v, self.robot.nv)
        wrenches = {}
        for frame, wrench in (forces or {}).items():
            self.robot.frame_index(frame)
            wrenches[frame] = numbers(f"wrench on {frame!r}", wrench, 6)
        with self._lock:
            self._enter("pose")
            self.dragging.release()
            self._present([Moment(checked, speed, None, wrenches)])

    def turn(self, knob: Knob, value: float) -> None:
        """Move one coordinate, as a slider does."""
        with self._lock:
            if not self._closed:
                self.show(knob.write(self.q, value))

    def grounded(self, q: Array) -> Array:
        """Put a floating robot on the ground: q (nq,) with its base as high as its lowest point asks for."""
        return grounded(self.robot, q, self._troupe.figures[0])

    def heading(self) -> Array:
        """Find where the base looks, along the ground (3,)."""
        ahead = kinematics.pose(self.robot, self.q, self.robot.joints[0].child)[:3, 0].copy()
        ahead[2] = 0.0
        length = float(np.linalg.norm(ahead))
        return np.asarray(ahead / length if length > 1e-9 else np.array([1.0, 0.0, 0.0]))

    def layer(self, name: str, shown: bool = True) -> None:
        """Switch a layer on or off.

        Layers are "frames", "com", "projection" (of the mass on the ground), "support" (polygon of the feet), "zmp",
        "forces" (of contacts), "ellipsoid" (of velocities) and "workspace".
        """
        with self._lock:
            self.switches.set(name, bool(shown))
            self._dirty = True

    @property
    def frame(self) -> str:
        """The frame that ellipsoid and workspace are of; assign another one."""
        return self.switches.frame

    @frame.setter
    def frame(self, name: str) -> None:
        self.robot.frame_index(name)
        with self._lock:
            self.switches.frame = name
            self._dirty = True

    @property
    def rate(self) -> float:
        """How often a second the viewer's thread looks after the robot, lately."""
        return self._loop.rate

    @property
    def clients(self) -> int:
        """How many pages are open."""
        return len(self.server.get_clients())

    # Who moves it

    def drag(self, name: str, target: MatrixLike) -> None:
        """Drag a frame to a pose (4, 4) or position (3,), or "com" to a position; the body follows from now on."""
        with self._lock:
            self.dragging.drag(name, target, self.q)
            self._enter("drag")

    def release(self, name: str | None = None) -> None:
        """Let go of what was dragged, or of all."""
        with self._lock:
            self.dragging.release(name)

    def play(self, recording: Given | None = None, *, speed: float | None = None, loop: bool | None = None) -> None:
        """Play a recording, or several side by side; without one, the one that is there from where it is."""
        parts = None if recording is None else tracks(self.robot, recording)
        with self._lock:
            if parts is not None:
                self._cue(Player(parts))
            if self.player is None:
                raise InputError("there is nothing to play; give a recording")
            if speed is not None:
                self.player.speed = Player(self.player.tracks, speed=speed).speed
            if loop is not None:
                self.player.loop = bool(loop)
            self._enter("play")
            self.player.play()

    def pause(self) -> None:
        """Halt the playback."""
        with self._lock:
            if self.player is not None:
                self.player.pause()

    def seek(self, t: float) -> None:
        """Go to `t` seconds after the recording's start."""
        with self._lock:
            if self.player is None:
                raise InputError("there is nothing to play; give a recording")
            self._enter("play")
            self.player.seek(t)
            self._dirty = True

    def walk(self, velocity: ArrayLike | None = None) -> None:
        """Let the robot walk in MuJoCo, at a velocity (3,): forward, sideways [m/s], turn [rad/s].

        It stands where walking begins, at the world's origin. A robot that cannot walk raises KinodynError.
        """
        walker = self.walker or Walker(self.robot)  # takes a second: not under the lock
        if walker.problem:
            raise KinodynError(f"{walker.problem}; stand_up() puts the robot back on its feet")
        if velocity is not None:
            walker.command(velocity)
        with self._lock:
            self.walker = self.walker or walker
            self._enter("walk")
            walker.start()
            if self._walk_panel is not None:
                self._walk_panel.show(walker.velocity)

    def steer(self, velocity: ArrayLike) -> None:
        """Change the velocity (3,) of a walk; zeros stop it. One beyond the robot's limits raises InputError."""
        if self.walker is None or self.walker.problem:
            return
        try:
            self.walker.command(velocity)
        finally:
            if self._walk_panel is not None:
                self._walk_panel.show(self.walker.velocity)  # what holds, if that was refused

    def push(self, force: ArrayLike, duration: float = 0.1) -> None:
        """Push the base of a robot that walks with a force (3,) [N], in world axes, for so many seconds."""
        if self.walker is None:
            raise InputError("nothing walks that could be pushed; start with walk()")
        self.walker.push(force, duration)

    def halt(self) -> None:
        """Halt a walk where it is; `walk` goes on."""
        with self._lock:
            self._enter("pose")

    def stand_up(self) -> None:
        """Put a robot that walked or fell back on its feet, at the origin."""
        if self.walker is None:
            return
        self.walker.stop()
        self.walker.reset()
        with self._lock:
            self._enter("walk")
            self.walker.start()

    def export_html(self, recording: Given, path: str | os.PathLike[str], *, fps: float = 30.0) -> Path:
        """Write a recording, with the layers that are on now, to one HTML file that opens offline; give its path."""
        return export_html(
            self.robot, recording, path, fps=fps, show=sorted(self.switches.on), frame=self.switches.frame
        )

    # Its life

    def wait(self, timeout: float | None = None) -> None:
        """Wait until somebody closes the viewer, or for so many seconds; Ctrl-C ends it."""
        self._loop.ended.wait(timeout)

    def open_browser(self) -> bool:
        """Open the page in this machine's browser; tell whether there is one."""
        return webbrowser.open(self.url)

    def close(self) -> None:
        """End the walk and the page, and free the port. Twice does no harm."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._loop.stop()
        if self.walker is not None:
            self.walker.stop()
        close_server(self.server)

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._closed

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Viewer({self.robot.name!r}, {'closed' if self._closed else self.url})"

    def _repr_html_(self) -> str:
        """Show the live page in a notebook that runs on this machine."""
        if self._closed:
            return f"<p>{html.escape(repr(self))}</p>"
        style = "width:100%;height:560px;border:1px solid #ccc"
        return f'<iframe src="{html.escape(self.url)}" style="{style}" title="{html.escape(self.robot.name)}"></iframe>'

    def attempt(self, action: Callable[[], object]) -> None:
        """Do what somebody asked for in the page; what is wrong with it is told there."""
        if self._closed:
            return
        try:
            action()
        except KinodynError as cause:
            self.tell(str(cause))

    def tell(self, message: str) -> None:
        """Show a message in all pages."""
        self.problem = message
        for client in self.server.get_clients().values():
            client.add_notification("kinodyn", message, color="red", auto_close_seconds=15.0)

    # The ticks

    def _enter(self, mode: Mode) -> None:
        """Let somebody else move the robot."""
        if mode != "walk" and self.walker is not None:
            self.walker.stop()
        if mode != "play" and self.player is not None:
            self.player.pause()
        if mode != self.mode and "play" in (mode, self.mode):
            self._troupe.cast(self.player.tracks if mode == "play" and self.player else ())
            self._stage.level(self._troupe.lowest)
        if mode != "drag":
            self.dragging.release()
        self.mode, self._dirty = mode, True
        self.gizmos.allow(mode in ("pose", "drag"))

    def _cue(self, player: Player) -> None:
        """Put a recording in, at its start."""
        self.player = player
        if self._play_tab is not None:
            self._play_tab.remove()
        self._play_tab = self._tabs.add_tab("Play")
        with self._play_tab:
            self._play_panel = PlayPanel(self, self.server.gui, player)
        self.mode = "pose"
        self._enter("play")

    def _locked_tick(self, dt: float) -> None:
        try:
            with self._lock:
                if not self._closed:
                    self._tick(dt)
        except KinodynError as cause:
            with self._lock:
                self.mode = "pose"
            self.tell(str(cause))

    def _tick(self, dt: float) -> None:
        """Take what was dragged, move on, draw; now and then look after the panels."""
        for name, T in self.gizmos.take().items():
            self.dragging.drag(name, T, self.q)
            self._enter("drag")
        moments = self._next(dt)
        if moments is not None:
            self._present(moments)
        self._ticks += 1
        if self._ticks % SLOW == 0:
            self._refresh()

    def _next(self, dt: float) -> list[Moment] | None:
        """Find what is to be drawn now; None: nothing new."""
        if self.mode == "drag":
            q = self.dragging.step(self._troupe.moments[0].q, max(dt, 1e-3))
            if self._dirty or np.abs(q - self._troupe.moments[0].q).max() > 1e-7:
                return [Moment(q)]
            return None
        if self.mode == "play" and self.player is not None:
            moves = self.player.playing or self._dirty
            self.player.advance(dt)
            return self.player.moments() if moves else None
        if self.mode == "walk" and self.walker is not None:
            # half as often: drawing and walking share one interpreter
            return [self.walker.moment] if self._dirty or self._ticks % 2 else None
        return self._troupe.moments if self._dirty else None

    def _present(self, moments: list[Moment]) -> None:
        with self.server.atomic():
            self._troupe.show(moments, self.switches)
            if self.follow and self.mode in ("walk", "play") and self.robot.base == "floating":
                self._stage.follow(moments[0].q[:2])
            if self.mode in ("pose", "drag"):
                self.gizmos.show(moments[0].q)
        self._dirty = False

    def _refresh(self) -> None:
        """Show in the panels where things are."""
        self._pose_panel.sliders.show(self._troupe.moments[0].q)
        for panel in (self._drag_panel, self._show_panel, self._play_panel, self._walk_panel):
            if panel is not None:
                panel.refresh()
        self._dirty = self._dirty or "workspace" in self.switches.on
