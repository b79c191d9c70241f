"""One call of numeric inverse kinematics: validated targets, methods by name, and verification of the solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core, kinematics
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.free import FreeSolutions
from kinodyn.ik.optimise import optimise
from kinodyn.ik.poses import target_poses
from kinodyn.ik.result import CONVERGED, Attempt, IKResult, joined
from kinodyn.ik.space import INFINITE_LIMIT, LIMIT_TOLERANCE, space_of
from kinodyn.layouts import codes, constant, layout
from kinodyn.model.robot import Robot

MAX_FRAMES = (int(constant("max_inputs")) - 4) // 2  # a call of the core has two inputs for each frame, and four others
CONVERGENCE_FRACTION = 0.9  # iterations stop at this fraction of the tolerance, as a reserve for rounding
TARGETS_PER_CLOCK_CHECK = 512  # targets solved between two checks of the time limit


@dataclass(frozen=True)
class Method:
    """A step rule and its settings."""

    rule: str  # one of the core's "ik_method", or OPTIMISE
    iterations: int
    progress: float = 0.02  # stalled if the error decreases by less than this fraction six times in a row
    damping: float = 0.1  # proportional to the error; 0 for best effort

    def __hash__(self) -> int:  # a key of caches in every call: faster than the hash of all fields
        return hash(self.rule)

    @property
    def in_core(self) -> bool:
        """Whether the core runs it, for all targets at once; SciPy solves one at a time."""
        return self.rule != OPTIMISE


OPTIMISE = "optimise"
METHODS = {
    "auto": Method("levenberg_marquardt", 60),
    "lm": Method("levenberg_marquardt", 60),
    "transpose": Method("transpose", 2000, progress=1e-3),
    "pinv": Method("pseudoinverse", 100),
    "dls": Method("damped_least_squares", 200),
    "newton": Method("newton", 100),
    "optimise": Method(OPTIMISE, 200),
}
BEST_EFFORT = Method("levenberg_marquardt", 500, progress=1e-9, damping=0.0)


class Problem:
    """Targets and weights, in the layout of the core; types of arguments are checked before, values here."""

    def __init__(
        self,
        robot: Robot,
        targets: Mapping[str, ArrayLike],
        weights: ArrayLike | Mapping[str, ArrayLike] | None,
        position_only: bool,
        tolerance: float,
        joints: str | Sequence[str] | None = None,
    ) -> None:
        if not targets:
            raise InputError("targets must be a dict of frame -> pose (..., 4, 4) with at least one entry")
        if len(targets) > MAX_FRAMES:
            raise InputError(f"targets must have at most {MAX_FRAMES} frames, got {len(targets)}")
        self.space = space_of(robot, tuple(targets), joints)
        if weights is not None and isinstance(weights, Mapping):
            for frame in weights:
                if frame not in targets:
                    raise InputError(f"weights are given for {frame!r}, which has no target; targets: {list(targets)}")
        self.robot, self.tolerance = robot, float(tolerance)
        self.poses = {frame: target_poses(T, f"target of {frame!r}") for frame, T in targets.items()}
        self.weights = {frame: _weights(weights, frame, position_only) for frame in targets}
        self.deadline = np.inf
        self.free: FreeSolutions | None = None  # which solutions are accepted; None: all
        self.targets: NDArray[np.intp] | None = None  # indices of the rows in the whole problem; None: all

    def flatten(self, start: Array) -> tuple[tuple[int, ...], Array]:
        """Broadcast targets and starts (..., nq) to a common batch; return its shape and the starts as rows (n, nq)."""
        shapes = [start.shape[:-1], *(T.shape[:-2] for T in self.poses.values())]
        if not any(shapes):
            self.rows = {frame: T.reshape(1, 16) for frame, T in self.poses.items()}
            return (), start[None]
        try:
            batch = np.broadcast_shapes(*shapes)
        except ValueError as cause:
            raise InputError(f"the batch axes of q0 and the targets, {shapes}, are not compatible") from cause
        self.rows = {f: np.broadcast_to(T, (*batch, 4, 4)).reshape(-1, 16) for f, T in self.poses.items()}
        return batch, np.broadcast_to(start, (*batch, self.robot.nq)).reshape(-1, self.robot.nq)

    def part(self, rows: NDArray[np.intp]) -> Problem:
        """Return the problem restricted to some of the targets."""
        result = object.__new__(Problem)
        result.__dict__.update(self.__dict__)
        result.rows = {frame: T[rows] for frame, T in self.rows.items()}
        if self.free is not None:
            result.targets = rows if self.targets is None else self.targets[rows]
        return result

    def without_collisions(self) -> Problem:
        """Return the problem without collision checks, in which every solution is accepted."""
        if self.free is None:
            return self
        result = object.__new__(Problem)
        result.__dict__.update(self.__dict__, free=None)
        return result

    def out_of_time(self) -> bool:
        """Return whether the time limit has passed."""
        return self.deadline < np.inf and perf_counter() > self.deadline

    def attempt(self, method: Method, start: Array, limits: bool) -> Attempt:
        """Run a method from `start` (n, nq), one row for each target, and verify the results.

        With a time limit the clock is checked between groups of targets; targets not reached in time keep their start.
        """
        if self.deadline == np.inf or len(start) <= 1:
            return self._attempt(method, start, limits)
        no_iterations = Method(method.rule, 0)
        parts, together = [], TARGETS_PER_CLOCK_CHECK if method.in_core else 1
        for begin in range(0, max(len(start), 1), together):
            rows = np.arange(begin, min(begin + together, len(start)))
            chosen = no_iterations if begin and self.out_of_time() else method
            parts.append(self.part(rows)._attempt(chosen, start[rows], limits))
        return joined(parts)

    def attempt_alone(self, method: Method, starts: Array, limits: bool) -> Attempt | IKResult:
        """Run a method of the core for a single target from several `starts` (m, nq) at once.

        The result is the solution from the first start or, if that fails, the nearest solution from the others.
        If all fail, the attempt has a row for each start.
        """
        (lower, upper), space = self.limits(limits), self.space
        targets = {frame: (T.reshape(16), self.weights[frame]) for frame, T in self.poses.items()}
        solution, attempts = _core.ik_single(
            self.robot,
            starts,
            lower,
            upper,
            _settings(self.tolerance, method, first_leads=True),
            targets,
            space.dofs,
            _tolerances(self.tolerance),
            space.near_lower,
            space.near_upper,
        )
        if solution is None:
            assert attempts is not None  # the core returns one of the two
            return self._verified(*attempts, lower, upper)
        poses = dict(zip(targets, solution.poses, strict=True))
        return IKResult._solved(solution.q, solution.error, solution.at_limit, solution.iterations, poses)

    def _attempt(self, method: Method, start: Array, limits: bool) -> Attempt:
        lower, upper = self.limits(limits)
        if not method.in_core:
            within = CONVERGENCE_FRACTION * self.tolerance
            found = optimise(self.robot, self.space, start, (lower, upper), self._targets(), method.iterations, within)
        else:
            settings = _settings(self.tolerance, method)
            found = _core.ik(self.robot, start, lower, upper, settings, self._targets(), self.space.dofs)
        return self._verified(*found, lower, upper)

    def verify(self, q: Array, steps: Array, limits: bool) -> Attempt:
        """Return configurations (n, nq) as an attempt."""
        return self._verified(q, steps, np.full(len(q), CONVERGED, dtype=float), *self.limits(limits))

    def _verified(self, q: Array, steps: Array, termination: Array, lower: Array, upper: Array) -> Attempt:
        found = _core.ik_residual(self.robot, q, lower, upper, _tolerances(self.tolerance), self._targets())
        attempt = Attempt(q, found.success > 0, found.error, found.cost, steps, termination, found.poses)
        if self.free is not None:
            self.free.exclude_touching(attempt, np.arange(len(q)) if self.targets is None else self.targets)
        return attempt

    def _targets(self) -> dict[str, tuple[Array, Array]]:
        return {frame: (T, self.weights[frame]) for frame, T in self.rows.items()}

    def jacobian(self, q: Array, dofs: NDArray[np.int32]) -> Array:
        """Stack the weighted Jacobian rows of all frames that have positive weight: (n, m, dofs)."""
        parts = []
        for frame, weights in self.weights.items():
            rows = weights > 0
            parts.append(weights[rows][:, None] * kinematics.jacobian(self.robot, q, frame)[:, rows])
        return np.asarray(np.concatenate(parts, axis=1)[..., dofs])

    def limits(self, enabled: bool) -> tuple[Array, Array]:
        """Return the limits (nq,), or the finite stand-ins for infinity if limits are disabled."""
        if enabled:
            return self.space.lower, self.space.upper
        return np.full(self.robot.nq, -INFINITE_LIMIT), np.full(self.robot.nq, INFINITE_LIMIT)


@lru_cache(maxsize=64)
def _settings(tolerance: float, method: Method, first_leads: bool = False) -> np.ndarray:
    """Pack the settings of a method for the core."""
    settings = np.zeros(1, dtype=layout("ik_settings"))
    settings["position_tolerance"] = settings["orientation_tolerance"] = CONVERGENCE_FRACTION * tolerance
    settings["method"], settings["max_iterations"] = codes("ik_method")[method.rule], method.iterations
    settings["damping"], settings["min_progress"] = method.damping, method.progress
    settings["first_leads"] = first_leads
    return settings


@lru_cache(maxsize=64)
def _tolerances(tolerance: float) -> np.ndarray:
    """Pack the tolerances of the verification for the core."""
    tolerances = np.zeros(1, dtype=layout("ik_tolerances"))
    tolerances["position"] = tolerances["orientation"] = tolerance
    tolerances["limits"] = LIMIT_TOLERANCE
    return tolerances


def _weights(weights: ArrayLike | Mapping[str, ArrayLike] | None, frame: str, position_only: bool) -> Array:
    if weights is None:
        return POSITION if position_only else FULL
    given = weights.get(frame, 1.0) if isinstance(weights, Mapping) else weights
    try:
        result = np.array(np.broadcast_to(np.asarray(given, dtype=float), (6,)))
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"weights of {frame!r} must be six numbers, linear first, got {given!r}") from cause
    if position_only:
        result[3:] = 0.0
    if not np.isfinite(result).all() or (result < 0).any() or not result.any():
        raise InputError(f"weights of {frame!r} must be finite, not negative and not all zero, got {given!r}")
    return result


FULL, POSITION = np.ones(6), np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
