"""The way of a foot through the air: smooth, above the ground, and free to change its mind."""

from __future__ import annotations

from bisect import bisect_right
from math import cos, sin

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, numbers
from kinodyn.errors import InputError
from kinodyn.spatial import as_euler

ACROSS = [0, 1, 3, 4, 5]  # all coordinates but the height
SAMPLES = np.linspace(0.0, 1.0, 65)
HALVINGS = 16
POWERS = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4], [0, 0, 0, 1, 2, 3]])
FACTORS = np.array([[1.0, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20]])
TINY = 1e-9
STEEP = 0.1  # share of a swing at either end in which the foot only rises or sinks: it shall not stub its toe


class Swing:
    """A swing of a foot from one place to another.

    Position and roll, pitch, yaw are polynomials of fifth degree in pieces; position, velocity and acceleration are
    continuous everywhere, also where `retarget` changes the landing in flight, and zero at take-off and landing. The
    height goes over an apex in the middle, `clearance` above the higher of both ends, and never below the lower one.
    The foot rises before it goes on, and is above its place before it lands, unless that is changed in flight.

    Called as `swing(t, order)`: order 0 gives T_world_sole (..., 4, 4), 1 the velocity and 2 the acceleration (..., 6)
    of the sole's origin and of its orientation, linear first, along the world's axes ("aligned", "classical"). Before
    take-off and after landing the foot rests.

    Example
    -------
    >>> T0, T1 = np.eye(4), np.eye(4)
    >>> T1[0, 3] = 0.3
    >>> swing = Swing(T0, T1, 0.0, 0.5, clearance=0.05)
    >>> print(swing(0.25)[:3, 3].round(6), np.abs(swing(0.5, 1)).max().round(9))
    [0.15 0.   0.05] 0.0
    """

    def __init__(
        self, T_start: MatrixLike, T_end: MatrixLike, start: float, end: float, *, clearance: float = 0.05
    ) -> None:
        if not (np.isfinite(start) and np.isfinite(end) and start < end):
            raise InputError(f"a swing must end after it starts, got start={start!r} s and end={end!r} s")
        if not 0 <= clearance < np.inf:
            raise InputError(f"clearance must be a number of metres from 0 on, got {clearance!r}")
        self.start, self.end, self.clearance = float(start), float(end), float(clearance)
        self._from = as_pose(T_start, "T_start")
        origin = _coordinates(self._from, 0.0)
        self._aim(T_end, origin[5])
        middle, steep = 0.5 * (self.start + self.end), STEEP * (self.end - self.start)
        self._ground = min(origin[2], self._goal[2])
        self._apex = max(origin[2], self._goal[2]) + self.clearance
        rise = _Pieces([self.start, middle, self.end], [_rest(origin[2]), _rest(self._apex), _rest(self._goal[2])])
        here, there = (np.array([x[ACROSS], np.zeros(5), np.zeros(5)]) for x in (origin, self._goal))
        times = [self.start, self.start + steep, self.end - steep, self.end]
        self._flat = _Pieces(times, [here, here, there, there])
        self._height = rise

    @property
    def landing(self) -> Array:
        """Give where it lands, T_world_sole (4, 4)."""
        return _matrix(self._goal)

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Compute pose, velocity or acceleration at times (...)."""
        if order not in (0, 1, 2):
            raise InputError(f"order must be 0 (pose), 1 (velocity) or 2 (acceleration), got {order!r}")
        return self.all(t)[order]

    def all(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Compute pose (..., 4, 4), velocity (..., 6) and acceleration (..., 6) at times (...) in one go."""
        x = self._state(np.clip(numbers("t", t), self.start, self.end))
        return _matrix(x[..., 0, :]), *_twists(x)

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Compute what `all` does at one time, but faster: made for control loops."""
        time = min(max(t, self.start), self.end)
        (x, vx, ax), (y, vy, ay), (roll, p, dp), (pitch, q, dq), (yaw, r, dr) = self._flat.at(time)
        ((z, vz, az),) = self._height.at(time)
        a, sa, b, sb, c, sc = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
        T = np.array(
            [
                [b * c, sa * sb * c - a * sc, a * sb * c + sa * sc, x],
                [b * sc, sa * sb * sc + a * c, a * sb * sc - sa * c, y],
                [-sb, sa * b, a * b, z],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
        wx, wy, wz = c * b * p - sc * q, sc * b * p + c * q, r - sb * p  # as in _twists
        along = b * dp - sb * p * q
        rate = (c * along - sc * dq - r * wy, sc * along + c * dq + r * wx, dr - sb * dp - b * p * q)
        return T, np.array([vx, vy, vz, wx, wy, wz]), np.array([ax, ay, az, *rate])

    def retarget(
        self, t: float, T_end: MatrixLike | None = None, end: float | None = None, *, sink: float = 0.0
    ) -> None:
        """Change where or when it lands, from time t on [s]; what was before t stays as it was.

        The rest of the flight is planned anew from position, velocity and acceleration at t, to arrive at rest or
        still going down with `sink` [m/s]. A change just before landing needs large accelerations; a time of landing at
        or before t is refused.
        """
        if not self.start <= t < self.end:
            raise InputError(f"the foot is in the air from {self.start:.6g} s to {self.end:.6g} s, not at {t!r} s")
        finish = self.end if end is None else float(end)
        if not t < finish < np.inf:
            raise InputError(f"the landing at {finish!r} s must be after the time of the change, {t!r} s")
        if not 0 <= sink < np.inf:
            raise InputError(f"sink must be a speed [m/s] from 0 on, got {sink!r}")
        state = self._state(np.asarray(float(t)))
        if T_end is not None:
            self._aim(T_end, state[0, 5])
            self._apex = max(self._from[2, 3], self._goal[2]) + self.clearance
        self._ground = min(self._ground, self._goal[2])
        goal = np.array([self._goal[ACROSS], np.zeros(5), np.zeros(5)])
        self._flat = self._flat.then(t, [t, finish], [state[:, ACROSS], goal])
        self._height = self._height.then(t, *self._descent(float(t), finish, state[:, 2:3], sink))
        self.end = finish

    def _aim(self, T_end: MatrixLike, near: float) -> None:
        self._goal = _coordinates(as_pose(T_end, "T_end"), near)

    def _state(self, time: Array) -> Array:
        """Give position, velocity and acceleration of the six coordinates: (..., 3, 6)."""
        flat = self._flat(time)
        return np.concatenate([flat[..., :2], self._height(time), flat[..., 2:]], axis=-1)

    def _descent(self, t: float, finish: float, state: Array, sink: float) -> tuple[list[float], list[Array]]:
        """Plan the height from a state on: by the apex if it is still ahead, straight down if that stays above."""
        z, goal = float(state[0, 0]), float(self._goal[2])
        last = np.array([[goal], [-sink], [0.0]])
        middle = 0.5 * (self.start + finish)
        plans: list[tuple[list[float], list[Array]]] = []
        if t < middle - TINY:
            plans.append(([t, middle, finish], [state, _rest(self._apex), last]))
        plans.append(([t, finish], [state, last]))
        # from a foot that is already coming down the way back up must be found: the sooner it turns, the less it dips
        part = 0.5
        for _ in range(HALVINGS):
            turn = t + part * (finish - t)
            plans.append(([t, turn, finish], [state, _rest(max(z, goal)), last]))
            part *= 0.5
        dips = []
        for times, knots in plans:
            dips.append(_lowest(times, knots) - self._ground)
            if dips[-1] >= -TINY:
                return times, knots
        return plans[int(np.argmax(dips))]


class _Pieces:
    """Polynomials of fifth degree between times, by position, velocity and acceleration (3, k) at each."""

    def __init__(self, times: list[float], knots: list[Array]) -> None:
        self.times = np.array(times)
        pairs = zip(knots, knots[1:], times, times[1:], strict=False)
        self.coefficients = np.array([_quintic(a, b, t1 - t0) for a, b, t0, t1 in pairs])  # (pieces, 6, k)
        self._plain: tuple[list[float], list[list[list[float]]]] | None = None

    def then(self, t: float, times: list[float], knots: list[Array]) -> _Pieces:
        """Keep what is before t, and go on by other knots."""
        keep = int(np.searchsorted(self.times[:-1], t, side="left"))
        new = _Pieces(times, knots)
        new.coefficients = np.concatenate([self.coefficients[:keep], new.coefficients])
        new.times = np.concatenate([self.times[:keep], new.times])
        return new

    def at(self, t: float) -> list[tuple[float, float, float]]:
        """Compute position, velocity and acceleration of each column at one time, in plain numbers."""
        if self._plain is None:
            self._plain = self.times.tolist(), self.coefficients.transpose(0, 2, 1).tolist()
        times, pieces = self._plain
        k = bisect_right(times, t, 1, len(times) - 1) - 1
        s = t - times[k]
        return [
            (
                ((((f * s + e) * s + d) * s + c) * s + b) * s + a,
                (((5 * f * s + 4 * e) * s + 3 * d) * s + 2 * c) * s + b,
                ((20 * f * s + 12 * e) * s + 6 * d) * s + 2 * c,
            )
            for a, b, c, d, e, f in pieces[k]
        ]

    def __call__(self, t: Array) -> Array:
        """Compute position, velocity and acceleration (..., 3, k)."""
        k = self.times[1:-1].searchsorted(t, side="right")
        s = np.asarray(t - self.times[k])[..., None, None]
        result: Array = (FACTORS * s**POWERS) @ self.coefficients[k]
        return result


def _rest(position: float) -> Array:
    return np.array([[position], [0.0], [0.0]])


def _quintic(a: Array, b: Array, h: float) -> Array:
    """Find the coefficients (6, k) with position, velocity, acceleration a at 0 and b at h."""
    d0 = b[0] - a[0] - a[1] * h - 0.5 * a[2] * h**2
    d1 = (b[1] - a[1] - a[2] * h) * h
    d2 = (b[2] - a[2]) * h**2
    return np.array(
        [
            a[0],
            a[1],
            0.5 * a[2],
            (10 * d0 - 4 * d1 + 0.5 * d2) / h**3,
            (-15 * d0 + 7 * d1 - d2) / h**4,
            (6 * d0 - 3 * d1 + 0.5 * d2) / h**5,
        ]
    )


def _lowest(times: list[float], knots: list[Array]) -> float:
    pieces = _Pieces(times, knots)
    values = [pieces(t0 + (t1 - t0) * SAMPLES)[..., 0, 0].min() for t0, t1 in zip(times, times[1:], strict=False)]
    return float(min(values))


def _coordinates(T: Array, near: float) -> Array:
    """Give position, roll, pitch, yaw (6,), the yaw within half a turn of `near`."""
    yaw, pitch, roll = as_euler(T[:3, :3], "ZYX")
    yaw = near + (yaw - near + np.pi) % (2 * np.pi) - np.pi
    return np.array([*T[:3, 3], roll, pitch, yaw])


def _matrix(x: Array) -> Array:
    """Make the pose (..., 4, 4) of coordinates (..., 6)."""
    (a, b, c), (sa, sb, sc) = np.cos(x[..., 3:]).T, np.sin(x[..., 3:]).T
    T = np.zeros((*x.shape[:-1], 4, 4))
    T[..., 0, 0], T[..., 0, 1], T[..., 0, 2] = (b * c).T, (sa * sb * c - a * sc).T, (a * sb * c + sa * sc).T
    T[..., 1, 0], T[..., 1, 1], T[..., 1, 2] = (b * sc).T, (sa * sb * sc + a * c).T, (a * sb * sc - sa * c).T
    T[..., 2, 0], T[..., 2, 1], T[..., 2, 2] = -sb.T, (sa * b).T, (a * b).T
    T[..., :3, 3], T[..., 3, 3] = x[..., :3], 1.0
    return T


def _twists(x: Array) -> tuple[Array, Array]:
    """Compute twist and its rate (..., 6) from coordinates and their two derivatives (..., 3, 6).

    Roll turns about the foot's x axis, pitch about an axis that turns with yaw, yaw about the vertical; the rate also
    has what the first two axes turn with the others.
    """
    pitch, yaw = x[..., 0, 4], x[..., 0, 5]
    cp, sp, cy, sy = np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    (p, q, r), (dp, dq, dr) = x[..., 1, 3:].T, x[..., 2, 3:].T
    p, q, r, dp, dq, dr = p.T, q.T, r.T, dp.T, dq.T, dr.T
    along, across = cp * p, q  # angular velocity in axes that turn with yaw
    d_along, d_across = cp * dp - sp * p * q, dq
    up, d_up = r - sp * p, dr - sp * dp - cp * p * q
    velocity, rate = np.empty((*pitch.shape, 6)), np.empty((*pitch.shape, 6))
    velocity[..., :3], rate[..., :3] = x[..., 1, :3], x[..., 2, :3]
    velocity[..., 3], velocity[..., 4], velocity[..., 5] = cy * along - sy * across, sy * along + cy * across, up
    rate[..., 3] = cy * d_along - sy * d_across - r * velocity[..., 4]
    rate[..., 4] = sy * d_along + cy * d_across + r * velocity[..., 3]
    rate[..., 5] = d_up
    return velocity, rate
