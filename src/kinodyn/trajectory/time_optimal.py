"""Time-optimal path parameterisation within limits of velocity, acceleration and torque."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, numbers, shape_of
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.base import JointTrajectory, TimedPath
from kinodyn.trajectory.bounds import Bounds, LimitLike, motion_bounds
from kinodyn.trajectory.check import LimitCheck, check
from kinodyn.trajectory.corners import find_corners
from kinodyn.trajectory.piecewise import PiecewisePolynomial, joined
from kinodyn.trajectory.space import Space
from kinodyn.trajectory.spline import cubic_spline, quintic_spline

MAX_GRID = 100_000  # steps; more take minutes
MAX_ROUNDS = 12  # of refining the grid and tightening the limits
REFIT_TOLERANCE = 1e-6  # between the refitted path and the given trajectory [rad or m]
TIGHTENING_MARGIN = 1e-6  # by which limits are tightened beyond the violation


@displayed
@dataclass(frozen=True, eq=False)
class TimeOptimalResult:
    """Result of `time_optimal`; true in a boolean context when there is a trajectory.

    Attributes
    ----------
    trajectory : TimedPath or None
    status : str
        "solved"; "gravity": somewhere on the path gravity alone exceeds a torque limit; "infeasible": no path speed
        satisfies the limits; "position": the path violates position limits; "inexact": a path speed was found, but
        limits are violated between grid points.
    reason : str
        Explanation; empty if solved.
    check : LimitCheck or None
        Check of the trajectory over its whole duration, not only at the grid points.
    deviation : float
        Maximum distance of the path from the given trajectory [rad or m]; 0 for waypoints.
    grid : int
        Number of grid intervals.
    """

    trajectory: TimedPath | None
    status: str
    reason: str
    check: LimitCheck | None
    deviation: float
    grid: int

    @property
    def success(self) -> bool:
        """Whether there is a trajectory within limits."""
        return self.trajectory is not None

    def __bool__(self) -> bool:
        return self.success


@check_types
def time_optimal(
    path: ArrayLike | JointTrajectory,
    *,
    velocity: LimitLike | None = None,
    acceleration: LimitLike | None = None,
    torque: LimitLike | Literal[False] | None = None,
    grid: int = 200,
    robot: Robot | None = None,
) -> TimeOptimalResult:
    """Compute the fastest trajectory along a path, from rest to rest, within limits.

    Torques come from the robot's inverse dynamics, damping included. The path speed is found on a grid, and the
    trajectory is then checked over its whole duration (`check`); where it violates a limit between grid points, the
    grid is refined and the limits are tightened by the violation. The result is slower than the optimum by about that
    much.

    Parameters
    ----------
    path : (n, nq) or JointTrajectory
        Waypoints, interpolated by a natural cubic spline; or a trajectory, whose path is refitted over its arc length
        within 1e-6 rad or m, since a trajectory that starts from rest has no tangent there. Where the trajectory
        reverses, or stops and goes on in another direction, the result stops too.
    velocity : () or (nv,), or dict of joint -> limit, optional
        [rad/s, m/s]; by default the robot's.
    acceleration : () or (nv,), or dict of joint -> limit, optional
        [rad/s^2, m/s^2]; by default none.
    torque : () or (nv,), dict of joint -> limit, or False, optional
        [N m, N]; by default the robot's. False ignores torques, as does a floating base.
    grid : int
        Initial number of grid intervals.
    robot : Robot, optional

    Returns
    -------
    TimeOptimalResult

    Notes
    -----
    H. Pham and Q.-C. Pham, "A New Approach to Time-Optimal Path Parameterization Based on Reachability Analysis", 2018,
    computed by their library toppra.
    """
    integer("grid", grid, 10, MAX_GRID)
    curves, deviation = _curves(path, robot)
    space = curves[0].space
    bounds = motion_bounds(space, velocity, acceleration, None, None if torque is False else torque)
    dynamic = torque is not False and robot is not None and robot.base == "fixed"
    dynamic = dynamic and bool(np.isfinite(bounds.torque).any())
    if not dynamic and not np.isfinite([bounds.velocity, bounds.acceleration]).any():
        raise InputError("there is no limit; give velocity or acceleration, or a robot that has some")
    limits = {"velocity": velocity, "acceleration": acceleration, "torque": torque if dynamic else False}
    parts = []
    for curve in curves:
        part = _solve(_Problem(curve, robot if dynamic else None, bounds), limits, int(grid), deviation)
        if part.trajectory is None:
            return part
        parts.append(part)
    return parts[0] if len(parts) == 1 else _joined(parts, limits)


def _joined(parts: list[TimeOptimalResult], limits: dict[str, Any]) -> TimeOptimalResult:
    """Concatenate the motions along the parts of a path, each from rest to rest."""
    motions = [part.trajectory for part in parts if part.trajectory is not None]
    curve = joined([cast(PiecewisePolynomial, motion.path) for motion in motions])
    starts = np.cumsum([0.0, *(motion.path.duration for motion in motions[:-1])])
    laws = [_shifted(cast(PiecewisePolynomial, motion.law), s) for motion, s in zip(motions, starts, strict=True)]
    motion = TimedPath(curve, joined(laws))
    report = check(curve.robot, motion, **limits)
    return _result(motion, report, parts[0].deviation, sum(part.grid for part in parts))


def _shifted(law: PiecewisePolynomial, start: float) -> PiecewisePolynomial:
    coefficients = law.coefficients
    coefficients[0] += start
    return PiecewisePolynomial(law.space, law.knots, law.base, coefficients)


def _solve(problem: _Problem, limits: dict[str, Any], grid: int, deviation: float) -> TimeOptimalResult:
    """Solve, check and tighten until the check passes."""
    scale = {"velocity": 1.0, "acceleration": 1.0, "torque": 1.0}
    report: LimitCheck | None = None
    for attempt in range(MAX_ROUNDS):
        law, why = problem.law(grid, scale)
        if law is None:
            status, reason = problem.explain(why)
            return TimeOptimalResult(None, status, reason, report, deviation, grid)
        motion = TimedPath(problem.curve, law)
        report = check(problem.curve.robot, motion, **limits)
        if not any(violation.kind != "position" for violation in report.violations):
            return _result(motion, report, deviation, grid)
        for kind, ratio in report.peak_ratio.items():
            if ratio.max() > 1.0:
                scale[kind] /= float(ratio.max()) + TIGHTENING_MARGIN
        if attempt % 2 == 0:
            grid *= 2
    reason = f"limits are violated between grid points: {report.violations[0] if report else ''}"
    return TimeOptimalResult(None, "inexact", reason, report, deviation, grid)


def _result(motion: TimedPath, report: LimitCheck, deviation: float, grid: int) -> TimeOptimalResult:
    if report.violations:
        reason = f"the path itself violates position limits: {report.violations[0]}"
        return TimeOptimalResult(None, "position", reason, report, deviation, grid)
    return TimeOptimalResult(motion, "solved", "", report, deviation, grid)


def _curves(path: ArrayLike | JointTrajectory, robot: Robot | None) -> tuple[list[PiecewisePolynomial], float]:
    """Return the smooth parts of the path, each over its length, and how far they are from the one given."""
    if not isinstance(path, JointTrajectory):
        shape = shape_of(path)
        if len(shape) != 2 or shape[0] < 2:
            raise InputError(f"path must be waypoints (n, nq), at least two, or a trajectory, got shape {shape}")
        return [_by_length(Space(robot, shape[1]), numbers("path", path, shape[1]), robot)], 0.0
    if path.robot is not robot:
        raise InputError("the trajectory belongs to another robot; pass the robot that it was made with")
    ends = [0.0, *find_corners(path), path.duration]
    parts = [_refit(path, begin, end) for begin, end in zip(ends[:-1], ends[1:], strict=True)]
    return [curve for curve, _ in parts], max(deviation for _, deviation in parts)


def _by_length(space: Space, waypoints: Array, robot: Robot | None) -> PiecewisePolynomial:
    """Interpolate waypoints by a natural cubic spline over their distances."""
    q = space.configurations("path", waypoints, 2)
    steps = np.linalg.norm(space.difference(q[:-1], q[1:]), axis=1)
    if not (steps > 0.0).all():
        raise InputError("two consecutive waypoints are the same; leave one out")
    return cubic_spline(q, np.concatenate([[0.0], np.cumsum(steps)]), ends="natural", robot=robot)


def _refit(path: JointTrajectory, begin: float, end: float) -> tuple[PiecewisePolynomial, float]:
    """Refit the path of a trajectory between two times over its arc length, doubling the points as needed."""
    space, count, deviation = path.space, 50, np.inf
    t = np.linspace(begin, end, 20001)
    speed = np.linalg.norm(path(t, 1), axis=1)
    length = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * np.diff(t))])
    if not length[-1] > 0.0:
        raise InputError("the trajectory does not move")
    while True:
        arc_length = np.linspace(0.0, length[-1], count + 1)
        at = np.interp(arc_length, length, t)
        curve = quintic_spline(path(at), arc_length, ends="not-a-knot", robot=path.robot)
        middle = 0.5 * (at[:-1] + at[1:])
        deviation = float(np.abs(space.difference(curve(np.interp(middle, t, length)), path(middle))).max())
        if deviation < REFIT_TOLERANCE or count >= 3200:
            return curve, deviation
        count *= 2


class _Problem:
    """A curve and its limits as constraints on the path speed ds/dt."""

    def __init__(self, curve: PiecewisePolynomial, robot: Robot | None, bounds: Bounds) -> None:
        self.curve, self.robot, self.bounds = curve, robot, bounds
        self._last_speed: tuple[Array, Array] | None = None  # s and ds/dt with which damping is computed

    def law(self, grid: int, scale: dict[str, float]) -> tuple[PiecewisePolynomial | None, int]:
        """Find s(t) on a grid with limits times `scale`, or None and the grid point where it fails.

        Damping torque is linear in the path speed, which the method cannot handle: it is computed with the previous
        path speed.
        """
        self._last_speed = None
        rounds = 6 if self.robot is not None and self.robot.damping.any() else 1
        law: PiecewisePolynomial | None = None
        for _ in range(rounds):
            s, path_speed, failed = self._path_speed(grid, scale)
            if path_speed is None:
                return None, failed
            before: tuple[Array, Array] | None = self._last_speed
            self._last_speed = (s, path_speed)
            law = _law_of(s, path_speed)
            if before is not None and np.abs(np.interp(s, *before) - path_speed).max() < 1e-4 * path_speed.max():
                break
        return law, 0

    def _path_speed(self, grid: int, scale: dict[str, float]) -> tuple[Array, Array | None, int]:
        # Imported here: toppra takes a second to import.
        from kinodyn.trajectory.toppra_adapter import max_path_speed

        s = np.linspace(0.0, self.curve.duration, grid + 1)
        a, b, c, limit = self._rows(s, scale)
        tangent = (np.abs(self.curve(s, 1)) / (scale["velocity"] * self.bounds.velocity)).max(axis=1)
        fastest = np.where(tangent > 1e-9, 1.0 / np.maximum(tangent, 1e-9), 1e9)
        return s, *max_path_speed(self.curve, s, (a, b, c), limit, np.minimum(fastest**2, 1e9))

    def _rows(self, s: Array, scale: dict[str, float]) -> tuple[Array, Array, Array, Array]:
        """Return a, b, c (n, m) and the limit (m,): |a s'' + b s'^2 + c| <= limit for accelerations and torques."""
        first, second = self.curve(s, 1), self.curve(s, 2)
        moving = np.abs([first, second]).max(axis=(0, 1)) > 0.0
        some = np.isfinite(self.bounds.acceleration) & moving
        rows = [first[:, some], second[:, some], np.zeros((len(s), int(some.sum())))]
        limit = scale["acceleration"] * self.bounds.acceleration[some]
        if self.robot is not None:
            a, b, c = self._torque_rows(s, first, second)
            some = np.isfinite(self.bounds.torque)
            rows = [np.concatenate([row, part[:, some]], axis=1) for row, part in zip(rows, (a, b, c), strict=True)]
            limit = np.append(limit, scale["torque"] * self.bounds.torque[some])
        return rows[0], rows[1], rows[2], limit

    def _torque_rows(self, s: Array, first: Array, second: Array) -> tuple[Array, Array, Array]:
        assert self.robot is not None
        q, zero, damping = self.curve(s), np.zeros_like(first), self.robot.damping
        gravity = dynamics.inverse(self.robot, q, zero, zero)
        a = dynamics.inverse(self.robot, q, zero, first) - gravity
        b = dynamics.inverse(self.robot, q, first, second) - gravity - damping * first
        path_speed = np.zeros(len(s)) if self._last_speed is None else np.interp(s, *self._last_speed)
        return a, b, gravity + damping * first * path_speed[:, None]

    def explain(self, failed: int) -> tuple[str, str]:
        """Explain why there is no solution."""
        s = np.linspace(0.0, self.curve.duration, 1001)
        if self.robot is not None:
            zero = np.zeros((len(s), self.robot.nv))
            g = np.abs(dynamics.inverse(self.robot, self.curve(s), zero, zero))
            row, column = np.unravel_index(int((g / self.bounds.torque).argmax()), g.shape)
            if g[row, column] > self.bounds.torque[column]:
                return "gravity", (
                    f"{s[row] / s[-1]:.0%} along the path gravity needs a torque of {g[row, column]:.4g} at"
                    f" {self.curve.space.names[column]!r}, whose limit is {self.bounds.torque[column]:.4g}"
                )
        return "infeasible", f"no path speed satisfies the limits; the search fails at grid point {failed}"


def _law_of(s: Array, path_speed: Array) -> PiecewisePolynomial:
    """Compute s(t) with constant acceleration between grid points from the path speed ds/dt at them."""
    step, mean = np.diff(s), (path_speed[1:] + path_speed[:-1]) / 2.0
    h = step / np.maximum(mean, 1e-12)
    knots = np.concatenate([[0.0], np.cumsum(h)])
    rates = np.stack([s[:-1], path_speed[:-1], np.diff(path_speed) / h / 2.0])
    return PiecewisePolynomial(Space(None, 1), knots, np.zeros((len(h), 1)), rates[..., None])
