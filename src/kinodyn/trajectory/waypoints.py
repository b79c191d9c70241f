"""Jerk-limited motion through waypoints: a local search over the velocities and accelerations at the waypoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.axes import Axes, Ends
from kinodyn.trajectory.bounds import Bounds, LimitLike, motion_bounds
from kinodyn.trajectory.jerk_limited import as_motion, axis_limits
from kinodyn.trajectory.piecewise import PiecewisePolynomial, joined
from kinodyn.trajectory.ruckig_adapter import Planner, extrema
from kinodyn.trajectory.space import Space, space_of
from kinodyn.trajectory.spline import quintic_spline

POSITION_TOLERANCE = 1e-9  # beyond position limits, for rounding [rad or m]
MIN_STEP = 0.02  # smallest step of the search, as a fraction of the limits
LIMIT_FRACTION = 1.0 - 1e-9  # fraction of velocity and acceleration limits that is used, for rounding
MAX_SWEEPS = 10_000
MAX_SPLINES = 12  # splines tried, each over the times of the one before
RATE_SCALES = (1.0, 1.15, 1.3, 1.6, 0.8)  # by which the rates of a spline are scaled
MEAN_DURATION_WEIGHT = 1e-3  # weight in the cost of the joints that are not the slowest


@displayed
@dataclass(frozen=True, eq=False)
class JerkLimitedResult:
    """Result of `jerk_limited_waypoints`.

    Attributes
    ----------
    trajectory : PiecewisePolynomial
    times : (n,) array
        Times at which it passes the waypoints [s].
    stopping : float
        Duration with a stop at each waypoint [s].
    bound : float
        Lower bound of the duration of any motion through the waypoints [s]: the maximum over all joints of the least
        time from the first to the last waypoint, and of the whole distance at the velocity limit.
    evaluations : int
        Number of segments planned in the search.
    """

    trajectory: PiecewisePolynomial
    times: Array
    stopping: float
    bound: float
    evaluations: int


@check_types
def jerk_limited_waypoints(
    waypoints: ArrayLike,
    *,
    acceleration: LimitLike,
    jerk: LimitLike,
    velocity: LimitLike | None = None,
    v0: ArrayLike | None = None,
    v1: ArrayLike | None = None,
    sweeps: int = 12,
    robot: Robot | None = None,
) -> JerkLimitedResult:
    """Move through waypoints within limits of velocity, acceleration and jerk, without stopping at each.

    Each segment is the fastest motion from state to state (`jerk_limited`). Velocities and accelerations at the
    waypoints come from a local search that starts with a stop at each and accepts only changes that shorten the whole
    motion, so that the result is never slower than stopping and always within the limits, the robot's position limits
    included. It is not the optimum: see `bound` of the result. Segments are not straight. Ball and floating joints stop
    at each waypoint.

    Parameters
    ----------
    waypoints : (n, nq)
    acceleration, jerk : () or (nv,), or dict of joint -> limit
        [rad/s^2, m/s^2] and [rad/s^3, m/s^3].
    velocity : () or (nv,), or dict of joint -> limit, optional
        [rad/s, m/s]; by default the robot's.
    v0, v1 : (nv,), zero by default
    sweeps : int
        Maximum number of sweeps of the search over all waypoints; 0 stops at each.
    robot : Robot, optional

    Returns
    -------
    JerkLimitedResult

    Notes
    -----
    Everything is computed locally; the online service of ruckig is not used.
    """
    space = space_of(robot, "waypoints", waypoints)
    q = space.configurations("waypoints", waypoints, 2)
    if len(q) < 2:
        raise InputError(f"waypoints must be at least two configurations (n, nq), got shape {q.shape}")
    integer("sweeps", sweeps, 0, MAX_SWEEPS)
    bounds = motion_bounds(space, velocity, acceleration, jerk)
    outside = (q < bounds.lower - POSITION_TOLERANCE) | (q > bounds.upper + POSITION_TOLERANCE)
    if outside.any():
        index = int(outside.any(axis=1).argmax())
        raise InputError(f"waypoint {index} is outside the robot's position limits; see kd.validation.within_limits")
    search = _Search(space, q, bounds)
    search.v[0], search.v[-1] = space.tangents("v0", v0), space.tangents("v1", v1)
    search.begin()
    stopping = float(search.durations.sum())
    search.improve(int(sweeps))
    motions = [search.motion(k) for k in range(len(q) - 1)]
    times = np.concatenate([[0.0], np.cumsum([motion.duration for motion in motions])])
    return JerkLimitedResult(joined(motions), times, stopping, search.bound(), search.evaluations)


class _Search:
    """Local search: states at the waypoints, durations of the segments, and changes that shorten the whole motion."""

    def __init__(self, space: Space, q: Array, bounds: Bounds) -> None:
        self.space, self.q, self.bounds = space, q, bounds
        n = len(q)
        self.v, self.a = np.zeros((2, n, space.nv))
        self.durations, self.cost = np.zeros((2, n - 1))
        self.evaluations = 0
        self.axes = [self._axes(k) for k in range(n - 1)]
        self.planners = [Planner(*axis_limits(axes)) for axes in self.axes]
        self.columns = self.axes[0].columns
        self.velocity = np.where(np.isfinite(bounds.velocity), bounds.velocity, self._typical_speed())[self.columns]
        self.acceleration = np.where(np.isfinite(bounds.acceleration), bounds.acceleration, 1.0)[self.columns]

    def _axes(self, k: int) -> Axes:
        zero = np.zeros(self.space.nv)
        return Axes(self.space, Ends(self.q[k], self.q[k + 1], zero, zero, zero, zero), self.bounds)

    def _typical_speed(self) -> Array:
        """Estimate the speed of joints without a velocity limit from the jerk limit and the longest segment."""
        steps = np.abs(self.space.difference(self.q[:-1], self.q[1:])).max(axis=0)
        jerk = np.where(np.isfinite(self.bounds.jerk), self.bounds.jerk, 1.0)
        return np.asarray((steps**2 * jerk) ** (1 / 3) + 1e-9)

    def begin(self) -> None:
        """Plan all segments with a stop at each waypoint."""
        for k in range(len(self.durations)):
            found = self._plan(k, self.v, self.a)
            low, high = extrema(found)
            self.durations[k], self.cost[k] = found.duration, self._cost(found)
            if not self._inside(k, low, high):
                raise InputError(f"from waypoint {k} to {k + 1} the velocities at the ends violate position limits")

    def improve(self, sweeps: int) -> None:
        """Start from the states of a spline, then change the state of one waypoint at a time, by shrinking steps."""
        inner = range(1, len(self.q) - 1)
        step = 0.5
        if sweeps and len(self.q) > 2:
            self._try_splines()
        for _ in range(sweeps):
            better = False
            for k in inner:
                better |= self._along(k, step)
                for i in range(len(self.columns)):
                    better |= self._alone(k, i, step)
            if not better:
                step /= 2.0
                if step < MIN_STEP:
                    return

    def _try_splines(self) -> None:
        """Accept the states of the quintic spline over the current times, as long as that shortens the whole.

        The spline itself may violate limits: each segment is planned again between the states.
        """
        for _ in range(MAX_SPLINES):
            times = np.concatenate([[0.0], np.cumsum(self.durations)])
            try:
                spline = quintic_spline(self.q, times, v0=self.v[0], v1=self.v[-1], robot=self.space.robot)
            except InputError:  # a repeated waypoint takes no time
                return
            v, a = spline(times, 1), spline(times, 2)
            faster = [self._try_all(scale * v, scale**2 * a) for scale in RATE_SCALES]
            if not any(faster):
                return

    def _try_all(self, v: Array, a: Array) -> bool:
        """Accept states at all inner waypoints, clipped to the limits, if all segments together are faster."""
        V, A = self.v.copy(), self.a.copy()
        V[1:-1, self.columns], A[1:-1, self.columns] = self._admissible(v[1:-1, self.columns], a[1:-1, self.columns])
        cost, durations = [], []
        for k in range(len(self.durations)):
            found = self._within(k, V, A)
            if found is None:
                return False
            cost.append(self._cost(found))
            durations.append(found.duration)
        if sum(cost) >= self.cost.sum() * (1.0 - 1e-6):
            return False
        self.v, self.a = V, A
        self.cost[:], self.durations[:] = cost, durations
        return True

    def _admissible(self, v: Array, a: Array) -> tuple[Array, Array]:
        """Clip velocities and accelerations to the limits, also the velocity reached while reducing `a` to zero."""
        velocity, acceleration, jerk = (
            limit[self.columns] for limit in (self.bounds.velocity, self.bounds.acceleration, self.bounds.jerk)
        )
        v = np.clip(v, -LIMIT_FRACTION * velocity, LIMIT_FRACTION * velocity)
        largest = np.minimum(
            LIMIT_FRACTION * acceleration,
            LIMIT_FRACTION * np.sqrt(2.0 * np.where(np.isfinite(jerk), jerk, 1.0) * (velocity - np.abs(v))),
        )
        return v, np.clip(a, -largest, largest)

    def _within(self, k: int, v: Array, a: Array) -> Any | None:
        """Plan a segment; None if it violates position limits."""
        try:
            found = self._plan(k, v, a)
        except InputError:
            return None
        return found if self._inside(k, *extrema(found)) else None

    def _along(self, k: int, step: float) -> bool:
        """Try more or less speed from the previous waypoint to the next, for joints that do not reverse."""
        before = self.space.difference(self.q[k - 1], self.q[k])[self.columns] / self.durations[k - 1]
        after = self.space.difference(self.q[k], self.q[k + 1])[self.columns] / self.durations[k]
        direction = np.where(before * after > 0.0, before + after, 0.0)
        largest = np.abs(direction / self.velocity).max(initial=0.0)
        if largest == 0.0:
            return False
        change = step / largest * direction
        return any(
            self._try(k, self.v[k, self.columns] + sign * change, self.a[k, self.columns]) for sign in (1.0, -1.0)
        )

    def _alone(self, k: int, i: int, step: float) -> bool:
        """Try other velocities and accelerations of one joint."""
        moves = [(sign * step * self.velocity[i], 0.0) for sign in (1.0, -1.0)]
        moves += [(0.0, sign * step * self.acceleration[i]) for sign in (1.0, -1.0)]
        for dv, da in moves:
            v, a = self.v[k, self.columns], self.a[k, self.columns]
            v[i], a[i] = v[i] + dv, a[i] + da
            if self._try(k, v, a):
                return True
        return False

    def _try(self, k: int, v: Array, a: Array) -> bool:
        """Accept a state at waypoint k if both adjacent segments are within the limits and faster together."""
        V, A = self.v.copy(), self.a.copy()
        V[k, self.columns], A[k, self.columns] = self._admissible(v, a)
        cost, durations = [], []
        for piece in (k - 1, k):
            found = self._within(piece, V, A)
            if found is None:
                return False
            cost.append(self._cost(found))
            durations.append(found.duration)
        if sum(cost) >= self.cost[k - 1 : k + 1].sum() * (1.0 - 1e-6):
            return False
        self.v, self.a = V, A
        self.cost[k - 1 : k + 1], self.durations[k - 1 : k + 1] = cost, durations
        return True

    def _plan(self, k: int, v: Array, a: Array) -> Any:
        axes = self.axes[k]
        rest = np.zeros(len(self.space.groups))
        rates = [np.append(rate[self.columns], rest) for rate in (v[k], a[k], v[k + 1], a[k + 1])]
        self.evaluations += 1
        return self.planners[k].plan((0.0 * axes.step, rates[0], rates[1]), (axes.step, rates[2], rates[3]))

    def _cost(self, found: Any) -> float:
        """Return the duration plus a fraction of each joint's own duration, so that waiting joints improve too."""
        independent = found.independent_min_durations
        return float(found.duration) + MEAN_DURATION_WEIGHT * float(np.mean(independent))

    def _inside(self, k: int, low: Array, high: Array) -> bool:
        start, count = self.q[k][self.space.q_index[self.columns]], len(self.columns)
        lower, upper = (limit[self.space.q_index[self.columns]] for limit in (self.bounds.lower, self.bounds.upper))
        return bool(
            (start + low[:count] >= lower - POSITION_TOLERANCE).all()
            and (start + high[:count] <= upper + POSITION_TOLERANCE).all()
        )

    def motion(self, k: int) -> PiecewisePolynomial:
        """Return the trajectory of one segment."""
        return as_motion(self.axes[k], self._plan(k, self.v, self.a))

    def bound(self) -> float:
        """Compute a lower bound of the duration from each joint alone."""
        return max((self._bound_of(i) for i in range(len(self.columns))), default=0.0)

    def _bound_of(self, i: int) -> float:
        column = self.columns[i]
        x = self.q[:, self.space.q_index[column]]
        limits = [np.array([axes[column]]) for axes in (self.bounds.velocity, self.bounds.acceleration)]
        jerk = self.bounds.jerk[column]
        if not np.isfinite(jerk) or not np.ptp(x) > 0.0:
            return 0.0
        planner, zero = Planner(limits[0], limits[1], np.array([jerk])), np.zeros(1)
        ends = [np.array([value]) for value in (self.v[0, column], self.v[-1, column])]
        direct = float(planner.plan((x[:1], ends[0], zero), (x[-1:], ends[1], zero)).duration)
        return max(direct, float(np.abs(np.diff(x)).sum() / self.bounds.velocity[column]))
