"""Which of many solutions: slides along the self-motion of solved targets, from several starts, to the least cost.

The gradient of a cost is projected onto the motions that keep every target, as in A. Liegeois, "Automatic supervisory
control of the configuration and behavior of multibody mechanisms", 1977; joints at a limit that would be pushed beyond
it are held. After each step the solver goes back to the target, and a step that gains nothing is taken back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.ik.problem import METHODS, Problem
from kinodyn.ik.result import Attempt, joined
from kinodyn.ik.starts import EvenPoints, configuration
from kinodyn.model.robot import Robot

Prefer: TypeAlias = str | Callable[[Array], ArrayLike] | None
NAMES = ("nearest", "posture", "manipulability")
AT_ONCE = 256  # targets, so that memory stays small
FIRST_STEPS, LEADERS, STEPS = 6, 4, 60  # after a few steps only the most promising go on
SMALL = 1e-5  # joint motion that is not worth another step [rad or m]


@dataclass(frozen=True)
class Cost:
    """What should be small: `value` (n,) and `slope` (n, nv) of configurations (n, nq) for the targets `rows` (n,)."""

    value: Callable[[Array, NDArray[np.intp]], Array]
    slope: Callable[[Array, NDArray[np.intp]], Array]
    goal: Array | None = None  # (targets, nq): where it is least of all, if that is known


def cost_of(problem: Problem, prefer: Prefer, posture: ArrayLike | None, start: Array, batch: tuple[int, ...]) -> Cost:
    """Make the cost that a user asked for; what is wrong with the wish raises."""
    if (posture is not None) != (prefer == "posture"):
        raise InputError('posture goes with prefer="posture", and that needs posture=q of shape (..., nq)')
    if prefer == "nearest":
        return _distance(problem.robot, start)
    if prefer == "posture" and posture is not None:
        goal = configuration(problem.robot, posture, "posture")
        if not np.isfinite(goal).all():
            raise InputError("posture has a value that is NaN or infinite; give finite numbers")
        try:
            return _distance(problem.robot, np.broadcast_to(goal, (*batch, problem.robot.nq)).reshape(start.shape))
        except ValueError as cause:
            raise InputError(f"posture has shape {goal.shape}, which does not fit the targets, {batch}") from cause
    if prefer == "manipulability":
        return Cost(lambda q, _: -_manipulability(problem, q), lambda q, _: -_manipulability_slope(problem, q))
    if callable(prefer):
        return _given(problem.robot, prefer)
    raise UnknownNameError(f"unknown preference {prefer!r}; known: {', '.join(NAMES)}, or a function of q (n, nq)")


def improve(
    problem: Problem, best: Attempt, start: Array, cost: Cost, *, restarts: int, limits: bool, seed: int
) -> None:
    """Replace each solution by the one of least cost that can be found for its target, from so many starts more."""
    points, solved = EvenPoints(problem.bounds, seed), best.success.nonzero()[0]
    for begin in range(0, len(solved), AT_ONCE):
        some = solved[begin : begin + AT_ONCE]
        rows = np.concatenate([np.repeat(some, restarts), some])
        found = problem.part(rows).attempt(
            METHODS["auto"], _starts(problem, points, start, rows, some, cost, limits), limits
        )
        # the solutions that there are stay as they are: going again might lose them
        rows, kept = np.concatenate([some, rows]), np.concatenate([np.ones(len(some), dtype=bool), found.success])
        found = joined([best.pick(some), found]).pick(kept.nonzero()[0])
        rows = rows[kept]
        for steps, leaders in ((FIRST_STEPS, LEADERS), (STEPS, 1)):
            value = _slide(problem, found, rows, cost, limits, steps)
            order = _least(value, rows, leaders)
            rows, found = rows[order], found.pick(order)
        best.put(some, found)


def _starts(
    problem: Problem,
    points: EvenPoints,
    start: Array,
    rows: NDArray[np.intp],
    some: NDArray[np.intp],
    cost: Cost,
    limits: bool,
) -> Array:
    """Draw starts for the targets `rows`; for the last ones, `some`, take where the cost is least if that is known."""
    begin = points.draw(start[rows])
    if limits:  # half of them by a detour beyond the limits, as in the search
        far = np.arange(0, len(rows), 2)
        begin[far] = problem.bounds.wrapped(problem.part(rows[far]).attempt(METHODS["auto"], begin[far], False).q)
    if cost.goal is not None:
        begin[-len(some) :] = cost.goal[some]
    return begin


def _least(value: Array, rows: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """List where the `count` least values of each target are, target by target."""
    order = np.lexsort((value, rows))
    first = np.searchsorted(rows[order], rows[order])
    chosen: NDArray[np.intp] = order[np.arange(len(order)) - first < count]
    return chosen


def _slide(problem: Problem, found: Attempt, rows: NDArray[np.intp], cost: Cost, limits: bool, steps: int) -> Array:
    """Slide each solution in `found` to where the cost is least; return the cost (n,)."""
    robot, value, length = problem.robot, cost.value(found.q, rows), np.ones(len(rows))
    active = np.arange(len(rows))
    for _ in range(steps):
        if len(active) == 0 or problem.out_of_time():
            break
        way = -_along_self_motion(problem, found.q[active], cost.slope(found.q[active], rows[active]), limits)
        # not further than a quarter of a radian or metre at a time: the self-motion is curved
        way *= (length[active] / np.maximum(1.0, 4.0 * length[active] * np.abs(way).max(axis=1)))[:, None]
        moving = np.abs(way).max(axis=1) > SMALL
        active, way = active[moving], way[moving]
        tried = robot.integrate(found.q[active], way)
        step = problem.part(rows[active]).attempt(METHODS["auto"], tried, limits)
        new = cost.value(step.q, rows[active])
        better = step.success & (new < value[active])
        gained = active[better]
        step.steps += found.steps[active]
        found.put(gained, step.pick(better.nonzero()[0]))
        value[gained] = new[better]
        length[active] *= np.where(better, 1.5, 0.3)
    return value


def _along_self_motion(problem: Problem, q: Array, slope: Array, limits: bool) -> Array:
    """Project slopes (n, nv) onto velocities that keep every target and push no joint beyond its limit."""
    J = problem.jacobian(q)
    free = np.ones_like(slope)
    for _ in range(3):  # a joint that is let go of may push another one
        JF = J * free[:, None]
        part = slope * free
        way: Array = part - (np.linalg.pinv(JF, rcond=1e-6) @ (JF @ part[..., None]))[..., 0] * free
        blocked = _blocked(problem, q, way) if limits else np.zeros(way.shape, dtype=bool)
        if not (blocked & (free > 0)).any():
            break
        free[blocked] = 0.0
    return way * free


def _blocked(problem: Problem, q: Array, slope: Array) -> NDArray[np.bool_]:
    """Tell which joints (n, nv) stand at a limit that going against the slope would break."""
    bounds, result = problem.bounds, np.zeros(slope.shape, dtype=bool)
    for joint in problem.robot.joints:
        if joint.kind not in ("floating", "ball"):
            x, s = q[:, joint.q], slope[:, joint.v]
            low, high = x <= bounds.near_lower[joint.q], x >= bounds.near_upper[joint.q]
            result[:, joint.v] |= (low & (s > 0)) | (high & (s < 0))
    return result


def _distance(robot: Robot, goal: Array) -> Cost:
    def value(q: Array, rows: NDArray[np.intp]) -> Array:
        away = robot.difference(goal[rows], q)
        return np.asarray(0.5 * (away * away).sum(axis=1))

    def slope(q: Array, rows: NDArray[np.intp]) -> Array:
        return robot.difference(goal[rows], q)

    return Cost(value, slope, goal)


def _manipulability(problem: Problem, q: Array) -> Array:
    """Measure the product of the singular values (n,) of all rows that have weight."""
    return np.asarray(np.linalg.svd(problem.jacobian(q), compute_uv=False).prod(axis=1))


def _manipulability_slope(problem: Problem, q: Array) -> Array:
    """Differentiate the logarithm of it (n, nv): the trace of J^+ dJ/dq_k, with dJ/dq_k the rate of J by joint k."""
    robot, slope = problem.robot, np.zeros((len(q), problem.robot.nv))
    inverse = np.linalg.pinv(problem.jacobian(q), rcond=1e-9)
    moving = np.abs(inverse).max(axis=(0, 2)) > 0
    for k in np.flatnonzero(moving):
        v = np.zeros(robot.nv)
        v[k] = 1.0
        parts = []
        for frame, weights in problem.weights.items():
            rate = kinematics.jacobian_dot(robot, q, v, frame)
            parts.append(weights[weights > 0][:, None] * rate[:, weights > 0])
        slope[:, k] = np.einsum("nij,nji->n", inverse, np.concatenate(parts, axis=1))
    return slope


def _given(robot: Robot, function: Callable[[Array], ArrayLike]) -> Cost:
    """Take a user's function of q (n, nq); its slope is measured by small steps."""

    def value(q: Array, _: NDArray[np.intp]) -> Array:
        result = np.asarray(function(q), dtype=float)
        if result.shape != q.shape[:1] or not np.isfinite(result).all():
            raise InputError(f"prefer must give finite numbers ({len(q)},) for q {q.shape}, got shape {result.shape}")
        return result

    def slope(q: Array, rows: NDArray[np.intp]) -> Array:
        step, result = 1e-5, np.zeros((len(q), robot.nv))
        for k in range(robot.nv):
            v = np.zeros(robot.nv)
            v[k] = step
            ahead, behind = value(robot.integrate(q, v), rows), value(robot.integrate(q, -v), rows)
            result[:, k] = (ahead - behind) / (2 * step)
        return result

    return Cost(value, slope)
