"""The constraints of one plan, with the joints that move: violations, projections, samples of paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.planning.constraints import Constraint, Records
from kinodyn.planning.groups import group_columns, moving_dofs

BASE_RANGE = 3.0  # [m] that a base moves at most from where it starts
SAMPLES = 8  # of each motion of a path, when its constraints are checked


class Deviation(NamedTuple):
    """The largest deviation from a constraint along a path, between vertices too.

    Attributes
    ----------
    constraint : str
    distance, angle : float
        [m], [rad]
    """

    constraint: str
    distance: float
    angle: float


class Rows(NamedTuple):
    """Constraints as the core reads them: a table of it, and the tolerances (n, 2) [m], [rad]."""

    core: _core.ConstraintTable
    tolerances: Array


class ConstraintSet:
    """Constraints at the start of a path.

    Parameters
    ----------
    robot
    start : (nq,)
    joints
        That move, without quaternions.
    constraints
        Those that move the base make it move too.
    """

    def __init__(
        self, robot: Robot, start: Array, joints: Sequence[JointInfo], constraints: Sequence[Constraint]
    ) -> None:
        for constraint in constraints:
            if not isinstance(constraint, Constraint):
                raise InputError(f"constraints must contain kd.planning constraints, got {constraint!r}")
        self.robot, self.start, self.constraints = robot, start, tuple(constraints)
        moves_base = robot.base == "floating" and any(constraint.moves_base for constraint in constraints)
        self.base = robot.joints[0] if moves_base else None
        self.joints = tuple(joints) if self.base is None else (self.base, *joints)
        self.columns = group_columns(joints)  # coordinates in vector spaces
        self.moves = moving_dofs(robot, self.joints)
        self.bounds = self._bounds()
        self._parts = [constraint.records(robot, start) for constraint in constraints]
        self.records = np.concatenate(self._parts)
        self.rows = self.rows_of(self.records)

    def _bounds(self) -> tuple[Array, Array]:
        """Return the limits of q; a base is bounded so that what it can touch is known."""
        lower, upper = self.robot.limits.lower.copy(), self.robot.limits.upper.copy()
        if self.base is not None:
            place = slice(self.base.q.start, self.base.q.start + 3)
            lower[place] = np.maximum(lower[place], self.start[place] - BASE_RANGE)
            upper[place] = np.minimum(upper[place], self.start[place] + BASE_RANGE)
        return lower, upper

    def rows_of(self, records: Records, moves: NDArray[np.bool_] | None = None) -> Rows:
        """Return records as the core reads them; `moves` (nv,) by default as in the plan."""
        core = _core.ConstraintTable(self.robot, records, self.moves if moves is None else moves, *self.bounds)
        return Rows(core, np.column_stack([records["position_tolerance"], records["orientation_tolerance"]]))

    def with_records(self, further: Sequence[Records]) -> Rows:
        """Return these constraints and further ones."""
        return self.rows_of(np.concatenate([self.records, *further]))

    def project(self, q: Array, iterations: int, rows: Rows | None = None) -> tuple[Array, Array]:
        """Move configurations (n, nq) onto the constraints; return them all, and those that are there."""
        found = _core.project_onto_path_constraints(self.robot, (rows or self.rows).core, q, iterations)
        return found.q, found.q[found.success != 0]

    def outside(self, q: Array, rows: Rows | None = None) -> Array:
        """Return how far configurations (..., nq) are outside of each row (..., n, 2) [m], [rad]."""
        return _core.constraint_excess(self.robot, (rows or self.rows).core, q)

    def excess(self, q: Array, rows: Rows | None = None) -> Array:
        """Return the same in tolerances, the largest of all rows (...)."""
        result: Array = (self.outside(q, rows) / (rows or self.rows).tolerances).max(axis=(-2, -1))
        return result

    def keeps(self, q: Array) -> NDArray[np.bool_]:
        """Return which configurations (..., nq) keep the constraints."""
        return np.asarray(self.excess(q) <= 1.0)

    def kept(self, path: Array) -> bool:
        """Return whether a path (n, nq) keeps the constraints, between its vertices too."""
        return bool(self.keeps(self.samples(path)).all())

    def samples(self, path: Array) -> Array:
        """Return samples (m, nq) of a path (n, nq)."""
        if len(path) == 1:
            return path
        inner = self.robot.interpolate(path[:-1, None], path[1:, None], np.arange(SAMPLES) / SAMPLES)
        return np.concatenate([inner.reshape(-1, self.robot.nq), path[-1:]])

    def violation(self, q: Array) -> str:
        """Write which constraint a configuration (nq,) violates most and by how much; empty if none."""
        outside = self.outside(q)
        ratio = (outside / self.rows.tolerances).max(axis=-1)
        worst = int(np.argmax(ratio))
        if ratio[worst] <= 1.0:
            return ""
        distance, angle = outside[worst]
        owner = int(np.searchsorted(np.cumsum([len(part) for part in self._parts]), worst, side="right"))
        amounts = [f"{1e3 * distance:.3g} mm"] * bool(distance > 0) + [f"{angle:.3g} rad"] * bool(angle > 0)
        part = " (CoM)" if self.records["kind"][worst] == 1 else ""
        return f"{self.constraints[owner]}{part} by {' and '.join(amounts)}"

    def deviations(self, path: Array) -> tuple[Deviation, ...]:
        """Return the largest deviation from each constraint along a path."""
        records = self.records.copy()
        records["angle"] = np.where(np.isfinite(records["angle"]), 0.0, records["angle"])  # of tilts: the tilt itself
        worst = self.outside(self.samples(path), self.rows_of(records)).max(axis=0)
        ends = np.cumsum([len(part) for part in self._parts])[:-1]
        return tuple(
            Deviation(str(constraint), *map(float, rows.max(axis=0)))
            for constraint, rows in zip(self.constraints, np.split(worst, ends), strict=True)
        )
