"""Numeric inverse kinematics: any number of targets, on any frames of any robot, within limits, with restarts.

The steps are taken by the core (`cpp/kernels/reach.cpp`), which a kernel of its own judges (`cpp/kernels/misfit.cpp`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.errors import InputError, UnknownNameError
from kinodyn.ik.problem import METHODS, Method, Problem
from kinodyn.ik.redundancy import Prefer, cost_of, improve
from kinodyn.ik.result import Attempt, IKResult
from kinodyn.ik.search import MANY, polish, search, status_of
from kinodyn.ik.starts import beside, first_start
from kinodyn.model.robot import Robot

WHOLE, REAL = (int, np.integer), (int, float, np.number)


def solve(
    robot: Robot,
    targets: Mapping[str, ArrayLike],
    q0: ArrayLike | None = None,
    *,
    position_only: bool = False,
    weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
    method: Literal["auto", "lm", "dls", "pinv", "newton", "transpose", "optimise"] = "auto",
    restarts: int = 64,
    iterations: int | None = None,
    time_limit: float | None = None,
    tolerance: float = 1e-6,
    limits: bool = True,
    prefer: Prefer = None,
    posture: ArrayLike | None = None,
    seed: int = 0,
) -> IKResult:
    """Find configurations that bring frames to their targets.

    Parameters
    ----------
    targets
        Frame -> pose (..., 4, 4) in the world, all frames at once; batches broadcast.
    q0
        Where to start (..., nq), by default the middle of the limits. Of several solutions found together the one
        nearest to it is taken. A floating base moves like any other joint; joints that carry no target stay.
    position_only
        Leaves all orientations free.
    weights
        Six numbers, linear first, for all frames or by frame; a direction with weight 0 is free.
    method
        "auto", the best there is: "lm", and where that fails a patient descent to the nearest place. By name:
        "lm" error-damped Levenberg-Marquardt, "dls" least squares damped near singularities, "pinv" pseudo-inverse,
        "newton" Newton-Raphson, "transpose" transposed Jacobian, "optimise" bounded optimisation by SciPy.
    restarts
        Starts after the first, spread evenly within the limits, for targets that resist.
    iterations
        Steps of each start, at most; unless given, as many as suit the method.
    time_limit
        For the whole call [s], looked at between attempts; targets without a solution by then have status "budget".
    tolerance
        In metres and in radians.
    limits
        False ignores the joint limits.
    prefer
        Which of several solutions: None takes the one that is found first, starting from q0; "nearest" the one
        nearest to q0; "posture" the one nearest to `posture`; "manipulability" the one that can move best; a function
        of q (n, nq) the one where it is least, (n,). Sought along the self-motion, from several starts: the targets
        stay reached.
    posture
        Configuration (..., nq) for `prefer="posture"`.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> T = kd.kinematics.pose(robot, robot.random(1000, seed=1), "panda_link8")
    >>> bool(kd.ik.solve(robot, {"panda_link8": T}).success.all())
    True
    """
    begin = perf_counter()
    chosen = _method(method, iterations)
    _check(restarts, seed, time_limit, tolerance)
    problem = Problem(robot, targets, weights, position_only, tolerance)
    if time_limit is not None:
        problem.deadline = begin + time_limit
    batch, start = problem.flatten(first_start(robot, problem.bounds, q0))
    wish = None if prefer is None and posture is None else cost_of(problem, prefer, posture, start, batch)
    alone = None
    if batch == () and wish is None and chosen.code >= 0 and restarts:
        found = problem.attempt_alone(chosen, beside(problem.bounds, start, restarts, seed), limits)
        if isinstance(found, IKResult):
            return found
        alone = found
    best = search(problem, chosen, start, restarts, limits, seed, alone)
    if method == "auto" and not best.all_right():
        polish(problem, best, start, limits, seed)
    thorough = chosen == METHODS["auto"] and restarts >= MANY
    if wish is not None:
        improve(problem, best, start, wish, restarts=restarts, limits=limits, seed=seed)
    return _result(problem, best, status_of(problem, best, start, limits, seed, thorough), batch)


def _result(problem: Problem, best: Attempt, status: NDArray[np.str_], batch: tuple[int, ...]) -> IKResult:
    """Give the rows the shape of the batch."""
    nq = problem.robot.nq
    return IKResult(
        best.q.reshape(*batch, nq),
        best.success.reshape(batch),
        status.reshape(batch),
        best.residual.reshape(*batch, 2),
        problem.bounds.active(best.q).reshape(*batch, nq),
        best.steps.reshape(batch),
        {frame: best.poses[:, k].reshape(*batch, 4, 4) for k, frame in enumerate(problem.rows)},
    )


def _method(name: str, iterations: int | None) -> Method:
    if not isinstance(name, str) or name not in METHODS:
        raise UnknownNameError(f"unknown method {name!r}; known: {', '.join(METHODS)}")
    if iterations is None:
        return METHODS[name]
    if not isinstance(iterations, WHOLE) or isinstance(iterations, bool) or iterations < 1:
        raise InputError(f"iterations must be a positive whole number, got {iterations!r}")
    return replace(METHODS[name], iterations=int(iterations))


def _check(restarts: int, seed: int, time_limit: float | None, tolerance: float) -> None:
    for name, value in (("restarts", restarts), ("seed", seed)):
        if not isinstance(value, WHOLE) or isinstance(value, bool) or value < 0:
            raise InputError(f"{name} must be a whole number from 0 on, got {value!r}")
    if not isinstance(tolerance, REAL) or not 0 < tolerance < np.inf:
        raise InputError(f"tolerance must be a positive number, got {tolerance!r}")
    if time_limit is not None and (not isinstance(time_limit, REAL) or not 0 < time_limit < np.inf):
        raise InputError(f"time_limit must be a positive number of seconds or None, got {time_limit!r}")
