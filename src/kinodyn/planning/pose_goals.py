"""Configurations for goals that are poses of frames: batches of inverse kinematics, until some are free."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.problem import METHODS, Problem
from kinodyn.ik.result import Attempt, joined
from kinodyn.ik.solve import solve
from kinodyn.ik.starts import QuasiRandomStarts
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.planning.regions import PoseRegion, draw

IsFree = Callable[[Array], NDArray[np.bool_]]

FIRST_ATTEMPTS, MAX_ATTEMPTS = 32, 512  # attempts of inverse kinematics at once: few at first, then more
MIN_ATTEMPTS, ATTEMPTS_PER_POSE = 1024, 8  # after which the search for free configurations ends
SUFFICIENT_GOALS = 4  # free configurations that end the search
MAX_CONFIGURATIONS = 64
TOLERANCE = 1e-6  # [m, rad] of inverse kinematics
THOROUGH_POSES = 16  # poses that are searched thoroughly if no configuration reaches any


def pose_configurations(
    robot: Robot,
    goal: Mapping[str, ArrayLike | PoseRegion],
    start: Array,
    joints: Sequence[JointInfo],
    is_free: IsFree | None,
    end: float,
    seed: int,
) -> tuple[Array, str]:
    """Return configurations (n, nq) that reach poses, free ones if there are any, and the reason if there are none.

    Parameters
    ----------
    robot
    goal
        Poses (..., 4, 4) or regions by frame. Alternatives for several frames are paired by index.
    start : (nq,)
        The first start of the search, and the position of joints that do not move.
    joints
        Those that move.
    is_free
        Returns which configurations (n, nq) are free; None to accept all.
    end
        Deadline on the clock of `time.perf_counter` [s].
    seed
        Seed of the random number generator.
    """
    regions = goal_regions(goal)
    names = tuple(joint.name for joint in joints)
    rng, found, free, done = np.random.default_rng(seed), list[Attempt](), 0, 0
    alternatives = max(region.pose.size // 16 for region in regions.values())
    count, begin = FIRST_ATTEMPTS, time.perf_counter()
    while free < SUFFICIENT_GOALS or done < min(alternatives, MAX_ATTEMPTS):
        now = time.perf_counter()
        if done and np.isfinite(end):
            count = min(count, int((end - now) / (now - begin) * done))  # as many as there is time for
        if count < 1 or done >= max(MIN_ATTEMPTS, ATTEMPTS_PER_POSE * alternatives):
            break
        targets = {frame: draw(region, np.arange(done, done + count), rng) for frame, region in regions.items()}
        found.append(_attempt(robot, targets, start, names, rng, detour=len(found) % 2 == 1))
        q = found[-1].q[found[-1].success]
        free += int(np.count_nonzero(is_free(q))) if is_free is not None and len(q) else len(q)
        done, count = done + count, min(2 * count, MAX_ATTEMPTS)
    every = joined(found) if len(found) > 1 else found[0]
    if not every.success.any():
        return _nearest(robot, regions, every, names, end)
    q = every.q[every.success]
    order = np.linalg.norm(q - start, axis=1).argsort()
    if not free:
        return q[order], ""  # all of them: some may be free on the exact shapes
    order = order if is_free is None else order[is_free(q[order])]
    return q[order[:MAX_CONFIGURATIONS]], ""


def goal_regions(goal: Mapping[str, ArrayLike | PoseRegion]) -> dict[str, PoseRegion]:
    """Return the regions of a goal by frame; poses are regions of no extent."""
    regions = {frame: T if isinstance(T, PoseRegion) else _exact(frame, T) for frame, T in goal.items()}
    _require_pairs(regions)
    return regions


def _attempt(
    robot: Robot,
    targets: Mapping[str, Array],
    start: Array,
    joints: tuple[str, ...],
    rng: np.random.Generator,
    detour: bool,
) -> Attempt:
    """Solve for poses (n, 4, 4) of each frame, from one start each, the first of them `start` (nq,).

    Solutions in a corner of the limits have a larger basin of attraction beyond the limits, so the solver first
    ignores the limits.
    """
    problem = Problem(robot, cast(Mapping[str, ArrayLike], targets), None, False, TOLERANCE, joints)
    count = len(next(iter(targets.values())))
    starts = QuasiRandomStarts(problem.space, int(rng.integers(2**31))).draw(np.tile(start, (count, 1)))
    starts[0] = start
    _, rows = problem.flatten(starts)
    if detour:
        rows = problem.space.wrapped(problem.attempt(METHODS["lm"], rows, False).q)
    return problem.attempt(METHODS["lm"], rows, True)


def _nearest(
    robot: Robot, regions: Mapping[str, PoseRegion], every: Attempt, joints: tuple[str, ...], end: float
) -> tuple[Array, str]:
    """Search thoroughly from the nearest configurations found; return solutions, or the residual of the goal."""
    nearest = int(every.cost.argmin())
    residual, left = every.residual[nearest], end - time.perf_counter()
    if left > 0:
        exact = max(region.pose.size // 16 for region in regions.values())
        count = (
            THOROUGH_POSES if not all(region.is_exact for region in regions.values()) else min(exact, THOROUGH_POSES)
        )
        rng, rows = np.random.default_rng(0), np.arange(count)
        targets = {frame: draw(region, rows, rng) for frame, region in regions.items()}
        found = solve(
            robot,
            cast(Mapping[str, ArrayLike], targets),
            every.q[nearest],
            joints=joints,
            time_limit=left if np.isfinite(left) else None,
        )
        if found.success.any():
            return found.q[found.success], ""
        best = found.residual[found.residual.sum(axis=-1).argmin()]
        residual = best if best.sum() < residual.sum() else residual
    reason = f"no configuration reaches the goal: {1e3 * residual[0]:.3g} mm and {residual[1]:.3g} rad are left"
    return every.q[:0], reason


def _exact(frame: str, T: ArrayLike) -> PoseRegion:
    try:
        return PoseRegion(cast(Array, T))
    except InputError as cause:
        raise InputError(f"goal of {frame}: {cause}") from cause


def _require_pairs(regions: Mapping[str, PoseRegion]) -> None:
    counts = {frame: region.pose.size // 16 for frame, region in regions.items()}
    if len(set(counts.values()) - {1}) > 1:
        raise InputError(f"goal has different numbers of poses, {counts}; give as many for each frame, or one")
