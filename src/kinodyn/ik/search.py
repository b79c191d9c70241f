"""Multi-start search: the first start, restarts for unsolved targets, a best effort, and the status of each target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.ik.free import Collision
from kinodyn.ik.problem import BEST_EFFORT, METHODS, Method, Problem
from kinodyn.ik.result import COLLIDING, OUT_OF_ITERATIONS, SINGULAR, STATUS, Attempt
from kinodyn.ik.starts import QuasiRandomStarts
from kinodyn.model.robot import Robot

FIRST_STARTS, MAX_STARTS = 4, 16  # starts of an unsolved target that are tried at once: few at first, then more
MAX_BATCH = 1024  # targets times starts in one attempt; exceeded only by more targets
BEST_EFFORT_STARTS = 16  # starts of the descent to the nearest configuration
NEAR_SINGULAR = 1e-3  # smallest singular value of the weighted Jacobian that counts as regular


def search(
    problem: Problem,
    method: Method,
    start: Array,
    restarts: int,
    limits: bool,
    seed: int,
    failed: Attempt | None = None,
) -> Attempt:
    """Solve from `start` (n, nq), then from quasi-random starts for the targets that are not solved.

    `failed` are earlier attempts for a single target.

    After a first round each start first solves without limits and then wraps angles by full turns: solutions in a
    corner of the limits have a small basin of attraction within the limits and a larger one without them.
    """
    if failed is None:
        best, tried = problem.attempt(method, start, limits), 0
    else:
        nearest = int(failed.cost.argmin())
        best, tried = failed.pick(slice(nearest, nearest + 1)), len(failed.q) - 1
    if best.all_solved():
        return best
    first, most = (FIRST_STARTS, MAX_STARTS) if method.in_core else (1, 1)
    points, together, detour = QuasiRandomStarts(problem.space, seed, skip=tried), first, limits and tried > 0
    while tried < restarts:
        unsolved = best.failures()
        if len(unsolved) == 0 or problem.out_of_time():
            break
        count = min(max(1, min(together, MAX_BATCH // len(unsolved))), restarts - tried)
        rows = np.repeat(unsolved, count)
        some, begin = problem.part(rows), points.draw(start[rows])
        unlimited = some.without_collisions().attempt(method, begin, False) if detour else None
        if unlimited:
            begin = problem.space.wrapped(unlimited.q)
        found = some.attempt(method, begin, limits)
        if unlimited:
            found.steps += unlimited.steps
        keep_better(problem.robot, best, found, unsolved, start)
        tried, together = tried + count, min(2 * together, most)
        detour = limits
    return best


def best_effort(problem: Problem, best: Attempt, start: Array, limits: bool, seed: int) -> None:
    """Descend without damping to the nearest configuration of each unsolved target, from its best and other starts."""
    points, failed = QuasiRandomStarts(problem.space, seed), best.failures()
    failed = failed[best.termination[failed] != COLLIDING]
    for some in range(0, len(failed), MAX_BATCH):
        if problem.out_of_time():
            return
        unsolved = failed[some : some + MAX_BATCH]
        rows = np.repeat(unsolved, BEST_EFFORT_STARTS)
        begin = points.draw(start[rows])
        begin[::BEST_EFFORT_STARTS] = best.q[unsolved]
        found = problem.part(rows).attempt(BEST_EFFORT, begin, limits)
        # an attempt that stalled before is only refined here: its termination is kept
        found.termination = np.where(found.termination == OUT_OF_ITERATIONS, best.termination[rows], found.termination)
        keep_better(problem.robot, best, found, unsolved, start)


def keep_better(robot: Robot, best: Attempt, found: Attempt, targets: NDArray[np.intp], start: Array) -> None:
    """Keep for each target the new solution nearest to q0 or, without one, the attempt of least cost."""
    count = len(targets)
    distance = robot.difference(start[targets, None], found.q.reshape(count, -1, robot.nq)).reshape(len(found.q), -1)
    # success scores below any failure, whose cost is at least zero
    nearness = -1.0 / (1.0 + np.sqrt((distance * distance).sum(axis=1)))
    score = np.where(found.success, nearness, found.cost).reshape(count, -1)
    chosen = np.arange(0, len(found.q), score.shape[1]) + score.argmin(axis=1)
    better = found.success[chosen] | (found.cost[chosen] < best.cost[targets])
    best.put(targets[better], found.pick(chosen[better]))


def decide_collisions(problem: Problem, best: Attempt, start: Array, limits: bool) -> dict[int, Collision]:
    """Accept solutions whose exact shapes are collision-free although spheres touch; return the other collisions."""
    found: dict[int, Collision] = {}
    if problem.free is None:
        return found
    for target in best.failures()[best.termination[best.failures()] == COLLIDING]:
        q, collision = problem.free.decide(int(target), start[target])
        rows = np.array([target])
        decided = problem.part(rows).without_collisions().verify(q[None], best.steps[rows], limits)
        if collision is not None:
            found[int(target)] = collision
            decided.success[:], decided.termination[:] = False, COLLIDING
        best.put(rows, decided)
    return found


def status_of(
    problem: Problem, best: Attempt, start: Array, limits: bool, seed: int, thorough: bool
) -> NDArray[np.str_]:
    """Determine the status of each target.

    If another method was used, the search is repeated with "lm": a target that this solves is not unreachable. One that
    is solved only without limits has the status "limits".
    """
    status = np.empty(len(best.q), dtype=STATUS)
    status[:] = "solved"
    if best.all_solved():
        return status
    failed = best.failures()
    termination = best.termination[failed]
    status[failed] = np.where(termination == OUT_OF_ITERATIONS, "budget", "unreachable")
    status[failed[termination == SINGULAR]] = "singular"
    status[failed[termination == COLLIDING]] = "collision"
    problem, failed = problem.without_collisions(), failed[termination != COLLIDING]
    close = failed[best.residual[failed].max(axis=-1) < NEAR_SINGULAR]
    if len(close):
        status[close[_is_singular(problem.jacobian(best.q[close], problem.space.dofs))]] = "singular"
    if not thorough and len(failed) and not problem.out_of_time():
        second = search(problem.part(failed), METHODS["lm"], start[failed], 4 * MAX_STARTS, limits, seed + 1)
        missed = failed[second.success]
        status[missed] = np.where(best.termination[missed] == SINGULAR, "singular", "budget")
        failed = failed[~second.success]
    if limits and len(failed) and not problem.out_of_time():
        beyond = search(problem.part(failed), METHODS["lm"], start[failed], MAX_STARTS, False, seed)
        status[failed[beyond.success]] = "limits"
    if problem.out_of_time():
        status[(status != "solved") & (status != "collision")] = "budget"
    return status


def _is_singular(J: Array) -> NDArray[np.bool_]:
    """Return where Jacobians (n, m, dofs) have less than the generic rank."""
    moving = np.count_nonzero(np.abs(J).max(axis=(0, 1)))
    rank = min(J.shape[1], moving)
    if rank == 0:
        return np.zeros(len(J), dtype=bool)
    return np.asarray(np.linalg.svd(J, compute_uv=False)[:, rank - 1] < NEAR_SINGULAR)
