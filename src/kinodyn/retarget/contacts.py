"""Contacts of human feet with the ground, from heights and speeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.retarget.human import LOW, Human, directions, norms
from kinodyn.retarget.structure import SIDES, median

START_SPEED = 0.25  # [m/s] below which a foot comes to rest
STOP_SPEED = 0.45  # [m/s] above which it leaves
LOW_HEIGHT = 0.06  # [m] above its height on the ground, up to which a foot is on the ground
DRIFT, TURN = 0.06, 0.6  # [m], [rad] of a foot that rests, beyond which it stands at another place
STEEP = np.cos(np.deg2rad(60.0))  # of the inclination of a foot, beyond which its heading is not clear
MOVE = 0.15  # [s] at least, in which a foot moves from one place to the next
MIN_DURATION = 0.1  # [s] of a contact
MIN_RAISED = 0.25  # [s] of a contact on something above the ground
FLAT = np.deg2rad(8.0)  # pitch relative to that of flat feet
GAP = 0.05  # [s] of contacts that are joined

Edge = Literal["toes", "heel"]
Range = tuple[int, int]


@displayed
@dataclass(frozen=True)
class Contact:
    """One contact of one foot.

    Attributes
    ----------
    side : str
        "left" or "right".
    start, stop : int
        Frames: from `start` up to, and without, `stop`.
    flat : tuple of int
        Frames in which the whole sole is on the ground, as start and stop; equal if there are none.
    height : float
        Of the support above the ground [m].
    edges : tuple of str
        What is on the ground before and after these frames: "toes" while the heel is up, "heel" while the toes are.
        Without frames in which the sole is flat, the second holds for the whole contact.
    """

    side: str
    start: int
    stop: int
    flat: Range
    height: float
    edges: tuple[Edge, Edge] = ("toes", "toes")

    def frames(self, edge: Edge) -> Range:
        """Return from which frame, and up to which, an edge of the sole is on the ground.

        Parameters
        ----------
        edge
            "toes" or "heel".

        Returns
        -------
        tuple of int
            Start and stop; equal if the edge is not on the ground.
        """
        start = self.start if self.edges[0] == edge else self.flat[0]
        return start, self.stop if self.edges[1] == edge else self.flat[1]

    def part(self, start: int, stop: int) -> Contact:
        """Return a part of the contact, from one frame up to another.

        Parameters
        ----------
        start, stop
            Frames within it.

        Returns
        -------
        Contact
        """
        flat, edges = (max(start, self.flat[0]), min(stop, self.flat[1])), self.edges
        if flat[1] <= flat[0]:
            edge = edges[0 if stop <= self.flat[0] else 1]
            flat, edges = (start, start), (edge, edge)
        return replace(self, start=start, stop=stop, flat=flat, edges=edges)


@dataclass(frozen=True, eq=False)
class Feet:
    """Feet of a human over time.

    Attributes
    ----------
    contacts : tuple of Contact
        In order of time for each side.
    pitch : float
        Angle of the line from ankle to toe below the horizontal when the foot is flat [rad].
    ankle_height, toe_height : float
        Of feet on the ground [m].
    ground : (frames,)
        Height of the ground over time [m].
    """

    contacts: tuple[Contact, ...]
    pitch: float
    ankle_height: float
    toe_height: float
    ground: Array


def find_contacts(human: Human) -> Feet:
    """Find when feet are on the ground, or on a step.

    A foot that rests, by its speed with hysteresis, is in contact if it is low, or if it is for a moment the lower one
    of both: then it carries the body, on whatever it stands.

    Parameters
    ----------
    human
        The human.

    Returns
    -------
    Feet
    """
    ankles = {side: human.points[f"{side}_ankle"] for side in SIDES}
    toes = {side: human.points.get(f"{side}_toe", ankles[side]) for side in SIDES}
    ankle_height = float(np.percentile(np.concatenate([a[:, 2] for a in ankles.values()]), LOW))
    toe_height = float(np.percentile(np.concatenate([a[:, 2] for a in toes.values()]), LOW))
    rises = {side: np.minimum(toes[side][:, 2] - toe_height, ankles[side][:, 2] - ankle_height) for side in SIDES}
    speeds = {side: (speed(toes[side], human.rate), speed(ankles[side], human.rate)) for side in SIDES}
    found: list[Contact] = []
    pitches = {side: _pitch(ankles[side], toes[side]) for side in SIDES}
    for side, other in (SIDES, SIDES[::-1]):
        resting = hysteresis(np.minimum(*speeds[side]), START_SPEED, STOP_SPEED)
        joined = _joined(intervals(resting), round(GAP * human.rate))
        places = _places(ankles[side], toes[side], rises[side])
        gap = round(MOVE * human.rate)
        for start, stop in [part for ends in joined for part in _parts_at_one_place(places, *ends, gap)]:
            rise = rises[side][start:stop]
            low = median(rise) < LOW_HEIGHT
            carries = bool((rise < rises[other][start:stop] - 0.02).any())
            least = MIN_DURATION if low else MIN_RAISED
            if (low or carries) and (stop - start) / human.rate >= least - 1e-9:
                found.append(Contact(side, start, stop, (start, stop), 0.0 if low else median(rise)))
    highest = {side: np.maximum(toes[side][:, 2] - toe_height, ankles[side][:, 2] - ankle_height) for side in SIDES}
    flat = {side: (np.maximum(*speeds[side]) < START_SPEED) & (highest[side] < LOW_HEIGHT) for side in SIDES}
    usual = _usual_pitch(found, pitches, flat)
    contacts = tuple(_rolling(c, pitches[c.side][c.start : c.stop] - usual) for c in found)
    return Feet(contacts, usual, ankle_height, toe_height, _ground(contacts, rises, len(human)))


def _places(ankle: Array, toe: Array, rise: Array) -> Array:
    """Return height, position and heading of a foot (frames, 4), relative to what they may vary at one place."""
    along = directions(toe - ankle)
    heading = np.arctan2(along[:, 1], along[:, 0])
    clear = np.flatnonzero(norms(along[:, :2]) > STEEP)
    heading = np.interp(np.arange(len(heading)), clear, np.unwrap(heading[clear])) if len(clear) else 0.0 * heading
    return np.column_stack([rise / LOW_HEIGHT, toe[:, :2] / DRIFT, heading / TURN])


def _parts_at_one_place(places: Array, start: int, stop: int, gap: int) -> list[tuple[int, int]]:
    """Divide a range of frames into parts in which a foot stays at one place, with gaps in which it moves.

    A foot that is lifted slowly, or from one step to the next, that turns on the ground or shuffles, stands at each
    place by itself.
    """
    if (np.ptp(places[start:stop], axis=0) <= 1.0).all():
        return [(start, stop)]
    parts, begin = [], start
    low = high = places[start]
    for t in range(start, stop):
        low, high = np.minimum(low, places[t]), np.maximum(high, places[t])
        if (high - low > 1.0).any():
            parts.append((begin, t))
            begin, low, high = t, places[t], places[t]
    return _apart([_trimmed(places, *part) for part in (*parts, (begin, stop))], gap)


def _trimmed(places: Array, start: int, stop: int) -> tuple[int, int]:
    """Leave out frames at both ends in which a foot is not at its usual place."""
    part = places[start:stop]
    kept = np.flatnonzero((np.abs(part - np.median(part, axis=0)) <= 0.5).all(axis=1))
    return (start + int(kept[0]), start + int(kept[-1]) + 1) if len(kept) else (start, start)


def _apart(parts: list[tuple[int, int]], gap: int) -> list[tuple[int, int]]:
    """Shorten parts where there are fewer frames between them than `gap`; those without frames are left out."""
    for k in range(len(parts) - 1):
        lack = max(0, gap - (parts[k + 1][0] - parts[k][1]))
        parts[k] = parts[k][0], parts[k][1] - lack // 2
        parts[k + 1] = parts[k + 1][0] + lack - lack // 2, parts[k + 1][1]
    return [part for part in parts if part[1] > part[0]]


def _usual_pitch(contacts: list[Contact], pitches: dict[str, Array], flat: dict[str, NDArray[np.bool_]]) -> float:
    """Find the pitch of flat feet: that of feet on the ground whose ankle and toes both rest and are low."""
    values = [
        pitches[c.side][c.start : c.stop][flat[c.side][c.start : c.stop]] for c in contacts if c.height == 0.0
    ] or [np.zeros(0)]
    usual = np.concatenate(values)
    return float(np.median(usual if len(usual) else np.concatenate(list(pitches.values()))))


def _ground(contacts: tuple[Contact, ...], rises: dict[str, Array], frames: int) -> Array:
    """Interpolate the height of the ground (frames,) over time: that of low contacts, which drifts in recordings."""
    low = sorted((0.5 * (c.start + c.stop), median(rises[c.side][c.start : c.stop])) for c in contacts if not c.height)
    if not low:
        return np.zeros(frames)
    time, height = np.array(low).T
    return np.asarray(np.interp(np.arange(frames), time, height))


def speed(points: Array, rate: float) -> Array:
    """Compute speeds (frames,) of a point (frames, 3) by central differences [m/s]."""
    return np.asarray(norms(np.gradient(points, axis=0)) * rate)


def hysteresis(values: Array, low: float, high: float) -> NDArray[np.bool_]:
    """Return where values are small: from falling below `low` until they exceed `high`; also backwards in time.

    Parameters
    ----------
    values
        (frames,).
    low, high
        The two thresholds.

    Returns
    -------
    (frames,) of bool
    """
    below = np.zeros(len(values), dtype=bool)
    for start, stop in intervals(values <= high):
        below[start:stop] = bool((values[start:stop] < low).any())
    return below


def intervals(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """List the ranges (start, stop) in which flags are set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _joined(ranges: list[tuple[int, int]], gap: int) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, stop in ranges:
        if joined and start - joined[-1][1] <= gap:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    return joined


def _pitch(ankle: Array, toe: Array) -> Array:
    v = directions(toe - ankle)
    return np.asarray(np.arctan2(-v[:, 2], norms(v[:, :2])))


def _rolling(contact: Contact, pitch: Array) -> Contact:
    """Find when a foot of a contact is flat, the longest range, and on which edge it stands before and after.

    Parameters
    ----------
    contact
        The contact.
    pitch
        Of the foot in its frames (n,), relative to that of flat feet: positive while the heel is up [rad].
    """
    ranges = intervals(np.abs(pitch) < FLAT)
    first, last = max(ranges, key=lambda r: r[1] - r[0]) if ranges else (0, 0)
    flat = contact.start + first, contact.start + last
    return replace(contact, flat=flat, edges=(_edge(pitch[:first]), _edge(pitch[last:])))


def _edge(pitch: Array) -> Edge:
    """Return on which edge a foot stands that is inclined (n,) [rad]: the toes unless they are up most of the time."""
    return "heel" if len(pitch) and median(pitch) < -FLAT else "toes"
