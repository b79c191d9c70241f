"""From cosines and sines to configurations that are known to reach: wrapping, forward kinematics, polishing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Mask, Turn, some, targets_first
from kinodyn.ik.analytic.chain import Chain
from kinodyn.model.robot import Robot

CLOSES = 1e-9  # what every returned branch keeps
POLISH = 1e-10  # branches that close worse take Newton steps,
WORTHWHILE = 1e-4  # those that miss by more than this are no solutions
SLACK = 1e-10  # a joint this far outside a limit [rad] is put on it
SAME = 2e-7  # branches nearer to each other than this [rad] at a double root are one
TAU = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class Goal:
    """What the branches of one batch are held against."""

    robot: Robot
    frame: str | int
    chain: Chain
    solved: list[int]  # numbers of the chain's joints that may be polished
    T: Array  # (n, 4, 4)
    position_only: bool

    def miss(self, q: Array, T: Array) -> tuple[Array, Array]:
        """Measure by forward kinematics: poses (m, 4, 4) and their distances (m,) from T."""
        reached = kinematics.pose(self.robot, q, self.frame)
        gap = reached - T
        if self.position_only:
            gap = gap[..., :3, 3]
        flat = gap.reshape(len(q), -1)
        return reached, np.sqrt(np.einsum("ij,ij->i", flat, flat))


def wrap(angle: Array, lower: float, upper: float, near: Array | None) -> Array:
    """Add whole turns: nearest to `near`, or to 0, among those within the limits; where none is, nearest alone."""
    if near is not None:
        angle = angle + TAU * np.rint((near - angle) / TAU)
    elif lower <= -np.pi and upper >= np.pi:
        return angle  # as it comes from the arc tangent
    low, high = lower - SLACK, upper + SLACK
    if not some((angle < low) | (angle > high)):
        return between(angle, lower, upper)
    turns = np.ceil(np.maximum(low - angle, 0.0) / TAU) if np.isfinite(low) else 0.0
    back = np.ceil(np.maximum(angle - high, 0.0) / TAU) if np.isfinite(high) else 0.0
    moved = angle + TAU * (turns - back)
    return np.where((moved >= low) & (moved <= high), between(moved, lower, upper), angle)


def between(angle: Array, lower: float, upper: float) -> Array:
    """Keep angles within limits."""
    kept: Array = np.minimum(np.maximum(angle, lower), upper)
    return kept


def assemble(chain: Chain, turns: list[Turn], rest: Array, near: Array | None, depth: int) -> Array:
    """Write the angles of all branches into configurations (n, 2^depth, nq); `rest` (n or 1, nq) gives the others."""
    n = np.broadcast_shapes(*(np.shape(turn[0]) for turn in turns))[-1]
    q = np.empty((n, *(2,) * depth, rest.shape[-1]))
    if rest.shape[-1] > len(turns):
        q[:] = rest.reshape(len(rest), *(1,) * depth, -1)
    for i, (c, s) in enumerate(turns):
        at = None if near is None else near[..., i]
        angle = np.asarray(wrap(np.arctan2(s, c), float(chain.lower[i]), float(chain.upper[i]), at))
        angle = angle.reshape(*(1,) * (depth + 1 - angle.ndim), *angle.shape)
        q[..., chain.places[i]] = targets_first(angle)
    return q.reshape(n, 2**depth, rest.shape[-1])


def outside(chain: Chain, q: Array) -> Mask:
    """Tell which joints (..., joints) stand outside their limits."""
    alone = chain.places == tuple(range(q.shape[-1]))
    solved = q if alone else q[..., list(chain.places)]
    return (solved < chain.lower) | (solved > chain.upper)


def close(goal: Goal, q: Array, near: Array | None) -> Array:
    """Measure the residual (n, branches) of every branch and polish, in place, those that rounding left a little off.

    A Newton step dq = J^+ e with the twist e from the pose reached to the target leaves the square of the error.
    """
    n, branches, nq = q.shape
    flat, of = q.reshape(-1, nq), np.repeat(np.arange(n), branches)
    gap = kinematics.pose(goal.robot, q, goal.frame)
    gap -= goal.T[:, None]
    part = gap[..., :3, 3] if goal.position_only else gap.reshape(n, branches, 16)
    residual: Array = np.sqrt(np.einsum("ijk,ijk->ij", part, part)).reshape(-1)
    off = np.nonzero((residual > POLISH) & (residual < WORTHWHILE))[0]
    while len(off):
        T = goal.T[of[off]]
        better = _newton(goal, flat[off], T, None if near is None else near[of[off] if len(near) == n else 0])
        after = goal.miss(better, T)[1]
        gain = after < 0.5 * residual[off]  # an honest Newton step gains far more; where there is none, none helps
        flat[off[gain]], residual[off[gain]] = better[gain], after[gain]
        off = off[gain & (after > POLISH)]
    return residual.reshape(n, branches)


def _newton(goal: Goal, q: Array, T: Array, near: Array | None) -> Array:
    rows = slice(0, 3 if goal.position_only else 6)
    reached = goal.miss(q, T)[0]
    columns = [goal.robot.joint(goal.chain.names[i]).v.start for i in goal.solved]
    J = kinematics.jacobian(goal.robot, q, goal.frame)[:, rows][:, :, columns]
    turning = 0.5 * np.cross(reached[:, :3, :3], T[:, :3, :3], axis=1).sum(axis=2)
    error = np.concatenate([T[:, :3, 3] - reached[:, :3, 3], turning], axis=-1)[:, rows]
    # Directions that the arm has all but lost are left alone: a huge step there would leave the branch.
    step = (np.linalg.pinv(J, rcond=1e-6) @ error[..., None])[..., 0]
    better: Array = q.copy()
    for j, i in enumerate(goal.solved):
        place, low, high = goal.chain.places[i], float(goal.chain.lower[i]), float(goal.chain.upper[i])
        angle = q[:, place] + np.clip(step[:, j], -0.1, 0.1)
        better[:, place] = wrap(angle, low, high, angle if near is None else near[..., i])
    return better


def repeated(q: Array, closes: Mask, double: Mask) -> Mask:
    """Tell which branches (n, branches) repeat an earlier one that closes, at the targets where `double` (n,)."""
    again = np.zeros(closes.shape, dtype=bool)
    at = np.nonzero(double)[0]
    if len(at):
        here, ok = q[at], closes[at]
        gap = here[:, :, None] - here[:, None]
        gap -= TAU * np.rint(gap / TAU)
        same = (np.abs(gap).max(axis=-1) < SAME) & ok[:, :, None] & ok[:, None]
        again[at] = np.tril(same, -1).any(axis=-1)
    return again
