"""Jerk-limited motion through waypoints: pieces from state to state, whose states are improved one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.axes import Axes, Ends
from kinodyn.trajectory.bounds import Bounds, LimitLike, motion_bounds
from kinodyn.trajectory.jerk_limited import as_motion, axis_limits
from kinodyn.trajectory.piecewise import PiecewisePolynomial, joined
from kinodyn.trajectory.ruckig_door import Planner, extrema
from kinodyn.trajectory.space import Space, space_of
from kinodyn.trajectory.spline import quintic_spline

SLACK = 1e-9  # beyond position limits, for rounding [rad or m]
SMALLEST = 0.02  # step of the search, as a share of the limits, at which it ends
INSIDE = 1.0 - 1e-9  # of velocity and acceleration limits, for rounding
SPLINES = 12  # how often the times of a spline are improved
PACES = (1.0, 1.15, 1.3, 1.6, 0.8)  # that its states are tried at
TIE = 1e-3  # how much the joints that are not the slowest count


@dataclass(frozen=True, eq=False)
class ThroughWaypoints:
    """A motion through waypoints and how it was found.

    Attributes
    ----------
    trajectory : PiecewisePolynomial
    times : (n,) array
        When it passes each waypoint [s].
    stopping : float
        How long it would take to stop at each waypoint [s].
    bound : float
        A time that no motion through the waypoints can go below [s]: the longest, over all joints, of the least time
        from the first to the last waypoint and of the whole way at the velocity limit.
    evaluations : int
        How many pieces were planned in the search.
    """

    trajectory: PiecewisePolynomial
    times: Array
    stopping: float
    bound: float
    evaluations: int


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
) -> ThroughWaypoints:
    """Go through waypoints (n, nq) within limits of velocity, acceleration and jerk, stopping only where it must.

    Between waypoints each piece is the fastest from state to state (`jerk_limited`); velocities and accelerations at
    the waypoints are found by a search that begins with a stop at each and takes only what makes the whole faster, so
    that the answer is never slower than stopping and always within the limits, the robot's position limits among them.
    It is a local search: the answer is not the fastest there is, see `bound`. The way between waypoints is no straight
    line. Ball and floating joints stop at each waypoint. Nothing is sent to any service.

    `sweeps` limits how often the search goes over all waypoints; 0 stops at each.
    """
    space = space_of(robot, "waypoints", waypoints)
    q = space.configurations("waypoints", waypoints, 2)
    if len(q) < 2:
        raise InputError(f"waypoints has shape {q.shape}; give at least two")
    if isinstance(sweeps, bool) or not isinstance(sweeps, int | np.integer) or sweeps < 0:
        raise InputError(f"sweeps is {sweeps!r}; give a whole number from 0 on")
    bounds = motion_bounds(space, velocity, acceleration, jerk)
    outside = (q < bounds.lower - SLACK) | (q > bounds.upper + SLACK)
    if outside.any():
        place = int(outside.any(axis=1).argmax())
        raise InputError(f"waypoint {place} is outside the robot's position limits; see kd.validation.within_limits")
    search = _Search(space, q, bounds)
    search.v[0], search.v[-1] = space.tangents("v0", v0), space.tangents("v1", v1)
    search.begin()
    stopping = float(search.lasts.sum())
    search.improve(int(sweeps))
    motions = [search.motion(k) for k in range(len(q) - 1)]
    times = np.concatenate([[0.0], np.cumsum([motion.duration for motion in motions])])
    return ThroughWaypoints(joined(motions), times, stopping, search.bound(), search.evaluations)


class _Search:
    """States at the waypoints, the time of each piece, and the moves that make the whole shorter."""

    def __init__(self, space: Space, q: Array, bounds: Bounds) -> None:
        self.space, self.q, self.bounds = space, q, bounds
        n = len(q)
        self.v, self.a = np.zeros((2, n, space.nv))
        self.lasts, self.cost = np.zeros((2, n - 1))
        self.evaluations = 0
        self.axes = [self._axes(k) for k in range(n - 1)]
        self.planners = [Planner(*axis_limits(axes)) for axes in self.axes]
        self.flat = self.axes[0].flat
        self.top = np.where(np.isfinite(bounds.velocity), bounds.velocity, self._typical_speed())[self.flat]
        self.push = np.where(np.isfinite(bounds.acceleration), bounds.acceleration, 1.0)[self.flat]

    def _axes(self, k: int) -> Axes:
        zero = np.zeros(self.space.nv)
        return Axes(self.space, Ends(self.q[k], self.q[k + 1], zero, zero, zero, zero), self.bounds)

    def _typical_speed(self) -> Array:
        """Find the speed that a joint could gain over the longest step, for joints without a velocity limit."""
        steps = np.abs(self.space.difference(self.q[:-1], self.q[1:])).max(axis=0)
        jerk = np.where(np.isfinite(self.bounds.jerk), self.bounds.jerk, 1.0)
        return np.asarray((steps**2 * jerk) ** (1 / 3) + 1e-9)

    def begin(self) -> None:
        """Plan all pieces with a stop at each waypoint."""
        for k in range(len(self.lasts)):
            found = self._plan(k, self.v, self.a)
            low, high = extrema(found)
            self.lasts[k], self.cost[k] = found.duration, self._cost(found)
            if not self._inside(k, low, high):
                raise InputError(
                    f"from waypoint {k} to {k + 1} the velocities at the ends lead outside position limits"
                )

    def improve(self, sweeps: int) -> None:
        """Take the states of a spline, then change one waypoint's state at a time, with smaller and smaller steps."""
        inner = range(1, len(self.q) - 1)
        step = 0.5
        if sweeps and len(self.q) > 2:
            self._by_splines()
        for _ in range(sweeps):
            better = False
            for k in inner:
                better |= self._along(k, step)
                for i in range(len(self.flat)):
                    better |= self._alone(k, i, step)
            if not better:
                step /= 2.0
                if step < SMALLEST:
                    return

    def _by_splines(self) -> None:
        """Take the states of the quintic spline over the present times, as long as that makes the whole faster.

        They need not belong to a spline within the limits: each piece is planned anew between them.
        """
        for _ in range(SPLINES):
            times = np.concatenate([[0.0], np.cumsum(self.lasts)])
            try:
                spline = quintic_spline(self.q, times, v0=self.v[0], v1=self.v[-1], robot=self.space.robot)
            except InputError:  # waypoints that repeat take no time
                return
            v, a = spline(times, 1), spline(times, 2)
            faster = [self._try_all(pace * v, pace**2 * a) for pace in PACES]
            if not any(faster):
                return

    def _try_all(self, v: Array, a: Array) -> bool:
        """Take states at all inner waypoints, brought within the limits, if all pieces together are faster."""
        V, A = self.v.copy(), self.a.copy()
        V[1:-1, self.flat], A[1:-1, self.flat] = self._admissible(v[1:-1, self.flat], a[1:-1, self.flat])
        cost, lasts = [], []
        for k in range(len(self.lasts)):
            found = self._within(k, V, A)
            if found is None:
                return False
            cost.append(self._cost(found))
            lasts.append(found.duration)
        if sum(cost) >= self.cost.sum() * (1.0 - 1e-6):
            return False
        self.v, self.a = V, A
        self.cost[:], self.lasts[:] = cost, lasts
        return True

    def _admissible(self, v: Array, a: Array) -> tuple[Array, Array]:
        """Bring velocities and accelerations within limits, the velocity that taking `a` away leads to among them."""
        top, push, jerk = (
            limit[self.flat] for limit in (self.bounds.velocity, self.bounds.acceleration, self.bounds.jerk)
        )
        v = np.clip(v, -INSIDE * top, INSIDE * top)
        most = np.minimum(
            INSIDE * push, INSIDE * np.sqrt(2.0 * np.where(np.isfinite(jerk), jerk, 1.0) * (top - np.abs(v)))
        )
        return v, np.clip(a, -most, most)

    def _within(self, k: int, v: Array, a: Array) -> Any | None:
        """Plan a piece; None if there is none within position limits."""
        try:
            found = self._plan(k, v, a)
        except InputError:
            return None
        return found if self._inside(k, *extrema(found)) else None

    def _along(self, k: int, step: float) -> bool:
        """Try more or less speed along the way from the waypoint before to the one after, for joints that go on."""
        before = self.space.difference(self.q[k - 1], self.q[k])[self.flat] / self.lasts[k - 1]
        after = self.space.difference(self.q[k], self.q[k + 1])[self.flat] / self.lasts[k]
        way = np.where(before * after > 0.0, before + after, 0.0)
        share = np.abs(way / self.top).max(initial=0.0)
        if share == 0.0:
            return False
        change = step / share * way
        return any(self._try(k, self.v[k, self.flat] + sign * change, self.a[k, self.flat]) for sign in (1.0, -1.0))

    def _alone(self, k: int, i: int, step: float) -> bool:
        """Try another velocity and another acceleration of one joint."""
        moves = [(sign * step * self.top[i], 0.0) for sign in (1.0, -1.0)]
        moves += [(0.0, sign * step * self.push[i]) for sign in (1.0, -1.0)]
        for dv, da in moves:
            v, a = self.v[k, self.flat], self.a[k, self.flat]
            v[i], a[i] = v[i] + dv, a[i] + da
            if self._try(k, v, a):
                return True
        return False

    def _try(self, k: int, v: Array, a: Array) -> bool:
        """Take the state at waypoint k if both pieces beside it keep the limits and are faster together."""
        V, A = self.v.copy(), self.a.copy()
        V[k, self.flat], A[k, self.flat] = self._admissible(v, a)
        cost, lasts = [], []
        for piece in (k - 1, k):
            found = self._within(piece, V, A)
            if found is None:
                return False
            cost.append(self._cost(found))
            lasts.append(found.duration)
        if sum(cost) >= self.cost[k - 1 : k + 1].sum() * (1.0 - 1e-6):
            return False
        self.v, self.a = V, A
        self.cost[k - 1 : k + 1], self.lasts[k - 1 : k + 1] = cost, lasts
        return True

    def _plan(self, k: int, v: Array, a: Array) -> Any:
        axes = self.axes[k]
        still = np.zeros(len(self.space.groups))
        rates = [np.append(rate[self.flat], still) for rate in (v[k], a[k], v[k + 1], a[k + 1])]
        self.evaluations += 1
        return self.planners[k].plan((0.0 * axes.step, rates[0], rates[1]), (axes.step, rates[2], rates[3]))

    def _cost(self, found: Any) -> float:
        """Count the time, and a little of each joint's own, so that joints that wait may still get better."""
        alone = found.independent_min_durations
        return float(found.duration) + TIE * float(np.mean(alone))

    def _inside(self, k: int, low: Array, high: Array) -> bool:
        start, count = self.q[k][self.space.places[self.flat]], len(self.flat)
        lower, upper = (limit[self.space.places[self.flat]] for limit in (self.bounds.lower, self.bounds.upper))
        return bool((start + low[:count] >= lower - SLACK).all() and (start + high[:count] <= upper + SLACK).all())

    def motion(self, k: int) -> PiecewisePolynomial:
        """Make the motion of one piece."""
        return as_motion(self.axes[k], self._plan(k, self.v, self.a))

    def bound(self) -> float:
        """Bound the time from below, for each joint alone."""
        return max((self._bound_of(i) for i in range(len(self.flat))), default=0.0)

    def _bound_of(self, i: int) -> float:
        column = self.flat[i]
        x = self.q[:, self.space.places[column]]
        limits = [np.array([axes[column]]) for axes in (self.bounds.velocity, self.bounds.acceleration)]
        jerk = self.bounds.jerk[column]
        if not np.isfinite(jerk) or not np.ptp(x) > 0.0:
            return 0.0
        planner, zero = Planner(limits[0], limits[1], np.array([jerk])), np.zeros(1)
        ends = [np.array([value]) for value in (self.v[0, column], self.v[-1, column])]
        direct = float(planner.plan((x[:1], ends[0], zero), (x[-1:], ends[1], zero)).duration)
        return max(direct, float(np.abs(np.diff(x)).sum() / self.bounds.velocity[column]))
