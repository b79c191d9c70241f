"""The tab Play: timeline, speed, loop."""

from __future__ import annotations

import viser

from kinodyn.viewer.gui import InputSync
from kinodyn.viewer.playback import Player
from kinodyn.viewer.protocol import ViewerControls

SPEEDS = (0.1, 4.0)


class PlayPanel:
    """Timeline, play and pause, speed, loop."""

    def __init__(self, viewer: ViewerControls, gui: viser.GuiApi, player: Player) -> None:
        self._player, self._viewer, self._sync = player, viewer, InputSync()
        names = ", ".join(track.name for track in player.tracks)
        gui.add_markdown(f"{names}: {player.duration:.2f} s")
        end = max(player.duration, 1e-3)
        self._time = gui.add_slider("Time [s]", 0.0, end, end / 1000.0, 0.0)
        self._button = gui.add_button("Play")
        speed = min(max(player.speed, SPEEDS[0]), SPEEDS[1])
        self._speed = gui.add_slider("Speed", SPEEDS[0], SPEEDS[1], 0.05, speed)
        self._loop = gui.add_checkbox("Loop", player.loop)
        self._follow = gui.add_checkbox("Camera follows", viewer.follow)
        self._time.on_update(self._seek)
        self._button.on_click(lambda _: viewer.attempt(viewer.pause if player.playing else viewer.play))
        self._speed.on_update(self._set_speed)
        self._loop.on_update(self._set_loop)
        self._follow.on_update(lambda event: setattr(viewer, "follow", event.target.value))

    def refresh(self) -> None:
        """Show the time and whether it plays."""
        self._sync.assign(self._time, round(self._player.time, 4))
        label = "Pause" if self._player.playing and self._viewer.mode == "play" else "Play"
        if self._button.label != label:
            self._button.label = label

    def _seek(self, event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
        if event.client_id is not None:
            self._viewer.attempt(lambda: self._viewer.seek(float(event.target.value)))

    def _set_speed(self, event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
        self._player.speed = float(event.target.value)

    def _set_loop(self, event: viser.GuiEvent[viser.GuiCheckboxHandle]) -> None:
        self._player.loop = bool(event.target.value)
