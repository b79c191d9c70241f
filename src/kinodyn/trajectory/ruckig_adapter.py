"""Adapter to ruckig: time-optimal jerk-limited motion from state to state, as polynomials.

Only its local calculation is used; intermediate waypoints, which the library would send to an online service, are never
set.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import numpy as np
import ruckig

from kinodyn.arrays import Array
from kinodyn.errors import InputError

Synchronise: TypeAlias = Literal["time", "phase", "none"]

_SYNCHRONISE = {
    "time": ruckig.Synchronization.Time,
    "phase": ruckig.Synchronization.Phase,
    "none": ruckig.Synchronization.No,
}


class Planner:
    """Plans between states of m axes within limits (m,) of velocity, acceleration and jerk."""

    def __init__(self, velocity: Array, acceleration: Array, jerk: Array, synchronise: Synchronise = "time") -> None:
        if synchronise not in _SYNCHRONISE:
            raise InputError(f'synchronise must be "time", "phase" or "none", got {synchronise!r}')
        self.velocity, self.acceleration, self.jerk = velocity, acceleration, jerk
        m = len(velocity)
        self._otg = ruckig.Ruckig(m)
        self._input = ruckig.InputParameter(m)
        self._input.max_velocity, self._input.max_acceleration = velocity.tolist(), acceleration.tolist()
        self._input.max_jerk = jerk.tolist()
        self._input.synchronization = _SYNCHRONISE[synchronise]
        self._m = m

    def plan(
        self, start: tuple[Array, Array, Array], target: tuple[Array, Array, Array], duration: float | None = None
    ) -> Any:
        """Find the fastest motion between states (position, velocity, acceleration), or raise `InputError`.

        The result is ruckig's own trajectory; `pieces` converts it to polynomials.
        """
        given = self._input
        given.control_interface = ruckig.ControlInterface.Position
        given.current_position, given.current_velocity, given.current_acceleration = (x.tolist() for x in start)
        given.target_position, given.target_velocity, given.target_acceleration = (x.tolist() for x in target)
        given.minimum_duration = duration
        return self._calculate()

    def stop(self, start: tuple[Array, Array, Array]) -> Any:
        """Find the motion that comes to rest in the least time, at any position."""
        given = self._input
        given.control_interface = ruckig.ControlInterface.Velocity
        given.current_position, given.current_velocity, given.current_acceleration = (x.tolist() for x in start)
        given.target_velocity = given.target_acceleration = [0.0] * self._m
        given.minimum_duration = None
        saved, given.synchronization = given.synchronization, ruckig.Synchronization.No
        try:
            return self._calculate()
        finally:
            given.synchronization = saved

    def _calculate(self) -> Any:
        found = ruckig.Trajectory(self._m)
        try:
            result = self._otg.calculate(self._input, found)
        except (ruckig.RuckigError, ValueError) as cause:  # a ValueError for a status that its enum does not have
            raise InputError(f"no motion within the limits: {str(cause).replace('[ruckig]', '').strip()}") from cause
        if result not in (ruckig.Result.Working, ruckig.Result.Finished):
            raise InputError(f"no motion within the limits was found between these states: {result!s}")
        return found


def extrema(found: Any) -> tuple[Array, Array]:
    """Return the smallest and the largest position (m,) of a motion."""
    bounds = found.position_extrema
    return np.array([bound.min for bound in bounds]), np.array([bound.max for bound in bounds])


def stop_extrema(found: Any) -> tuple[Array, Array]:
    """Return the smallest and the largest position (m,) of a motion made by `stop`, which ruckig does not compute."""
    low, high = [], []
    for profile in found.profiles[0]:
        brake, seen = profile.brake, list(profile.p)
        for part in (brake, profile) if brake.duration > 0.0 else (profile,):
            for duration, p, v, a, j in zip(part.t, part.p, part.v, part.a, part.j, strict=False):
                if duration > 0.0:
                    seen.append(p)
                    inner = [t for t in _zeros(v, a, j) if 0.0 < t < duration]
                    seen += [p + t * (v + t * (a / 2 + t * j / 6)) for t in inner]
        low.append(min(seen))
        high.append(max(seen))
    return np.array(low), np.array(high)


def _zeros(v: float, a: float, j: float) -> list[float]:
    """Find the times at which the velocity v + a t + j t^2 / 2 is zero."""
    square = a * a - 2.0 * j * v
    if square < 0.0 or (j == 0.0 and a == 0.0):
        return []
    half = -(a + math.copysign(math.sqrt(square), a))
    return [2.0 * v / half if half else 0.0] + ([half / j] if j else [])


def pieces(found: Any) -> tuple[Array, Array]:
    """Convert a motion to knots (n + 1,) [s] and coefficients (4, n, m) of powers of the time since a knot."""
    phases = [_phases(profile) for profile in found.profiles[0]]
    knots = np.unique(np.concatenate([[0.0, found.duration], *(starts for starts, _ in phases)]))
    knots = knots[knots <= found.duration]
    if len(knots) > 1:
        distinct = np.append(np.diff(knots) > 1e-13 * max(1.0, found.duration), True)
        distinct[0] = True
        knots = knots[distinct]
    knots = np.array([0.0, 0.0]) if len(knots) < 2 else knots
    knots[-1] = found.duration
    middle = 0.5 * (knots[:-1] + knots[1:])
    coefficients = np.zeros((4, len(middle), len(phases)))
    for axis, (starts, states) in enumerate(phases):
        phase = np.searchsorted(starts, middle, side="right") - 1
        p, v, a, j = states[phase].T
        d = knots[:-1] - starts[phase]
        coefficients[0, :, axis] = p + d * (v + d * (a / 2 + d * j / 6))
        coefficients[1, :, axis] = v + d * (a + d * j / 2)
        coefficients[2, :, axis] = (a + d * j) / 2
        coefficients[3, :, axis] = j / 6
    return knots, coefficients


def _phases(profile: Any) -> tuple[Array, Array]:
    """Return the start times (k,) of the phases of one axis, and position and its derivatives there (k, 4)."""
    brake = profile.brake
    durations = [*brake.t, *profile.t]
    states = [*zip(brake.p, brake.v, brake.a, brake.j, strict=True)]
    states += [*zip(profile.p[:7], profile.v[:7], profile.a[:7], profile.j, strict=True)]
    used = [i for i, length in enumerate(durations) if length > 0.0]
    starts = np.concatenate([[0.0], np.cumsum([durations[i] for i in used])])
    end = (profile.p[7], profile.v[7], profile.a[7], 0.0)  # pf and vf are not set by a stop
    return starts, np.array([*(states[i] for i in used), end])
