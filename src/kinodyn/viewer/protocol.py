"""The protocol by which the panels of the page control the viewer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.viewer.dragging import Dragging
from kinodyn.viewer.gizmos import Gizmos
from kinodyn.viewer.overlays import Layers
from kinodyn.viewer.planning import Planning
from kinodyn.viewer.sliders import SliderCoordinate
from kinodyn.viewer.walker import Walker

Mode = Literal["pose", "drag", "play", "walk", "plan"]


class PlaybackControls(Protocol):
    """What a timeline needs."""

    mode: Mode

    def attempt(self, action: Callable[[], object]) -> None: ...

    def pause(self) -> None: ...


class PlanControls(PlaybackControls, Protocol):
    """What the tab Plan needs."""

    robot: Robot

    @property
    def planning(self) -> Planning: ...

    @property
    def q(self) -> Array: ...

    def play_plan(self) -> None: ...

    def seek_plan(self, t: float) -> None: ...

    def replan(self, *, start: ArrayLike | None = None, goal: Any = None) -> None: ...

    def select(self, name: str | None) -> None: ...


class ViewerControls(PlaybackControls, Protocol):
    """The part of `Viewer` that other panels use; they need not import the viewer that builds them."""

    robot: Robot
    follow: bool
    layers: Layers
    dragging: Dragging
    walker: Walker | None
    q_start: Array

    @property
    def gizmos(self) -> Gizmos: ...

    @property
    def q(self) -> Array: ...

    def show(self, q: ArrayLike) -> None: ...

    def set_coordinate(self, coordinate: SliderCoordinate, value: float) -> None: ...

    def grounded(self, q: Array) -> Array: ...

    def heading(self) -> Array: ...

    def layer(self, name: str, shown: bool = True) -> None: ...

    def release(self, name: str | None = None) -> None: ...

    def play(self) -> None: ...

    def seek(self, t: float) -> None: ...

    def walk(self, velocity: ArrayLike | None = None) -> None: ...

    def steer(self, velocity: ArrayLike) -> None: ...

    def push(self, force: ArrayLike, duration: float = 0.1) -> None: ...

    def stop_walking(self) -> None: ...

    def stand_up(self) -> None: ...
