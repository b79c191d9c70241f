"""As fast as limits of velocity, acceleration and torque allow, along a given path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.base import JointTrajectory
from kinodyn.trajectory.bounds import Bounds, LimitLike, motion_bounds
from kinodyn.trajectory.check import LimitCheck, check
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import Space
from kinodyn.trajectory.spline import cubic_spline, quintic_spline
from kinodyn.trajectory.timed import TimedPath

ROUNDS = 12
REFIT = 1e-6  # how near the refitted path stays to a given trajectory [rad or m]
MARGIN = 1e-6  # by which limits are tightened more than the check asks for


@dataclass(frozen=True, eq=False)
class TimeOptimal:
    """What `time_optimal` found. True in an `if` when there is a motion.

    Attributes
    ----------
    trajectory : TimedPath or None
    status : str
        "solved"; "gravity": a torque limit is below what standing still takes somewhere on the path; "infeasible":
        no pace keeps the limits; "position": the path leaves the position limits; "inexact": a pace was found, but the
        limits could not be made to hold between grid points.
    reason : str
        In words; empty if solved.
    check : LimitCheck or None
        Of the motion, on all its length, not only on the grid.
    deviation : float
        How far the path that was timed is from the trajectory that was given [rad or m]; 0 for waypoints.
    grid : int
        How many steps the path was cut into.
    """

    trajectory: TimedPath | None
    status: str
    reason: str
    check: LimitCheck | None
    deviation: float
    grid: int

    @property
    def success(self) -> bool:
        """Tell whether there is a motion within limits."""
        return self.trajectory is not None

    def __bool__(self) -> bool:
        return self.success


def time_optimal(
    path: ArrayLike | JointTrajectory,
    *,
    velocity: LimitLike | None = None,
    acceleration: LimitLike | None = None,
    torque: LimitLike | Literal[False] | None = None,
    grid: int = 200,
    robot: Robot | None = None,
) -> TimeOptimal:
    """Find the fastest motion along a path, from rest to rest, within limits.

    Torques come from the robot's inverse dynamics, damping included. The pace is found on a grid and the motion then
    checked on all its length (`check`); where it exceeds a limit between grid points, the grid is refined and the
    limits are tightened by as much, until they hold. So the answer is slower than the optimum by about that much.

    Reference: H. Pham and Q.-C. Pham, "A New Approach to Time-Optimal Path Parameterization Based on Reachability
    Analysis", 2018, computed by their library toppra.

    Parameters
    ----------
    path
        Waypoints (n, nq), joined by a natural cubic spline; or a trajectory, whose path is fitted anew by its length,
        within 1e-6 rad or m, since one that starts from rest tells no direction there.
    velocity, torque
        The robot's if not given; torque=False leaves torques out, as does a floating base.
    acceleration
        No limit if not given.
    grid
        Steps that the path is cut into at first.
    """
    if isinstance(grid, bool) or not isinstance(grid, int | np.integer) or grid < 10:
        raise InputError(f"grid is {grid!r}; give a whole number of at least 10")
    curve, deviation = _curve(path, robot)
    space = curve.space
    bounds = motion_bounds(space, velocity, acceleration, None, None if torque is False else torque)
    dynamic = torque is not False and robot is not None and robot.base == "fixed"
    dynamic = dynamic and bool(np.isfinite(bounds.torque).any())
    if not dynamic and not np.isfinite([bounds.velocity, bounds.acceleration]).any():
        raise InputError("there is no limit; give velocity or acceleration, or a robot that has some")
    problem = _Problem(curve, robot if dynamic else None, bounds)
    limits = {"velocity": velocity, "acceleration": acceleration, "torque": torque if dynamic else False}
    return _solve(problem, limits, int(grid), deviation)


def _solve(problem: _Problem, limits: dict[str, Any], grid: int, deviation: float) -> TimeOptimal:
    """Time, check, tighten, until the check is passed."""
    shares = {"velocity": 1.0, "acceleration": 1.0, "torque": 1.0}
    report: LimitCheck | None = None
    for attempt in range(ROUNDS):
        law, why = problem.law(grid, shares)
        if law is None:
            status, reason = problem.why_not(why)
            return TimeOptimal(None, status, reason, report, deviation, grid)
        motion = TimedPath(problem.curve, law)
        report = check(problem.curve.robot, motion, **limits)
        if not any(excess.kind != "position" for excess in report.excesses):
            return _answer(motion, report, deviation, grid)
        for kind, load in report.load.items():
            if load.max() > 1.0:
                shares[kind] /= float(load.max()) + MARGIN
        if attempt % 2 == 0:
            grid *= 2
    reason = f"the limits do not hold between grid points: {report.excesses[0] if report else ''}"
    return TimeOptimal(None, "inexact", reason, report, deviation, grid)


def _answer(motion: TimedPath, report: LimitCheck, deviation: float, grid: int) -> TimeOptimal:
    if report.excesses:
        reason = f"the path itself leaves the position limits: {report.excesses[0]}"
        return TimeOptimal(None, "position", reason, report, deviation, grid)
    return TimeOptimal(motion, "solved", "", report, deviation, grid)


def _curve(path: ArrayLike | JointTrajectory, robot: Robot | None) -> tuple[PiecewisePolynomial, float]:
    if not isinstance(path, JointTrajectory):
        shape = np.shape(path)
        if len(shape) != 2 or shape[0] < 2:
            raise InputError(f"path has shape {shape}; give waypoints (n, nq), at least two, or a trajectory")
        return _by_length(Space(robot, shape[1]), np.asarray(path, dtype=float), robot), 0.0
    if path.robot is not robot:
        raise InputError("the trajectory is not one of this robot; pass the robot that it was made with")
    return _refit(path)


def _by_length(space: Space, waypoints: Array, robot: Robot | None) -> PiecewisePolynomial:
    """Join waypoints by a natural cubic spline over the distances between them."""
    q = space.configurations("path", waypoints, 2)
    steps = np.linalg.norm(space.difference(q[:-1], q[1:]), axis=1)
    if not (steps > 0.0).all():
        raise InputError("two waypoints that follow each other are the same; leave one out")
    return cubic_spline(q, np.concatenate([[0.0], np.cumsum(steps)]), ends="natural", robot=robot)


def _refit(path: JointTrajectory) -> tuple[PiecewisePolynomial, float]:
    """Fit the path of a trajectory anew over its length, with more and more points until it is near enough."""
    space, count, deviation = path.space, 50, np.inf
    t = np.linspace(0.0, path.duration, 20001)
    speed = np.linalg.norm(path(t, 1), axis=1)
    length = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * np.diff(t))])
    if not length[-1] > 0.0:
        raise InputError("the trajectory does not move")
    while True:
        share = np.linspace(0.0, length[-1], count + 1)
        at = np.interp(share, length, t)
        curve = quintic_spline(path(at), share, ends="not-a-knot", robot=path.robot)
        middle = 0.5 * (at[:-1] + at[1:])
        deviation = float(np.abs(space.difference(curve(np.interp(middle, t, length)), path(middle))).max())
        if deviation < REFIT or count >= 3200:
            return curve, deviation
        count *= 2


class _Problem:
    """A curve and its limits, ready for toppra."""

    def __init__(self, curve: PiecewisePolynomial, robot: Robot | None, bounds: Bounds) -> None:
        self.curve, self.robot, self.bounds = curve, robot, bounds
        self._drag: tuple[Array, Array] | None = None  # pace ds/dt over s that damping is computed with

    def law(self, grid: int, shares: dict[str, float]) -> tuple[PiecewisePolynomial | None, int]:
        """Find s(t) on a grid with limits times `shares`, or None and the grid point where it fails.

        Damping is linear in the pace, which the method cannot take: it is put in from the pace found before.
        """
        self._drag = None
        rounds = 6 if self.robot is not None and self.robot.damping.any() else 1
        law: PiecewisePolynomial | None = None
        for _ in range(rounds):
            s, pace, failed = self._pace(grid, shares)
            if pace is None:
                return None, failed
            before: tuple[Array, Array] | None = self._drag
            self._drag = (s, pace)
            law = _law_of(s, pace)
            if before is not None and np.abs(np.interp(s, *before) - pace).max() < 1e-4 * pace.max():
                break
        return law, 0

    def _pace(self, grid: int, shares: dict[str, float]) -> tuple[Array, Array | None, int]:
        from toppra import algorithm
        from toppra.constraint import (
            ConstraintType,
            DiscretizationType,
            LinearConstraint,
            canlinear_colloc_to_interpolate,
        )

        s = np.linspace(0.0, self.curve.duration, grid + 1)
        a, b, c, limit = self._rows(s, shares)
        F, g = np.concatenate([np.eye(len(limit)), -np.eye(len(limit))]), np.concatenate([limit, limit])
        tangent = np.abs(self.curve(s, 1)) / (shares["velocity"] * self.bounds.velocity)
        fastest = np.where(tangent.max(axis=1) > 1e-9, 1.0 / np.maximum(tangent.max(axis=1), 1e-9), 1e9)
        xbound = np.stack([np.zeros(len(s)), np.minimum(fastest**2, 1e9)], axis=1)
        rows: Any = (None,) * 5 if not len(limit) else (a, b, c, F, g)

        def parameters(*_: object) -> Any:
            if rows[0] is None:
                return *rows, None, xbound
            return (*canlinear_colloc_to_interpolate(*rows, None, None, s, identical=True)[:5], None, xbound)

        constraint = LinearConstraint()
        constraint.constraint_type = ConstraintType.CanonicalLinear
        constraint.discretization_type = DiscretizationType.Interpolation
        constraint.identical, constraint.dof = True, self.curve.space.nv
        constraint.compute_constraint_params = parameters
        solver = algorithm.TOPPRA([constraint], _Path(self.curve), gridpoints=s, solver_wrapper="seidel")
        _, pace, _, sets = solver.compute_parameterization(0.0, 0.0, return_data=True)
        if pace is None or np.isnan(pace).any():
            unknown = np.flatnonzero(np.isnan(np.atleast_2d(sets)).any(axis=1))
            return s, None, int(unknown[-1]) if len(unknown) else 0
        return s, np.asarray(pace), 0

    def _rows(self, s: Array, shares: dict[str, float]) -> tuple[Array, Array, Array, Array]:
        """Return a, b, c (n, m) and the limit (m,): |a s'' + b s'^2 + c| <= limit for accelerations and torques."""
        first, second = self.curve(s, 1), self.curve(s, 2)
        moving = np.abs([first, second]).max(axis=(0, 1)) > 0.0
        some = np.isfinite(self.bounds.acceleration) & moving
        rows = [first[:, some], second[:, some], np.zeros((len(s), int(some.sum())))]
        limit = shares["acceleration"] * self.bounds.acceleration[some]
        if self.robot is not None:
            a, b, c = self._torque_rows(s, first, second)
            some = np.isfinite(self.bounds.torque)
            rows = [np.concatenate([row, part[:, some]], axis=1) for row, part in zip(rows, (a, b, c), strict=True)]
            limit = np.append(limit, shares["torque"] * self.bounds.torque[some])
        return rows[0], rows[1], rows[2], limit

    def _torque_rows(self, s: Array, first: Array, second: Array) -> tuple[Array, Array, Array]:
        assert self.robot is not None
        q, zero, damping = self.curve(s), np.zeros_like(first), self.robot.damping
        gravity = dynamics.inverse(self.robot, q, zero, zero)
        a = dynamics.inverse(self.robot, q, zero, first) - gravity
        b = dynamics.inverse(self.robot, q, first, second) - gravity - damping * first
        pace = np.zeros(len(s)) if self._drag is None else np.interp(s, *self._drag)
        return a, b, gravity + damping * first * pace[:, None]

    def why_not(self, failed: int) -> tuple[str, str]:
        """Say why there is no pace."""
        s = np.linspace(0.0, self.curve.duration, 1001)
        if self.robot is not None:
            zero = np.zeros((len(s), self.robot.nv))
            g = np.abs(dynamics.inverse(self.robot, self.curve(s), zero, zero))
            row, column = np.unravel_index(int((g / self.bounds.torque).argmax()), g.shape)
            if g[row, column] > self.bounds.torque[column]:
                return "gravity", (
                    f"{s[row] / s[-1]:.0%} along the path standing still takes a torque of {g[row, column]:.4g} at"
                    f" {self.curve.space.names[column]!r}, and its limit is {self.bounds.torque[column]:.4g}"
                )
        return "infeasible", f"no pace from rest to rest keeps the limits; it fails at grid point {failed}"


def _law_of(s: Array, pace: Array) -> PiecewisePolynomial:
    """Make s(t) with constant acceleration between grid points; pace is ds/dt at them."""
    step, mean = np.diff(s), (pace[1:] + pace[:-1]) / 2.0
    h = step / np.maximum(mean, 1e-12)
    knots = np.concatenate([[0.0], np.cumsum(h)])
    rates = np.stack([s[:-1], pace[:-1], np.diff(pace) / h / 2.0])
    return PiecewisePolynomial(Space(None, 1), knots, np.zeros((len(h), 1)), rates[..., None])


class _Path:
    """What toppra wants to know of a path."""

    def __init__(self, curve: PiecewisePolynomial) -> None:
        self.curve, self.dof = curve, curve.space.nv
        self.path_interval = np.array([0.0, curve.duration])
        self.duration = curve.duration

    def __call__(self, s: Array, order: int = 0) -> Array:
        """Compute the path or its derivatives."""
        return self.curve(s, order)
