"""What became of one tick of a controller."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError

if TYPE_CHECKING:
    from kinodyn.control.plan import Plan

NOTABLE = 1e-4  # m/s^2, rad/s^2, N or N m that count as giving way


@dataclass(frozen=True)
class GaveWay:
    """Something that was not kept, or not reached, and by how much."""

    kind: str  # "limit", "contact" or "task"
    name: str
    amount: float
    unit: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.amount:.3g} {self.unit}"


class ControlResult:
    """Accelerations, forces and torques of one tick; batch axes lead.

    Attributes
    ----------
    a : (..., nv)
        Accelerations.
    tau : (..., nv)
        Torques; zero where nothing drives.
    held : (..., constraints)
        1 where the answer lies on a lower bound, -1 where on an upper one.
    iterations : (...) int
        Constraints taken in or let go of.
    """

    def __init__(self, plan: Plan, found: tuple[Array, ...]) -> None:
        self._plan = plan
        self.a, self._forces, self.tau, self._held, self._missing, self._excess, self._slip, self._info = found

    def __repr__(self) -> str:
        if self.a.ndim > 1:
            return f"ControlResult({np.count_nonzero(self.success)} of {self.success.size} solved)"
        return f"ControlResult({self.status}, largest torque {np.abs(self.tau).max(initial=0.0):.4g})"

    @cached_property
    def forces(self) -> dict[str, Array]:
        """Give the forces on the robot by the name of the contact, in world axes; zero where it is not active.

        Of a point (..., 3); of a surface or corners (..., 6), with the moment about the contact's point; of a loop one
        number for each kept direction.
        """
        return self._plan.by_contact(self._forces)

    @cached_property
    def slips(self) -> dict[str, Array]:
        """Give what each contact's place accelerates beyond what it should, row by row, in its own axes."""
        return self._plan.by_contact(self._slip)

    @cached_property
    def errors(self) -> dict[str, Array]:
        """Give what each task misses of the acceleration that it asks for (..., rows), without weights."""
        return self._plan.by_task(self._missing)

    @property
    def held(self) -> Array:
        """Give the constraints on which the answer lies."""
        count, end = self._excess.shape[-1], self._held.shape[-1]
        return self._held[..., end - 3 * count : end - 2 * count]

    @property
    def iterations(self) -> NDArray[np.int_]:
        """Count the constraints that were taken in or let go of."""
        return self._info[..., 0].astype(int)

    @cached_property
    def status(self) -> NDArray[np.str_]:
        """Tell how it went.

        "solved": all limits and contacts hold; "relaxed": accelerations or contacts gave way, as little as could be;
        "failed": torques or forces beyond their limits, which rounding alone can bring about.
        """
        hard = self._excess[..., self.a.shape[-1] :].max(axis=-1, initial=0.0)
        beyond = np.concatenate([self._excess, np.abs(self._slip)], axis=-1).max(axis=-1, initial=0.0) > NOTABLE
        return np.where(hard > NOTABLE, "failed", np.where(beyond, "relaxed", "solved"))

    @property
    def success(self) -> NDArray[np.bool_]:
        """Tell whether all limits and contacts hold."""
        if self.a.ndim == 1:  # as in a control loop
            worst = max(self._excess.max(initial=0.0), self._slip.max(initial=0.0), -self._slip.min(initial=0.0))
            return np.asarray(worst <= NOTABLE)
        return np.asarray(self.status == "solved")

    @cached_property
    def gave_way(self) -> tuple[GaveWay, ...]:
        """Name limits that were exceeded, contacts that move, and tasks that are missed, with amounts (one state)."""
        self._alone()
        found = [
            GaveWay("limit", name, float(amount), unit)
            for (name, unit), amount in zip(self._plan.constraint_names, self._excess, strict=True)
            if amount > NOTABLE
        ]
        for kind, parts in (("contact", self.slips), ("task", self.errors)):
            for name, rest in parts.items():
                amount = float(np.linalg.norm(rest))
                if amount > NOTABLE:
                    found.append(GaveWay(kind, name, amount, "m/s^2 or rad/s^2"))
        return tuple(found)

    @cached_property
    def at_limits(self) -> tuple[str, ...]:
        """Name the limits on which the answer lies (one state)."""
        self._alone()
        names = self._plan.constraint_names
        return tuple(names[i][0] for i in np.flatnonzero(self.held))

    def _alone(self) -> None:
        if self.a.ndim != 1:
            raise InputError("what gave way is told of one state, not of a batch")
