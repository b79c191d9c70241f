"""Playback: the state of a recording at any time, and a clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.recording import Recording
from kinodyn.recording.body import require_same_body
from kinodyn.retarget.result import HUMAN
from kinodyn.viewer.snapshot import Snapshot, check_configuration

MAX_ROBOTS = 12  # side by side
Recordings = Recording | Sequence[Recording] | Mapping[str, Recording]


@displayed
@dataclass(frozen=True, eq=False)
class Track:
    """The motion of one robot.

    Attributes
    ----------
    name : str
    robot : Robot
    recording : Recording
        Without batch axes.
    """

    name: str
    robot: Robot
    recording: Recording

    def at(self, t: float) -> Snapshot:
        """Return the state at a time; q is interpolated, velocity and forces are those of the row before.

        Parameters
        ----------
        t : float
            Seconds after the start of the recording; clipped to its duration.

        Returns
        -------
        Snapshot
        """
        time = self.recording.time
        now = float(np.clip(t + time[0], time[0], time[-1]))
        row = int(np.clip(np.searchsorted(time, now, "right") - 1, 0, len(time) - 1))
        q = self.recording.q[row]
        if row + 1 < len(time) and now > time[row]:
            fraction = (now - time[row]) / (time[row + 1] - time[row])
            q = self.robot.interpolate(q, self.recording.q[row + 1], fraction)
        forces = {frame: wrench[row] for frame, wrench in self.recording.forces.items()}
        human = {name: points[row] for name, points in self.human.items()}
        return Snapshot(np.array(q), self.recording.v[row], self._acceleration(row), forces, human)

    @cached_property
    def human(self) -> dict[str, Array]:
        """Key points (n, 3) of the human whom the robot follows, in a recording of `retarget`; empty in others."""
        found = {
            name.removeprefix(HUMAN): points
            for name, points in self.recording.signals.items()
            if name.startswith(HUMAN) and points.shape[1:] == (3,)
        }
        return {name: points for name, points in found.items() if np.isfinite(points).all()}

    def _acceleration(self, row: int) -> Array:
        time, v = self.recording.time, self.recording.v
        first, last = max(row - 1, 0), min(row + 1, len(time) - 1)
        if first == last:
            return np.zeros_like(v[row])
        result: Array = (v[last] - v[first]) / (time[last] - time[first])
        return result


def make_tracks(robot: Robot, given: Recordings) -> tuple[Track, ...]:
    """Make a track of each recording and of each member of a batch; all must fit the robot."""
    if isinstance(given, Recording):
        named = {given.robot: given}
    elif isinstance(given, Mapping):
        named = dict(given)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        named = {f"{k + 1}": recording for k, recording in enumerate(given)}
    else:
        raise InputError(f"recording must be a kinodyn.Recording, several in a list, or a dict by name, got {given!r}")
    found = [track for name, recording in named.items() for track in _members(robot, str(name), recording)]
    if not 0 < len(found) <= MAX_ROBOTS:
        raise InputError(
            f"recording contains {len(found)} motions; 1 to {MAX_ROBOTS} can be shown, recording.member(k) selects one"
        )
    return tuple(found)


def _members(robot: Robot, name: str, recording: Recording) -> list[Track]:
    if not isinstance(recording, Recording):
        raise InputError(f"recording {name!r} must be a kinodyn.Recording, got {type(recording).__name__}")
    if recording.q.shape[-1] != robot.nq or recording.v.shape[-1] != robot.nv:
        sizes = f"{recording.q.shape[-1]}, {recording.v.shape[-1]}"
        raise InputError(
            f"recording {name!r} of {recording.robot!r} has nq, nv = {sizes}, "
            f"{robot.name!r} has {robot.nq}, {robot.nv}; give the robot that was recorded"
        )
    require_same_body(recording, robot, f"recording {name!r}")
    if not recording.batch:
        check_configuration(robot, recording.q[0])
        return [Track(name, robot, recording)]
    indices = list(np.ndindex(*recording.batch))
    if len(indices) > MAX_ROBOTS:
        raise InputError(
            f"recording {name!r} is a batch of {len(indices)}; up to {MAX_ROBOTS} can be shown, "
            "recording.member(k) selects one"
        )
    return [Track(f"{name} {index}", robot, recording.member(*index)) for index in indices]


@displayed
class Player:
    """The clock of a playback.

    Parameters
    ----------
    tracks : sequence of Track
    speed : float
        1 is real time; the page offers 0.1 to 4.
    loop : bool
        Start again after the end.

    Attributes
    ----------
    time : float
        Seconds since the start of the recordings.
    duration : float
        Of the longest recording [s].
    playing : bool
    """

    @check_types
    def __init__(self, tracks: Sequence[Track], *, speed: float = 1.0, loop: bool = True) -> None:
        positive("speed", speed)
        self.tracks = tuple(tracks)
        self.time, self.speed, self.loop, self.playing = 0.0, float(speed), loop, False
        self._share = 0.0  # of the duration, where tracks are replaced

    @property
    def duration(self) -> float:
        return max((track.recording.duration for track in self.tracks), default=0.0)

    @check_types
    def replace(self, tracks: Sequence[Track]) -> None:
        """Play other tracks, starting at the same fraction of the duration.

        Parameters
        ----------
        tracks : sequence of Track
            None: there is nothing to play until they are replaced again.
        """
        if self.duration > 0.0:
            self._share = self.time / self.duration
        self.tracks = tuple(tracks)
        self.time = self._share * self.duration

    def advance(self, dt: float) -> None:
        """Advance the time if it is playing.

        Parameters
        ----------
        dt : float
            Real time that has passed [s].
        """
        if not self.playing or not self.tracks:
            return
        self.time += self.speed * dt
        if self.time > self.duration:
            if self.loop and self.duration > 0:
                self.time %= self.duration
            else:
                self.time, self.playing = self.duration, False

    def seek(self, t: float) -> None:
        """Go to a time.

        Parameters
        ----------
        t : float
            Seconds after the start; clipped to the duration.
        """
        if not isinstance(t, int | float | np.number) or not np.isfinite(t):
            raise InputError(f"t must be a finite number of seconds, got {t!r}")
        self.time = float(np.clip(t, 0.0, self.duration))

    def play(self) -> None:
        """Play; at the end, start again."""
        if self.time >= self.duration:
            self.time = 0.0
        self.playing = True

    def pause(self) -> None:
        """Pause."""
        self.playing = False

    def snapshots(self) -> list[Snapshot]:
        """Return the current state of each robot."""
        return [track.at(self.time) for track in self.tracks]
