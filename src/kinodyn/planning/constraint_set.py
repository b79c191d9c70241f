"""The constraints of one plan, with the joints that move: violations, projections, samples of paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import codes, layout
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.planning.constraints import Constraint, Records
from kinodyn.planning.groups import group_columns, is_vector, moving_dofs

BASE_RANGE = 3.0  # [m] maximum motion of a floating joint beyond start and goals
RANGE_TOLERANCE = 1e-6  # [rad or m] of ranges of joints
GEODESIC_MARGIN = 1.0  # [m] beyond that, between vertices: the geodesics of floating joints are screws
SAMPLES = 8  # of each motion of a path, when its constraints are checked


@displayed
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
    """Constraints as the core reads them: a table, and the tolerances (n, 2) [m], [rad]."""

    core: _core.ConstraintTable
    tolerances: Array


class ConstraintSet:
    """Constraints at the start of a path.

    Parameters
    ----------
    robot
    start : (nq,)
    joints
        Joints that move.
    constraints
        Constraints that include the base make it move too.
    goals : (n, nq), optional
        Configurations that the path may lead to; by default near the start.
    """

    def __init__(
        self,
        robot: Robot,
        start: Array,
        joints: Sequence[JointInfo],
        constraints: Sequence[Constraint],
        goals: Array | None = None,
    ) -> None:
        for constraint in constraints:
            if not isinstance(constraint, Constraint):
                raise InputError(f"constraints must contain kd.planning constraints, got {constraint!r}")
        self.robot, self.start, self.constraints = robot, start, tuple(constraints)
        moves_base = robot.base == "floating" and any(constraint.moves_base for constraint in constraints)
        follows = [robot.joints[0]] if moves_base else []
        given = [joint for joint in joints if joint not in follows]
        self.joints = (*follows, *given)
        # ball and floating joints that are drawn at random; those that follow from the constraints are not
        self.sampled = tuple(joint for joint in given if not is_vector(joint))
        self.columns = group_columns([joint for joint in given if is_vector(joint)])  # coordinates in vector spaces
        self.moves = moving_dofs(robot, self.joints)
        self._ranges = [(c, i, *values) for c in self.constraints for i, values in c.ranges(robot).items()]
        self._around = start[None] if goals is None else np.vstack([start, goals])
        self.bounds = self._bounds(BASE_RANGE)
        self.query_bounds = self._bounds(BASE_RANGE + GEODESIC_MARGIN)
        self._parts = [constraint.records(robot, start) for constraint in constraints]
        self.records = np.concatenate([np.zeros(0, dtype=layout("path_constraint")), *self._parts])
        self.rows = self.rows_of(self.records)

    def _bounds(self, reach: float) -> tuple[Array, Array]:
        """Return the limits of q; floating joints are bounded so that the reachable obstacles are known."""
        lower, upper = self.robot.limits.lower.copy(), self.robot.limits.upper.copy()
        for joint in self.joints:
            if joint.kind == "floating":
                place = slice(joint.q.start, joint.q.start + 3)
                lower[place] = np.maximum(lower[place], self._around[:, place].min(axis=0) - reach)
                upper[place] = np.minimum(upper[place], self._around[:, place].max(axis=0) + reach)
        for _, i, low, high in self._ranges:
            lower[i], upper[i] = max(lower[i], low), min(upper[i], high)
        return lower, upper

    def within_ranges(self, q: Array) -> NDArray[np.bool_]:
        """Return at which configurations (..., nq) the joints with ranges are within their ranges."""
        kept = np.ones(q.shape[:-1], dtype=bool)
        for _, i, low, high in self._ranges:
            kept &= (q[..., i] >= low - RANGE_TOLERANCE) & (q[..., i] <= high + RANGE_TOLERANCE)
        return kept

    def rows_of(self, records: Records, moves: NDArray[np.bool_] | None = None) -> Rows:
        """Return records as the core reads them; `moves` (nv,) by default as in the plan."""
        core = _core.ConstraintTable(self.robot, records, self.moves if moves is None else moves, *self.bounds)
        return Rows(core, np.column_stack([records["position_tolerance"], records["orientation_tolerance"]]))

    def with_records(self, further: Sequence[Records]) -> Rows:
        """Return these constraints and further ones."""
        return self.rows_of(np.concatenate([self.records, *further]))

    def project(self, q: Array, iterations: int, rows: Rows | None = None) -> tuple[Array, Array]:
        """Project configurations (n, nq) onto the constraints; return all of them, and which have converged."""
        found = _core.project_onto_path_constraints(self.robot, (rows or self.rows).core, q, iterations)
        return found.q, found.q[found.success != 0]

    def outside(self, q: Array, rows: Rows | None = None) -> Array:
        """Return how far configurations (..., nq) are outside each row (..., n, 2) [m], [rad]."""
        return _core.constraint_excess(self.robot, (rows or self.rows).core, q)

    def excess(self, q: Array, rows: Rows | None = None) -> Array:
        """Return the same in tolerances, the largest of all rows (...)."""
        result: Array = (self.outside(q, rows) / (rows or self.rows).tolerances).max(axis=(-2, -1), initial=0.0)
        return result

    def satisfied(self, q: Array) -> NDArray[np.bool_]:
        """Return which configurations (..., nq) satisfy the constraints."""
        return np.asarray((self.excess(q) <= 1.0) & self.within_ranges(q))

    def satisfied_along(self, path: Array) -> bool:
        """Return whether a path (n, nq) satisfies the constraints, between its vertices too."""
        return bool(self.satisfied(self.samples(path)).all())

    def samples(self, path: Array) -> Array:
        """Return samples (m, nq) of a path (n, nq)."""
        if len(path) == 1:
            return path
        inner = self.robot.interpolate(path[:-1, None], path[1:, None], np.arange(SAMPLES) / SAMPLES)
        return np.concatenate([inner.reshape(-1, self.robot.nq), path[-1:]])

    def violation(self, q: Array) -> str:
        """Describe which constraint a configuration (nq,) violates most and by how much; empty if none."""
        for constraint, i, low, high in self._ranges:
            if not low - RANGE_TOLERANCE <= q[i] <= high + RANGE_TOLERANCE:
                return f"{constraint}: the joint is at {q[i]:.6g}, outside {low:.6g} to {high:.6g}"
        if not len(self.records):
            return ""
        outside = self.outside(q)
        ratio = (outside / self.rows.tolerances).max(axis=-1)
        worst = int(np.argmax(ratio))
        if ratio[worst] <= 1.0:
            return ""
        distance, angle = outside[worst]
        owner = int(np.searchsorted(np.cumsum([len(part) for part in self._parts]), worst, side="right"))
        amounts = [f"{1e3 * distance:.3g} mm"] * bool(distance > 0) + [f"{angle:.3g} rad"] * bool(angle > 0)
        part = " (CoM)" if self.records["kind"][worst] == codes("path_constraint_kind")["com"] else ""
        return f"{self.constraints[owner]}{part} by {' and '.join(amounts)}"

    def deviations(self, path: Array) -> tuple[Deviation, ...]:
        """Return the largest deviation from each constraint along a path."""
        if not len(self.records):
            return tuple(Deviation(str(constraint), 0.0, 0.0) for constraint in self.constraints)
        records = self.records.copy()
        records["angle"] = np.where(np.isfinite(records["angle"]), 0.0, records["angle"])  # of tilts: the tilt itself
        records["angles"] = np.where(np.isfinite(records["angles"]), 0.0, records["angles"])
        worst = self.outside(self.samples(path), self.rows_of(records)).max(axis=0)
        ends = np.cumsum([len(part) for part in self._parts])[:-1]
        return tuple(
            Deviation(str(constraint), *map(float, rows.max(axis=0, initial=0.0)))
            for constraint, rows in zip(self.constraints, np.split(worst, ends), strict=True)
        )
