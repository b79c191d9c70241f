"""Exciting trajectories: motions that determine parameters well, within the limits of the robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import minimize

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, one_of, positive
from kinodyn.errors import InputError
from kinodyn.identification.base import BaseParameters, find_base
from kinodyn.identification.model import Model, make_model
from kinodyn.identification.simulating import torques
from kinodyn.identification.trajectory import ExcitingTrajectory, fourier
from kinodyn.model.robot import Robot, _generator

Criterion = Literal["condition", "determinant"]
MAX_COUNT = 10**6  # of samples, starts and iterations
CHECKED_SAMPLES = 40  # per period of the highest harmonic when limits are checked: q errs by 0.4 % between them
EFFORT_PENALTY = 30.0  # in units of the logarithm of the condition number
FRICTION_WIDTH = 0.05  # [rad/s or m/s] over which friction changes sign, so that the criterion has a gradient
EIGENVALUE_TOLERANCE = 1e-14  # ratio of eigenvalues that is rounding
DIFFERENCE_STEP = 1e-5  # step of finite differences, for coefficients of about 1
VARIABLES_PER_PART = 1000  # divided by their number: entries of the gradient between two calls of progress


@check_types
def exciting_trajectory(
    robot: Robot,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    margin: float = 0.9,
    criterion: Criterion = "condition",
    terms: Sequence[str] = ("viscous", "coulomb"),
    samples: int = 100,
    starts: int = 40,
    iterations: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> ExcitingTrajectory:
    """Find a periodic motion, at rest at its start and end, with a well-conditioned base regressor.

    Each joint follows a finite Fourier series, scaled and shifted to satisfy its position and velocity limits; torques
    above their limits are penalised. The best of several random series is improved by L-BFGS.

    Parameters
    ----------
    robot : Robot
        Joints without limits stay within the range of `Robot.random`, and within 2 rad/s or m/s.
    period : float
        Period of the motion [s].
    harmonics : int
        Terms of the series, at least 3.
    margin : float
        Fraction of each limit that is used, above 0 and up to 1.
    criterion : "condition" or "determinant"
        "condition": the condition number of the base regressor, columns scaled to norm 1. "determinant": of its normal
        matrix (D-optimality), which also favours large motions.
    terms : sequence of str
        Terms that are fitted besides inertias, as in `fit`.
    samples : int
        Number of states of one period in the criterion.
    starts : int
        Number of random series.
    iterations : int
        Number of L-BFGS steps.
    seed : int
        Seed of the random series; the same arguments give the same motion.
    progress : callable, optional
        Called with (done, total) after each part of the work; if it returns False, the search ends with the best motion
        so far.

    Returns
    -------
    ExcitingTrajectory
        Its status says whether torque limits are exceeded.

    Raises
    ------
    InputError
        For joints with several coordinates or a floating base: fix them with `sub_robot`.

    Notes
    -----
    J. Swevers, C. Ganseman, D. Tukel, J. De Schutter, H. Van Brussel, "Optimal robot excitation and identification",
    1997.
    """
    model = make_model(robot, terms)
    _check(robot, period, harmonics, margin, criterion, samples, starts, iterations)
    task = _Task(
        model, find_base(model), *_ranges(robot, margin), float(period), int(harmonics), margin, criterion, samples
    )
    generator, total = _generator(seed), starts + iterations
    search = _Search(task, lambda done: progress is not None and progress(done, total) is False)
    with suppress(_Stopped):
        for k in range(starts):
            search.cost(generator.normal(size=task.size))
            search.report(k + 1)
        if iterations:
            minimize(
                search.cost_and_gradient,
                search.best,
                jac=True,
                method="L-BFGS-B",
                callback=lambda _: search.report(min(search.done + 1, total)),
                options={"maxiter": iterations, "maxls": 10},
            )
        search.report(total)
    return task.trajectory(search.best)


class _Stopped(Exception):
    """Raised when `progress` returns False."""


class _Search:
    """Keeps the best variables, and ends when `progress` returns False."""

    def __init__(self, task: _Task, stop: Callable[[int], bool]) -> None:
        self.task, self.stop, self.done = task, stop, 0
        self.best, self.least = np.zeros(task.size), np.inf

    def report(self, done: int) -> None:
        """Report progress; raise if the search is to stop."""
        self.done = done
        if self.stop(done):
            raise _Stopped

    def cost(self, x: Array) -> float:
        """Compute the cost of variables (size,), and keep them if they are the best."""
        value = float(self.task.cost(x))
        if value < self.least or not self.best.any():
            self.best, self.least = x.copy(), value
        return value

    def cost_and_gradient(self, x: Array) -> tuple[float, Array]:
        """Compute the cost of variables (size,) and its gradient by finite differences, in parts."""
        value, steps = self.cost(x), DIFFERENCE_STEP * np.eye(self.task.size)
        costs, together = [], max(1, VARIABLES_PER_PART // len(steps))
        for begin in range(0, len(steps), together):
            self.report(self.done)
            costs.append(self.task.cost(x + steps[begin : begin + together]))
        return value, (np.concatenate(costs) - value) / DIFFERENCE_STEP


@dataclass(frozen=True, eq=False)
class _Task:
    """One search. Variables (size,): the centre of each joint, then the coefficients of its series."""

    model: Model
    base: BaseParameters
    lower: Array
    upper: Array
    speed: Array
    period: float
    harmonics: int
    margin: float
    criterion: str
    samples: int

    @property
    def size(self) -> int:
        return len(self.lower) * (1 + 2 * self.harmonics)

    def series(self, x: Array) -> tuple[Array, Array, Array]:
        """Map variables to centres and coefficients that satisfy position and velocity limits."""
        n = len(self.lower)
        centring, raw = 0.5 + 0.5 * np.tanh(x[..., :n]), x[..., n:].reshape(*x.shape[:-1], 2, self.harmonics, n)
        # At rest at the start: sum of cosines = 0 (velocity), sum of k * sines = 0 (acceleration).
        k = np.arange(1.0, self.harmonics + 1)
        cosines = raw[..., 0, :, :] - raw[..., 0, :, :].mean(axis=-2, keepdims=True)
        sines = raw[..., 1, :, :] - k[:, None] * (k @ raw[..., 1, :, :])[..., None, :] / (k @ k)
        dense = np.arange(CHECKED_SAMPLES * self.harmonics) / (CHECKED_SAMPLES * self.harmonics) * self.period
        q, v, _ = fourier(dense, self.period, np.zeros(n), cosines, sines)
        room, low, high = self.upper - self.lower, q.min(axis=-2), q.max(axis=-2)
        scale = np.minimum(room / (high - low), self.speed / np.abs(v).max(axis=-2))
        free = room - scale * (high - low)
        centre = self.lower - scale * low + centring * free
        return centre, scale[..., None, :] * cosines, scale[..., None, :] * sines

    def normal_matrix(self, x: Array, slip: float) -> tuple[Array, Array]:
        """Compute the mean of W^T W (..., rank, rank) over one period, and the peak fraction (...) of a torque limit.

        `slip` smooths dry friction, as in `Model.columns`.
        """
        time = np.arange(self.samples) / self.samples * self.period
        centre, cosines, sines = self.series(x)
        q, v, a = fourier(time, self.period, centre[..., None, :], cosines, sines)
        W = self.model.regressor(q, v, a, slip=slip)[..., list(self.base.independent)]
        W = W.reshape(*x.shape[:-1], -1, self.base.rank)
        fraction = np.abs(torques(self.model.robot, q, v, a)) / self.model.robot.limits.effort
        return np.swapaxes(W, -1, -2) @ W / self.samples, np.asarray(fraction.max(axis=(-1, -2)))

    def cost(self, x: Array) -> Array:
        """Compute the cost (...) of variables (..., size)."""
        N, effort = self.normal_matrix(x, FRICTION_WIDTH)
        excess = EFFORT_PENALTY * np.maximum(effort - self.margin, 0.0)
        if self.criterion == "condition":
            return np.asarray(np.log(condition(N)) + excess)
        return np.asarray(excess - np.linalg.slogdet(N)[1] / self.base.rank)

    def trajectory(self, x: Array) -> ExcitingTrajectory:
        N, fraction = self.normal_matrix(x, 0.0)
        robot, effort = self.model.robot, float(fraction)
        status = "within limits"
        if effort > 1.0:
            status = f"a torque is {effort:.3g} times its limit; take a longer period or a smaller margin"
        worst = float(condition(N))
        centre, cosines, sines = self.series(x)
        return ExcitingTrajectory(
            robot.name, robot.joint_names, self.period, centre, cosines, sines, worst, effort, status
        )


def condition(N: Array) -> Array:
    """Compute the condition numbers (...) of matrices W, columns scaled to norm 1, from W^T W; infinite if singular."""
    norms = np.sqrt(np.diagonal(N, axis1=-2, axis2=-1))
    safe = np.where(norms > 0.0, norms, 1.0)
    values = np.linalg.eigvalsh(N / (safe[..., :, None] * safe[..., None, :]))
    least, most = values[..., 0], values[..., -1]
    regular = (least > EIGENVALUE_TOLERANCE * most) & (norms > 0.0).all(axis=-1)
    return np.sqrt(np.where(regular, most / np.where(regular, least, 1.0), np.inf))


def _ranges(robot: Robot, margin: float) -> tuple[Array, Array, Array]:
    lower, upper = robot.sampling_range()
    middle, half = 0.5 * (lower + upper), 0.5 * margin * (upper - lower)
    speed = margin * np.where(np.isfinite(robot.limits.velocity), robot.limits.velocity, 2.0)
    return middle - half, middle + half, speed


def _check(
    robot: Robot,
    period: float,
    harmonics: int,
    margin: float,
    criterion: str,
    samples: int,
    starts: int,
    iterations: int,
) -> None:
    several = [joint.name for joint in robot.joints if joint.mimic is None and joint.q.stop - joint.q.start != 1]
    if several:
        raise InputError(
            f"joints {', '.join(several)} have several coordinates; fix them with kd.identification.sub_robot"
        )
    positive("period", period)
    if not positive("margin", margin) <= 1.0:
        raise InputError(f"margin must be at most 1, got {margin!r}")
    one_of("criterion", criterion, ("condition", "determinant"))
    counts = {
        "harmonics": (harmonics, 3),
        "samples": (samples, 10),
        "starts": (starts, 1),
        "iterations": (iterations, 0),
    }
    for name, (value, least) in counts.items():
        integer(name, value, least, MAX_COUNT)
    still = np.flatnonzero(robot.limits.velocity <= 0.0)
    closed = np.flatnonzero(~(robot.sampling_range()[1] > robot.sampling_range()[0]))
    if still.size or closed.size:
        joint = robot.joint_names[int((still if still.size else closed)[0])]
        raise InputError(f"the limits of joint {joint!r} leave it no motion; fix it with kd.identification.sub_robot")
