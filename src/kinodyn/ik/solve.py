"""Numeric inverse kinematics: any number of targets, on any frames of any robot, within limits, with restarts.

The solver itself is native (`cpp/kernels/reach.cpp`, error-damped Levenberg-Marquardt after Chan and Lawrence 1988);
this file chooses starts, judges results by forward kinematics of their own, and says what became of each target.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core, kinematics
from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.robot import Robot
from kinodyn.spatial import as_pose, log3

ENDLESS = 1e30  # stands for an infinite limit in the core, which wants finite numbers
AT_ONCE = 16  # starts tried together for a target that resists
NEAR_SINGULAR = 1e-3


@dataclass(frozen=True, eq=False)
class IKResult:
    """What became of each target; the batch axes of the targets lead.

    Attributes
    ----------
    q : (..., nq)
        The solution, or the nearest configuration that was found.
    success : (...) bool
        All residuals are within the tolerance, by forward kinematics, and q is within limits.
    status : (...) str
        "solved"; "limits": it was found only beyond joint limits; "singular": the last step of the way needs
        motion that the robot does not have there; "unreachable": every start ended in a standstill short of the
        target; "budget": iterations ran out on the way.
    residual : (..., 2)
        Largest distance [m] and angle [rad] from a target, over the frames.
    active_limits : (..., nq) bool
        Coordinates that stand at a limit.
    iterations : (...)
        Steps of the start that led to q.
    """

    q: Array
    success: NDArray[np.bool_]
    status: NDArray[np.str_]
    residual: Array
    active_limits: NDArray[np.bool_]
    iterations: Array


def solve(
    robot: Robot,
    targets: Mapping[str, ArrayLike],
    q0: ArrayLike | None = None,
    *,
    position_only: bool = False,
    weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
    restarts: int = 64,
    iterations: int = 60,
    tolerance: float = 1e-6,
    limits: bool = True,
    seed: int = 0,
) -> IKResult:
    """Find configurations that bring frames to their targets.

    Parameters
    ----------
    targets
        Frame -> pose (..., 4, 4) in the world, all frames at once; batches broadcast.
    q0
        Where to start (..., nq), by default the middle of the limits. Of several solutions found together the one
        nearest to it is taken. A floating base moves like any other joint.
    position_only
        Leaves all orientations free.
    weights
        Six numbers, linear first, for all frames or by frame; a direction with weight 0 is free.
    restarts
        Starts after the first, spread evenly within the limits, for targets that resist.
    iterations
        Steps of each start, at most.
    tolerance
        In metres and in radians.
    limits
        False ignores the joint limits.

    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> T = kd.kinematics.pose(robot, robot.random(1000, seed=1), "panda_link8")
    >>> bool(kd.ik.solve(robot, {"panda_link8": T}).success.all())
    True
    """
    for name, value in (("restarts", restarts), ("seed", seed)):
        if not isinstance(value, int | np.integer) or value < 0:
            raise InputError(f"{name} must be a whole number from 0 on, got {value!r}")
    problem = _Problem(robot, targets, weights, position_only, tolerance, iterations)
    start = _start(robot, q0)
    batch = np.broadcast_shapes(problem.batch, start.shape[:-1])
    problem.flatten(batch)
    start = np.broadcast_to(start, (*batch, robot.nq)).reshape(-1, robot.nq)
    best = _search(problem, start, restarts, limits, seed)
    status = _status(problem, best, start, limits, seed)
    lower, upper = robot.limits.lower, robot.limits.upper
    active = (best.q <= lower + 1e-9) | (best.q >= upper - 1e-9)
    return IKResult(
        best.q.reshape(*batch, robot.nq),
        best.success.reshape(batch),
        status.reshape(batch),
        best.residual.reshape(*batch, 2),
        active.reshape(*batch, robot.nq),
        best.steps.reshape(batch),
    )


@dataclass
class _Attempt:
    """One start for each of several targets."""

    q: Array
    success: NDArray[np.bool_]
    residual: Array
    steps: Array
    stuck: NDArray[np.bool_]  # came to a standstill, rather than to the end of its iterations

    def pick(self, rows: NDArray[np.intp]) -> _Attempt:
        return _Attempt(self.q[rows], self.success[rows], self.residual[rows], self.steps[rows], self.stuck[rows])


class _Problem:
    """Checked targets and weights, as the core takes them."""

    def __init__(
        self,
        robot: Robot,
        targets: Mapping[str, ArrayLike],
        weights: ArrayLike | Mapping[str, ArrayLike] | None,
        position_only: bool,
        tolerance: float,
        iterations: int,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
        if not isinstance(targets, Mapping) or not targets:
            raise InputError("targets must be a dict of frame -> pose (..., 4, 4) with one entry at least")
        if not isinstance(tolerance, int | float | np.number) or not tolerance > 0:
            raise InputError(f"tolerance must be a positive number, got {tolerance!r}")
        if not isinstance(iterations, int | np.integer) or iterations < 1:
            raise InputError(f"iterations must be a positive whole number, got {iterations!r}")
        self.robot, self.tolerance, self.iterations = robot, tolerance, iterations
        for frame in targets:
            robot.frame_index(frame)
        self.targets = {frame: as_pose(T) for frame, T in targets.items()}
        self.weights = {frame: _weights(weights, frame, position_only) for frame in targets}
        self.batch = np.broadcast_shapes(*(T.shape[:-2] for T in self.targets.values()))

    def flatten(self, batch: tuple[int, ...]) -> None:
        self.targets = {k: np.broadcast_to(T, (*batch, 4, 4)).reshape(-1, 4, 4) for k, T in self.targets.items()}

    def restricted(self, rows: NDArray[np.intp]) -> _Problem:
        """Make the problem of these targets alone."""
        part = copy(self)
        part.targets = {frame: T[rows] for frame, T in self.targets.items()}
        return part

    def attempt(self, start: Array, rows: NDArray[np.intp], limits: bool, *, polish: bool = False) -> _Attempt:
        """Run the core from `start` (n, nq) for the targets `rows` (n,), and judge what it found.

        With `polish` it follows a target that it cannot reach patiently down to the nearest place.
        """
        robot = self.robot
        lower, upper = robot.limits.lower, robot.limits.upper
        bounds = (np.maximum(lower, -ENDLESS), np.minimum(upper, ENDLESS))
        if not limits:
            bounds = (np.full(robot.nq, -ENDLESS), np.full(robot.nq, ENDLESS))
        # the core stops a little short of the tolerance, so that rounding cannot turn success into failure
        enough = 0.9 * self.tolerance
        most, damping, progress = (500, 0.0, 1e-9) if polish else (self.iterations, 0.1, 0.02)
        settings = np.array([enough, enough, most, damping, progress])
        wanted = {f: (T[rows].reshape(-1, 16), self.weights[f]) for f, T in self.targets.items()}
        q, _, steps = _core.reach(robot, start, *bounds, settings, wanted)
        residual = self.residual(q, rows)
        right = residual <= self.tolerance
        if limits:
            right = np.concatenate([right, q >= lower - 1e-9, q <= upper + 1e-9], axis=-1)
        return _Attempt(q, np.asarray(right.all(axis=-1)), residual, steps, steps < most)

    def residual(self, q: Array, rows: NDArray[np.intp]) -> Array:
        """Measure the largest distance and angle (n, 2) by forward kinematics, in directions that have weight."""
        worst = np.zeros((len(rows), 2))
        for frame, T in self.targets.items():
            T_found, T_wanted, wanted = kinematics.pose(self.robot, q, frame), T[rows], self.weights[frame] > 0
            shift = (T_wanted[:, :3, 3] - T_found[:, :3, 3]) * wanted[:3]
            parts = np.stack([np.sqrt((shift * shift).sum(axis=-1)), _angle(T_wanted, T_found, wanted[3:])], axis=-1)
            worst = np.maximum(worst, parts)
        return worst


def _angle(T_wanted: Array, T_found: Array, wanted: NDArray[np.bool_]) -> Array:
    """Measure the rotation (n,) between poses, about the axes that count."""
    if not wanted.any():
        return np.zeros(len(T_found))
    if not wanted.all():
        turn = log3(T_wanted[:, :3, :3] @ np.swapaxes(T_found[:, :3, :3], -1, -2)) * wanted
        return np.asarray(np.linalg.norm(turn, axis=-1))
    # matrices that differ by a turn of angle a differ by 2 sqrt(2) sin(a / 2) in the Frobenius norm
    difference = T_wanted[:, :3, :3] - T_found[:, :3, :3]
    sine = np.sqrt((difference * difference).sum(axis=(-1, -2)) / 8.0)
    return np.asarray(2.0 * np.arcsin(np.minimum(sine, 1.0)))


def _weights(weights: ArrayLike | Mapping[str, ArrayLike] | None, frame: str, position_only: bool) -> Array:
    given = weights.get(frame, 1.0) if isinstance(weights, Mapping) else 1.0 if weights is None else weights
    try:
        result = np.array(np.broadcast_to(np.asarray(given, dtype=float), (6,)))
    except (TypeError, ValueError) as cause:
        raise InputError(f"weights of {frame!r} must be six numbers, linear first, got {given!r}") from cause
    if not np.isfinite(result).all() or (result < 0).any() or not result.any():
        raise InputError(f"weights of {frame!r} must be finite, not negative and not all zero, got {given!r}")
    if position_only:
        result[3:] = 0.0
    return result


def _start(robot: Robot, q0: ArrayLike | None) -> Array:
    if q0 is None:
        lower, upper = robot.sampling_range()
        return _with_free_parts(robot, 0.5 * (lower + upper), robot.neutral())
    try:
        start = np.asarray(q0, dtype=float)
    except (TypeError, ValueError) as cause:
        raise InputError(f"q0 must be numbers of shape (..., {robot.nq}), got {q0!r}") from cause
    if start.ndim < 1 or start.shape[-1] != robot.nq:
        raise InputError(f"q0 must have shape (..., {robot.nq}), got {start.shape}")
    return start


def _search(problem: _Problem, start: Array, restarts: int, limits: bool, seed: int) -> _Attempt:
    """Start from `start`, then again from elsewhere for the targets that are not reached, several starts at a time."""
    best = problem.attempt(start, np.arange(len(start)), limits)
    if best.success.all():
        return best
    sampler = _EvenPoints(problem.robot.nq, seed)
    tried = 0
    while tried < restarts and not best.success.all():
        left = np.flatnonzero(~best.success)
        together = min(AT_ONCE if len(left) < 512 else 1, restarts - tried)
        rows = np.repeat(left, together)
        found = problem.attempt(_spread(problem.robot, sampler, start[rows]), rows, limits)
        _keep_better(problem.robot, best, found, left, start)
        tried += together
    left = np.flatnonzero(~best.success)
    if len(left):
        _keep_better(problem.robot, best, problem.attempt(best.q[left], left, limits, polish=True), left, start)
    return best


class _EvenPoints:
    """Points that fill the unit cube evenly: multiples of the generalised golden ratio (M. Roberts 2018)."""

    def __init__(self, dimension: int, seed: int) -> None:
        ratio = 2.0
        for _ in range(64):  # the root of x^(d + 1) = x + 1 above 1
            ratio = (1.0 + ratio) ** (1.0 / (dimension + 1))
        self.step = ratio ** -np.arange(1.0, dimension + 1)
        self.next = np.random.default_rng(seed).random(dimension)

    def random(self, n: int) -> Array:
        points = (self.next + np.arange(1, n + 1)[:, None] * self.step) % 1.0
        self.next = points[-1] if n else self.next
        return points


def _spread(robot: Robot, sampler: _EvenPoints, start: Array) -> Array:
    """Draw starts evenly over the limits; joints without limits turn anywhere, free bodies and balls stay."""
    lower, upper = robot.sampling_range()
    return _with_free_parts(robot, lower + sampler.random(len(start)) * (upper - lower), start)


def _with_free_parts(robot: Robot, q: Array, other: Array) -> Array:
    """Take over from `other` what has no limits: free bodies and balls."""
    for joint in robot.joints:
        if joint.kind in ("floating", "ball"):
            q[..., joint.q] = other[..., joint.q]
    return q


def _keep_better(robot: Robot, best: _Attempt, found: _Attempt, left: NDArray[np.intp], start: Array) -> None:
    """Of the new starts for each target keep the success nearest to q0, or else the smallest error, if it is better."""
    count = len(left)
    distance = np.linalg.norm(robot.difference(np.repeat(start[left], len(found.q) // count, axis=0), found.q), axis=-1)
    score = np.where(found.success, distance - 1e9, found.residual.sum(axis=-1)).reshape(count, -1)
    chosen = found.pick(np.arange(count) * score.shape[1] + score.argmin(axis=1))
    better = chosen.success | (chosen.residual.sum(axis=-1) < best.residual[left].sum(axis=-1))
    rows = left[better]
    best.q[rows], best.success[rows] = chosen.q[better], chosen.success[better]
    best.residual[rows], best.steps[rows] = chosen.residual[better], chosen.steps[better]
    best.stuck[rows] = chosen.stuck[better]


def _status(problem: _Problem, best: _Attempt, start: Array, limits: bool, seed: int) -> NDArray[np.str_]:
    """Say what became of each target and, where it was not reached, why."""
    reasons = np.full(len(best.q), "solved", dtype="<U11")
    failed = np.flatnonzero(~best.success)
    if len(failed) == 0:
        return reasons
    reasons[failed] = np.where(best.stuck[failed], "unreachable", "budget")
    close = best.residual[failed].max(axis=-1) < NEAR_SINGULAR
    for row in failed[close]:
        stacked = np.concatenate([kinematics.jacobian(problem.robot, best.q[row], f) for f in problem.targets])
        if np.linalg.svd(stacked, compute_uv=False)[: min(stacked.shape)].min() < NEAR_SINGULAR:
            reasons[row] = "singular"
    if limits:
        free = problem.restricted(failed)
        beyond = _search(free, start[failed], AT_ONCE, False, seed)
        reasons[failed[beyond.success]] = "limits"
    return reasons
