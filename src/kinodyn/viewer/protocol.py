"""What the panels of the page may ask the viewer to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.viewer.dragging import Dragging
from kinodyn.viewer.gizmos import Gizmos
from kinodyn.viewer.overlays import Layers
from kinodyn.viewer.sliders import SliderCoordinate
from kinodyn.viewer.walker import Walker

Mode = Literal["pose", "drag", "play", "walk"]


class ViewerControls(Protocol):
    """The part of `Viewer` that panels use; they need not import the viewer that builds them."""

    robot: Robot
    mode: Mode
    follow: bool
    layers: Layers
    dragging: Dragging
    walker: Walker | None
    q_start: Array

    @property
    def gizmos(self) -> Gizmos: ...

    @property
    def q(self) -> Array: ...

    def attempt(self, action: Callable[[], object]) -> None: ...

    def show(self, q: ArrayLike) -> None: ...

    def set_coordinate(self, coordinate: SliderCoordinate, value: float) -> None: ...

    def grounded(self, q: Array) -> Array: ...

    def heading(self) -> Array: ...

    def layer(self, name: str, shown: bool = True) -> None: ...

    def release(self, name: str | None = None) -> None: ...

    def play(self) -> None: ...

    def pause(self) -> None: ...

    def seek(self, t: float) -> None: ...

    def walk(self, velocity: ArrayLike | None = None) -> None: ...

    def steer(self, velocity: ArrayLike) -> None: ...

    def push(self, force: ArrayLike, duration: float = 0.1) -> None: ...

    def stop_walking(self) -> None: ...

    def stand_up(self) -> None: ...
