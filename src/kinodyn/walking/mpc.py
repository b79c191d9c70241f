"""Model predictive control of the pendulum: a zero moment point that stays in the feet and leads to a stop.

The knots of the plan fall on the changes of support, so the zero moment point, straight between knots, is in its
polygon at every instant and not only at samples.

P.-B. Wieber, "Trajectory free linear model predictive control for stable walking", 2006; A. Herdt et al., "Online
walking motion generation with automatic footstep placement", 2010; N. Scianca et al., "MPC for humanoid gait
generation: stability and feasibility", 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, isfinite, sin
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import qp
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.horizon import Horizon
from kinodyn.walking.path import PendulumPath, share
from kinodyn.walking.phases import DIRECTIONS
from kinodyn.walking.schedule import Schedule
from kinodyn.walking.steplimits import EDGES, StepLimits


@dataclass(frozen=True)
class Weights:
    """What the plan is judged by: squares of metres, and of m/s for `rate`.

    `zmp` is for the distance from the planned zero moment point, `rate` for that of its velocity, `terminal` for the
    divergent component at the end of the horizon, seen from now, `step` for moving a footstep, `miss` per metre for a
    divergent component that cannot be caught.
    """

    zmp: float = 1.0
    rate: float = 0.002
    terminal: float = 50.0
    step: float = 0.5
    miss: float = 1e3

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value < np.inf:
                raise InputError(f"the weight {name} must be a positive number, got {value!r}")


@dataclass(frozen=True, eq=False)
class Plan:
    """What the predictive controller answers.

    Attributes
    ----------
    status : str
        "solved"; "relaxed": the divergent component cannot be caught with these feet, the plan misses it by the least;
        "failed": the solver gave no answer, and the plan is the schedule's own.
    missed : float
        By how much, seen from now [m]; 0 if solved.
    path : PendulumPath
        Centre of mass and zero moment point over the horizon.
    shifts : (m, 2)
        How far the coming footsteps are moved [m]; empty without adaptation.
    planned : tuple of Footstep
        The coming footsteps before that.
    iterations : int
        Of the solver.
    seconds : float
        That it took to solve the programme.
    """

    status: str
    missed: float
    path: PendulumPath
    shifts: Array
    planned: tuple[Footstep, ...]
    iterations: int
    seconds: float

    @cached_property
    def steps(self) -> tuple[Footstep, ...]:
        """Give the coming footsteps as moved; those after the last that could move go with it."""
        if len(self.shifts) == 0:
            return self.planned
        return tuple(step.moved(self.shifts[min(k, len(self.shifts) - 1)]) for k, step in enumerate(self.planned))


class MPC:
    """Plan the zero moment point over the next phases of a schedule, from the state of the pendulum.

    Parameters
    ----------
    samples
        Knots of the horizon, the first is now.
    dt
        About how far apart they are [s]; phases are divided evenly. By default a fifth of a single support.
    weights
        See `Weights`.
    limits
        With step limits, coming footsteps may move within them (at most `movable` of them); without, they stay.
    """

    def __init__(
        self,
        *,
        samples: int = 16,
        dt: float | None = None,
        weights: Weights | None = None,
        limits: StepLimits | None = None,
        movable: int = 2,
    ) -> None:
        if not isinstance(samples, int | np.integer) or samples < 2:
            raise InputError(f"samples must be a whole number of at least 2, got {samples!r}")
        if dt is not None and not 0 < dt < np.inf:
            raise InputError(f"dt must be a positive number of seconds, got {dt!r}")
        if not isinstance(movable, int | np.integer) or movable < 1:
            raise InputError(f"movable must be a whole number of at least 1, got {movable!r}")
        self.samples, self.dt, self.limits, self.movable = int(samples), dt, limits, int(movable)
        self.weights = weights or Weights()

    def __call__(
        self,
        schedule: Schedule,
        t: float,
        com: ArrayLike,
        velocity: ArrayLike,
        *,
        zmp: ArrayLike | None = None,
        adapt: bool | None = None,
        travel: float = np.inf,
    ) -> Plan:
        """Plan from time t [s] on.

        Parameters
        ----------
        com, velocity
            Of the mass (2,) [m, m/s], measured or planned.
        zmp
            Where the zero moment point was until now (2,): a jump from there counts as its rate does. It may jump
            freely unless given.
        adapt
            Whether footsteps may move; by default if there are step limits.
        travel
            How far [m] the foot in the air can still change its landing along each axis of the stance foot.
        """
        c, v = _pair("com", com), _pair("velocity", velocity)
        omega = schedule.body.omega
        moving = self.movable if (self.limits is not None if adapt is None else adapt) else 0
        if moving and self.limits is None:
            raise InputError("adapt=True needs step limits; make the controller with limits=StepLimits.of(body)")
        grid = Horizon(schedule, t, self.samples, self.dt or 0.2 * schedule.timing.single, moving)
        before = None if zmp is None else _pair("zmp", zmp)
        problem = _Problem(grid, self.weights, omega, c + v / omega, before)
        answer = problem.solve(self.limits, travel)
        if answer.status != "solved":
            return Plan("failed", 0.0, schedule.path(c), np.zeros((0, 2)), grid.steps, 0, problem.seconds)
        y, shift, slack = problem.parts(answer.x)
        z = y + grid.zmp + grid.carried @ shift
        end = problem.dcm_end(y, shift)
        path = PendulumPath(grid.times, z.tolist(), omega, com=c, dcm_end=end)
        missed = slack if slack > 1e-6 else 0.0
        plan = Plan(
            "relaxed" if missed else "solved", missed, path, shift, grid.steps, answer.iterations, problem.seconds
        )
        if missed and moving:
            # feet that may move share the polygon between them; where they need not, they may span more
            still = self(schedule, t, c, v, zmp=zmp, adapt=False)
            return still if still.status != "failed" and still.missed < missed else plan
        return plan


def _pair(name: str, value: ArrayLike) -> Array:
    """Check two numbers, as `numbers` does but faster where they are right."""
    pair = np.asarray(value)
    if pair.shape == (2,) and pair.dtype == float and isfinite(pair[0]) and isfinite(pair[1]):
        return pair
    both = numbers(name, value, 2)
    if both.shape != (2,):
        raise InputError(f"{name} must have shape (2,), one state at a time; got {both.shape}")
    return both


class _Problem:
    """The quadratic programme.

    Variables
        y (n, 2): zero moment point at the knots, less the plan's there, less what moved footsteps carry it along;
        shift (m, 2): of the coming footsteps; slack: by how much the divergent component is missed.
    Objective
        distance from the plan, its rate, the divergent component at the end, moved footsteps, the slack.
    Constraints
        y in the polygon of each knot; the divergent component at the end within what the following steps can catch;
        footsteps within reach of each other.
    """

    def __init__(self, grid: Horizon, weights: Weights, omega: float, dcm: Array, before: Array | None) -> None:
        self.grid, self.n, self.m = grid, len(grid.times), grid.carried.shape[1]
        h = [b - a for a, b in zip(grid.times, grid.times[1:], strict=False)]
        parts, fade = [0.0] * self.n, 1.0  # share of each knot in the divergent component of now
        for k, step in enumerate(h):
            first, last, rest = share(omega * step)
            parts[k] += fade * first
            parts[k + 1] += fade * last
            fade *= rest
        self.fade = fade
        self.effect = np.array(parts)
        if self.m:
            self.effect = np.concatenate([self.effect, self.effect @ grid.carried + fade * grid.last])
        self.off: Array = dcm - grid.dcm_start
        steps = np.array([h[0], *h])
        rate = weights.rate / steps
        diagonal = weights.zmp * steps
        diagonal[1:] += rate[1:]
        diagonal[:-1] += rate[1:]
        size, n = self.n + self.m, self.n
        inner = weights.terminal * np.multiply.outer(self.effect, self.effect)
        flat = inner.reshape(-1)
        flat[: n * size : size + 1] += diagonal
        flat[n * size + n :: size + 1] += weights.step
        flat[1 : (n - 1) * size : size + 1] -= rate[1:]
        flat[size : n * size : size + 1] -= rate[1:]
        g = np.zeros(2 * size + 1)
        g[:-1] = np.multiply.outer(-weights.terminal * self.effect, self.off).reshape(-1)
        g[-1] = weights.miss
        if before is not None:
            flat[0] += rate[0]
            g[:2] -= rate[0] * (before - grid.zmp[0])
        H = np.zeros((2 * size + 1, 2 * size + 1))
        H[:-1:2, :-1:2] = H[1:-1:2, 1:-1:2] = inner
        H[-1, -1] = weights.miss
        self.H, self.g = H, g

    def solve(self, limits: StepLimits | None, travel: float) -> qp.QPResult:
        """Solve it, and take the time."""
        A, lower, upper = self._constraints(limits, travel)
        begin = perf_counter()
        answer = qp.solve(self.H, self.g, A, lower, upper)
        self.seconds = perf_counter() - begin
        return answer

    def parts(self, x: Array) -> tuple[Array, Array, float]:
        """Take the variables apart: y, shift, slack."""
        return x[: 2 * self.n].reshape(-1, 2), x[2 * self.n : -1].reshape(-1, 2), float(x[-1])

    def dcm_end(self, y: Array, shift: Array) -> Array:
        """Compute the divergent component (2,) at the end of the horizon."""
        left = self.off - self.effect @ np.concatenate([y, shift])
        moved = self.grid.last @ shift if len(shift) else 0.0
        return np.asarray(self.grid.dcm_end + left / self.fade + moved)

    def _constraints(self, limits: StepLimits | None, travel: float) -> tuple[Array, Array, Array]:
        grid, size, r = self.grid, len(self.g), len(self.grid.knot)
        rows = r + len(DIRECTIONS) + 1 + (0 if limits is None else EDGES * self.m)
        A, lower, upper = np.zeros((rows, size)), np.full(rows, -np.inf), np.full(rows, np.inf)
        k = np.arange(r)
        A[k, 2 * grid.knot], A[k, 2 * grid.knot + 1] = grid.A[:, 0], grid.A[:, 1]
        lower[:r], upper[:r] = grid.lower, grid.upper
        # what is left for the end of the horizon: DIRECTIONS (off - effect x) <= fade * room + slack
        end = r + len(DIRECTIONS)
        A[r:end, :-1:2] = np.multiply.outer(DIRECTIONS[:, 0], -self.effect)
        A[r:end, 1:-1:2] = np.multiply.outer(DIRECTIONS[:, 1], -self.effect)
        A[r:end, -1] = -1.0
        upper[r:end] = self.fade * grid.room - DIRECTIONS @ self.off
        A[end, -1], lower[end] = 1.0, 0.0
        if limits is not None:
            for j in range(self.m):
                row = end + 1 + EDGES * j
                self._reach(A[row:], lower[row:], upper[row:], limits, j, travel)
        return A, lower, upper

    def _reach(self, A: Array, lower: Array, upper: Array, limits: StepLimits, j: int, travel: float) -> None:
        """Keep footstep j within reach of the one before; a plan that is not may stay where it is."""
        before, step = self.grid.feet[j], self.grid.feet[j + 1]
        c, s = cos(before.yaw), sin(before.yaw)
        x, y, turn = step.relative_to(before)
        at = 2 * (self.n + j)
        for k, ((a, b), low, high) in enumerate(limits.edges(step.side, turn)):
            way, place = (a * c - b * s, a * s + b * c), a * x + b * y
            A[k, at], A[k, at + 1] = way
            least, most = min(low - place, 0.0), max(high - place, 0.0)
            if j > 0:
                A[k, at - 2], A[k, at - 1] = -way[0], -way[1]
            elif k < 2:
                least, most = max(least, -travel), min(most, travel)
            lower[k], upper[k] = least, most
