"""Adapter to OMPL, the only module that imports it: its geometric planners with our collision checks.

Joints with limits are coordinates of a real vector space. Joints without limits are circles (SO2): a path may pass from
pi to -pi. Planners that sample an informed subset do not support SO2; for them such a joint may turn once in each
direction from the start.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, numbers, positive
from kinodyn.errors import InputError, KinodynError, unknown_name
from kinodyn.planning.interrupts import calling_at_interrupt, deferred_interrupt

IsFree: TypeAlias = Callable[[Array], bool]
MotionFree: TypeAlias = Callable[[Array, Array], bool]

FULL_TURN = 2.0 * math.pi
INFORMED_PLANNERS = ("AORRTC", "BITstar", "InformedRRTstar", "SORRTstar")
# These sample goals in a second thread. If that called Python while the first one waits for it with the GIL, both would
# deadlock; with a single goal the second thread does not call Python.
ONE_GOAL = ("PRM", "PRMstar")
# OMPL has one seed generator for the whole process.
_LOCK = threading.Lock()


class PlanningInterruptedError(KeyboardInterrupt):
    """Ctrl-C while a planner runs; `path` (n, dofs) is the best one so far, None if there is none."""

    def __init__(self, path: Array | None) -> None:
        super().__init__()
        self.path = path


def ompl_planners() -> tuple[str, ...]:
    """List the names of OMPL's geometric planners.

    Returns
    -------
    names : tuple of str

    Raises
    ------
    KinodynError
        If OMPL is not installed.
    """
    base, geometric, _ = _modules()
    members = ((name, getattr(geometric, name)) for name in dir(geometric))
    return tuple(name for name, member in members if isinstance(member, type) and issubclass(member, base.Planner))


@check_types
def plan_with_ompl(
    planner: str,
    start: ArrayLike,
    goals: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    is_free: IsFree,
    motion_free: MotionFree,
    *,
    time_budget: float = 1.0,
    seed: int = 0,
) -> Array | None:
    """Plan a path from a configuration to the first of several that is reached.

    Parameters
    ----------
    planner
        A name of `ompl_planners()`, such as "RRTConnect" or "BITstar".
    start : (n,)
        Joint positions [rad or m].
    goals : (n,) or (k, n)
        Joint positions; reaching one of them is enough.
    lower, upper : (n,)
        Limits; a joint with the limits -inf and inf is unlimited.
    is_free
        Function of positions (n,): whether they are collision-free.
    motion_free
        Function of two positions (n,): whether the straight motion between them is free.
    time_budget
        [s] Planners that optimise the path use all of it, others return the first path.
    seed
        Seed of the random number generator. A planner that returns its first path then returns the same one each time.

    Returns
    -------
    path : (m, n) array or None
        Waypoints from the start to a goal, without jumps of unlimited joints; None if no path was found within the time
        budget.

    Raises
    ------
    UnknownNameError
        If OMPL has no such planner.
    InputError
        For wrong arguments, and a start or a goal outside the limits.
    KinodynError
        If OMPL is not installed.

    Notes
    -----
    I. A. Sucan, M. Moll, L. E. Kavraki, *The Open Motion Planning Library*, IEEE Robotics & Automation Magazine, 2012.
    Exceptions in the functions, KeyboardInterrupt included, stop planning. Calls from several threads take turns.
    """
    ends = time.perf_counter() + positive("time_budget", time_budget)
    if planner not in ompl_planners():
        raise unknown_name("planner of OMPL", planner, ompl_planners())
    integer("seed", seed)
    q_start, q_goals, low, high = _checked(start, goals, lower, upper)
    with _LOCK:
        modules = _modules()
        level = modules[2].getLogLevel()
        modules[2].setLogLevel(modules[2].LOG_NONE)
        try:
            modules[2].RNG.setSeed(int(seed) % 2**31 + 1)  # 0 is not a seed of OMPL
            problem = _Problem(modules, planner, q_start, low, high)
            groups = [q_goals[k : k + 1] for k in range(len(q_goals))] if planner in ONE_GOAL else [q_goals]
            return problem.solve_any(groups, is_free, motion_free, ends)
        finally:
            modules[2].setLogLevel(level)


class _Problem:
    """One planning problem: the state space, and what its states mean."""

    def __init__(self, modules: tuple[Any, Any, Any], planner: str, start: Array, lower: Array, upper: Array) -> None:
        self._base, self._geometric, _ = modules
        self._planner, self._start = planner, start
        self._unbounded = np.flatnonzero(~np.isfinite(upper - lower))
        if planner in INFORMED_PLANNERS:
            lower, upper = lower.copy(), upper.copy()
            lower[self._unbounded], upper[self._unbounded] = (
                start[self._unbounded] - FULL_TURN,
                start[self._unbounded] + FULL_TURN,
            )
        circles = self._unbounded if planner not in INFORMED_PLANNERS else self._unbounded[:0]
        self._bounded = np.setdiff1d(np.arange(len(start)), circles)
        self._circles = [int(k) for k in circles]
        self._space = self._make_space(lower[self._bounded], upper[self._bounded])

    def solve_any(self, groups: list[Array], is_free: IsFree, motion_free: MotionFree, ends: float) -> Array | None:
        """Try groups of goals one after the other, each for an equal fraction of the remaining time."""
        for k, goals in enumerate(groups):
            now = time.perf_counter()
            path = self._solve(goals, is_free, motion_free, now + max(ends - now, 0.0) / (len(groups) - k))
            if path is not None:
                return path
        return None

    def _solve(self, goals: Array, is_free: IsFree, motion_free: MotionFree, ends: float) -> Array | None:
        """Run the planner until the time `ends`."""
        base = self._base
        information = base.SpaceInformation(self._space)
        callbacks = _Callbacks(self, is_free, motion_free)
        information.setStateValidityChecker(callbacks.is_valid)
        information.setMotionValidator(_motion_validator(base, information, callbacks))
        information.setup()
        definition = base.ProblemDefinition(information)
        definition.addStartState(self._state(self._start))
        region = base.GoalStates(information)
        for goal in goals:
            region.addState(self._state(goal))
        definition.setGoal(region)
        planner = getattr(self._geometric, self._planner)(information)
        planner.setProblemDefinition(definition)
        planner.setup()
        callbacks.condition = base.timedPlannerTerminationCondition(max(ends - time.perf_counter(), 0.0))
        with calling_at_interrupt(lambda: callbacks.stop(KeyboardInterrupt())):
            planner.solve(callbacks.condition)
        path = self._path(definition) if definition.hasExactSolution() else None
        try:
            callbacks.raise_error()
        except KeyboardInterrupt as cause:
            raise PlanningInterruptedError(path) from cause
        return path

    def positions(self, state: Any) -> Array:
        """Return the joint positions (n,) of a state, angles of circles within [-pi, pi]."""
        q = np.empty(len(self._start))
        if not self._circles:
            q[:] = [state[k] for k in range(len(q))]
            return q
        parts = 1 if len(self._bounded) else 0
        if parts:
            q[self._bounded] = [state[0][k] for k in range(len(self._bounded))]
        for k, joint in enumerate(self._circles):
            q[joint] = state[parts + k].value
        return q

    def after(self, q0: Array, q1: Array) -> Array:
        """Return q1 with angles of circles nearest to those of q0."""
        for joint in self._circles:
            q1[joint] -= FULL_TURN * round((q1[joint] - q0[joint]) / FULL_TURN)
        return q1

    def _make_space(self, lower: Array, upper: Array) -> Any:
        reals = self._base.RealVectorStateSpace(len(lower))
        bounds = self._base.RealVectorBounds(len(lower))
        for k, (low, high) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
            bounds.setLow(k, low)
            bounds.setHigh(k, high)
        reals.setBounds(bounds)
        if not self._circles:
            return reals
        space = self._base.CompoundStateSpace()
        if len(lower):
            space.addSubspace(reals, 1.0)
        for _ in self._circles:
            space.addSubspace(self._base.SO2StateSpace(), 1.0)
        space.lock()
        # the planners of the KPIECE family measure coverage in a projection
        space.registerDefaultProjection(self._base.SubspaceProjectionEvaluator(space, 0))
        return space

    def _state(self, q: Array) -> Any:
        state = self._space.allocState()
        if not self._circles:
            near = q.copy()  # for an informed planner, an unlimited joint is within half a turn of the start
            near[self._unbounded] -= FULL_TURN * np.round((q - self._start)[self._unbounded] / FULL_TURN)
            for k, value in enumerate(near.tolist()):
                state[k] = value
            return state
        parts = 1 if len(self._bounded) else 0
        for k, joint in enumerate(self._bounded):
            state[0][k] = float(q[joint])
        for k, joint in enumerate(self._circles):
            state[parts + k].value = math.remainder(float(q[joint]), FULL_TURN)
        return state

    def _path(self, definition: Any) -> Array:
        path = [self._start.copy()]
        for state in definition.getSolutionPath().getStates()[1:]:
            path.append(self.after(path[-1], self.positions(state)))
        return np.array(path)


class _Callbacks:
    """The functions of the user as OMPL calls them; the first exception stops planning."""

    def __init__(self, problem: _Problem, is_free: IsFree, motion_free: MotionFree) -> None:
        self._problem, self._is_free, self._motion_free = problem, is_free, motion_free
        self.error: BaseException | None = None
        self.condition: Any = None

    def is_valid(self, state: Any) -> bool:
        """Return whether a state is free."""
        return self._call(lambda: self._is_free(self._problem.positions(state)))

    def is_motion_valid(self, first: Any, second: Any) -> bool:
        """Return whether the shortest motion between two states is free."""

        def is_free() -> bool:
            q0 = self._problem.positions(first)
            return self._motion_free(q0, self._problem.after(q0, self._problem.positions(second)))

        return self._call(is_free)

    def stop(self, error: BaseException) -> None:
        """Stop planning; `raise_error` raises the first error."""
        self.error = self.error or error
        if self.condition is not None:
            self.condition.terminate()

    def raise_error(self) -> None:
        """Raise the exception that stopped planning, if any.

        It is forgotten here: its traceback refers to OMPL's objects, which refer to this one, and Python's garbage
        collector does not see their references.
        """
        error, self.error = self.error, None
        if error is not None:
            raise error

    def _call(self, function: Callable[[], bool]) -> bool:
        if self.error is not None:
            return False
        try:
            return bool(function())
        except BaseException as error:  # it must not pass through OMPL; `raise_error` raises it
            self.stop(error)
            return False


def _motion_validator(base: Any, information: Any, callbacks: _Callbacks) -> Any:
    class Validator(base.MotionValidator):  # type: ignore[misc]
        """Calls `motion_free`."""

        def checkMotion(self, first: Any, second: Any) -> bool:  # the name is OMPL's
            return callbacks.is_motion_valid(first, second)

    return Validator(information)


def _checked(start: ArrayLike, goals: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> tuple[Array, ...]:
    q_start = numbers("start", start)
    if q_start.ndim != 1 or len(q_start) == 0:
        raise InputError(f"start must be one configuration (n,), got shape {q_start.shape}")
    n = len(q_start)
    q_goals = np.atleast_2d(numbers("goals", goals, n))
    low, high = (np.asarray(limit, dtype=float) for limit in (lower, upper))
    if low.shape != (n,) or high.shape != (n,) or not (low < high).all():
        raise InputError(f"lower and upper must have shape ({n},), lower below upper everywhere")
    if (np.isfinite(low) != np.isfinite(high)).any():
        raise InputError("a joint must have both limits, or none: -inf and inf")
    if q_goals.ndim != 2 or len(q_goals) == 0:
        raise InputError(f"goals must have shape (n,) or (k, n), got {q_goals.shape}")
    for what, q in (("start", q_start), ("a goal", q_goals)):
        if (q < low).any() or (q > high).any():
            raise InputError(f"{what} is outside lower and upper; plan between positions within the limits")
    return q_start, q_goals, low, high


def _modules() -> tuple[Any, Any, Any]:
    try:
        with deferred_interrupt():  # the extensions of OMPL abort the process if they are interrupted
            from ompl import base, geometric, util
    except ImportError as cause:
        raise KinodynError(
            "planners of OMPL need the package ompl; install it with: pip install 'kinodyn[planning]'"
        ) from cause
    return base, geometric, util
