"""From cosines and sines to verified configurations: wrapping, forward kinematics, Newton refinement."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import CosSin, Mask, some, targets_first
from kinodyn.ik.analytic.chain import Chain
from kinodyn.ik.analytic.geometry import tolerance
from kinodyn.model.robot import Robot

RESIDUAL_TOLERANCE = 1e-9  # of solutions,
POSE_ACCURACY = 1e-6  # but of a target that no branch reaches: poses are valid with rotations orthonormal within this
REFINE_ABOVE = 1e-10  # branches with a larger residual take Newton steps,
REFINE_BELOW = 1e-4  # unless it is above this, or far above the tolerance of the geometry: these are not solutions
REFINE_FACTOR = 100.0  # of the tolerance of the geometry
SINGULAR = 1e-6  # of the largest singular value
MAX_STEPS = 60
SLOW, MAX_SLOW_STEPS = 0.9, 5  # a branch whose residual falls no faster in so many steps is not a solution
LEAST_DAMPING = 1e-12
LIMIT_TOLERANCE = 1e-10  # a joint beyond a limit by less than this is set to the limit [rad]
DUPLICATE_TOLERANCE = 2e-7  # two branches at a double root that differ by less are the same [rad]
TWO_PI = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets of one batch, against which its branches are verified."""

    robot: Robot
    frame: str | int
    chain: Chain
    solved: list[int]  # indices of the chain's joints that may be refined
    T: Array  # (n, 4, 4)
    position_only: bool

    @property
    def columns(self) -> list[int]:
        """Indices in v of the joints that may be refined."""
        return [self.robot.joint(self.chain.names[i]).v.start for i in self.solved]

    def part(self, rows: NDArray[np.intp]) -> Targets:
        """Return some of the targets."""
        return replace(self, T=self.T[rows])

    def residual(self, q: Array, T: Array) -> tuple[Array, Array]:
        """Compute poses (m, 4, 4) by forward kinematics and their distances (m,) from T."""
        reached = kinematics.pose(self.robot, q, self.frame)
        gap = reached - T
        if self.position_only:
            gap = gap[..., :3, 3]
        flat = gap.reshape(len(q), -1)
        return reached, np.sqrt(np.einsum("ij,ij->i", flat, flat))


def reaching(residual: Array) -> Mask:
    """Return which branches (n, branches) are solutions.

    A target that no branch reaches exactly may be out of reach by its own rounding errors, where the arm is stretched
    or a joint free: then it is reached within the accuracy of poses.
    """
    exact: Mask = residual <= RESIDUAL_TOLERANCE
    return exact | (~exact.any(axis=-1, keepdims=True) & (residual <= POSE_ACCURACY))


def refine_below() -> float:
    """Return the largest residual of branches that are refined."""
    return max(REFINE_BELOW, REFINE_FACTOR * tolerance())


def wrap(angle: Array, lower: Array | float, upper: Array | float, near: Array | None) -> Array:
    """Add full turns: nearest to `near`, or to 0, among those within the limits; if none is, nearest regardless."""
    if near is not None:
        angle = angle + TWO_PI * np.rint((near - angle) / TWO_PI)
    elif isinstance(lower, float) and lower <= -np.pi and upper >= np.pi:
        return angle  # arctan2 is within +-pi
    low, high = lower - LIMIT_TOLERANCE, upper + LIMIT_TOLERANCE
    if not some((angle < low) | (angle > high)):
        return clipped(angle, lower, upper)
    up = np.ceil(np.maximum(low - angle, 0.0) / TWO_PI)
    down = np.ceil(np.maximum(angle - high, 0.0) / TWO_PI)
    moved = angle + TWO_PI * (up - down)
    return np.where((moved >= low) & (moved <= high), clipped(moved, lower, upper), angle)


def clipped(angle: Array, lower: Array | float, upper: Array | float) -> Array:
    """Clip angles to limits; faster than np.clip for a single target."""
    result: Array = np.minimum(np.maximum(angle, lower), upper)
    return result


def assemble(chain: Chain, angles: list[CosSin], rest: Array, near: Array | None, branches: tuple[int, ...]) -> Array:
    """Assemble configurations (n, number, nq) of all branches; `rest` (n or 1, nq) has the other coordinates."""
    n = np.broadcast_shapes(*(np.shape(angle[0]) for angle in angles))[-1]
    q = np.empty((n, *branches, rest.shape[-1]))
    if rest.shape[-1] > len(angles):
        q[:] = rest.reshape(len(rest), *(1,) * len(branches), -1)
    for i, (c, s) in enumerate(angles):
        at = None if near is None else near[..., i]
        angle = np.asarray(wrap(np.arctan2(s, c), float(chain.lower[i]), float(chain.upper[i]), at))
        angle = angle.reshape(*(1,) * (len(branches) + 1 - angle.ndim), *angle.shape)
        q[..., chain.q_index[i]] = targets_first(angle)
    return q.reshape(n, math.prod(branches), rest.shape[-1])


def outside(chain: Chain, q: Array) -> Mask:
    """Return which joints (..., joints) are outside their limits."""
    alone = chain.q_index == tuple(range(q.shape[-1]))
    solved = q if alone else q[..., list(chain.q_index)]
    return (solved < chain.lower) | (solved > chain.upper)


def refine(targets: Targets, q: Array, near: Array | None, lost: Mask) -> Array:
    """Compute the residual (n, branches) of every branch and refine, in place, those with small rounding errors.

    A Newton step dq = J^+ e with the twist e from the current pose to the target squares the error. Where it does not
    reduce it, near singularities, steps are damped (Levenberg-Marquardt). Branches that are `lost` (n * branches,)
    start from any residual.
    """
    n, branches, nq = q.shape
    flat, of = q.reshape(-1, nq), np.repeat(np.arange(n), branches)
    gap = kinematics.pose(targets.robot, q, targets.frame)
    gap -= targets.T[:, None]
    part = gap[..., :3, 3] if targets.position_only else gap.reshape(n, branches, 16)
    residual: Array = np.sqrt(np.einsum("ijk,ijk->ij", part, part)).reshape(-1)
    below = refine_below()
    off = np.nonzero((residual > REFINE_ABOVE) & ((residual < below) | lost))[0]
    damping, slow = np.zeros(len(flat)), np.zeros(len(flat), dtype=int)
    for _ in range(MAX_STEPS):
        if not len(off):
            break
        T, here = targets.T[of[off]], None if near is None else near[of[off] if len(near) == n else 0]
        better = _step(targets, flat[off], T, here, damping[off])
        after = targets.residual(better, T)[1]
        improved, little = after < residual[off], after > SLOW * residual[off]
        slow[off] = np.where(improved & little, slow[off] + 1, np.where(improved, 0, slow[off]))
        flat[off[improved]], residual[off[improved]] = better[improved], after[improved]
        least = np.maximum(residual[off] ** 2, LEAST_DAMPING)  # in proportion to it, convergence stays quadratic
        damping[off] = np.where(improved, 0.1 * damping[off], np.maximum(10.0 * damping[off], least))
        off = off[(residual[off] > REFINE_ABOVE) & (damping[off] < 1.0) & (slow[off] < MAX_SLOW_STEPS)]
    return residual.reshape(n, branches)


def _step(targets: Targets, q: Array, T: Array, near: Array | None, damping: Array) -> Array:
    """Take a step of the Levenberg-Marquardt method, of Newton's where the damping (n,) is 0."""
    rows = slice(0, 3 if targets.position_only else 6)
    reached = targets.residual(q, T)[0]
    J = kinematics.jacobian(targets.robot, q, targets.frame)[:, rows][:, :, targets.columns]
    rotation = 0.5 * np.cross(reached[:, :3, :3], T[:, :3, :3], axis=1).sum(axis=2)
    error = np.concatenate([T[:, :3, 3] - reached[:, :3, 3], rotation], axis=-1)[:, rows]
    chain, solved = targets.chain, targets.solved
    columns = [chain.q_index[i] for i in solved]
    angles = q[:, columns] + np.clip(_least_squares(J, error, damping), -0.1, 0.1)
    better: Array = q.copy()
    better[:, columns] = wrap(
        angles, chain.lower[solved], chain.upper[solved], angles if near is None else near[..., solved]
    )
    return better


def _least_squares(J: Array, error: Array, damping: Array) -> Array:
    """Return the steps (n, joints) that reduce the errors (n, rows), damped where the damping (n,) is above 0."""
    if (damping >= LEAST_DAMPING).all():  # less would be lost in rounding
        A = J @ np.swapaxes(J, -1, -2)
        A[:, range(A.shape[-1]), range(A.shape[-1])] += damping[:, None]
        return np.asarray(np.einsum("nij,ni->nj", J, np.linalg.solve(A, error[..., None])[..., 0]))
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    # Nearly singular directions are not corrected by Newton steps: a huge one there would leave the branch.
    kept = np.where(s > SINGULAR * s[:, :1], s, 0.0)
    squares = np.maximum(np.where(damping[:, None] > 0, s * s + damping[:, None], kept * kept), 1e-300)
    factor = np.where(damping[:, None] > 0, s, kept) / squares
    steps: Array = np.einsum("nij,ni,nki,nk->nj", Vt, factor, U, error)
    return steps


def duplicates(q: Array, solved: Mask, double: Mask) -> Mask:
    """Return which branches (n, branches) duplicate an earlier solution, at the targets marked in `double` (n,)."""
    again = np.zeros(solved.shape, dtype=bool)
    at = np.nonzero(double)[0]
    if len(at):
        here, ok = q[at], solved[at]
        gap = here[:, :, None] - here[:, None]
        gap -= TWO_PI * np.rint(gap / TWO_PI)
        same = (np.abs(gap).max(axis=-1) < DUPLICATE_TOLERANCE) & ok[:, :, None] & ok[:, None]
        again[at] = np.tril(same, -1).any(axis=-1)
    return again
