"""Trapezoidal velocity profiles: constant acceleration, constant speed, constant deceleration."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.axes import Axes, Ends
from kinodyn.trajectory.bounds import LimitLike, motion_bounds
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import Space, space_of

RELATIVE_TOLERANCE = 1e-12


@check_types
def trapezoid(
    q0: ArrayLike,
    q1: ArrayLike,
    *,
    acceleration: LimitLike,
    velocity: LimitLike | None = None,
    v0: ArrayLike | None = None,
    v1: ArrayLike | None = None,
    duration: float | None = None,
    robot: Robot | None = None,
) -> PiecewisePolynomial:
    """Move between two states with trapezoidal velocities within limits of velocity and acceleration.

    From rest to rest all joints share one timing law: they start, cruise and stop together on the straight line from q0
    to q1, in the least time that the line allows. With velocities at the start or end, each joint has its own trapezoid
    at full acceleration, and all end together at the earliest time at which all of them can; the path is then not
    straight, and a joint may reverse. Ball and floating joints must be at rest at both ends.

    Parameters
    ----------
    q0, q1 : (nq,)
    acceleration : () or (nv,), or dict of joint -> limit
        [rad/s^2, m/s^2]
    velocity : () or (nv,), or dict of joint -> limit, optional
        [rad/s, m/s]; by default the robot's.
    v0, v1 : (nv,), zero by default
    duration : float, optional
        Duration, at least the minimum time [s]. From a moving start some durations are impossible; the error then names
        the next possible one.
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial

    Notes
    -----
    L. Biagiotti and C. Melchiorri, "Trajectory Planning for Automatic Machines and Robots", 2008, section 3.2.

    Examples
    --------
    >>> motion = trapezoid([0.0, 0.0], [2.0, 1.0], velocity=1.0, acceleration=1.0)
    >>> print(motion.duration, motion.knots, motion(1.5, 1))
    3.0 [0. 1. 2. 3.] [1.  0.5]
    """
    space = space_of(robot, "q0", q0)
    rates = [space.tangents(name, value) for name, value in (("v0", v0), ("v1", v1))]
    zero = np.zeros(space.nv)
    ends = Ends(space.configurations("q0", q0), space.configurations("q1", q1), rates[0], rates[1], zero, zero)
    axes = Axes(space, ends, motion_bounds(space, velocity, acceleration))
    given = None if duration is None else positive("duration", duration)
    _check_end_velocities(axes)
    if np.any(rates):
        return _independent(space, axes, given)
    return _straight(space, ends.q0, axes, given)


def _straight(space: Space, q0: Array, axes: Axes, duration: float | None) -> PiecewisePolynomial:
    """Move all axes by one timing law s from 0 to 1."""
    step = np.abs(axes.step[axes.moving])
    speed = float((axes.velocity[axes.moving] / step).min(initial=np.inf))
    gain = float((axes.acceleration[axes.moving] / step).min(initial=np.inf))
    if not len(step):
        return _law(space, q0, axes, np.zeros(2), np.array([0.0, duration or 0.0]))
    if not np.isfinite(gain):
        raise InputError("no moving joint has an acceleration limit; give one above 0 for each")
    ramp, least = ramp_and_duration(speed, gain)
    total = least if duration is None else max(duration, least)
    if duration is not None:
        if duration < least * (1.0 - RELATIVE_TOLERANCE):
            raise InputError(f"duration is {duration:g} s; the limits need at least {least:.6g} s")
        ramp = _slower_ramp(gain, total)
    speeds = np.array([0.0, 1.0, 1.0, 0.0]) / (total - ramp)  # the area under the trapezoid is 1
    times = np.array([0.0, ramp, total - ramp, total])
    keep = np.append(np.diff(times) > RELATIVE_TOLERANCE * total, True)
    return _law(space, q0, axes, speeds[keep], times[keep])


def ramp_and_duration(speed: float, gain: float) -> tuple[float, float]:
    """Compute ramp time and duration from 0 to 1 at a limit of speed and one of acceleration, `gain`."""
    if speed * speed < gain:
        return speed / gain, 1.0 / speed + speed / gain
    return 1.0 / np.sqrt(gain), 2.0 / np.sqrt(gain)


def _slower_ramp(gain: float, duration: float) -> float:
    """Compute the ramp time r at full acceleration of the trapezoid of this duration: gain r (duration - r) = 1."""
    discriminant = max(duration**2 / 4.0 - 1.0 / gain, 0.0)
    return 1.0 / (gain * (duration / 2.0 + float(np.sqrt(discriminant))))


def _law(space: Space, q0: Array, axes: Axes, speeds: Array, times: Array) -> PiecewisePolynomial:
    """Build the trajectory whose speed along the step is linear between `speeds` at `times`."""
    h = np.diff(times)
    acceleration = np.divide(np.diff(speeds), h, out=np.zeros_like(h), where=h > 0.0)
    s = np.concatenate([[0.0], np.cumsum((speeds[1:] + speeds[:-1]) / 2 * h)])[:-1]
    coefficients = np.stack([s, speeds[:-1], acceleration / 2])
    return PiecewisePolynomial(space, times, np.tile(q0, (len(h), 1)), coefficients[..., None] * axes.step_v)


def _independent(space: Space, axes: Axes, duration: float | None) -> PiecewisePolynomial:
    if not np.isfinite(axes.acceleration[axes.moving]).all():
        name = axes.names[int((axes.moving & ~np.isfinite(axes.acceleration)).argmax())]
        raise InputError(f"joint {name!r} moves and has no acceleration limit; give one above 0")
    moving = [_Axis(axes, int(i)) for i in np.flatnonzero(axes.moving)]
    times = np.unique(np.concatenate([axis.candidates() for axis in moving]))
    least = 0.0 if duration is None else duration
    times = np.append(times[times > least], least) if duration is not None else times
    possible = [time for time in np.sort(times) if all(axis.allows_duration(time) for axis in moving)]
    if not possible:
        raise InputError("there is no duration at which all joints can end together; give smaller end velocities")
    if duration is not None and possible[0] > duration * (1.0 + RELATIVE_TOLERANCE):
        raise InputError(
            f"duration is {duration:g} s, which the limits do not allow; the next possible one is {possible[0]:.6g} s"
        )
    total = possible[0]
    profiles = {axis.index: axis.profile(total) for axis in moving}
    times = np.unique(np.concatenate([[0.0, total], *(knots for knots, _ in profiles.values())]))
    times = times[np.append(np.diff(times) > RELATIVE_TOLERANCE * total, True)]
    times[0], times[-1] = 0.0, total
    coefficients = np.zeros((3, len(times) - 1, len(axes.step)))
    for i, (knots, speeds) in profiles.items():
        coefficients[..., i] = _over(times, knots, speeds, axes.acceleration[i])
    return PiecewisePolynomial(space, times, np.tile(axes.ends.q0, (len(times) - 1, 1)), axes.expand(coefficients))


def _over(times: Array, knots: Array, speeds: Array, a: float) -> Array:
    """Express the profile of one axis over the knots of all: coefficients (3, n)."""
    gains = a * np.sign(np.diff(speeds))
    x = np.concatenate([[0.0], np.cumsum((speeds[1:] + speeds[:-1]) / 2 * np.diff(knots))])
    phase = np.clip(np.searchsorted(knots, (times[1:] + times[:-1]) / 2, side="right") - 1, 0, 2)
    since = times[:-1] - knots[phase]
    v = speeds[phase] + gains[phase] * since
    return np.stack([x[phase] + since * (speeds[phase] + v) / 2, v, gains[phase] / 2])


class _Axis:
    """Distances that one axis can cover in a given time, with full acceleration to and from a cruising speed c.

    The distance grows with c, so all distances between those of the lowest and the highest c are possible.
    """

    def __init__(self, axes: Axes, i: int) -> None:
        self.index = i
        self.step, self.v0, self.v1 = (float(array[i]) for array in (axes.step, axes.v0, axes.v1))
        self.top, self.a = float(axes.velocity[i]), float(axes.acceleration[i])

    def candidates(self) -> Array:
        """List the times at which an interval of possible durations can start, the shortest duration among them [s]."""
        a, v0, v1 = self.a, self.v0, self.v1
        found = [abs(v1 - v0) / a]
        for sign in (1.0, -1.0):  # the highest c, then the lowest, by symmetry
            d, u0, u1 = sign * self.step, sign * v0, sign * v1
            square = a * d + (u0**2 + u1**2) / 2
            if square >= 0.0:
                found += [(2 * c - u0 - u1) / a for c in (np.sqrt(square), -np.sqrt(square))]
            if np.isfinite(self.top):
                ramps = (2 * self.top**2 - u0**2 - u1**2) / (2 * a)
                found.append((2 * self.top - u0 - u1) / a + (d - ramps) / self.top)
        times = np.array(found)
        return times[times >= found[0]]

    def cruising(self, time: float) -> tuple[float, float]:
        """Compute the lowest and the highest cruising speed that the time allows."""
        change = self.a * time
        low, high = (self.v0 + self.v1 - change) / 2, (self.v0 + self.v1 + change) / 2
        return max(low, -self.top), min(high, self.top)

    def distance(self, c: float, time: float) -> float:
        """Compute the distance covered with cruising speed c."""
        first, last = abs(c - self.v0) / self.a, abs(self.v1 - c) / self.a
        return (self.v0 + c) / 2 * first + c * (time - first - last) + (c + self.v1) / 2 * last

    def allows_duration(self, time: float) -> bool:
        """Return whether the motion of this axis can take exactly this time."""
        if abs(self.v1 - self.v0) > self.a * time * (1.0 + RELATIVE_TOLERANCE) + RELATIVE_TOLERANCE:
            return False
        low, high = self.cruising(time)
        tolerance = 1e-10 * (abs(self.step) + abs(self.a) * time**2 + RELATIVE_TOLERANCE)
        return self.distance(low, time) <= self.step + tolerance and self.distance(high, time) >= self.step - tolerance

    def profile(self, time: float) -> tuple[Array, Array]:
        """Compute the knots (4,) [s] and the speeds there, by bisection on the cruising speed."""
        low, high = self.cruising(time)
        for _ in range(200):
            c = 0.5 * (low + high)
            low, high = (c, high) if self.distance(c, time) < self.step else (low, c)
        first, last = abs(c - self.v0) / self.a, abs(self.v1 - c) / self.a
        knots = np.array([0.0, min(first, time), max(time - last, min(first, time)), time])
        return knots, np.array([self.v0, c, c, self.v1])


def _check_end_velocities(axes: Axes) -> None:
    over = np.abs([axes.v0, axes.v1]).max(axis=0) > axes.velocity * (1.0 + RELATIVE_TOLERANCE)
    if over.any():
        i = int(over.argmax())
        speed = max(abs(axes.v0[i]), abs(axes.v1[i]))
        raise InputError(
            f"joint {axes.names[i]!r} has velocity {speed:g} at an end, above its limit {axes.velocity[i]:g}"
        )
