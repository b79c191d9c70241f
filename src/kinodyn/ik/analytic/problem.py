"""One batch of targets, solved, checked and judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Mask, Motion, Turn, some, targets_first
from kinodyn.ik.analytic.chain import Chain
from kinodyn.ik.analytic.closing import CLOSES, Goal, assemble, close, outside, repeated
from kinodyn.ik.analytic.planar import Planar2R
from kinodyn.ik.analytic.redundant import SevenJoints
from kinodyn.ik.analytic.result import LIMITS, SINGULAR, SOLVED, UNREACHABLE, AnalyticSolutions
from kinodyn.ik.analytic.six import Solver
from kinodyn.ik.analytic.subproblems import Notes
from kinodyn.model.robot import Robot

NAMES = np.array([UNREACHABLE, LIMITS, SOLVED, SINGULAR])


@dataclass(frozen=True, eq=False)
class Problem:
    """Targets (n, 4, 4) in one row, values (n, k) of the joint that is given, and the geometry that solves them.

    `batch` is the shape that the n targets of the answer get.
    """

    robot: Robot
    frame: str | int
    chain: Chain
    solver: Solver | SevenJoints
    batch: tuple[int, ...]
    T: Array
    swept: Array

    def solve(self, start: Array, *, given: bool, limits: bool, clamp: bool) -> AnalyticSolutions:
        """Solve from the start configurations (n or 1, nq), which count as near where `given`."""
        T, clamped = self._within_reach() if clamp else (self.T, np.zeros(len(self.T), dtype=bool))
        k = self.swept.shape[-1]
        rest = np.repeat(start, k, axis=0) if len(start) > 1 else start
        near = rest[:, list(self.chain.places)] if given else None
        free = np.zeros((len(self.chain.axes), 1)) if near is None else near.T
        notes = Notes(self.chain.size, list(free))
        goal = self._goal(np.repeat(T, k, axis=0) if k > 1 else T)
        turns = self._turns(self._tame(goal.T) @ self.chain.T_zero_inverse, notes)
        q = assemble(self.chain, turns, rest, near, self.solver.depth)
        if isinstance(self.solver, SevenJoints):  # as it was told, whole turns and all
            q[..., self.chain.places[self.solver.given]] = self.swept.reshape(-1, 1)
        residual = close(goal, q, near)
        return self._judge(q, residual, notes, limits, clamped)

    def _tame(self, T: Array) -> Array:
        """Bring targets far beyond reach nearer, still beyond it: their squares of squares would overflow."""
        far = 1e3 * self.chain.extent
        if not some(np.abs(T[:, :3, 3]) > far):
            return T
        T = T.copy()
        T[:, :3, 3] = np.clip(T[:, :3, 3], -far, far)
        return T

    def _turns(self, G: Array, notes: Notes) -> list[Turn]:
        if isinstance(self.solver, SevenJoints):
            return self.solver.solve(G, self.swept.reshape(-1), notes)
        return self.solver.solve(Motion.of(G), notes)

    def _goal(self, T: Array) -> Goal:
        told = self.solver.given if isinstance(self.solver, SevenJoints) else None
        solved = [i for i in range(len(self.chain.axes)) if i != told]
        return Goal(self.robot, self.frame, self.chain, solved, T, self.solver.position_only)

    def _judge(self, q: Array, residual: Array, notes: Notes, limits: bool, clamped: Mask) -> AnalyticSolutions:
        n, k = len(self.T), self.swept.shape[-1]
        shape = (*(2,) * self.solver.depth, n * k)
        closes = residual <= CLOSES
        # In branches that reach nothing the joints are clamped, which would look like a singularity.
        singular = targets_first(_any(notes.singular, shape)).reshape(closes.shape) & closes
        own = closes
        if notes.singular or notes.double:
            double = targets_first(_any(notes.double, shape)).reshape(closes.shape)
            where = np.asarray((double | singular).any(axis=-1))
            own = closes & ~repeated(q[..., list(self.chain.places)], closes, where)
        broken = outside(self.chain, q) if limits else np.zeros((*closes.shape, len(self.chain.axes)), dtype=bool)
        valid = own & ~broken.any(axis=-1)
        q[~closes] = np.nan
        each = closes.shape[1] * k  # the swept values make more branches of one target
        status = _status(valid.reshape(n, each), closes.reshape(n, each), singular.reshape(n, each))
        branches = (*self.batch, each)
        return AnalyticSolutions(
            q=q.reshape(*branches, self.robot.nq),
            valid=valid.reshape(branches),
            singular=singular.reshape(branches),
            residual=residual.reshape(branches),
            status=status.reshape(self.batch),
            clamped=clamped.reshape(self.batch),
            family=self.solver.family,
            joints=self.chain.names,
            broken=broken.reshape(*branches, len(self.chain.axes)),
            places=self.chain.places,
        )

    def _within_reach(self) -> tuple[Array, Mask]:
        assert isinstance(self.solver, Planar2R)
        p = self.T[:, :3, 3]
        T = self.T.copy()
        T[:, :3, 3] = self.solver.clamp(p)
        return T, np.linalg.norm(T[:, :3, 3] - p, axis=-1) > CLOSES


def _any(masks: list[Mask], shape: tuple[int, ...]) -> Mask:
    """Tell where any of the masks, given for some or all branches, is true."""
    whole = np.zeros(shape, dtype=bool)
    for mask in masks:
        whole |= mask
    return whole


def _status(valid: Mask, closes: Mask, singular: Mask) -> NDArray[np.str_]:
    found, free = valid.any(axis=-1), (valid & singular).any(axis=-1)
    return NAMES[np.where(found, np.where(free, 3, 2), np.where(closes.any(axis=-1), 1, 0))]
