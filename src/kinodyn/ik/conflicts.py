"""What became of whole-body motion, and what stood in the way of tasks that were not met."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.opponents import Force, all_wishes, joint_stops, opponents, unhurried
from kinodyn.limits import ComLimit, PositionLimit

if TYPE_CHECKING:
    from kinodyn.ik.whole_body import WholeBody

NOTABLE = 0.02  # share of a task's wish that something must oppose to be named


@dataclass(frozen=True)
class Conflict:
    """A task, or a limit of balance, that is not met, and what holds it back.

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
        q: Array,
        calm: NDArray[np.bool_],
        iterations: NDArray[np.int_],
        tolerance: float,
    ) -> None:
        self.q, self.iterations = q, iterations
        self._solver = solver
        robot = solver.robot
        self.errors = {task.name: task.missing(robot, q) for task in solver.tasks}
        met = np.ones(q.shape[:-1], dtype=bool)
        for task in solver.tasks:
            if task.required:
                met &= (self.errors[task.name] <= tolerance).all(axis=-1)
        for limit in solver.limits:
            if isinstance(limit, ComLimit):
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
        return find_conflicts(self._solver, self.q, np.zeros(self._solver.robot.nv))


def find_conflicts(
    solver: WholeBody, q: Array, x: Array, held: Array | None = None, dt: float | None = None
) -> tuple[Conflict, ...]:
    """Explain what each task, and each limit of balance, still wants after the motion x (nv,) from q.

    The pull of a task on the joints is J^T (what is missing). Whatever balances it stands in its way: forces of limits,
    which only push back, and of tasks of higher or equal priority. Least squares with those signs tell their shares.
    `held` and `dt` are those of a step; without them the robot is at rest, and only positions are limited.
    """
    wishes = all_wishes(solver, q, x, 1.0 if dt is None else dt)
    stops = joint_stops(solver, q, x, held, dt)
    result = []
    for wish in wishes:
        missing = float(np.linalg.norm(wish.rest))
        if missing <= 1e-6 or not wish.required:
            continue
        pull = wish.J.T @ wish.rest
        if np.linalg.norm(pull) <= 1e-6 * missing:
            result.append(Conflict(wish.name, missing, ()))
            continue
        against = _shares(pull, [*stops, *opponents(wish, wishes), *unhurried(x)])
        if against:
            result.append(Conflict(wish.name, missing, against))
    return tuple(result)


def _shares(pull: Array, forces: list[Force]) -> tuple[str, ...]:
    """Name those whose forces balance a notable share of the pull, the strongest first."""
    forces = [force for force in forces if force.direction.any()]
    if not forces:
        return ()
    columns = np.array([force.direction / np.linalg.norm(force.direction) for force in forces]).T
    lower = np.where([force.either_sign for force in forces], -np.inf, 0.0)
    share = lsq_linear(columns, pull / np.linalg.norm(pull), bounds=(lower, np.inf), method="bvls").x
    total: dict[str, Array] = {}
    for force, part in zip(forces, (share * columns).T, strict=True):
        total[force.name] = total.get(force.name, np.zeros(len(pull))) + part
    sizes = {name: float(np.linalg.norm(part)) for name, part in total.items() if name}
    return tuple(name for name in sorted(sizes, key=lambda name: -sizes[name]) if sizes[name] > NOTABLE)
