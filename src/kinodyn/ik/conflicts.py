"""What became of whole-body motion, and what stood in the way of tasks that were not met."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from kinodyn.compiling import JointInfo
from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.limits import ComLimit, PositionLimit
from kinodyn.tasks.task import Task

if TYPE_CHECKING:
    from kinodyn.ik.whole_body import WholeBody

NOTABLE = 0.02  # share of a task's wish that something must oppose to be named


@dataclass(frozen=True)
class Conflict:
    """A task that is not met, and what holds it back.

    `against` names limits ("left_elbow at its upper position limit", "balance") and tasks of higher or equal
    priority; it is empty where no motion of the robot would help.
    """

    task: str
    missing: float
    against: tuple[str, ...]

    def __str__(self) -> str:
        reason = " and ".join(self.against) if self.against else "no motion brings it nearer"
        return f"{self.task} is {self.missing:.3g} short: {reason}"


class Step:
    """One step of a whole-body motion; batch axes lead.

    Attributes
    ----------
    q : (..., nq)
        Where the robot is after it.
    v : (..., nv)
        Velocity of the step.
    errors : (..., tasks, 2)
        Distance [m] and angle [rad] that each task, in the order of `WholeBody.tasks`, missed before the step.
    held : (..., nv)
        1 where a joint goes as low as it may in this step, -1 where as high as it may, 0 in between.
    """

    __slots__ = ("_dt", "_errors", "_held", "_info", "_q0", "_solver", "q", "v")

    def __init__(self, solver: WholeBody, q0: Array, dt: float, found: tuple[Array, ...]) -> None:
        self._solver, self._q0, self._dt = solver, q0, dt
        self.q, self.v, self._errors, self._held, self._info = found

    def __repr__(self) -> str:
        return f"Step({self._dt:g} s from q {self._q0.shape}, largest velocity {np.abs(self.v).max(initial=0.0):.3g})"

    @property
    def held(self) -> Array:
        """Give the joints that go as far as they may."""
        return self._held[..., : self._solver.robot.nv]

    @property
    def errors(self) -> Array:
        """Give the errors in the order of the solver's tasks."""
        places = {id(entry): k for k, (_, entry) in enumerate(self._solver._order)}
        return self._errors[..., [places[id(task)] for task in self._solver.tasks], :]

    @property
    def iterations(self) -> NDArray[np.int_]:
        """Count the limits that were taken in or let go of on the way to the answer."""
        return self._info[..., 1].astype(int)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Name the tasks that this step cannot serve fully, and what stands in their way (one state only)."""
        if self._q0.ndim != 1:
            raise InputError("conflicts are told of one state, not of a batch")
        return find_conflicts(self._solver, self._q0, self.v * self._dt, self.held, self._dt)


class WholeBodyResult:
    """A configuration at rest; batch axes lead.

    Attributes
    ----------
    q : (..., nq)
        The configuration.
    success : (...) bool
        All required tasks are met within the tolerance, by forward kinematics, and q is within limits.
    status : (...) str
        "solved"; "conflict": at rest, but a required task is not met (see `conflicts`); "budget": still moving when
        the iterations ran out.
    errors : dict of task name -> (..., 2)
        Distance [m] and angle [rad] that each task misses.
    iterations : (...) int
        Steps taken.
    """

    def __init__(
        self,
        solver: WholeBody,
        last: Array,
        q: Array,
        held: Array,
        calm: NDArray[np.bool_],
        iterations: NDArray[np.int_],
        tolerance: float,
    ) -> None:
        self.q, self.iterations = q, iterations
        self._solver, self._last, self._held = solver, last, held
        robot = solver.robot
        self.errors = {task.name: task.missing(robot, q) for task in solver.tasks}
        met = np.ones(q.shape[:-1], dtype=bool)
        for task in solver.tasks:
            if task.required:
                met &= (self.errors[task.name] <= tolerance).all(axis=-1)
        for limit in solver.limits:
            if isinstance(limit, ComLimit):
                from kinodyn import kinematics

                met &= limit.excess(kinematics.com(robot, q)) <= tolerance
            elif isinstance(limit, PositionLimit):
                lower, upper = limit.bounds(robot)
                met &= ((q >= lower - 1e-9) & (q <= upper + 1e-9)).all(axis=-1)
        self.success: NDArray[np.bool_] = np.asarray(met)
        self.status: NDArray[np.str_] = np.where(met, "solved", np.where(calm, "conflict", "budget"))

    def __repr__(self) -> str:
        if self.success.ndim:
            return f"WholeBodyResult({np.count_nonzero(self.success)} of {self.success.size} solved)"
        return f"WholeBodyResult({self.status} after {self.iterations} iterations)"

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Name the tasks that are not met, and what stands in their way (one state only)."""
        if self.q.ndim != 1:
            raise InputError("conflicts are told of one state, not of a batch")
        held = _at_position_limits(self._solver, self.q, self._held)  # the rest only bounds the steps of the search
        return find_conflicts(self._solver, self.q, np.zeros(self._solver.robot.nv), held, 1.0)


def find_conflicts(solver: WholeBody, q: Array, x: Array, held: Array, dt: float) -> tuple[Conflict, ...]:
    """Explain what each task still wants after the motion x (nv,) from q.

    The pull of a task on the joints is J^T (what is missing). Whatever balances it stands in its way: forces of limits,
    which only push back, and of tasks of higher or equal priority. Least squares with those signs tell their shares.
    """
    robot = solver.robot
    rows = {task.name: _wish(task, solver, q, x, dt) for task in solver.tasks}
    result = []
    for task in solver.tasks:
        J, rest = rows[task.name]
        missing = float(np.linalg.norm(rest))
        if missing <= 1e-6 or not task.required:
            continue
        pull = J.T @ rest
        size = float(np.linalg.norm(pull))
        if size <= 1e-6 * missing:
            result.append(Conflict(task.name, missing, ()))
            continue
        names, columns, free = _opponents(solver, task, rows, q, held)
        if not names:
            continue
        lower = np.where(free, -np.inf, 0.0)
        share = lsq_linear(columns, pull, bounds=(lower, np.full(len(names), np.inf))).x
        forces: dict[str, Array] = {}
        for name, column, weight in zip(names, columns.T, share, strict=True):
            forces[name] = forces.get(name, np.zeros(robot.nv)) + weight * column
        against = tuple(name for name, force in forces.items() if np.linalg.norm(force) > NOTABLE * size)
        if against:
            result.append(Conflict(task.name, missing, against))
    return tuple(result)


def _wish(task: Task, solver: WholeBody, q: Array, x: Array, dt: float) -> tuple[Array, Array]:
    """Return a task's weighted rows, and what they still want after the motion x."""
    robot = solver.robot
    weights = task.row_weights(robot)
    J = weights[:, None] * task.jacobian(robot, q)
    return J, weights * task.error(robot, q) * task.gain - J @ x


def _opponents(
    solver: WholeBody, task: Task, rows: dict[str, tuple[Array, Array]], q: Array, held: Array
) -> tuple[list[str], Array, NDArray[np.bool_]]:
    """Collect what may oppose a task: names, directions (nv, k) of their force, and whether it has either sign."""
    robot = solver.robot
    names: list[str] = []
    columns: list[Array] = []
    free: list[bool] = []
    for k in np.flatnonzero(held):
        column = np.zeros(robot.nv)
        column[k] = -held[k]
        names.append(_limit_name(solver, q, int(k), held[k] > 0))
        columns.append(column)
        free.append(False)
    for _, entry in solver._order:
        if isinstance(entry, ComLimit):
            names_of = _edges_reached(solver, entry, q)
            names += [entry.name] * len(names_of)
            columns += names_of
            free += [False] * len(names_of)
    for other in solver.tasks:
        J, rest = rows[other.name]
        if other is not task and other.priority < task.priority:
            names += [other.name] * len(J)
            columns += list(J)
            free += [True] * len(J)
        elif other is not task and other.priority == task.priority and np.linalg.norm(rest) > 1e-9:
            names.append(other.name)
            columns.append(-(J.T @ rest))
            free.append(False)
    return names, np.array(columns).T, np.array(free, dtype=bool)


def _limit_name(solver: WholeBody, q: Array, k: int, low: bool) -> str:
    joint = next(j for j in solver.robot.joints if j.mimic is None and k in range(*j.v.indices(solver.robot.nv)))
    kind = "position" if _is_at_position_limit(solver, q, joint, low) else "rate"
    return f"{joint.name} at its {'lower' if low else 'upper'} {kind} limit"


def _is_at_position_limit(solver: WholeBody, q: Array, joint: JointInfo, low: bool) -> bool:
    """Tell whether a joint stands at its lower or upper position limit, or beyond it."""
    if joint.kind in ("floating", "ball"):
        return False
    now = q[joint.q][0]
    for limit in solver.limits:
        if isinstance(limit, PositionLimit):
            bound = limit.bounds(solver.robot)[0 if low else 1][joint.q][0]
            if abs(now - bound) < 1e-6 or (now < bound) == low:
                return True
    return False


def _at_position_limits(solver: WholeBody, q: Array, held: Array) -> Array:
    """Keep of what is held (nv,) the joints at their position limits."""
    result = np.zeros_like(held)
    for joint in solver.robot.joints:
        if joint.mimic is None and held[joint.v].any():
            at_limit = _is_at_position_limit(solver, q, joint, bool(held[joint.v][0] > 0))
            result[joint.v] = held[joint.v] if at_limit else 0.0
    return result


def _edges_reached(solver: WholeBody, limit: ComLimit, q: Array) -> list[Array]:
    from kinodyn import kinematics

    com = kinematics.com(solver.robot, q)
    J = kinematics.com_jacobian(solver.robot, q)
    near = limit.edges[:, :3] @ com - limit.edges[:, 3] > -1e-6
    return [edge[:3] @ J for edge in limit.edges[near]]
