"""The panel of a walk: velocity by sliders and keys, pushes, a reset, and the status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import viser

from kinodyn.arrays import Array
from kinodyn.viewer.gui import assign
from kinodyn.viewer.protocol import ViewerControls

# change of the command by each key: forward [m/s], sideways [m/s], turn [rad/s]; viser uses W A S D Q E for the camera
Key = Literal["I", "K", "J", "L", "U", "O"]
KEYS: dict[Key, tuple[str, tuple[float, float, float]]] = {
    "I": ("Walk: faster", (0.1, 0.0, 0.0)),
    "K": ("Walk: slower, backwards", (-0.1, 0.0, 0.0)),
    "J": ("Walk: turn left", (0.0, 0.0, 0.1)),
    "L": ("Walk: turn right", (0.0, 0.0, -0.1)),
    "U": ("Walk: step left", (0.0, 0.05, 0.0)),
    "O": ("Walk: step right", (0.0, -0.05, 0.0)),
}
DIRECTIONS = {"from behind": (1, 0), "from ahead": (-1, 0), "from the right": (0, 1), "from the left": (0, -1)}
SLIDER_ENDS = (0.5, 0.2, 0.5)  # m/s, m/s, rad/s; a robot whose limits are lower reports an error
HELP = "Keys: I K speed, J L turn, U O sideways, X stop, P push."


class WalkPanel:
    """Sliders, keys and buttons of a walking robot."""

    def __init__(self, viewer: ViewerControls, gui: viser.GuiApi) -> None:
        self._viewer = viewer
        self._go = gui.add_button("Start walking")
        self._status = gui.add_markdown(f"Standing. {HELP}")
        labels = ("Forward [m/s]", "Left [m/s]", "Turn [rad/s]")
        self._sliders = [
            gui.add_slider(label, -end, end, 0.01, 0.0) for label, end in zip(labels, SLIDER_ENDS, strict=True)
        ]
        stop = gui.add_button("Stop")
        self._force = gui.add_slider("Push [N]", 0, 400, 5, 80)
        self._from = gui.add_dropdown("Push direction", tuple(DIRECTIONS), initial_value="from behind")
        push = gui.add_button("Push for 0.1 s", color="orange")
        reset = gui.add_button("Reset", color="gray")
        follow = gui.add_checkbox("Camera follows", viewer.follow)
        self._go.on_click(lambda _: viewer.attempt(self._toggle))
        stop.on_click(lambda _: self._steer(np.zeros(3)))
        push.on_click(lambda _: viewer.attempt(self._push))
        reset.on_click(lambda _: viewer.attempt(self._reset))
        follow.on_update(lambda event: setattr(viewer, "follow", event.target.value))
        for slider in self._sliders:
            slider.on_update(self._slid)
        self._keys(gui)

    @property
    def velocity(self) -> Array:
        """Velocity (3,) set by the sliders."""
        return np.array([slider.value for slider in self._sliders])

    def refresh(self) -> None:
        """Show the status of the walk."""
        walker = self._viewer.walker
        if walker is None:
            return
        if walker.problem:
            text = f"**{walker.problem[0].upper()}{walker.problem[1:]}.** Press *Reset*."
        elif self._viewer.mode == "walk":
            text = f"Walking for {walker.time:.1f} s, at {walker.real_time_factor:.2f} times real time. {HELP}"
        else:
            text = f"Paused at {walker.time:.1f} s. {HELP}"
        if text != self._status.content:
            self._status.content = text
        label = "Pause" if self._viewer.mode == "walk" and not walker.problem else "Start walking"
        if self._go.label != label:
            self._go.label = label

    def _keys(self, gui: viser.GuiApi) -> None:
        for key, (title, change) in KEYS.items():
            gui.add_command(title, hotkey=key).on_trigger(self._velocity_callback(change))
        gui.add_command("Walk: stop", hotkey="X").on_trigger(lambda _: self._steer(np.zeros(3)))
        gui.add_command("Walk: push", hotkey="P").on_trigger(lambda _: self._viewer.attempt(self._push))

    def _toggle(self) -> None:
        if self._viewer.mode == "walk":
            self._viewer.stop_walking()
        else:
            self._viewer.walk(self.velocity)

    def _reset(self) -> None:
        self.show(np.zeros(3))
        self._viewer.stand_up()

    def _push(self) -> None:
        along, across = DIRECTIONS[self._from.value]
        ahead = self._viewer.heading()
        left = np.array([-ahead[1], ahead[0], 0.0])
        self._viewer.push(float(self._force.value) * (along * ahead + across * left))

    def _velocity_callback(self, change: tuple[float, float, float]) -> Callable[[viser.CommandEvent], None]:
        return lambda _: self._steer(np.clip(self.velocity + change, -np.array(SLIDER_ENDS), SLIDER_ENDS))

    def _slid(self, event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
        if event.client_id is not None:
            self._viewer.attempt(lambda: self._viewer.steer(self.velocity))

    def _steer(self, velocity: Array) -> None:
        self.show(velocity)
        self._viewer.attempt(lambda: self._viewer.steer(velocity))

    def show(self, velocity: Array) -> None:
        """Set the sliders to a velocity (3,)."""
        for slider, value in zip(self._sliders, velocity, strict=True):
            assign(slider, round(float(value), 3))
