"""Results of whole-body inverse kinematics."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.ik.conflicts import Conflict, find_conflicts
from kinodyn.layouts import layout, named_view
from kinodyn.limits.limit import LimitedMotion

if TYPE_CHECKING:
    from kinodyn.ik.whole_body import WholeBody  # import cycle: results refer to the tasks of the solver that made them


@displayed
class Step:
    """One step of a whole-body motion; leading axes are batch axes.

    Parameters
    ----------
    solver, q0, dt, found
        The solver, the initial configuration of the step, its duration [s], and the outputs of the core.

    Attributes
    ----------
    q : (..., nq)
        Configuration after the step.
    v : (..., nv)
        Velocity of the step.
    errors : (..., tasks, 2)
        Error of each task before the step, distance [m] and angle [rad], in the order of `WholeBody.tasks`.
    at_bound : (..., nv)
        1 where a joint reaches its lower bound for this step, -1 where it reaches the upper one, 0 elsewhere.
    iterations : (...) int
        Constraints that the active-set solver activated or dropped.
    """

    __slots__ = ("_active", "_dt", "_errors", "_info", "_q0", "_solver", "q", "v")

    # without `check_types`: it is made in every control step, and by solvers alone
    def __init__(self, solver: WholeBody, q0: Array, dt: float, found: _core.WholeBody) -> None:
        self._solver, self._q0, self._dt = solver, q0, dt
        self.q, self.v = found.q, found.v
        self._errors, self._active, self._info = found.errors, found.active, found.info

    def __repr__(self) -> str:
        return f"Step({self._dt:g} s from q {self._q0.shape}, largest velocity {np.abs(self.v).max(initial=0.0):.3g})"

    @property
    def at_bound(self) -> Array:
        """Return which joints reach their bounds for this step."""
        return self._active[..., : self._solver.robot.nv]

    @property
    def errors(self) -> Array:
        """Return the errors in the order of the solver's tasks."""
        places = {id(entry): k for k, (_, entry) in enumerate(self._solver.order)}
        return self._errors[..., [places[id(task)] for task in self._solver.tasks], :]

    @property
    def iterations(self) -> NDArray[np.int_]:
        """Count the constraints that the active-set solver activated or dropped."""
        return np.asarray(named_view(self._info, layout("whole_body_info"))["iterations"].astype(int))

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """List the tasks that this step cannot fully satisfy, and what opposes them (single state only)."""
        if self._q0.ndim != 1:
            raise InputError("conflicts are available for one state only, not for a batch")
        solver, x = self._solver, self.v * self._dt
        motion = LimitedMotion(solver.robot, self._q0, x, self._dt, self.at_bound)
        return find_conflicts(solver.order, solver.limits, motion)


@displayed
class WholeBodyResult:
    """Result of `WholeBody.solve`; leading axes are batch axes.

    Parameters
    ----------
    solver, q, at_rest, iterations, tolerance
        The solver, its last configuration, whether it is stationary, the number of steps, and the tolerance [m, rad].

    Attributes
    ----------
    q : (..., nq)
        The configuration.
    success : (...) bool
        All required tasks are met within the tolerance, verified by forward kinematics, and q is within limits.
    status : (...) str
        "solved"; "conflict": stationary, but a required task is not met (see `conflicts`); "budget": still moving when
        the iterations ran out.
    errors : dict of task name -> (..., 2)
        Remaining error of each task, distance [m] and angle [rad].
    iterations : (...) int
        Steps taken.
    """

    @check_types
    def __init__(
        self,
        solver: WholeBody,
        q: Array,
        at_rest: NDArray[np.bool_],
        iterations: NDArray[np.int_],
        tolerance: float,
    ) -> None:
        self.q, self.iterations = q, iterations
        self._solver = solver
        robot = solver.robot
        self.errors = {task.name: task.missing(robot, q) for task in solver.tasks}
        met = np.ones(q.shape[:-1], dtype=bool)
        for task in solver.tasks:
            if task.required and task.enabled:
                met &= (self.errors[task.name] <= tolerance).all(axis=-1)
        for limit in solver.limits:
            met &= limit.satisfied(robot, q, tolerance)
        self.success: NDArray[np.bool_] = np.asarray(met)
        self.status: NDArray[np.str_] = np.where(met, "solved", np.where(at_rest, "conflict", "budget"))

    def __repr__(self) -> str:
        if self.success.ndim:
            return f"WholeBodyResult({np.count_nonzero(self.success)} of {self.success.size} solved)"
        return f"WholeBodyResult({self.status} after {self.iterations} iterations)"

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """List the tasks that are not met, and what opposes them (single state only)."""
        if self.q.ndim != 1:
            raise InputError("conflicts are available for one state only, not for a batch")
        solver = self._solver
        motion = LimitedMotion(solver.robot, self.q, np.zeros(solver.robot.nv))
        return find_conflicts(solver.order, solver.limits, motion)
