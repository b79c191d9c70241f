"""One call of numeric inverse kinematics: checked targets, the methods by name, and the judge of what they find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core, kinematics
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.optimise import optimise
from kinodyn.ik.poses import target_poses
from kinodyn.ik.result import SOLVED, Attempt, IKResult, joined
from kinodyn.ik.starts import AT_LIMIT, ENDLESS, bounds_of
from kinodyn.model.robot import Robot

MAPPING = (dict, Mapping)  # a dict is known at once, others take a longer look
MOST_FRAMES = 30  # each takes two of the 64 arguments of a call of the core, which has four others
CLOSER = 0.9  # share of the tolerance to reach, so that rounding cannot turn success into failure
SLICE = 512  # targets between two looks at the clock


@dataclass(frozen=True)
class Method:
    """How the core takes its steps, and how long it may."""

    code: int
    iterations: int
    progress: float = 0.02  # less than this share of the error, six times in a row, is a standstill
    damping: float = 0.1  # by the error; 0 is patient


METHODS = {
    "auto": Method(0, 60),
    "lm": Method(0, 60),
    "transpose": Method(1, 2000, progress=1e-3),
    "pinv": Method(2, 100),
    "dls": Method(3, 200),
    "newton": Method(4, 100),
    "optimise": Method(-1, 200),
}
PATIENT = Method(0, 500, progress=1e-9, damping=0.0)


class Problem:
    """Targets and weights as the core takes them, for n targets; what is wrong with them raises."""

    def __init__(
        self,
        robot: Robot,
        targets: Mapping[str, ArrayLike],
        weights: ArrayLike | Mapping[str, ArrayLike] | None,
        position_only: bool,
        tolerance: float,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
        if not isinstance(targets, MAPPING) or not targets:
            raise InputError("targets must be a dict of frame -> pose (..., 4, 4) with one entry at least")
        if len(targets) > MOST_FRAMES:
            raise InputError(f"targets has {len(targets)} frames; at most {MOST_FRAMES} can be reached for together")
        for frame in targets:
            robot.frame_index(frame)
        if weights is not None and isinstance(weights, Mapping):
            for frame in weights:
                if frame not in targets:
                    raise InputError(f"weights are given for {frame!r}, which has no target; targets: {list(targets)}")
        self.robot, self.tolerance = robot, float(tolerance)
        self.bounds = bounds_of(robot)
        self.poses = {frame: target_poses(T, f"target of {frame!r}") for frame, T in targets.items()}
        self.weights = {frame: _weights(weights, frame, position_only) for frame in targets}
        self.deadline = np.inf

    def flatten(self, start: Array) -> tuple[tuple[int, ...], Array]:
        """Stretch targets and starts (..., nq) to a common batch, then to rows; return its shape and the starts."""
        shapes = [start.shape[:-1], *(T.shape[:-2] for T in self.poses.values())]
        if not any(shapes):
            self.rows = {frame: T.reshape(1, 16) for frame, T in self.poses.items()}
            return (), start[None]
        try:
            batch = np.broadcast_shapes(*shapes)
        except ValueError as cause:
            raise InputError(f"the batch axes of q0 and the targets, {shapes}, do not fit together") from cause
        self.rows = {f: np.broadcast_to(T, (*batch, 4, 4)).reshape(-1, 16) for f, T in self.poses.items()}
        return batch, np.broadcast_to(start, (*batch, self.robot.nq)).reshape(-1, self.robot.nq)

    def part(self, rows: NDArray[np.intp]) -> Problem:
        """Make the problem of these targets alone."""
        result = object.__new__(Problem)
        result.__dict__.update(self.__dict__)
        result.rows = {frame: T[rows] for frame, T in self.rows.items()}
        return result

    def out_of_time(self) -> bool:
        """Tell whether the time limit is over."""
        return self.deadline < np.inf and perf_counter() > self.deadline

    def attempt(self, method: Method, start: Array, limits: bool) -> Attempt:
        """Let a method go from `start` (n, nq), one row for each target, and judge what it found.

        With a time limit it looks at the clock now and then; targets not begun by then stay where they start.
        """
        if self.deadline == np.inf or len(start) <= 1:
            return self._attempt(method, start, limits)
        waiting = Method(method.code, 0)
        parts = []
        for begin in range(0, max(len(start), 1), 1 if method.code < 0 else SLICE):
            rows = np.arange(begin, min(begin + (1 if method.code < 0 else SLICE), len(start)))
            chosen = waiting if begin and self.out_of_time() else method
            parts.append(self.part(rows)._attempt(chosen, start[rows], limits))
        return joined(parts)

    def attempt_alone(self, method: Method, starts: Array, limits: bool) -> Attempt | IKResult:
        """Let a method of the core go for the only target from `starts` (m, nq), several at once, the first leading.

        What that one finds is the result or, where it fails, the nearest to it that others find. Where none does, the
        attempt has a row for each.
        """
        (lower, upper), bounds = self.limits(limits), self.bounds
        wanted = {frame: (T.reshape(16), self.weights[frame]) for frame, T in self.poses.items()}
        settings = _settings(self.tolerance, method.iterations, method.damping, method.progress, led=True)
        allowed, near = _allowed(self.tolerance), (bounds.near_lower, bounds.near_upper)
        found = _core.ik_single(self.robot, starts, lower, upper, settings, wanted, method.code, allowed, *near)
        if len(found) == 3:
            return self._judged(*found, lower, upper)
        q, residual, active, steps, poses = found
        T_reached = dict(zip(wanted, poses, strict=True))
        return IKResult(q, np.array(True), SOLVED.copy(), residual, active, steps, T_reached)

    def _attempt(self, method: Method, start: Array, limits: bool) -> Attempt:
        lower, upper = self.limits(limits)
        if method.code < 0:
            enough = CLOSER * self.tolerance
            found = optimise(self.robot, start, lower, upper, self._wanted(), method.iterations, enough)
        else:
            settings = _settings(self.tolerance, method.iterations, method.damping, method.progress)
            found = _core.ik(self.robot, start, lower, upper, settings, self._wanted(), method.code)
        return self._judged(*found, lower, upper)

    def _judged(self, q: Array, steps: Array, ended: Array, lower: Array, upper: Array) -> Attempt:
        residual, right, cost, poses = _core.ik_residual(
            self.robot, q, lower, upper, _allowed(self.tolerance), self._wanted()
        )
        return Attempt(q, right > 0, residual, cost, steps, ended, poses)

    def _wanted(self) -> dict[str, tuple[Array, Array]]:
        return {frame: (T, self.weights[frame]) for frame, T in self.rows.items()}

    def jacobian(self, q: Array) -> Array:
        """Stack the rows of all frames that have weight, multiplied by it: (n, m, nv)."""
        parts = []
        for frame, weights in self.weights.items():
            counts = weights > 0
            parts.append(weights[counts][:, None] * kinematics.jacobian(self.robot, q, frame)[:, counts])
        return np.concatenate(parts, axis=1)

    def limits(self, wanted: bool) -> tuple[Array, Array]:
        """Give the limits (nq,), or numbers far beyond any if they are not wanted."""
        if wanted:
            return self.bounds.lower, self.bounds.upper
        return np.full(self.robot.nq, -ENDLESS), np.full(self.robot.nq, ENDLESS)


@lru_cache(maxsize=64)
def _settings(tolerance: float, iterations: int, damping: float, progress: float, led: bool = False) -> Array:
    """Lay out what the core wants to know of a method."""
    enough = CLOSER * tolerance
    return np.array([enough, enough, iterations, damping, progress, led])


@lru_cache(maxsize=64)
def _allowed(tolerance: float) -> Array:
    """Lay out what the judge allows."""
    return np.array([tolerance, tolerance, AT_LIMIT])


def _weights(weights: ArrayLike | Mapping[str, ArrayLike] | None, frame: str, position_only: bool) -> Array:
    if weights is None:
        return POSITION if position_only else FULL
    given = weights.get(frame, 1.0) if isinstance(weights, Mapping) else weights
    try:
        result = np.array(np.broadcast_to(np.asarray(given, dtype=float), (6,)))
    except (TypeError, ValueError) as cause:
        raise InputError(f"weights of {frame!r} must be six numbers, linear first, got {given!r}") from cause
    if position_only:
        result[3:] = 0.0
    if not np.isfinite(result).all() or (result < 0).any() or not result.any():
        raise InputError(f"weights of {frame!r} must be finite, not negative and not all zero, got {given!r}")
    return result


FULL, POSITION = np.ones(6), np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
