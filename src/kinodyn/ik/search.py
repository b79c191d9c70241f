"""The search: from the first start, then from others for the targets that resist, and at last what can be said."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.ik.problem import METHODS, PATIENT, Method, Problem
from kinodyn.ik.result import OUT_OF_ITERATIONS, SINGULAR, STATUS, Attempt
from kinodyn.ik.starts import EvenPoints
from kinodyn.model.robot import Robot

FEW, MANY = 4, 16  # starts tried together for a target that resists: few at first, then more
CROWD = 1024  # targets times starts in one attempt, unless the targets alone are more
DESCENTS = 16  # starts of the patient descent to the nearest place
NEAR_SINGULAR = 1e-3


def search(
    problem: Problem,
    method: Method,
    start: Array,
    restarts: int,
    limits: bool,
    seed: int,
    alone: Attempt | None = None,
) -> Attempt:
    """Start from `start` (n, nq), then again from elsewhere for the targets that are not reached.

    For a target alone the first attempt, with more starts beside it, may have failed already.

    After a first round the ways go without limits, then back by whole turns: solutions in a corner of the limits are
    reached from few places within them, but from many beyond.
    """
    if alone is None:
        best, tried = problem.attempt(method, start, limits), 0
    else:
        nearest = int(alone.cost.argmin())
        best, tried = alone.pick(slice(nearest, nearest + 1)), len(alone.q) - 1
    if best.all_right():
        return best
    few, most = (FEW, MANY) if method.code >= 0 else (1, 1)  # SciPy takes one at a time anyway
    points, together, detour = EvenPoints(problem.bounds, seed, skip=tried), few, limits and tried > 0
    while tried < restarts:
        left = best.failures()
        if len(left) == 0 or problem.out_of_time():
            break
        count = min(max(1, min(together, CROWD // len(left))), restarts - tried)
        rows = np.repeat(left, count)
        some, begin = problem.part(rows), points.draw(start[rows])
        without = some.attempt(method, begin, False) if detour else None
        if without:
            begin = problem.bounds.wrapped(without.q)
        found = some.attempt(method, begin, limits)
        if without:
            found.steps += without.steps
        keep_better(problem.robot, best, found, left, start)
        tried, together = tried + count, min(2 * together, most)
        detour = limits
    return best


def polish(problem: Problem, best: Attempt, start: Array, limits: bool, seed: int) -> None:
    """Follow the targets that were not reached patiently down to the nearest place, from where they are and others."""
    points, failed = EvenPoints(problem.bounds, seed), best.failures()
    for some in range(0, len(failed), CROWD):
        if problem.out_of_time():
            return
        left = failed[some : some + CROWD]
        rows = np.repeat(left, DESCENTS)
        begin = points.draw(start[rows])
        begin[::DESCENTS] = best.q[left]
        found = problem.part(rows).attempt(PATIENT, begin, limits)
        # what has come to a standstill once is only made finer
        found.ended = np.where(found.ended == OUT_OF_ITERATIONS, best.ended[rows], found.ended)
        keep_better(problem.robot, best, found, left, start)


def keep_better(robot: Robot, best: Attempt, found: Attempt, left: NDArray[np.intp], start: Array) -> None:
    """Of the new starts for each target keep the success nearest to q0, or else the least cost, if it is less."""
    count = len(left)
    away = robot.difference(start[left, None], found.q.reshape(count, -1, robot.nq)).reshape(len(found.q), -1)
    # success comes first: its score is below that of any failure, whose cost is no less than zero
    nearness = -1.0 / (1.0 + np.sqrt((away * away).sum(axis=1)))
    score = np.where(found.success, nearness, found.cost).reshape(count, -1)
    chosen = np.arange(0, len(found.q), score.shape[1]) + score.argmin(axis=1)
    better = found.success[chosen] | (found.cost[chosen] < best.cost[left])
    best.put(left[better], found.pick(chosen[better]))


def status_of(
    problem: Problem, best: Attempt, start: Array, limits: bool, seed: int, thorough: bool
) -> NDArray[np.str_]:
    """Say what became of each target and, where it was not reached, why.

    Unless the search was thorough, it is not taken at its word: what another one finds within limits was not out of
    reach, and what it finds beyond them was out of limits.
    """
    status = np.empty(len(best.q), dtype=STATUS)
    status[:] = "solved"
    if best.all_right():
        return status
    failed = best.failures()
    ended = best.ended[failed]
    status[failed] = np.where(ended == OUT_OF_ITERATIONS, "budget", "unreachable")
    status[failed[ended == SINGULAR]] = "singular"
    close = failed[best.residual[failed].max(axis=-1) < NEAR_SINGULAR]
    if len(close):
        status[close[_is_singular(problem.jacobian(best.q[close]))]] = "singular"
    if not thorough and not problem.out_of_time():
        second = search(problem.part(failed), METHODS["lm"], start[failed], 4 * MANY, limits, seed + 1)
        missed = failed[second.success]
        status[missed] = np.where(best.ended[missed] == SINGULAR, "singular", "budget")
        failed = failed[~second.success]
    if limits and len(failed) and not problem.out_of_time():
        beyond = search(problem.part(failed), METHODS["lm"], start[failed], MANY, False, seed)
        status[failed[beyond.success]] = "limits"
    if problem.out_of_time():
        status[best.failures()] = "budget"
    return status


def _is_singular(J: Array) -> NDArray[np.bool_]:
    """Tell where Jacobians (n, m, nv) have lost a direction that their joints could have."""
    moving = np.count_nonzero(np.abs(J).max(axis=(0, 1)))
    least = min(J.shape[1], moving)
    return np.asarray(np.linalg.svd(J, compute_uv=False)[:, max(least - 1, 0)] < NEAR_SINGULAR)
