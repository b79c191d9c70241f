"""Motion along straight segments with jerk-limited blends at their corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import reals
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.bounds import Bounds, LimitLike, motion_bounds
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import Space, space_of

MIN_DURATION = 1e-12  # [s] shorter pieces are left out
DUPLICATE_TOLERANCE = 1e-12  # [rad or m] waypoints nearer to each other count as one


@check_types
def linear_segments(
    waypoints: ArrayLike,
    *,
    acceleration: LimitLike,
    jerk: LimitLike,
    velocity: LimitLike | None = None,
    blend: ArrayLike = np.inf,
    robot: Robot | None = None,
) -> PiecewisePolynomial:
    """Move along straight segments, from rest to rest, and round their corners within a given distance.

    Parameters
    ----------
    waypoints : (n, nq)
        The motion is straight between them, except for the blends.
    acceleration, jerk : () or (nv,), or dict of joint -> limit
        [rad/s^2, m/s^2] and [rad/s^3, m/s^3].
    velocity : () or (nv,), or dict of joint -> limit, optional
        [rad/s, m/s]; by default the robot's.
    blend : () or (n,)
        How far from a waypoint its blend starts and ends at most, L2 norm over the joints [rad or m]; 0 stops there.
        Unlimited by default: blends are as large as the speed requires. The values of the first and the last waypoint
        are ignored.
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial
        Piecewise cubic, exactly within the limits.

    Notes
    -----
    The velocity is constant or changes from one value to another in an S-curve, the same for all joints up to a factor:
    along a segment, and at a corner from the direction of one segment to that of the next, at the same speed. This is
    the motion by linear segments with blends (J. J. Craig, "Introduction to Robotics", 2005, section 7.3) with limited
    jerk. A blend is within the triangle of its two ends and the corner; the acceleration is zero at both ends. Where
    ball or floating joints move, the motion stops at the waypoints.

    Examples
    --------
    >>> trajectory = linear_segments([[0, 0], [1, 0], [1, 1]], velocity=1, acceleration=2, jerk=10, blend=0.2)
    >>> float(round(trajectory.duration, 3)), trajectory(trajectory.duration).tolist()
    (2.954, [1.0, 1.0])
    """
    space = space_of(robot, "waypoints", waypoints)
    q = space.configurations("waypoints", waypoints, 2)
    if len(q) < 2:
        raise InputError(f"waypoints must be at least two configurations (n, nq), got shape {q.shape}")
    segments = Segments(space, q, motion_bounds(space, velocity, acceleration, jerk))
    reach = reals("blend", blend)
    if reach.shape not in ((), (len(q),)) or not (reach >= 0.0).all():
        raise InputError(f"blend must be one nonnegative number, or one for each of {len(q)} waypoints, got {blend!r}")
    return segments.timed(np.broadcast_to(reach, (len(q),))[segments.kept]).trajectory


@dataclass(frozen=True, eq=False)
class BlendedMotion:
    """A motion along segments.

    Attributes
    ----------
    trajectory : PiecewisePolynomial
    part : (pieces,) int array
        What each piece belongs to: 2 i for segment i, 2 i + 1 for the blend after it.
    reach : (n,) array
        How far the blends reach into the segments, 0 where the motion stops.
    """

    trajectory: PiecewisePolynomial
    part: NDArray[np.intp]
    reach: Array


class Segments:
    """Straight segments between configurations (n, nq), and limits.

    Attributes
    ----------
    q : (n, nq) array
        Waypoints without repetitions.
    kept : (n,) int array
        Their indices among those given.
    lengths : (n - 1,) array
    directions : (n - 1, nv) array
        Unit vectors.
    """

    def __init__(self, space: Space, q: Array, bounds: Bounds) -> None:
        self.space = space
        moved = np.abs(space.difference(q[:-1], q[1:])).max(axis=1, initial=0.0) > DUPLICATE_TOLERANCE
        self.kept = np.flatnonzero(np.append(True, moved))
        self.q = q[self.kept]
        step = space.difference(self.q[:-1], self.q[1:])
        self.lengths = np.linalg.norm(step, axis=1)
        self.directions = step / self.lengths[:, None]
        _require_finite(space, step, bounds)
        u, turn = np.abs(self.directions), np.abs(np.diff(self.directions, axis=0))
        with np.errstate(divide="ignore"):
            self._speed = np.min(np.where(u > 0.0, bounds.velocity / u, np.inf), axis=1, initial=np.inf)
        self._segment = [(u / limit).max(axis=1, initial=0.0) for limit in (bounds.acceleration, bounds.jerk)]
        self._corner = [(turn / limit).max(axis=1, initial=0.0) for limit in (bounds.acceleration, bounds.jerk)]
        # from rest no motion is faster than this at the end of the whole path
        self._speed = np.minimum(self._speed, np.sqrt(2.0 * self.lengths.sum() / np.maximum(self._segment[0], 1e-300)))
        self._stops = (u[:, space.on_manifold] > 0.0).any(axis=1)

    def __len__(self) -> int:
        return len(self.lengths)

    def timed(self, reach: Array, speed_scale: Array | None = None) -> BlendedMotion:
        """Time the motion.

        Parameters
        ----------
        reach : (n,)
            Maximum reach of the blends.
        speed_scale : (n - 1,), optional
            Factor of the speed on each segment, at most 1: velocities are limited to as much less, accelerations to its
            square, jerks to its cube.
        """
        if not len(self):
            base = np.array(self.q[:1])
            still = PiecewisePolynomial(self.space, np.zeros(2), base, np.zeros((4, 1, self.space.nv)))
            return BlendedMotion(still, np.zeros(1, dtype=np.intp), np.zeros(1))
        speed_scale = np.ones(len(self)) if speed_scale is None else speed_scale
        own = [quotient / speed_scale**k for k, quotient in enumerate(self._segment, start=2)]
        slower = np.minimum(speed_scale[:-1], speed_scale[1:])
        between = [_between_rest(quotient / slower**k) for k, quotient in enumerate(self._corner, start=2)]
        stops = np.concatenate([[True], self._stops[:-1] | self._stops[1:], [True]])
        rows = np.column_stack([self.lengths, speed_scale * self._speed, *own])
        corner_speed, speed = _core.segment_speeds(
            rows, np.column_stack([*between, np.where(stops, 0.0, np.minimum(reach, self.lengths.sum()))])
        )
        return self._assembled(corner_speed, speed, own, between)

    def _assembled(self, corner_speed: Array, speed: Array, own: list[Array], between: list[Array]) -> BlendedMotion:
        """Join the pieces: on each segment a ramp, constant speed and a ramp, then the blend at its end."""
        u, n = self.directions, len(self)
        w0, w1 = corner_speed[:-1], corner_speed[1:]
        change = np.stack([speed - w0, 0.0 * speed, w1 - speed, w1])  # of the path speed, or along a turn
        turns = np.concatenate([np.diff(u, axis=0), np.zeros((1, self.space.nv))])
        quotients = [np.stack([a, 0.0 * a, a, b[1:]]) * np.abs(change) for a, b in zip(own, between, strict=True)]
        jerk_time, steady_time = _phases(*quotients)
        ramp = 0.5 * (np.stack([w0, speed]) + np.stack([speed, w1])) * (2 * jerk_time + steady_time)[[0, 2]]
        reach = np.append(0.0, 0.5 * w1 * (2 * jerk_time + steady_time)[3])
        left = np.maximum(self.lengths - reach[:-1] - reach[1:] - ramp.sum(axis=0), 0.0)
        steady_time[1] = left / np.maximum(speed, 1e-300)
        offset = np.stack([reach[:-1], reach[:-1] + ramp[0], self.lengths - reach[1:] - ramp[1], -reach[1:]])
        velocity = np.stack([w0, speed, speed, w1])[..., None] * u
        delta = np.concatenate([change[:3, :, None] * u, change[3:, :, None] * turns])
        base = np.stack([self.q[:-1]] * 3 + [self.q[1:]])
        part = np.stack([2 * np.arange(n)] * 3 + [2 * np.arange(n) + 1])
        times, coefficients = _s_curves(offset[..., None] * u, velocity, delta, jerk_time, steady_time)
        # in the order of time: segments, then their four parts, then the three phases of each
        order = (1, 0, 2)
        durations = times.transpose(order).ravel()
        used = durations > MIN_DURATION
        rows = coefficients.transpose(0, 2, 1, 3, 4).reshape(4, -1, self.space.nv)[:, used]
        bases = np.repeat(base.transpose(order).reshape(-1, self.space.nq), 3, axis=0)[used]
        knots = np.concatenate([[0.0], np.cumsum(durations[used])])
        trajectory = PiecewisePolynomial(self.space, knots, bases, np.ascontiguousarray(rows))
        return BlendedMotion(trajectory, np.repeat(part.T.ravel(), 3)[used], reach)


def _require_finite(space: Space, step: Array, bounds: Bounds) -> None:
    moving = (step != 0.0).any(axis=0)
    for what, limit in (("acceleration", bounds.acceleration), ("jerk", bounds.jerk)):
        unlimited = moving & ~np.isfinite(limit)
        if unlimited.any():
            name = space.names[int(unlimited.argmax())]
            raise InputError(f"joint {name!r} moves and has no {what} limit; give one above 0")


def _between_rest(inner: Array) -> Array:
    return np.concatenate([[0.0], inner, [0.0]])


def _phases(over_acceleration: Array, over_jerk: Array) -> tuple[Array, Array]:
    """Return how long the acceleration of an S-curve rises, and how long it stays, from the quotients with limits."""
    a, j = over_acceleration, over_jerk
    trapezoid = a * a > j
    rise = np.where(trapezoid, j / np.where(trapezoid, a, 1.0), np.sqrt(j))
    return rise, np.where(trapezoid, a - rise, 0.0)


def _s_curves(x: Array, v: Array, delta: Array, rise: Array, stay: Array) -> tuple[Array, Array]:
    """Return durations (..., 3) and coefficients (4, ..., 3, nv) of velocities that change by `delta` from v.

    The acceleration rises for the time `rise`, stays for `stay`, and falls; motions start at x (..., nv).
    """
    r, s = rise[..., None], stay[..., None]
    total = np.where(r + s > 0.0, r + s, 1.0)
    peak = delta / total
    jerk = np.where(r > 0.0, peak / np.where(r > 0.0, r, 1.0), 0.0)
    v1, x1 = v + 0.5 * peak * r, x + v * r + peak * r**2 / 6
    v2, x2 = v1 + peak * s, x1 + v1 * s + 0.5 * peak * s**2
    phases = [(x, v, 0.0 * v, jerk), (x1, v1, peak, 0.0 * v), (x2, v2, peak, -jerk)]
    powers = [np.stack([phase[k] for phase in phases], axis=-2) for k in range(4)]
    return np.stack([rise, stay, rise], axis=-1), np.stack([powers[0], powers[1], powers[2] / 2, powers[3] / 6])
