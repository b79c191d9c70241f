"""A batch of targets: solving, refinement and verification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import CosSin, Mask, Motion, some, targets_first
from kinodyn.ik.analytic.chain import Chain
from kinodyn.ik.analytic.degenerate import coincident, continua
from kinodyn.ik.analytic.general import GeneralJoints
from kinodyn.ik.analytic.planar import Planar2R
from kinodyn.ik.analytic.redundant import SevenJoints
from kinodyn.ik.analytic.refinement import (
    POSE_ACCURACY,
    RESIDUAL_TOLERANCE,
    Targets,
    assemble,
    duplicates,
    outside,
    reaching,
    refine,
)
from kinodyn.ik.analytic.result import LIMITS, SINGULAR, SOLVED, UNREACHABLE, AnalyticSolutions
from kinodyn.ik.analytic.single import Plan
from kinodyn.ik.analytic.six import Solver
from kinodyn.ik.analytic.subproblems import FREE_JOINT_TOLERANCE, NEARLY_FREE, Degeneracies
from kinodyn.model.robot import Robot

NAMES = np.array([UNREACHABLE, LIMITS, SOLVED, SINGULAR])
UNREACHABLE_CODE, LIMITS_CODE, SOLVED_CODE, SINGULAR_CODE = range(4)


@dataclass(frozen=True, eq=False)
class Branches:
    """Branches of m targets: configurations (m, number, nq), residuals, where a joint is free, which are duplicates."""

    q: Array
    residual: Array
    singular: Mask
    again: Mask

    def part(self, rows: Mask) -> Branches:
        """Return the branches of some targets."""
        return Branches(self.q[rows], self.residual[rows], self.singular[rows], self.again[rows])

    def put(self, rows: NDArray[np.intp], other: Branches) -> None:
        """Replace the branches of some targets."""
        self.q[rows], self.residual[rows] = other.q, other.residual
        self.singular[rows], self.again[rows] = other.singular, other.again


@dataclass(frozen=True, eq=False)
class Problem:
    """Targets (n, 4, 4), values (n, k) of the redundant joint, and the recognised geometry.

    `plan` is for targets that the core solves, `batch` the shape of the n targets in the result.
    """

    robot: Robot
    frame: str | int
    chain: Chain
    solver: Solver | SevenJoints | GeneralJoints
    plan: Plan | None
    batch: tuple[int, ...]
    T: Array
    swept: Array

    def solve(self, start: Array, *, given: bool, limits: bool, clamp: bool) -> AnalyticSolutions:
        """Solve with the current configurations (n or 1, nq), near which angles are wrapped if `given`."""
        T, clamped = self._clamped() if clamp else (self.T, np.zeros(len(self.T), dtype=bool))
        k = self.swept.shape[-1]
        rest = np.repeat(start, k, axis=0) if len(start) > 1 else start
        targets = self._targets(np.repeat(T, k, axis=0) if k > 1 else T)
        found = self._branches(targets, rest, self.swept.reshape(-1), given)
        self._mark_inexact(found, targets)
        return self._result(found, limits, clamped)

    def _mark_inexact(self, found: Branches, targets: Targets) -> None:
        """Mark duplicates of targets that are reached within the accuracy of poses only: branches meet there."""
        solved = reaching(found.residual)
        rows = np.nonzero(solved.any(axis=-1) & (found.residual > RESIDUAL_TOLERANCE).all(axis=-1))[0]
        if len(rows):
            found.again[rows] = coincident(targets.part(rows), found.q[rows], solved[rows], POSE_ACCURACY)

    def _branches(self, targets: Targets, rest: Array, swept: Array, given: bool) -> Branches:
        """Solve in the core, and targets (m, 4, 4) that it leaves out by the subproblems."""
        if self.plan is None:
            return self._by_subproblems(targets, rest, swept, given)
        if self.given is not None:
            rest = np.array(np.broadcast_to(rest, (len(swept), rest.shape[-1])))
            rest[:, self.chain.q_index[self.given]] = swept
        near = self._bounded(targets.T)
        q, residual, regular = self.plan.branches(self.robot, near, self.frame, rest, near=given)
        none = np.zeros(residual.shape, dtype=bool)
        found = Branches(q, residual, none, none.copy())
        rows = np.nonzero(~regular if near is targets.T else ~regular | (near != targets.T).any(axis=(-1, -2)))[0]
        if len(rows):
            others = rest[rows] if len(rest) > 1 else rest
            found.put(rows, self._by_subproblems(targets.part(rows), others, swept[rows], given))
        return found

    def _by_subproblems(self, targets: Targets, rest: Array, swept: Array, given: bool) -> Branches:
        """Solve by the subproblems, again with joints taken for free that nearly are where no branch comes near."""
        found = self._subproblems(targets, rest, swept, given, FREE_JOINT_TOLERANCE)
        rows = np.nonzero(~reaching(found.residual).any(axis=-1))[0]
        if len(rows) and not isinstance(self.solver, GeneralJoints):
            others = rest[rows] if len(rest) > 1 else rest
            again = self._subproblems(targets.part(rows), others, swept[rows], given, NEARLY_FREE)
            reached = np.asarray(reaching(again.residual).any(axis=-1))
            found.put(rows[reached], again.part(reached))
        return found

    def _subproblems(self, targets: Targets, rest: Array, swept: Array, given: bool, within: float) -> Branches:
        """Solve by the subproblems, with the record of degenerate cases; joints are free `within` this tolerance."""
        near = rest[:, list(self.chain.q_index)] if given else None
        free = np.zeros((len(self.chain.axes), 1)) if near is None else near.T
        record = Degeneracies(self.chain.size, list(free), within)
        angles = self._angles(self._bounded(targets.T) @ self.chain.T_zero_inverse, swept, record)
        q = assemble(self.chain, angles, rest, near, self.solver.branches)
        if self.given is not None:  # exactly as given, full turns included
            q[..., self.chain.q_index[self.given]] = swept.reshape(-1, 1)
        lost = targets_first(_any(record.lost, (*self.solver.branches, len(targets.T)))).reshape(-1)
        residual = refine(targets, q, near, lost)
        if isinstance(self.solver, GeneralJoints):
            solved = reaching(residual)
            return Branches(q, residual, continua(targets, q, solved), coincident(targets, q, solved))
        return Branches(q, residual, *self._degenerate(q, residual, record))

    @property
    def given(self) -> int | None:
        """Index of the joint that is not solved for."""
        return self.solver.given if isinstance(self.solver, SevenJoints | GeneralJoints) else None

    def _bounded(self, T: Array) -> Array:
        """Move very distant targets nearer, but still out of reach: their fourth powers would overflow."""
        far = 1e3 * self.chain.extent
        if not some(np.abs(T[:, :3, 3]) > far):
            return T
        T = T.copy()
        T[:, :3, 3] = np.clip(T[:, :3, 3], -far, far)
        return T

    def _angles(self, G: Array, swept: Array, record: Degeneracies) -> list[CosSin]:
        if isinstance(self.solver, GeneralJoints):
            return self.solver.solve(self.robot, G, swept, record)
        if isinstance(self.solver, SevenJoints):
            return self.solver.solve(G, swept, record)
        return self.solver.solve(Motion.from_pose(G), record)

    def _targets(self, T: Array) -> Targets:
        solved = [i for i in range(len(self.chain.axes)) if i != self.given]
        return Targets(self.robot, self.frame, self.chain, solved, T, self.solver.position_only)

    def _degenerate(self, q: Array, residual: Array, record: Degeneracies) -> tuple[Mask, Mask]:
        """Return which branches (n, branches) have a free joint, and which are another one again."""
        shape = (*self.solver.branches, len(q))
        solved = reaching(residual)
        # In branches that do not reach the target joints are clamped, which would look like a singularity.
        singular = targets_first(_any(record.singular, shape)).reshape(solved.shape) & solved
        if not (record.singular or record.double):
            return singular, np.zeros(solved.shape, dtype=bool)
        double = targets_first(_any(record.double, shape)).reshape(solved.shape)
        where = np.asarray((double | singular).any(axis=-1))
        return singular, duplicates(q[..., list(self.chain.q_index)], solved, where)

    def _result(self, found: Branches, limits: bool, clamped: Mask) -> AnalyticSolutions:
        n, k = len(self.T), self.swept.shape[-1]
        q, residual, singular = found.q, found.residual, found.singular
        solved = reaching(residual)
        distinct = solved & ~found.again
        if limits:
            outside_limits = outside(self.chain, q)
            valid = distinct & ~outside_limits.any(axis=-1)
        else:
            outside_limits = np.zeros((*solved.shape, len(self.chain.axes)), dtype=bool)
            valid = distinct
        q[~solved] = np.nan
        each = solved.shape[1] * k  # swept values multiply the branches of a target
        status = _status(valid.reshape(n, each), solved.reshape(n, each), singular.reshape(n, each))
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
            outside_limits=outside_limits.reshape(*branches, len(self.chain.axes)),
            q_index=self.chain.q_index,
        )

    def _clamped(self) -> tuple[Array, Mask]:
        assert isinstance(self.solver, Planar2R)
        p = self.T[:, :3, 3]
        T = self.T.copy()
        T[:, :3, 3] = self.solver.clamp(p)
        return T, np.linalg.norm(T[:, :3, 3] - p, axis=-1) > RESIDUAL_TOLERANCE


def _any(masks: list[Mask], shape: tuple[int, ...]) -> Mask:
    """Combine masks, given for some or all branches, with a logical or."""
    whole = np.zeros(shape, dtype=bool)
    for mask in masks:
        whole |= mask
    return whole


def _status(valid: Mask, solved: Mask, singular: Mask) -> NDArray[np.str_]:
    code = np.where(valid.any(axis=-1), SOLVED_CODE, LIMITS_CODE)
    if some(code == LIMITS_CODE):
        code[~solved.any(axis=-1)] = UNREACHABLE_CODE
    if some(singular):
        code[(valid & singular).any(axis=-1)] = SINGULAR_CODE
    return NAMES[code]
