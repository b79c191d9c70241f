"""A motion that changes while it runs: a new target at any instant, and no jump up to the acceleration."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.base import Samples, sample_times
from kinodyn.trajectory.bounds import LimitLike, motion_bounds
from kinodyn.trajectory.piecewise import PiecewisePolynomial, joined
from kinodyn.trajectory.ruckig_door import Planner, extrema, pieces, stop_extrema
from kinodyn.trajectory.space import positive, space_of

SLACK = 1e-9  # beyond limits, for rounding
State = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Retarget:
    """What became of a new target. True in an `if` when it was taken.

    Attributes
    ----------
    status : "accepted", "refused" or "late"
        "refused": the target cannot be reached within the limits; "late": planning took longer than the budget. In
        both cases the motion goes on as before.
    reason : str
        Empty if accepted.
    calculation : float
        How long planning took [s].
    arrival : float
        When the target is reached, or would have been [s]; infinite if no plan was made.
    """

    status: Literal["accepted", "refused", "late"]
    reason: str
    calculation: float
    arrival: float

    def __bool__(self) -> bool:
        return self.status == "accepted"


class OnlineTrajectory:
    """A jerk-limited motion whose target can be changed at any instant.

    It starts at q0 (nq,) with v0 and a0 (nv,), comes to rest, and waits for targets. A start that is faster than the
    limits brakes, one outside the position limits comes back. Each new plan begins with the position, velocity and
    acceleration that the old one has at that instant. After a target with a velocity, it comes to rest as soon as the
    limits allow, unless there is a new one. Ball and floating joints stay as in q0.

    Parameters
    ----------
    velocity, acceleration, jerk
        Limits, as in `jerk_limited`; position limits are the robot's.
    budget
        How long planning may take [s]. A plan that took longer is dropped, since the robot has moved on meanwhile.
    clock
        What measures it; for tests.

    Attributes
    ----------
    time : float
        The instant up to which the motion was asked for or changed; new targets count from there [s].
    missed : int
        How many targets were late.

    Example
    -------
    >>> online = OnlineTrajectory([0.0], velocity=1.0, acceleration=2.0, jerk=10.0)
    >>> online.retarget([1.0]).status
    'accepted'
    >>> q, v, a = online.step(0.5)
    >>> bool(online.retarget([-1.0])), online.arrival > 1.0
    (True, True)
    """

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
        self._flat = np.flatnonzero(~space.curved)
        self._places = space.places[self._flat]
        bounds = motion_bounds(space, velocity, acceleration, jerk)
        self._lower, self._upper = bounds.lower[self._places], bounds.upper[self._places]
        limits = [limit[self._flat] for limit in (bounds.velocity, bounds.acceleration, bounds.jerk)]
        if not len(self._flat) or not np.isfinite(limits[2]).all():
            raise InputError("each joint needs a finite limit of jerk, and there must be one that can move")
        self._velocity, self._acceleration = limits[0], limits[1]
        self._together = Planner(limits[0], limits[1], limits[2])
        self._apart = Planner(limits[0], limits[1], limits[2], "none")
        self._clock = clock
        self.time, self.missed = 0.0, 0
        rates = [space.tangents(name, value) for name, value in (("v0", v0), ("a0", a0))]
        if any(rate[space.curved].any() for rate in rates):
            raise InputError("ball and floating joints do not move here; give zeros for their velocities")
        self._begin((self._q0[self._places], rates[0][self._flat], rates[1][self._flat]))

    def _begin(self, state: State) -> None:
        """Plan to rest, within the position limits if the stop ends outside."""
        stop = self._together.stop(state)
        rest = np.array(stop.at_time(stop.duration)[0])
        inside = np.clip(rest, self._lower, self._upper)
        plans = [stop]
        if (inside != rest).any():
            plans = [self._apart.plan(state, (inside, 0.0 * rest, 0.0 * rest))]
        self._set(0.0, plans)

    def _set(self, start: float, plans: list[Any]) -> None:
        self._plans = plans
        self._starts = [start, *(start + np.cumsum([plan.duration for plan in plans[:-1]])).tolist()]
        self.arrival = start + plans[0].duration

    @property
    def duration(self) -> float:
        """Tell when the motion as it is planned now comes to rest [s]."""
        return float(self._starts[-1] + self._plans[-1].duration)

    @property
    def start(self) -> float:
        """Tell when the plan that is followed now began; earlier times cannot be asked for [s]."""
        return float(self._starts[0])

    def retarget(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *, at: float | None = None
    ) -> Retarget:
        """Go to the state (q, v, a) from now on, or from the instant `at` [s], which is not before `time`.

        Wrong shapes and NaN raise `InputError`; a target outside the limits is refused with a reason. Either way the
        motion goes on as it was.
        """
        target = self._target(q, v, a)
        now = self._instant(self.time if at is None else at)
        self.time = now
        began = self._clock()
        reason = self._outside(target)
        plans: list[Any] = []
        if not reason:
            plans, reason = self._plan(self._state(now), target)
        took = self._clock() - began
        arrival = now + plans[0].duration if plans else np.inf
        if took > self._budget:
            self.missed += 1
            why = f"planning took {took:.2e} s, the budget is {self._budget:.2e} s; the old motion goes on"
            return Retarget("late", why, took, arrival)
        if reason:
            return Retarget("refused", reason, took, arrival)
        self._set(now, plans)
        return Retarget("accepted", "", took, arrival)

    def step(self, dt: float) -> State:
        """Move on by dt [s] and give q (nq,), v and a (nv,) there."""
        self.time = self.time + positive("dt", dt)
        return self._full(self._state(self.time))

    def state(self) -> State:
        """Give q (nq,), v and a (nv,) at the present instant."""
        return self._full(self._state(self.time))

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Compute q, v or a at times t (...) [s] of the plan that is followed now; it does not move `time`."""
        times = numbers("t", t)
        if (times < self.start - 1e-12).any():
            raise InputError(f"t goes back to {times.min():.6g} s; the present plan began at {self.start:.6g} s")
        return self.plan()(times - self.start, order)

    def sample(self, dt: float) -> Samples:
        """Compute the rest of the motion, from `time` to its end, at times `dt` apart [s]."""
        times = self.time + sample_times(dt, max(0.0, self.duration - self.time))
        return Samples(times, self(times), self(times, 1), self(times, 2))

    def plan(self) -> PiecewisePolynomial:
        """Give the plan that is followed now as a trajectory that begins at time 0."""
        motions = []
        for found in self._plans:
            knots, axes = pieces(found)
            coefficients = np.zeros((*axes.shape[:-1], self.space.nv))
            coefficients[..., self._flat] = axes
            coefficients[0, :, self._flat] -= self._q0[self._places][:, None]
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
        q[self._places], v[self._flat], a[self._flat] = state
        return q, v, a

    def _instant(self, at: float) -> float:
        instant = numbers("at", at)
        if instant.shape != () or instant < self.time:
            raise InputError(f"at is {at!r}; give an instant from {self.time:.6g} s on")
        return float(instant)

    def _target(self, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None) -> State:
        given = self.space.configurations("q", q)
        rates = [self.space.tangents(name, value) for name, value in (("v", v), ("a", a))]
        if not self.space.flat:
            moved = self.space.difference(self._q0, given)[self.space.curved]
            if np.abs(moved).max() > SLACK or any(rate[self.space.curved].any() for rate in rates):
                raise InputError("the target moves a ball or floating joint, which stay as in q0 here")
        return given[self._places], rates[0][self._flat], rates[1][self._flat]

    def _outside(self, target: State) -> str:
        """Say which limit a target is beyond, or nothing."""
        q, v, a = target
        names = [self.space.names[i] for i in self._flat]
        for what, value, low, high in (
            ("at", q, self._lower, self._upper),
            ("to move at", v, -self._velocity, self._velocity),
            ("to accelerate with", a, -self._acceleration, self._acceleration),
        ):
            beyond = (value < low - SLACK) | (value > high + SLACK)
            if beyond.any():
                i = int(beyond.argmax())
                return f"joint {names[i]!r} is asked to be {what} {value[i]:.6g}, beyond [{low[i]:.6g}, {high[i]:.6g}]"
        return ""

    def _plan(self, state: State, target: State) -> tuple[list[Any], str]:
        """Plan with all joints in step, or each alone if that would leave the position limits; then a stop."""
        lower, upper = self._room(state)
        plans: list[Any] = []
        over = np.zeros(len(lower))
        for planner in (self._together, self._apart):
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
            if over.max() <= SLACK:
                return plans, ""
        worst = int(over.argmax())
        joint = self.space.names[self._flat[worst]]
        return plans, f"on the way joint {joint!r} would pass its position limit by {over[worst]:.3g}"

    def _room(self, state: State) -> tuple[Array, Array]:
        """Give the position limits, widened for a joint outside of them by as much as stopping at once takes."""
        lower, upper = self._lower, self._upper
        outside = (state[0] < lower - SLACK) | (state[0] > upper + SLACK)
        if not outside.any():
            return lower, upper
        low, high = stop_extrema(self._together.stop(state))
        return np.where(outside, np.minimum(lower, low), lower), np.where(outside, np.maximum(upper, high), upper)
