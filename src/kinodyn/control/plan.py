"""Tasks and contacts laid out for the core, kept from tick to tick."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinodyn.arrays import Array
from kinodyn.control.packing import TaskSlot
from kinodyn.control.uses import ContactUse, SupportSlot
from kinodyn.model.robot import Robot
from kinodyn.tasks.custom import CustomTask
from kinodyn.tasks.task import Task


class Plan:
    """What the core is told. Only what has changed since the tick before is written anew."""

    def __init__(self, robot: Robot, tasks: Mapping[str, Task], uses: Mapping[str, ContactUse], mode: str) -> None:
        self.robot = robot
        order = sorted(tasks.values(), key=lambda task: task.priority if mode == "strict" else 0)
        self.slots: list[TaskSlot] = []
        place = 0
        for task in order:
            self.slots.append(TaskSlot(robot, task, place))
            place += self.slots[-1].size
        numbers = sorted({task.priority for task in order}) if mode == "strict" else [0]
        self._level = [numbers.index(task.priority) if mode == "strict" else 0 for task in order]
        self.levels = max(len(numbers), 1)
        self.task_rows = sum(slot.rows for slot in self.slots)
        self._uses = tuple(uses.values())
        self._custom = [slot for slot in self.slots if isinstance(slot.task, CustomTask)]
        self.supports: list[SupportSlot] | None = None
        self.support_numbers: Array = np.zeros(1)
        self.support_rows = self.constraints = 0
        self._active: list[bool] = []
        self._attach_tasks((max(place, 1),))
        self.held: Array = np.zeros(0)
        self.integers = b""

    def update(self, q: Array, v: Array) -> None:
        """Bring the numbers up to date for a tick at (q, v)."""
        if self.supports is None or any(use._patch is None and slot.touches for use, slot in self._pairs()):
            self._lay_out_supports(q)
        assert self.supports is not None
        active = [use.active for use in self._uses]
        if active != self._active:
            self._write_integers()
        new_tasks = [slot for slot in self.slots if slot.version != slot.task.version]
        new_supports = [slot for slot in self.supports if slot.version != slot.use.version]
        if new_tasks or self._custom:
            self._write_tasks(new_tasks, q, v)
        if new_supports:
            batch = np.broadcast_shapes(*(slot.batch() for slot in self.supports))
            if self.support_numbers.shape[:-1] != batch:
                self.support_numbers = np.zeros((*batch, self.support_numbers.shape[-1]))
                new_supports = self.supports
            for slot in new_supports:
                slot.write(self.support_numbers)

    def _write_tasks(self, new: list[TaskSlot], q: Array, v: Array) -> None:
        numbers = self.task_numbers
        if numbers.ndim > 1 or q.ndim > 1 or not all(slot.alone() for slot in new):
            batch = np.broadcast_shapes(*(slot.batch() for slot in self.slots))
            if self._custom or any(slot.task.target is None for slot in self.slots):
                batch = np.broadcast_shapes(batch, q.shape[:-1])
            if numbers.shape[:-1] != batch:
                self._attach_tasks((*batch, numbers.shape[-1]))
                new = self.slots
        for slot in new:
            if not isinstance(slot.task, CustomTask):
                slot.write(q)
        for slot in self._custom:
            slot.evaluate(q, v)

    def _attach_tasks(self, shape: tuple[int, ...]) -> None:
        self.task_numbers = np.zeros(shape)
        for slot in self.slots:
            slot.attach(self.task_numbers)

    def enable(self, name: str, on: bool) -> None:
        """Let a task count, or not."""
        for slot in self.slots:
            if slot.task.name == name and slot.active != bool(on):
                slot.active = bool(on)
                self._active = []  # the integers are to be written again

    def held_for(self, batch: tuple[int, ...]) -> Array:
        """Return what held the tick before, or nothing if those were other robots."""
        size = (self.levels + 2) * self.constraints
        if self.held.shape[-1] != size or (self.held.ndim > 1 and self.held.shape[:-1] != batch):
            self.held = np.zeros(size)
        return self.held

    def forget(self) -> None:
        """Start afresh, as if no tick had been."""
        self.held = np.zeros(0)
        self.supports = None
        for use in self._uses:
            use._patch = None

    def _pairs(self) -> list[tuple[ContactUse, SupportSlot]]:
        assert self.supports is not None
        return list(zip(self._uses, self.supports, strict=True))

    def _lay_out_supports(self, q: Array) -> None:
        supports: list[SupportSlot] = []
        place = 0
        for use in self._uses:
            supports.append(SupportSlot(use, place, q))
            place += supports[-1].size
        self.supports = supports
        self.support_numbers = np.zeros(max(place, 1))
        self.support_rows = sum(slot.rows for slot in supports)
        self.constraints = 2 * self.robot.nv + sum(slot.constraints() for slot in supports)
        self._active = []
        self._write_integers()

    def _write_integers(self) -> None:
        assert self.supports is not None
        self._active = [use.active for use in self._uses]
        integers = [len(self.slots), len(self.supports), self.levels, self.constraints]
        for slot, level in zip(self.slots, self._level, strict=True):
            integers += slot.integers(level)
        for support in self.supports:
            integers += support.integers()
        self.integers = np.array(integers, dtype=np.int32).tobytes()

    def by_contact(self, rows: Array) -> dict[str, Array]:
        """Cut rows (..., all supports) by the name of the contact."""
        assert self.supports is not None
        return _cut(rows, [(slot.use.name, slot.rows) for slot in self.supports])

    def by_task(self, rows: Array) -> dict[str, Array]:
        """Cut rows (..., all tasks) by the name of the task."""
        return _cut(rows, [(slot.task.name, slot.rows) for slot in self.slots])

    @property
    def constraint_names(self) -> list[tuple[str, str]]:
        """Name every inequality, with its unit."""
        assert self.supports is not None
        joints = [""] * self.robot.nv
        for joint in self.robot.joints:
            if joint.mimic is None:
                for k in range(joint.v.start, joint.v.stop):
                    joints[k] = joint.name
        names = [(f"acceleration bound of {name}", "rad/s^2 or m/s^2") for name in joints]
        names += [(f"torque of {name}", "N m or N") for name in joints]
        for slot in self.supports:
            if slot.touches:
                names += [(f"force cone of {slot.use.name}", "N")] * len(slot.patch.cone)
                names.append((f"normal force of {slot.use.name}", "N"))
        return names


def _cut(rows: Array, parts: list[tuple[str, int]]) -> dict[str, Array]:
    result = {}
    start = 0
    for name, size in parts:
        result[name] = rows[..., start : start + size]
        start += size
    return result
