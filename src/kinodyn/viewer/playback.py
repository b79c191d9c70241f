"""Playback: what a recording was doing at any time, and the clock that goes through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.recording import Recording
from kinodyn.viewer.moment import Moment, one_configuration

MOST = 12  # robots side by side
Given = Recording | Sequence[Recording] | Mapping[str, Recording]


@dataclass(frozen=True, eq=False)
class Take:
    """One robot's motion: a recording without batch axes, and the robot it is of."""

    name: str
    robot: Robot
    recording: Recording

    def at(self, t: float) -> Moment:
        """Find the moment at `t` seconds after the recording's start; before and after, its ends hold.

        Between rows q goes the straight way from one to the next; forces and velocities are those of the row before.
        """
        time = self.recording.time
        now = float(np.clip(t + time[0], time[0], time[-1]))
        row = int(np.clip(np.searchsorted(time, now, "right") - 1, 0, len(time) - 1))
        q = self.recording.q[row]
        if row + 1 < len(time) and now > time[row]:
            share = (now - time[row]) / (time[row + 1] - time[row])
            q = self.robot.interpolate(q, self.recording.q[row + 1], share)
        forces = {frame: wrench[row] for frame, wrench in self.recording.forces.items()}
        return Moment(np.array(q), self.recording.v[row], self._acceleration(row), forces)

    def _acceleration(self, row: int) -> Array:
        time, v = self.recording.time, self.recording.v
        first, last = max(row - 1, 0), min(row + 1, len(time) - 1)
        if first == last:
            return np.zeros_like(v[row])
        result: Array = (v[last] - v[first]) / (time[last] - time[first])
        return result


def tracks(robot: Robot, given: Given) -> tuple[Take, ...]:
    """Make a track of each recording, and of each member of a batch; all must fit the robot."""
    if isinstance(given, Recording):
        named = {given.robot: given}
    elif isinstance(given, Mapping):
        named = dict(given)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        named = {f"{k + 1}": recording for k, recording in enumerate(given)}
    else:
        raise InputError(f"recording must be a kinodyn.Recording, several in a list, or a dict by name, got {given!r}")
    found = [track for name, recording in named.items() for track in _members(robot, str(name), recording)]
    if not 0 < len(found) <= MOST:
        raise InputError(
            f"recording holds {len(found)} motions; 1 to {MOST} can stand side by side, recording.member(k) takes one"
        )
    return tuple(found)


def _members(robot: Robot, name: str, recording: Recording) -> list[Take]:
    if not isinstance(recording, Recording):
        raise InputError(f"recording {name!r} must be a kinodyn.Recording, got {type(recording).__name__}")
    if recording.q.shape[-1] != robot.nq or recording.v.shape[-1] != robot.nv:
        sizes = f"{recording.q.shape[-1]}, {recording.v.shape[-1]}"
        raise InputError(
            f"recording {name!r} of {recording.robot!r} has nq, nv = {sizes}, "
            f"{robot.name!r} has {robot.nq}, {robot.nv}; give the robot that was recorded"
        )
    if not recording.batch:
        one_configuration(robot, recording.q[0])
        return [Take(name, robot, recording)]
    places = list(np.ndindex(*recording.batch))
    if len(places) > MOST:
        raise InputError(
            f"recording {name!r} is a batch of {len(places)}; {MOST} can be shown, recording.member(k) takes one"
        )
    return [Take(f"{name} {place}", robot, recording.member(*place)) for place in places]


class Player:
    """The clock of a playback.

    Attributes
    ----------
    time : float
        Seconds since the start of the recordings.
    speed : float
        1 is as it was; 0.1 to 4 in the page.
    loop : bool
        Whether it begins again after the end.
    playing : bool
    """

    def __init__(self, parts: Sequence[Take], *, speed: float = 1.0, loop: bool = True) -> None:
        if not isinstance(speed, int | float | np.number) or not 0 < speed < np.inf:
            raise InputError(f"speed must be a positive number, got {speed!r}")
        self.tracks = tuple(parts)
        self.duration = max(track.recording.duration for track in self.tracks)
        self.time, self.speed, self.loop, self.playing = 0.0, float(speed), loop, False

    def advance(self, dt: float) -> None:
        """Go on by `dt` seconds of the clock, if it plays."""
        if not self.playing:
            return
        self.time += self.speed * dt
        if self.time > self.duration:
            if self.loop and self.duration > 0:
                self.time %= self.duration
            else:
                self.time, self.playing = self.duration, False

    def seek(self, t: float) -> None:
        """Go to `t` seconds after the start; beyond the ends it stays at them."""
        if not isinstance(t, int | float | np.number) or not np.isfinite(t):
            raise InputError(f"t must be a finite number of seconds, got {t!r}")
        self.time = float(np.clip(t, 0.0, self.duration))

    def play(self) -> None:
        """Play, from the start again if it was at its end."""
        if self.time >= self.duration:
            self.time = 0.0
        self.playing = True

    def pause(self) -> None:
        """Halt."""
        self.playing = False

    def moments(self) -> list[Moment]:
        """Find what each robot does now."""
        return [track.at(self.time) for track in self.tracks]
