"""Tasks, limits and contacts of a controller in the layout of the core, kept from one solve to the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn.arrays import Array
from kinodyn.control.contact_setpoint import ContactSetpoint
from kinodyn.control.contact_table import ContactTable
from kinodyn.layouts import block_size, codes, layout, named_view
from kinodyn.limits.limit import RowLimit
from kinodyn.model.robot import Robot
from kinodyn.tasks.rows import Block
from kinodyn.tasks.table import TaskTable
from kinodyn.tasks.task import Task


class ControlPlan:
    """Inputs of the core, and the layout of its outputs."""

    def __init__(
        self,
        robot: Robot,
        tasks: Sequence[Task],
        limits: Sequence[RowLimit],
        setpoints: Sequence[ContactSetpoint],
        *,
        strict: bool,
    ) -> None:
        self.robot = robot
        priorities = sorted({task.priority for task in tasks}) if strict else []
        levelled = [(priorities.index(task.priority) if strict else 0, task) for task in tasks]
        levelled.sort(key=lambda entry: entry[0])
        self.levels = max(len(priorities), 1)
        self.tasks = TaskTable(robot, [*levelled, *((self.levels, limit) for limit in limits)], with_drift=True)
        self._limits, self._setpoints = tuple(limits), tuple(setpoints)
        self._contacts: ContactTable | None = None
        self._constraints = 0
        self._active: Array = np.zeros(0)

    @property
    def contacts(self) -> ContactTable:
        """Contacts in the layout of the core, once there has been a solve."""
        assert self._contacts is not None
        return self._contacts

    def update(self, q: Array, v: Array) -> None:
        """Update the numbers for a solve at (q, v)."""
        if self._contacts is None or self._contacts.outdated():
            self._contacts = ContactTable(self._setpoints, q)
            self._constraints = len(self.constraint_names(np.zeros(self.robot.nv)))
        self.tasks.update(q, v)
        self._contacts.update()

    def by_kind(self, constraints: Array) -> np.ndarray:
        """View numbers of all constraints (..., constraints) by kind: acceleration, torque, limits and cones."""
        limit_rows = sum(limit.row_count(self.robot) for limit in self._limits)
        cone_rows = constraints.shape[-1] - 2 * self.robot.nv - limit_rows
        dtype = layout("id_qp_constraints", nv=self.robot.nv, limit_rows=limit_rows, cone_rows=cone_rows)
        return named_view(constraints, dtype)

    def working_sets(self, constraints: int) -> np.dtype[np.void]:
        """Return the layout of active sets: of each level, and of the problems that relax constraints."""
        return layout("working_sets", levels=self.levels, constraints=constraints)

    def warm_start(self, batch: tuple[int, ...]) -> Array:
        """Return the active set of the previous solve, or none if that was for another batch."""
        size = block_size(self.working_sets(self._constraints))
        if self._active.shape[-1] != size or (self._active.ndim > 1 and self._active.shape[:-1] != batch):
            self._active = np.zeros(size)
        return self._active

    def keep(self, active: Array) -> None:
        """Keep the active set for the next solve."""
        self._active = active

    def reset(self) -> None:
        """Clear the active set."""
        self._active = np.zeros(0)
        self._contacts = None
        for setpoint in self._setpoints:
            setpoint.patch = None

    def by_contact(self, rows: Array) -> dict[str, Array]:
        """Split rows (..., all contacts) by the name of the contact."""
        return _split(rows, [(block.setpoint.name, block.directions) for block in self.contacts.blocks])

    def by_task(self, rows: Array) -> dict[str, Array]:
        """Split rows (..., all tasks) by the name of the task."""
        return _split(rows, [(block.source.name, block.rows) for block in self._task_blocks()])

    def _task_blocks(self) -> list[Block]:
        return [block for block in self.tasks.blocks if not block.source.inequality]

    def state_for_names(self, q: Array, v: Array) -> tuple[Array, Array] | None:
        """Return a copy of a state if names of limits depend on it."""
        return (q.copy(), v.copy()) if any(limit.named_by_state for limit in self._limits) else None

    def constraint_names(self, joint_limits: Array, state: tuple[Array, Array] | None = None) -> list[tuple[str, str]]:
        """Name every inequality, with its unit, in the order of the core.

        `joint_limits` (nv,) is that of the core; `state` is that of `state_for_names`.
        """
        joints = [""] * self.robot.nv
        for joint in self.robot.joints:
            if joint.mimic is None:
                for k in range(joint.v.start, joint.v.stop):
                    joints[k] = joint.name
        kinds = {code: name for name, code in codes("joint_limit").items()}
        limits = [kinds[int(code)] for code in joint_limits]
        names = [(f"{kind} limit of {name}", "rad/s^2 or m/s^2") for kind, name in zip(limits, joints, strict=True)]
        names += [(f"torque of {name}", "N m or N") for name in joints]
        for limit in self._limits:
            names += [(name, "1/s^2 of its margin") for name in limit.row_names(self.robot, *(state or ()))]
        for block in self.contacts.blocks:
            names += block.constraint_names()
        return names


def _split(rows: Array, parts: list[tuple[str, int]]) -> dict[str, Array]:
    result = {}
    start = 0
    for name, size in parts:
        result[name] = rows[..., start : start + size]
        start += size
    return result
