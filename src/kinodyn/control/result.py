"""The result of one solve of `InverseDynamicsQP`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import layout, named_view

if TYPE_CHECKING:
    from kinodyn.control.plan import ControlPlan

VIOLATION_TOLERANCE = 1e-4  # m/s^2, rad/s^2, N or N m that count as a violation


@displayed
@dataclass(frozen=True)
class Violation:
    """A limit, contact or task that was not satisfied, and by how much.

    Attributes
    ----------
    kind : str
        "limit", "contact" or "task".
    name : str
        Its name.
    amount : float
        Size of the violation.
    unit : str
        Of the amount.
    """

    kind: str
    name: str
    amount: float
    unit: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.amount:.3g} {self.unit}"


@displayed
class ControlResult:
    """Accelerations, forces and torques of one solve; batch axes lead.

    Parameters
    ----------
    plan, outputs, state
        Inputs of the core, its outputs by name, and the state (q, v) if names of limits depend on it.

    Attributes
    ----------
    a : (..., nv)
        Accelerations.
    tau : (..., nv)
        Torques; zero where there is no motor.
    active : (..., constraints)
        1 where the solution is at a lower bound, -1 where it is at an upper one.
    iterations : (...) int
        Constraints that were activated or dropped.
    """

    def __init__(self, plan: ControlPlan, outputs: _core.IdQp, state: tuple[Array, Array] | None = None) -> None:
        self._plan, self._outputs, self._state = plan, outputs, state
        self.a, self.tau = outputs.acceleration, outputs.torque
        self._excess, self._slip = outputs.excess, outputs.contact_residuals

    def __repr__(self) -> str:
        if self.a.ndim > 1:
            return f"ControlResult({np.count_nonzero(self.success)} of {self.success.size} solved)"
        return f"ControlResult({self.status}, largest torque {np.abs(self.tau).max(initial=0.0):.4g})"

    @cached_property
    def forces(self) -> dict[str, Array]:
        """Return the forces on the robot by the name of the contact, in world axes; zero where it is not active.

        Of a point (..., 3); of a surface or corners (..., 6), with the moment about the contact's point; of a loop one
        number for each kept direction.
        """
        return self._plan.by_contact(self._outputs.forces)

    @cached_property
    def slips(self) -> dict[str, Array]:
        """Return the deviation of each contact's acceleration from the desired one, row by row, in its own axes."""
        return self._plan.by_contact(self._slip)

    @cached_property
    def errors(self) -> dict[str, Array]:
        """Return the residual of each task's desired acceleration (..., rows), unweighted."""
        return self._plan.by_task(self._outputs.task_residuals)

    @property
    def active(self) -> Array:
        """Return the active constraints."""
        sets = named_view(self._outputs.active, self._plan.working_sets(self._excess.shape[-1]))
        last_level: Array = sets["levels"][..., -1, :]
        return last_level

    @property
    def iterations(self) -> NDArray[np.int_]:
        """Count the constraints that were activated or dropped."""
        return np.asarray(named_view(self._outputs.info, layout("id_qp_info"))["iterations"].astype(int))

    @cached_property
    def status(self) -> NDArray[np.str_]:
        """Return the status.

        "solved": all limits and contacts are satisfied; "relaxed": bounds of accelerations, limits with rows or
        contacts were violated, as little as possible; "failed": torques or forces beyond their limits, which only
        rounding can cause.
        """
        excess = self._plan.by_kind(self._excess)  # torques and contact forces are never relaxed
        hard = np.maximum(excess["torque"].max(axis=-1, initial=0.0), excess["cones"].max(axis=-1, initial=0.0))
        beyond = (
            np.concatenate([self._excess, np.abs(self._slip)], axis=-1).max(axis=-1, initial=0.0) > VIOLATION_TOLERANCE
        )
        return np.where(hard > VIOLATION_TOLERANCE, "failed", np.where(beyond, "relaxed", "solved"))

    @property
    def success(self) -> NDArray[np.bool_]:
        """Return whether all limits and contacts are satisfied."""
        if self.a.ndim == 1:  # as in a control loop
            worst = max(self._excess.max(initial=0.0), self._slip.max(initial=0.0), -self._slip.min(initial=0.0))
            return np.asarray(worst <= VIOLATION_TOLERANCE)
        return np.asarray(self.status == "solved")

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """List limits that were exceeded, contacts that move and tasks that are missed, with amounts (one state)."""
        self._alone()
        found = [
            Violation("limit", name, float(amount), unit)
            for (name, unit), amount in zip(self._constraint_names(), self._excess, strict=True)
            if amount > VIOLATION_TOLERANCE
        ]
        for kind, parts in (("contact", self.slips), ("task", self.errors)):
            for name, rest in parts.items():
                amount = float(np.linalg.norm(rest))
                if amount > VIOLATION_TOLERANCE:
                    found.append(Violation(kind, name, amount, "m/s^2 or rad/s^2"))
        return tuple(found)

    @cached_property
    def at_limits(self) -> tuple[str, ...]:
        """Name the active limits (one state)."""
        self._alone()
        names = self._constraint_names()
        return tuple(names[i][0] for i in np.flatnonzero(self.active))

    def _constraint_names(self) -> list[tuple[str, str]]:
        return self._plan.constraint_names(self._outputs.joint_limits, self._state)

    def _alone(self) -> None:
        if self.a.ndim != 1:
            raise InputError("violations are found for one state, not for a batch")
