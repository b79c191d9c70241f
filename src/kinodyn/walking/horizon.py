"""The horizon of the MPC: knots at the changes of support, and evenly in between."""

from __future__ import annotations

from math import inf

import numpy as np

from kinodyn.arrays import Array
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.phases import DIRECTIONS, Phase
from kinodyn.walking.schedule import ContactSchedule


class Horizon:
    """The part of a contact schedule that the MPC plans over.

    Attributes
    ----------
    times : list of n
        Of the knots, the first is now [s].
    zmp : (n, 2)
        Nominal ZMP at the knots [m].
    knot, A, lower, upper : (r,), (r, 2), (r,), (r,)
        Rows that keep the ZMP p of a knot in its polygon: lower <= A (p - zmp) <= upper.
    carried : (n, m)
        Fraction of each movable footstep's shift by which the polygon and the nominal ZMP of a knot move.
    last : (m,)
        The same for everything after the horizon.
    dcm_start, dcm_end : (2,)
        Nominal DCM at both ends [m].
    room : (8,)
        Distance from `dcm_end`, in each of `DIRECTIONS`, within which the following steps can capture the DCM [m].
    steps : tuple of Footstep
        The upcoming footsteps.
    feet : list of Footstep
        The stance foot and the movable footsteps after it.
    """

    def __init__(self, schedule: ContactSchedule, t: float, samples: int, dt: float, movable: int) -> None:
        self.schedule = schedule
        now = schedule.index(t)
        self.first = schedule.phases[now].step
        self._cut(t, now, samples, dt)
        self.steps = schedule.steps_after(self.first)
        landed = schedule.phases[self.places[-1]].step - self.first
        self.m = min(movable, landed) if movable else 0
        self.zmp = np.array([self._planned(place, at) for place, at in zip(self.places, self.times, strict=True)])
        self.dcm_start, self.dcm_end = schedule.dcm(t), schedule.dcm(self.times[-1])
        self.room: Array = schedule.capture_region(self.times[-1]) - DIRECTIONS @ self.dcm_end
        self.last = np.zeros(self.m)
        self.carried = np.zeros((len(self.places), self.m))
        self.feet: list[Footstep] = []
        if self.m:
            self.last[-1] = 1.0
            for k, (place, at) in enumerate(zip(self.places, self.times, strict=True)):
                self._carry(self.carried[k], schedule.phases[place], at)
            self.feet = [schedule.stance_before(self.first), *self.steps[: self.m]]
        self._rows()

    def _cut(self, t: float, k: int, samples: int, dt: float) -> None:
        """Divide the upcoming phases into intervals of about dt; a double support is one interval."""
        phases = self.schedule.phases
        self.times, self.places = [t], [k]
        while len(self.times) < samples:
            phase, base, missing = phases[k], self.times[-1], samples - len(self.times)
            duration = phase.end - base
            if duration <= 1e-9:
                k += 1
                self.places[-1] = k
                continue
            if duration == inf:
                self.times += [base + dt * (i + 1) for i in range(missing)]
                self.places += [k] * missing
                return
            pieces = 1 if phase.kind == "double" else max(1, round(duration / dt))
            for i in range(min(pieces, missing)):
                self.times.append(phase.end if i == pieces - 1 else base + duration * (i + 1) / pieces)
                self.places.append(k)
            k += 1
            # at a change of support the single support counts: its polygon is part of the other's
            if self.times[-1] == phase.end and phases[k].swing is not None:
                self.places[-1] = k

    def _planned(self, place: int, t: float) -> tuple[float, float]:
        """Return the nominal ZMP at a time of a phase, or at its end."""
        phase = self.schedule.phases[place]
        (x, y), (u, v) = phase.ends
        if phase.end == inf:
            return x, y
        s = (t - phase.start) / (phase.end - phase.start)
        return x + s * (u - x), y + s * (v - y)

    def _carry(self, weights: Array, phase: Phase, t: float) -> None:
        """Find the movable footsteps that a knot stands on; those beyond the last movable one move with it."""
        latest = phase.step - 1 - self.first
        if phase.swing is not None:
            shares = [(latest, 1.0)]
        else:
            new = self._share(phase, t)
            shares = [(latest, new), (latest - 1, 1.0 - new)]
        for foot, part in shares:
            if foot >= 0:
                weights[min(foot, self.m - 1)] += part

    def _share(self, phase: Phase, t: float) -> float:
        """Return the planned fraction of the weight on the foot that landed last; half when standing at the end."""
        return 0.5 if phase.end == inf else 0.5 * (t - phase.start) / (phase.end - phase.start)

    def _rows(self) -> None:
        parts = []
        for place, t in zip(self.places, self.times, strict=True):
            phase = self.schedule.phases[place]
            both_move = self.m > 0 and phase.swing is None and phase.step > self.first
            parts.append(phase.blended(self._share(phase, t)) if both_move else phase.rows)
        self.knot = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        table = np.concatenate(parts)
        self.A: Array = table[:, :2]
        zmp = self.zmp[self.knot]
        here = table[:, 0] * zmp[:, 0] + table[:, 1] * zmp[:, 1]
        self.lower: Array = table[:, 2] - here
        self.upper: Array = table[:, 3] - here
