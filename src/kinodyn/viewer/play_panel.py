"""The tab Play, and the timeline that it shares with the tab Plan: time, play and pause, speed, loop."""

from __future__ import annotations

import math
from collections.abc import Callable

import viser

from kinodyn.viewer.gui import InputSync
from kinodyn.viewer.playback import Player
from kinodyn.viewer.protocol import Mode, PlaybackControls, ViewerControls

SPEEDS = (0.1, 4.0)


class Timeline:
    """Time, play and pause, speed and loop of a player.

    Parameters
    ----------
    viewer : PlaybackControls
    gui : viser.GuiApi
    player : Player
    mode : Mode
        In which the player moves the robot.
    play, seek : functions
        What the widgets do.
    """

    def __init__(
        self,
        viewer: PlaybackControls,
        gui: viser.GuiApi,
        player: Player,
        mode: Mode,
        *,
        play: Callable[[], None],
        seek: Callable[[float], None],
    ) -> None:
        self._player, self._viewer, self._mode, self._seek, self._sync = player, viewer, mode, seek, InputSync()
        end = _end(player)
        self._time = gui.add_slider("Time [s]", 0.0, end, end / 1000.0, 0.0)
        self._button = gui.add_button("Play")
        speed = min(max(player.speed, SPEEDS[0]), SPEEDS[1])
        self._speed = gui.add_slider("Speed", SPEEDS[0], SPEEDS[1], 0.05, speed)
        self._loop = gui.add_checkbox("Loop", player.loop)
        self._time.on_update(self._set_time)
        self._button.on_click(lambda _: viewer.attempt(viewer.pause if self._playing else play))
        self._speed.on_update(self._set_speed)
        self._loop.on_update(self._set_loop)

    @property
    def _playing(self) -> bool:
        return self._player.playing and self._viewer.mode == self._mode

    def refresh(self) -> None:
        """Show the time and whether it plays."""
        end = _end(self._player)
        if self._time.max != end:
            self._time.max, self._time.step = end, end / 1000.0
        self._sync.assign(self._time, min(round(self._player.time, 4), end))
        label = "Pause" if self._playing else "Play"
        if self._button.label != label:
            self._button.label = label

    def _set_time(self, event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
        if event.client_id is not None:
            self._viewer.attempt(lambda: self._seek(float(event.target.value)))

    def _set_speed(self, event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
        self._player.speed = float(event.target.value)

    def _set_loop(self, event: viser.GuiEvent[viser.GuiCheckboxHandle]) -> None:
        self._player.loop = bool(event.target.value)


def _end(player: Player) -> float:
    """Return the end of the slider [s]: a round number, because the page shows it."""
    return max(math.ceil(1e3 * player.duration - 1e-6) / 1e3, 1e-3)


class PlayPanel:
    """The timeline of recordings, and whether the camera follows."""

    def __init__(self, viewer: ViewerControls, gui: viser.GuiApi, player: Player) -> None:
        names = ", ".join(track.name for track in player.tracks)
        gui.add_markdown(f"{names}: {player.duration:.2f} s")
        self._timeline = Timeline(viewer, gui, player, "play", play=viewer.play, seek=viewer.seek)
        follow = gui.add_checkbox("Camera follows", viewer.follow)
        follow.on_update(lambda event: setattr(viewer, "follow", event.target.value))

    def refresh(self) -> None:
        """Show the time and whether it plays."""
        self._timeline.refresh()
