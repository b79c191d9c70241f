"""Degenerate solutions of arms of general geometry: double ones, and continua along which a joint is free."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Mask
from kinodyn.ik.analytic.refinement import RESIDUAL_TOLERANCE, TWO_PI, Targets, refine

CLOSE = 1e-3  # solutions nearer than this are the same if the middle between them is a solution [rad],
CLOSE_FACTOR = 10.0  # or than so many times the root of the residual of solutions, which grows squared at a double root
RANK_TOLERANCE = 1e-3  # of the largest singular value; solutions on a continuum are found inexactly
PROBES = (-1e-2, 5e-3, 1e-2)  # steps along a motion that leaves the frame at rest [rad]


def coincident(targets: Targets, q: Array, solved: Mask, within: float = RESIDUAL_TOLERANCE) -> Mask:
    """Return which solutions (n, branches) are an earlier one again: near a double root they are found inexactly.

    `within` is the residual up to which a configuration is a solution.
    """
    close = max(CLOSE, CLOSE_FACTOR * within**0.5)
    again = np.zeros(solved.shape, dtype=bool)
    index = list(targets.chain.q_index)
    for i in range(1, q.shape[1]):
        gap = q[:, :i, index] - q[:, i : i + 1, index]
        gap -= TWO_PI * np.rint(gap / TWO_PI)
        near = (np.abs(gap).max(axis=-1) < close) & solved[:, :i] & solved[:, i : i + 1]
        at, j = np.nonzero(near)
        if len(at):
            middle = q[at, i].copy()
            middle[:, index] += 0.5 * gap[at, j]
            same = targets.residual(middle, targets.T[at])[1] <= within
            again[at[same], i] = True
    return again


def continua(targets: Targets, q: Array, solved: Mask) -> Mask:
    """Return which solutions (n, branches) can be moved while the frame rests."""
    free = np.zeros(solved.shape, dtype=bool)
    at, branch = np.nonzero(solved)
    if not len(at):
        return free
    J = kinematics.jacobian(targets.robot, q[at, branch], targets.frame)[:, :, targets.columns]
    _, s, Vt = np.linalg.svd(J)
    weak = np.nonzero(s[:, -1] < RANK_TOLERANCE * s[:, 0])[0]
    if not len(weak):
        return free
    at, branch, direction = at[weak], branch[weak], Vt[weak, -1]
    free[at, branch] = np.all([_reaches(targets, q[at, branch], at, step * direction) for step in PROBES], axis=0)
    return free


def _reaches(targets: Targets, q: Array, at: NDArray[np.intp], step: Array) -> Mask:
    """Return for which solutions (m, nq) of targets `at` there is another one a step (m, joints) away."""
    index = [targets.chain.q_index[i] for i in targets.solved]
    there = q[:, None].copy()
    there[:, 0, index] += step
    few = Targets(targets.robot, targets.frame, targets.chain, targets.solved, targets.T[at], targets.position_only)
    residual = refine(few, there, None, np.ones(len(at), dtype=bool))[:, 0]
    gap = there[:, 0, index] - q[:, index]
    gap -= TWO_PI * np.rint(gap / TWO_PI) + step
    reached: Mask = np.linalg.norm(gap, axis=-1) < 0.2 * np.linalg.norm(step, axis=-1)
    return reached & (residual <= RESIDUAL_TOLERANCE)
