"""Trajectory of a swing foot: smooth, above the ground, and re-targetable in flight."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import nonnegative, number, numbers, one_pose
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.walking.quintic import CoordinateState, PiecewiseQuintic, at_rest, minima

PLANAR, TILT = (0, 1, 5), (3, 4)  # x, y, yaw; roll, pitch
BLEND_FRACTION = 0.35  # part of the planar motion in which it speeds up, and in which it slows down
TILT_FRACTION = 0.8  # part of a swing after which the foot has the tilt of its target
MAX_BISECTIONS = 16  # of the time at which a descending foot turns, in the search for a trajectory above the ground
TOLERANCE = 1e-9  # [s, m]


@displayed
class SwingTrajectory:
    """Trajectory of a foot from one pose to another.

    Position and roll, pitch, yaw are piecewise quintic polynomials; position, velocity and acceleration are continuous
    everywhere, also where `retarget` changes the touchdown in flight. Velocity is zero at touchdown and, unless given,
    at lift-off. The height passes an apex in the middle and never goes below the lower end. The foot first rises
    vertically and finally descends vertically, unless it is in motion at lift-off or the target changes in flight.
    Before lift-off and after touchdown the foot rests.

    Parameters
    ----------
    T_start, T_end
        T_world_sole (4, 4) at lift-off and touchdown.
    start, end
        Times of lift-off and touchdown [s].
    height
        Height of the apex above the higher end [m].
    vertical_fraction
        Part of the duration at either end in which the foot moves only vertically; two numbers: at lift-off, at
        touchdown.
    apex_fraction
        Part of the duration after which the foot is at its apex.
    velocity
        Of the sole at lift-off (6,), linear first, in world axes [m/s, rad/s]: of a foot that rolls over its toes. By
        default it rests.
    descent_speed
        Downward speed at touchdown [m/s]: a foot that still descends meets the ground when it should.

    Examples
    --------
    >>> T0, T1 = np.eye(4), np.eye(4)
    >>> T1[0, 3] = 0.3
    >>> swing = SwingTrajectory(T0, T1, 0.0, 0.5, height=0.05)
    >>> print(swing(0.25)[:3, 3].round(6), np.abs(swing(0.5, 1)).max().round(9))
    [0.15 0.   0.05] 0.0
    """

    @check_types
    def __init__(
        self,
        T_start: MatrixLike,
        T_end: MatrixLike,
        start: float,
        end: float,
        *,
        height: float = 0.05,
        vertical_fraction: float | tuple[float, float] = 0.1,
        apex_fraction: float = 0.5,
        velocity: ArrayLike | None = None,
        descent_speed: float = 0.0,
    ) -> None:
        if not number("start", start) < number("end", end):
            raise InputError(f"a swing must end after it starts, got start={start!r} s and end={end!r} s")
        nonnegative("height", height)
        nonnegative("descent_speed", descent_speed)
        pair = np.broadcast_to(numbers("vertical_fraction", vertical_fraction), 2).tolist()
        if not all(0 <= part < 0.5 for part in pair):
            raise InputError(f"vertical_fraction must be at least 0 and below 0.5, got {vertical_fraction!r}")
        if not 0.1 <= apex_fraction <= 0.9:
            raise InputError(f"apex_fraction must be from 0.1 to 0.9, got {apex_fraction!r}")
        self.start, self.end, self.height = float(start), float(end), float(height)
        self._from = one_pose("T_start", T_start)
        origin: list[float] = coordinates(self._from, 0.0).tolist()
        rates = [0.0] * 6 if velocity is None else _rates(origin, numbers("velocity", velocity, 6).tolist())
        rates[2] = max(rates[2], 0.0)  # never into the ground
        self._aim(T_end, origin[5])
        self._ground = min(origin[2], self._goal[2])
        self._apex = max(origin[2], self._goal[2]) + self.height
        self._apex_fraction = float(apex_fraction)
        middle = self.start + self._apex_fraction * (self.end - self.start)
        early, late = (part * (self.end - self.start) for part in pair)
        first = [(x, v, 0.0) for x, v in zip(origin, rates, strict=True)]
        last = (self._goal[2], -float(descent_speed), 0.0)
        self._height = PiecewiseQuintic([self.start, middle, self.end], [[first[2]], [at_rest(self._apex)], [last]])
        level, goal = self.start + TILT_FRACTION * (self.end - self.start), self._resting(TILT)
        self._tilt = PiecewiseQuintic([self.start, level, self.end], [[first[k] for k in TILT], goal, goal])
        self._planar = self._cruise([first[k] for k in PLANAR], early if velocity is None else 0.0, late)

    def _resting(self, chosen: tuple[int, ...]) -> list[CoordinateState]:
        """Return the states of some coordinates at the goal."""
        return [at_rest(self._goal[k]) for k in chosen]

    def _cruise(self, first: list[CoordinateState], early: float, late: float) -> PiecewiseQuintic:
        """Plan the motion along the ground: a constant velocity in the middle, lower than the peak of one polynomial.

        It begins `early` seconds after lift-off and ends `late` seconds before touchdown.
        """
        begin, end, goal = self.start + early, self.end - late, self._resting(PLANAR)
        blend = BLEND_FRACTION * (end - begin)
        leaving: list[CoordinateState] = []
        arriving: list[CoordinateState] = []
        for (x0, v0, _), (x1, _, _) in zip(first, goal, strict=True):
            velocity = (x1 - x0 - 0.5 * blend * v0) / (end - begin - blend)
            leaving.append((x0 + 0.5 * blend * (v0 + velocity), velocity, 0.0))
            arriving.append((x1 - 0.5 * blend * velocity, velocity, 0.0))
        times, knots = [begin, begin + blend, end - blend, end], [first, leaving, arriving, goal]
        if early:
            times, knots = [self.start, *times], [first, *knots]
        if late:
            times, knots = [*times, self.end], [*knots, goal]
        return PiecewiseQuintic(times, knots)

    @property
    def target(self) -> Array:
        """Pose at touchdown, T_world_sole (4, 4)."""
        return matrix(np.array(self._goal))

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Evaluate at times (...) [s].

        Parameters
        ----------
        t
            (...) [s]
        order
            0: T_world_sole (..., 4, 4); 1: velocity (..., 6); 2: acceleration (..., 6) of the sole's origin and
            orientation, linear first, in world axes ("local_world_aligned", classical acceleration).
        """
        if order not in (0, 1, 2):
            raise InputError(f"order must be 0 (pose), 1 (velocity) or 2 (acceleration), got {order!r}")
        return self.all(t)[order]

    def all(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Evaluate pose, velocity and acceleration at once.

        Parameters
        ----------
        t
            (...) [s]

        Returns
        -------
        pose : (..., 4, 4)
            T_world_sole.
        velocity, acceleration : (..., 6)
            Linear first, in world axes.
        """
        x = self._state(np.clip(numbers("t", t), self.start, self.end))
        return matrix(x[..., 0, :]), *_twists(x)

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Evaluate what `all` does at one time, but faster: for control loops.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        pose : (4, 4)
            T_world_sole.
        velocity, acceleration : (6,)
            Linear first, in world axes.
        """
        time = min(max(t, self.start), self.end)
        (x, vx, ax), (y, vy, ay), (yaw, r, dr) = self._planar.at(time)
        (roll, p, dp), (pitch, q, dq) = self._tilt.at(time)
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

    @check_types
    def retarget(
        self, t: float, T_end: MatrixLike | None = None, end: float | None = None, *, descent_speed: float = 0.0
    ) -> None:
        """Change pose or time of the touchdown from time t on; the trajectory before t stays as it was.

        The rest is planned from position, velocity and acceleration at t. A change just before touchdown needs large
        accelerations.

        Parameters
        ----------
        t
            Time of the change [s], during the swing.
        T_end
            New T_world_sole (4, 4) at touchdown; None keeps it.
        end
            New time of touchdown [s], after t; None keeps it.
        descent_speed
            Downward speed at touchdown [m/s].
        """
        if not self.start <= t < self.end:
            raise InputError(f"the foot is in the air from {self.start:.6g} s to {self.end:.6g} s, not at {t!r} s")
        finish = self.end if end is None else float(end)
        if not t < finish < np.inf:
            raise InputError(f"the touchdown at {finish!r} s must be after the time of the change, {t!r} s")
        nonnegative("descent_speed", descent_speed)
        time = float(t)
        planar, tilt, (height,) = self._planar.at(time), self._tilt.at(time), self._height.at(time)
        if T_end is not None:
            self._aim(T_end, planar[2][0])
            self._apex = max(float(self._from[2, 3]), self._goal[2]) + self.height
        self._ground = min(self._ground, self._goal[2])
        level, goal = time + TILT_FRACTION * (finish - time), self._resting(TILT)
        self._planar = self._planar.spliced(time, PiecewiseQuintic([time, finish], [planar, self._resting(PLANAR)]))
        self._tilt = self._tilt.spliced(time, PiecewiseQuintic([time, level, finish], [tilt, goal, goal]))
        self._height = self._height.spliced(time, self._descent(time, finish, height, float(descent_speed)))
        self.end = finish

    def _aim(self, T_end: MatrixLike, near: float) -> None:
        self._goal: list[float] = coordinates(one_pose("T_end", T_end), near).tolist()

    def _state(self, time: Array) -> Array:
        """Evaluate position, velocity and acceleration of the six coordinates: (..., 3, 6)."""
        planar, height, tilt = self._planar(time), self._height(time), self._tilt(time)
        return np.concatenate([planar[..., :2], height, tilt, planar[..., 2:]], axis=-1)

    def _descent(self, t: float, finish: float, state: CoordinateState, speed: float) -> PiecewiseQuintic:
        """Plan the height from a state on: over the apex if it is still ahead, else straight down if that stays above.

        A foot that already descends may have to rise again; the sooner it turns, the less it dips.
        """
        goal = self._goal[2]
        first, last = [state], [(goal, -speed, 0.0)]
        middle = self.start + self._apex_fraction * (finish - self.start)
        direct = [PiecewiseQuintic([t, finish], [first, last])]
        if t < middle - TOLERANCE:
            direct.insert(0, PiecewiseQuintic([t, middle, finish], [first, [at_rest(self._apex)], last]))
        lowest = minima(direct)
        for curve, least in zip(direct, lowest, strict=True):
            if least - self._ground >= -TOLERANCE:
                return curve
        turn = [at_rest(max(state[0], goal))]
        parts = [0.5 ** (k + 1) for k in range(MAX_BISECTIONS)]
        turning = [PiecewiseQuintic([t, t + part * (finish - t), finish], [first, turn, last]) for part in parts]
        lowest += minima(turning)
        highest = max(lowest)
        enough = min(highest, self._ground - TOLERANCE)
        return [*direct, *turning][next(k for k, least in enumerate(lowest) if least >= enough)]


def tilt_progress(s: Array) -> Array:
    """Return the part of the change of tilt that is over after parts (...) of a swing from rest to rest."""
    x = np.minimum(s / TILT_FRACTION, 1.0)
    return np.asarray(x**3 * (10.0 - 15.0 * x + 6.0 * x * x))


def _rates(x: list[float], twist: list[float]) -> list[float]:
    """Compute the rates (6,) of coordinates (6,) from a twist (6,): the inverse of `_twists`."""
    pitch, yaw = x[4], x[5]
    vx, vy, vz, wx, wy, wz = twist
    roll_rate = (cos(yaw) * wx + sin(yaw) * wy) / cos(pitch)
    return [vx, vy, vz, roll_rate, cos(yaw) * wy - sin(yaw) * wx, wz + sin(pitch) * roll_rate]


def coordinates(T: Array, near: float) -> Array:
    """Return position, roll, pitch, yaw (6,), the yaw within half a turn of `near`."""
    (xx, _, _, x), (yx, _, _, y), (zx, zy, zz, z), _ = T.tolist()
    yaw = near + (atan2(yx, xx) - near + pi) % (2 * pi) - pi
    return np.array([x, y, z, atan2(zy, zz), atan2(-zx, hypot(xx, yx)), yaw])


def matrix(x: Array) -> Array:
    """Compute the pose (..., 4, 4) of coordinates (..., 6)."""
    (a, b, c), (sa, sb, sc) = np.cos(x[..., 3:]).T, np.sin(x[..., 3:]).T
    T = np.zeros((*x.shape[:-1], 4, 4))
    T[..., 0, 0], T[..., 0, 1], T[..., 0, 2] = (b * c).T, (sa * sb * c - a * sc).T, (a * sb * c + sa * sc).T
    T[..., 1, 0], T[..., 1, 1], T[..., 1, 2] = (b * sc).T, (sa * sb * sc + a * c).T, (a * sb * sc - sa * c).T
    T[..., 2, 0], T[..., 2, 1], T[..., 2, 2] = -sb.T, (sa * b).T, (a * b).T
    T[..., :3, 3], T[..., 3, 3] = x[..., :3], 1.0
    return T


def _twists(x: Array) -> tuple[Array, Array]:
    """Compute twist and its rate (..., 6) from coordinates and their two derivatives (..., 3, 6).

    Roll is about the foot's x axis, pitch about an axis that turns with yaw, yaw about the vertical; the rate includes
    the motion of the first two axes.
    """
    pitch, yaw = x[..., 0, 4], x[..., 0, 5]
    cp, sp, cy, sy = np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    (p, q, r), (dp, dq, dr) = x[..., 1, 3:].T, x[..., 2, 3:].T
    p, q, r, dp, dq, dr = p.T, q.T, r.T, dp.T, dq.T, dr.T
    along, across = cp * p, q  # angular velocity in axes that rotate with yaw
    d_along, d_across = cp * dp - sp * p * q, dq
    up, d_up = r - sp * p, dr - sp * dp - cp * p * q
    velocity, rate = np.empty((*pitch.shape, 6)), np.empty((*pitch.shape, 6))
    velocity[..., :3], rate[..., :3] = x[..., 1, :3], x[..., 2, :3]
    velocity[..., 3], velocity[..., 4], velocity[..., 5] = cy * along - sy * across, sy * along + cy * across, up
    rate[..., 3] = cy * d_along - sy * d_across - r * velocity[..., 4]
    rate[..., 4] = sy * d_along + cy * d_across + r * velocity[..., 3]
    rate[..., 5] = d_up
    return velocity, rate
