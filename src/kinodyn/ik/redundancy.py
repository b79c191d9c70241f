"""Redundancy resolution: minimise a cost along the self-motion of solved targets, from several starts.

The gradient of a cost is projected onto the null space of the targets, as in A. Liegeois, "Automatic supervisory
control of the configuration and behavior of multibody mechanisms", 1977; joints at a limit that a step would violate
are fixed. After each step the solver returns to the targets, and a step without improvement is rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import vector
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.ik.problem import METHODS, Problem
from kinodyn.ik.result import Attempt, joined
from kinodyn.ik.starts import QuasiRandomStarts, configuration
from kinodyn.model.robot import Robot

Prefer: TypeAlias = str | Callable[[Array], ArrayLike] | None
NAMES = ("nearest", "posture", "manipulability")
BATCH = 256  # targets solved at once, which bounds the memory
FIRST_STEPS, LEADERS, STEPS = 6, 4, 60  # after a few steps only the best candidates continue
MIN_STEP = 1e-5  # joint motion below which the descent ends [rad or m]


@dataclass(frozen=True)
class Cost:
    """A cost: `value` (n,) and `gradient` (n, nv) of configurations (n, nq) for the targets `rows` (n,)."""

    value: Callable[[Array, NDArray[np.intp]], Array]
    gradient: Callable[[Array, NDArray[np.intp]], Array]
    goal: Array | None = None  # (targets, nq): its minimum, if that is known


def cost_of(problem: Problem, prefer: Prefer, posture: ArrayLike | None, start: Array, batch: tuple[int, ...]) -> Cost:
    """Return the cost of a preference, checked."""
    if (posture is not None) != (prefer == "posture"):
        raise InputError('prefer="posture" and posture=q of shape (..., nq) must be given together')
    if prefer == "nearest":
        return _distance(problem.robot, start)
    if prefer == "posture" and posture is not None:
        goal = configuration(problem.robot, posture, "posture")
        if not np.isfinite(goal).all():
            raise InputError("posture must be finite, got a value that is NaN or infinite")
        try:
            return _distance(problem.robot, np.broadcast_to(goal, (*batch, problem.robot.nq)).reshape(start.shape))
        except ValueError as cause:
            raise InputError(
                f"posture has shape {goal.shape}, which does not broadcast with the batch shape {batch} of the targets"
            ) from cause
    if prefer == "manipulability":
        return Cost(lambda q, _: -_manipulability(problem, q), lambda q, _: -_manipulability_gradient(problem, q))
    if callable(prefer):
        return _given(problem, prefer)
    raise UnknownNameError(f"unknown preference {prefer!r}; known: {', '.join(NAMES)}, or a function of q (n, nq)")


def improve(
    problem: Problem, best: Attempt, start: Array, cost: Cost, *, restarts: int, limits: bool, seed: int
) -> None:
    """Replace each solution by the one of least cost found for its target from additional starts."""
    points, solved = QuasiRandomStarts(problem.space, seed), best.success.nonzero()[0]
    for begin in range(0, len(solved), BATCH):
        some = solved[begin : begin + BATCH]
        rows = np.concatenate([np.repeat(some, restarts), some])
        found = problem.part(rows).attempt(
            METHODS["auto"], _starts(problem, points, start, rows, some, cost, limits), limits
        )
        # the current solutions remain candidates: solving again might lose them
        rows, kept = np.concatenate([some, rows]), np.concatenate([np.ones(len(some), dtype=bool), found.success])
        found = joined([best.pick(some), found]).pick(kept.nonzero()[0])
        rows = rows[kept]
        for steps, leaders in ((FIRST_STEPS, LEADERS), (STEPS, 1)):
            value = _descend(problem, found, rows, cost, limits, steps)
            order = _lowest(value, rows, leaders)
            rows, found = rows[order], found.pick(order)
        best.put(some, found)


def _starts(
    problem: Problem,
    points: QuasiRandomStarts,
    start: Array,
    rows: NDArray[np.intp],
    some: NDArray[np.intp],
    cost: Cost,
    limits: bool,
) -> Array:
    """Draw starts for the targets `rows`; those for `some`, at the end, are the minimum of the cost if it is known."""
    begin = points.draw(start[rows])
    if limits:  # half of them are solved without limits first, as in the search
        far = np.arange(0, len(rows), 2)
        begin[far] = problem.space.wrapped(problem.part(rows[far]).attempt(METHODS["auto"], begin[far], False).q)
    if cost.goal is not None:
        begin[-len(some) :] = cost.goal[some]
        begin[-len(some) :, problem.space.locked] = start[some][:, problem.space.locked]
    return begin


def _lowest(value: Array, rows: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return the indices of the `count` lowest values of each target, target by target."""
    order = np.lexsort((value, rows))
    first = np.searchsorted(rows[order], rows[order])
    chosen: NDArray[np.intp] = order[np.arange(len(order)) - first < count]
    return chosen


def _descend(problem: Problem, found: Attempt, rows: NDArray[np.intp], cost: Cost, limits: bool, steps: int) -> Array:
    """Descend along the self-motion from each solution in `found`, in place; return the cost (n,)."""
    robot, value, length = problem.robot, cost.value(found.q, rows), np.ones(len(rows))
    active = np.arange(len(rows))
    for _ in range(steps):
        if len(active) == 0 or problem.out_of_time():
            break
        step = -_project_to_null_space(problem, found.q[active], cost.gradient(found.q[active], rows[active]), limits)
        # at most a quarter of a radian or metre at a time: the self-motion is curved
        step *= (length[active] / np.maximum(1.0, 4.0 * length[active] * np.abs(step).max(axis=1)))[:, None]
        moving = np.abs(step).max(axis=1) > MIN_STEP
        active, step = active[moving], step[moving]
        tried = problem.space.integrate(robot, found.q[active], step)
        corrected = problem.part(rows[active]).attempt(METHODS["auto"], tried, limits)
        new = cost.value(corrected.q, rows[active])
        better = corrected.success & (new < value[active])
        improved = active[better]
        corrected.steps += found.steps[active]
        found.put(improved, corrected.pick(better.nonzero()[0]))
        value[improved] = new[better]
        length[active] *= np.where(better, 1.5, 0.3)
    return value


def _project_to_null_space(problem: Problem, q: Array, gradient: Array, limits: bool) -> Array:
    """Project gradients (n, nv) onto velocities that preserve every target and move no joint beyond its limit."""
    chosen, step = problem.space.chosen, np.zeros_like(gradient)
    J, gradient = problem.jacobian(q, chosen), gradient[:, chosen]
    free = np.ones_like(gradient)
    for _ in range(3):  # fixing one joint may push another beyond its limit
        JF = J * free[:, None]
        part = gradient * free
        projected: Array = part - (np.linalg.pinv(JF, rcond=1e-6) @ (JF @ part[..., None]))[..., 0] * free
        blocked = _blocked(problem, q, projected) if limits else np.zeros(projected.shape, dtype=bool)
        if not (blocked & (free > 0)).any():
            break
        free[blocked] = 0.0
    step[:, chosen] = projected * free
    return step


def _blocked(problem: Problem, q: Array, gradient: Array) -> NDArray[np.bool_]:
    """Return which chosen joints (n, chosen) are at a limit that a step against the gradient would violate."""
    space, at = problem.space, np.zeros((2, len(q), problem.robot.nv), dtype=bool)
    for joint in problem.robot.joints:
        if joint.kind not in ("floating", "ball"):
            at[0, :, joint.v] = q[:, joint.q] <= space.near_lower[joint.q]
            at[1, :, joint.v] = q[:, joint.q] >= space.near_upper[joint.q]
    low, high = at[..., space.chosen]
    return np.asarray((low & (gradient > 0)) | (high & (gradient < 0)))


def _distance(robot: Robot, goal: Array) -> Cost:
    def value(q: Array, rows: NDArray[np.intp]) -> Array:
        distance = robot.difference(goal[rows], q)
        return np.asarray(0.5 * (distance * distance).sum(axis=1))

    def gradient(q: Array, rows: NDArray[np.intp]) -> Array:
        return robot.difference(goal[rows], q)

    return Cost(value, gradient, goal)


def _manipulability(problem: Problem, q: Array) -> Array:
    """Compute the product of the singular values (n,) of the weighted Jacobian."""
    return np.asarray(np.linalg.svd(problem.jacobian(q, problem.space.dofs), compute_uv=False).prod(axis=1))


def _manipulability_gradient(problem: Problem, q: Array) -> Array:
    """Compute the gradient (n, nv) of the logarithm of the manipulability: the trace of J^+ dJ/dq_k."""
    robot, gradient = problem.robot, np.zeros((len(q), problem.robot.nv))
    dofs = problem.space.dofs
    inverse = np.linalg.pinv(problem.jacobian(q, dofs), rcond=1e-9)
    moving = np.abs(inverse).max(axis=(0, 2)) > 0
    for k in dofs[moving]:
        v = np.zeros(robot.nv)
        v[k] = 1.0
        parts = []
        for frame, weights in problem.weights.items():
            rate = kinematics.jacobian_dot(robot, q, v, frame)
            parts.append(weights[weights > 0][:, None] * rate[:, weights > 0])
        gradient[:, k] = np.einsum("nij,nji->n", inverse, np.concatenate(parts, axis=1)[..., dofs])
    return gradient


def _given(problem: Problem, function: Callable[[Array], ArrayLike]) -> Cost:
    """Return the cost of a user's function of q (n, nq); its gradient comes from central differences."""

    def value(q: Array, _: NDArray[np.intp]) -> Array:
        return vector(f"the result of prefer for q {q.shape}", function(q), len(q))

    def gradient(q: Array, rows: NDArray[np.intp]) -> Array:
        robot, step = problem.robot, 1e-5
        result = np.zeros((len(q), robot.nv))
        for k in problem.space.chosen:
            v = np.zeros(robot.nv)
            v[k] = step
            ahead, behind = value(robot.integrate(q, v), rows), value(robot.integrate(q, -v), rows)
            result[:, k] = (ahead - behind) / (2 * step)
        return result

    return Cost(value, gradient)
