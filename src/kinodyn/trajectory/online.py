"""Online trajectory generation: new targets at any time, with continuous acceleration."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.base import Samples, sample_times
from kinodyn.trajectory.bounds import LimitLike, motion_bounds
from kinodyn.trajectory.piecewise import PiecewisePolynomial, joined
from kinodyn.trajectory.ruckig_adapter import Planner, extrema, pieces, stop_extrema
from kinodyn.trajectory.space import space_of

TOLERANCE = 1e-9  # beyond limits, for rounding
State = tuple[Array, Array, Array]


@displayed
@dataclass(frozen=True)
class TargetUpdate:
    """Result of `OnlineTrajectory.set_target`; true in a boolean context when the target was accepted.

    Attributes
    ----------
    status : "accepted", "rejected" or "late"
        "rejected": the target cannot be reached within the limits; "late": planning took longer than the budget. In
        both cases the previous motion continues.
    reason : str
        Empty if accepted.
    calculation : float
        Planning time [s].
    arrival : float
        Time at which the target is, or would have been, reached [s]; infinite if there is no plan.
    """

    status: Literal["accepted", "rejected", "late"]
    reason: str
    calculation: float
    arrival: float

    def __bool__(self) -> bool:
        return self.status == "accepted"


@displayed
class OnlineTrajectory:
    """A jerk-limited trajectory whose target can be changed at any time.

    It starts at q0 with v0 and a0, comes to rest, and waits for targets. From a start beyond the velocity limits it
    brakes; from one outside the position limits it returns within them. Each new plan starts with the position,
    velocity and acceleration of the previous one. After a target with a velocity, it comes to rest as soon as the
    limits allow, unless there is a new target. Ball and floating joints stay as in q0.

    Parameters
    ----------
    q0 : (nq,)
        Initial configuration.
    acceleration, jerk : () or (nv,), or dict of joint -> limit
        [rad/s^2, m/s^2] and [rad/s^3, m/s^3].
    velocity : () or (nv,), or dict of joint -> limit, optional
        [rad/s, m/s]; by default the robot's. Position limits are always the robot's.
    v0, a0 : (nv,), optional
        Initial velocity and acceleration; zero by default.
    budget : float
        Maximum planning time [s]. A plan that takes longer is dropped, since the robot has moved on.
    robot : Robot, optional
    clock : function
        Measures the planning time; replaced in tests.

    Attributes
    ----------
    time : float
        Current time: that of the last `step` or `set_target`, at which new targets take effect [s].
    missed : int
        Number of late targets.

    Examples
    --------
    >>> online = OnlineTrajectory([0.0], velocity=1.0, acceleration=2.0, jerk=10.0)
    >>> online.set_target([1.0]).status
    'accepted'
    >>> q, v, a = online.step(0.5)
    >>> bool(online.set_target([-1.0])), online.arrival > 1.0
    (True, True)
    """

    @check_types
    def __init__(
        self,
        q0: ArrayLike,
        *,
        acceleration: LimitLike,
        jerk: LimitLike,
        velocity: LimitLike | None = None,
        v0: ArrayLike | None = None,
        a0: ArrayLike | None = None,
        budget: float = np.inf,
        robot: Robot | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        space = space_of(robot, "q0", q0)
        self.space, self.robot, self._q0 = space, robot, space.configurations("q0", q0)
        self._budget = np.inf if budget == np.inf else positive("budget", budget)
        self._columns = np.flatnonzero(~space.on_manifold)
        self._q_index = space.q_index[self._columns]
        bounds = motion_bounds(space, velocity, acceleration, jerk)
        self._lower, self._upper = bounds.lower[self._q_index], bounds.upper[self._q_index]
        limits = [limit[self._columns] for limit in (bounds.velocity, bounds.acceleration, bounds.jerk)]
        if not len(self._columns) or not np.isfinite(limits[2]).all():
            raise InputError("each joint needs a finite jerk limit, and at least one joint must be able to move")
        self._velocity, self._acceleration = limits[0], limits[1]
        self._synchronised = Planner(limits[0], limits[1], limits[2])
        self._independent = Planner(limits[0], limits[1], limits[2], "none")
        self._clock = clock
        self.time, self.missed = 0.0, 0
        rates = [space.tangents(name, value) for name, value in (("v0", v0), ("a0", a0))]
        if any(rate[space.on_manifold].any() for rate in rates):
            raise InputError("OnlineTrajectory does not move ball and floating joints; give zeros for their velocities")
        self._initialise((self._q0[self._q_index], rates[0][self._columns], rates[1][self._columns]))

    def _initialise(self, state: State) -> None:
        """Plan a stop, and a return within the position limits if it ends outside them."""
        stop = self._synchronised.stop(state)
        rest = np.array(stop.at_time(stop.duration)[0])
        inside = np.clip(rest, self._lower, self._upper)
        plans = [stop]
        if (inside != rest).any():
            plans = [self._independent.plan(state, (inside, 0.0 * rest, 0.0 * rest))]
        self._set(0.0, plans)

    def _set(self, start: float, plans: list[Any]) -> None:
        self._plans = plans
        self._starts = [start, *(start + np.cumsum([plan.duration for plan in plans[:-1]])).tolist()]
        self.arrival = start + plans[0].duration

    @property
    def duration(self) -> float:
        """Time at which the current plan comes to rest [s]."""
        return float(self._starts[-1] + self._plans[-1].duration)

    @property
    def start(self) -> float:
        """Start time of the current plan, the earliest that can be evaluated [s]."""
        return float(self._starts[0])

    @check_types
    def set_target(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *, at: float | None = None
    ) -> TargetUpdate:
        """Set a new target state.

        A target outside the limits is rejected with a reason, and the previous motion continues.

        Parameters
        ----------
        q : (nq,)
            Target configuration.
        v, a : (nv,), optional
            Target velocity and acceleration; zero by default.
        at : float, optional
            Time from which the new plan starts [s], not before `time`, which is the default.

        Returns
        -------
        TargetUpdate

        Raises
        ------
        InputError
            For wrong shapes and NaN; the previous motion continues.
        """
        target = self._target(q, v, a)
        now = self._time(self.time if at is None else at)
        self.time = now
        started = self._clock()
        reason = self._violated_limit(target)
        plans: list[Any] = []
        if not reason:
            plans, reason = self._plan(self._state(now), target)
        took = self._clock() - started
        arrival = now + plans[0].duration if plans else np.inf
        if took > self._budget:
            self.missed += 1
            why = f"planning took {took:.2e} s, the budget is {self._budget:.2e} s; the previous motion continues"
            return TargetUpdate("late", why, took, arrival)
        if reason:
            return TargetUpdate("rejected", reason, took, arrival)
        self._set(now, plans)
        return TargetUpdate("accepted", "", took, arrival)

    def step(self, dt: float) -> State:
        """Advance the time and return the state there.

        Parameters
        ----------
        dt : float
            [s]

        Returns
        -------
        q : (nq,) array
        v, a : (nv,) array
        """
        self.time = self.time + positive("dt", dt)
        return self._full(self._state(self.time))

    def state(self) -> State:
        """Return q (nq,), v and a (nv,) at the current time."""
        return self._full(self._state(self.time))

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Evaluate q, v or a of the current plan at times t (...) [s]; `time` does not change."""
        times = numbers("t", t)
        if (times < self.start - 1e-12).any():
            raise InputError(f"t goes back to {times.min():.6g} s; the current plan started at {self.start:.6g} s")
        return self.plan()(times - self.start, order)

    def sample(self, dt: float) -> Samples:
        """Sample the rest of the current plan, from `time` to its end.

        Parameters
        ----------
        dt : float
            Time between samples [s].

        Returns
        -------
        Samples
        """
        times = self.time + sample_times(dt, max(0.0, self.duration - self.time))
        return Samples(times, self(times), self(times, 1), self(times, 2))

    def plan(self) -> PiecewisePolynomial:
        """Return the current plan as a trajectory that starts at time 0."""
        motions = []
        for found in self._plans:
            knots, axes = pieces(found)
            coefficients = np.zeros((*axes.shape[:-1], self.space.nv))
            coefficients[..., self._columns] = axes
            coefficients[0, :, self._columns] -= self._q0[self._q_index][:, None]
            base = np.tile(self._q0, (len(knots) - 1, 1))
            motions.append(PiecewisePolynomial(self.space, knots, base, coefficients))
        return joined(motions)

    def _state(self, t: float) -> State:
        last = sum(start <= t for start in self._starts) - 1
        plan = self._plans[last]
        since = min(t - self._starts[last], plan.duration)
        p, v, a = plan.at_time(since)
        return np.array(p), np.array(v), np.array(a)

    def _full(self, state: State) -> State:
        q, (v, a) = self._q0.copy(), np.zeros((2, self.space.nv))
        q[self._q_index], v[self._columns], a[self._columns] = state
        return q, v, a

    def _time(self, at: float) -> float:
        value = numbers("at", at)
        if value.shape != () or value < self.time:
            raise InputError(f"at must be a time of {self.time:.6g} s or later, got {at!r}")
        return float(value)

    def _target(self, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None) -> State:
        given = self.space.configurations("q", q)
        rates = [self.space.tangents(name, value) for name, value in (("v", v), ("a", a))]
        if not self.space.is_vector:
            moved = self.space.difference(self._q0, given)[self.space.on_manifold]
            if np.abs(moved).max() > TOLERANCE or any(rate[self.space.on_manifold].any() for rate in rates):
                raise InputError("the target moves a ball or floating joint; OnlineTrajectory keeps these as in q0")
        return given[self._q_index], rates[0][self._columns], rates[1][self._columns]

    def _violated_limit(self, target: State) -> str:
        """Describe the limit that a target violates, or return an empty string."""
        q, v, a = target
        names = [self.space.names[i] for i in self._columns]
        for what, value, low, high in (
            ("position", q, self._lower, self._upper),
            ("velocity", v, -self._velocity, self._velocity),
            ("acceleration", a, -self._acceleration, self._acceleration),
        ):
            beyond = (value < low - TOLERANCE) | (value > high + TOLERANCE)
            if beyond.any():
                i = int(beyond.argmax())
                return f"target {what} {value[i]:.6g} of joint {names[i]!r} is outside [{low[i]:.6g}, {high[i]:.6g}]"
        return ""

    def _plan(self, state: State, target: State) -> tuple[list[Any], str]:
        """Plan with all joints synchronised, or independent if that would violate position limits; then a stop."""
        lower, upper = self._position_limits(state)
        plans: list[Any] = []
        over = np.zeros(len(lower))
        for planner in (self._synchronised, self._independent):
            try:
                plans = [planner.plan(state, target)]
                low, high = extrema(plans[0])
                if target[1].any() or target[2].any():
                    plans.append(planner.stop(target))
                    last = stop_extrema(plans[1])
                    low, high = np.minimum(low, last[0]), np.maximum(high, last[1])
            except InputError as cause:
                return [], str(cause)
            over = np.maximum(high - upper, lower - low)
            if over.max() <= TOLERANCE:
                return plans, ""
        worst = int(over.argmax())
        joint = self.space.names[self._columns[worst]]
        return plans, f"on the path joint {joint!r} would violate its position limit by {over[worst]:.3g}"

    def _position_limits(self, state: State) -> tuple[Array, Array]:
        """Return the position limits, widened for a joint outside them to what an immediate stop needs."""
        lower, upper = self._lower, self._upper
        outside = (state[0] < lower - TOLERANCE) | (state[0] > upper + TOLERANCE)
        if not outside.any():
            return lower, upper
        low, high = stop_extrema(self._synchronised.stop(state))
        return np.where(outside, np.minimum(lower, low), lower), np.where(outside, np.maximum(upper, high), upper)
