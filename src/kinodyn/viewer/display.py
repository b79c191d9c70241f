"""Display: a robot in a web page with its address, layers and lifetime; `Viewer` adds what moves the robot."""

from __future__ import annotations

import html
import threading
import webbrowser
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from kinodyn.arrays import Array
from kinodyn.collision.refinement import robot_spheres
from kinodyn.errors import KinodynError
from kinodyn.model.robot import Robot
from kinodyn.viewer.dragging import Dragging
from kinodyn.viewer.gizmos import Gizmos
from kinodyn.viewer.loop import Loop
from kinodyn.viewer.overlays import Layers, main_frame
from kinodyn.viewer.page import AnyWorld, Page
from kinodyn.viewer.server import address, close_server, open_server

Self = TypeVar("Self", bound="Display")


class Display(ABC):
    """A page with a robot, and the thread that draws it.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array or None
        Initial configuration, checked.
    dragging : Dragging
    host, port : str, int or None
        Where the page is served.
    show : iterable of str
        Layers that are on initially.
    world : World, WorldSnapshot or None
        Obstacles.
    """

    def __init__(
        self,
        robot: Robot,
        q: Array | None,
        dragging: Dragging,
        *,
        host: str,
        port: int | None,
        show: Iterable[str],
        world: AnyWorld = None,
    ) -> None:
        self.robot, self.problem = robot, ""
        self.layers = Layers(set(), main_frame(robot))
        for layer in show:
            self.layers.set(layer, True)
        self._lock, self._closed, self._changed = threading.RLock(), False, True
        self.server = open_server(host, port, robot.name)
        with self._close_on_error():
            self.host, self.port = host, self.server.get_port()
            self.url = address(host, self.port, self.server.token)
            self._page = Page(self.server, robot, q, dragging, world)
            self.q_start = self._page.q_start

    @contextmanager
    def _close_on_error(self) -> Iterator[None]:
        """Stop the server if the viewer cannot be built."""
        try:
            yield
        except BaseException:
            close_server(self.server)
            raise

    def _start(self) -> None:
        """Start the thread that calls `_tick`."""
        self._loop = Loop(self._locked_tick)

    @abstractmethod
    def _tick(self, dt: float) -> None:
        """Advance by `dt` seconds, under the lock."""

    @abstractmethod
    def _fail(self) -> None:
        """Return to a safe state after an error in a tick."""

    @abstractmethod
    def _stop(self) -> None:
        """Stop what runs in other threads."""

    def layer(self, name: str, shown: bool = True) -> None:
        """Switch a layer on or off.

        Parameters
        ----------
        name : str
            "frames", "com", "projection" (of the CoM on the ground), "support" (support polygon), "zmp", "forces"
            (contact forces), "ellipsoid" (velocity manipulability), "workspace", "spheres" (that cover the collision
            shapes), "shapes" (collision shapes, in place of the visual ones), "distances" (to nearby parts) or "human"
            (the skeleton that a retargeted motion follows, next to the robot).
        shown : bool
        """
        if name in ("spheres", "distances") and shown:
            robot_spheres(self.robot)  # takes seconds when they are fitted, therefore not under the lock
        with self._lock:
            self.layers.set(name, bool(shown))
            self._changed = True

    @property
    def frame(self) -> str:
        """The frame of the layers "ellipsoid" and "workspace"; assign another one."""
        return self.layers.frame

    @frame.setter
    def frame(self, name: str) -> None:
        self.robot.frame_index(name)
        with self._lock:
            self.layers.frame = name
            self._changed = True

    @property
    def gizmos(self) -> Gizmos:
        """The handles in the scene that can be dragged."""
        return self._page.gizmos

    @property
    def rate(self) -> float:
        """Recent frequency of the viewer's thread [Hz]."""
        return self._loop.rate

    @property
    def clients(self) -> int:
        """Number of open pages."""
        return len(self.server.get_clients())

    def wait(self, timeout: float | None = None) -> None:
        """Block until the viewer is closed; Ctrl-C interrupts it.

        Parameters
        ----------
        timeout : float, optional
            Maximum time to wait [s].
        """
        self._loop.ended.wait(timeout)

    def open_browser(self) -> bool:
        """Open the page in the default browser; return whether there is one."""
        return webbrowser.open(self.url)

    def close(self) -> None:
        """Stop the walk and the server and free the port; closing twice has no effect."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._loop.stop()
        self._stop()
        self._page.close()

    @property
    def closed(self) -> bool:
        """Whether the viewer is closed."""
        return self._closed

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.robot.name!r}, {'closed' if self._closed else self.url})"

    def _repr_html_(self) -> str:
        """Embed the live page in a notebook that runs on this machine."""
        if self._closed:
            return f"<p>{html.escape(repr(self))}</p>"
        style = "width:100%;height:560px;border:1px solid #ccc"
        return f'<iframe src="{html.escape(self.url)}" style="{style}" title="{html.escape(self.robot.name)}"></iframe>'

    def attempt(self, action: Callable[[], object]) -> None:
        """Run an action of the page and show its error, if any, in the page.

        Parameters
        ----------
        action : function without arguments
        """
        if self._closed:
            return
        try:
            action()
        except KinodynError as cause:
            self._report(cause)

    def _report(self, cause: KinodynError) -> None:
        self.problem = str(cause)
        self._page.notify(self.problem)

    def _locked_tick(self, dt: float) -> None:
        try:
            with self._lock:
                if not self._closed:
                    self._tick(dt)
        except KinodynError as cause:
            with self._lock:
                self._fail()
            self._report(cause)
