"""Rows: the common base of tasks and limits.

Rows have an error e(q) and a Jacobian J with J v = -de/dt for a target at rest. A task requires J x = e, a limit
J x <= e, where e is its margin. The core computes both and the drift (dJ/dt) v, the same for all solvers
(`cpp/tasks`, `cpp/limits`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.checks import integer
from kinodyn.description.messages import repair_hint
from kinodyn.errors import InputError
from kinodyn.layouts import block_size, codes, layout, named_view
from kinodyn.model.robot import Robot


class Rows(ABC):
    """Rows of a task or of a limit.

    Attributes
    ----------
    name : str
        Name in results and messages.
    priority : int
        0 is the highest.
    enabled : bool
        Whether it is active; can be switched at any time.
    version : int
        Incremented by every change, so that solvers can update. `settings_version` counts changes other than
        those of the target and its motion.
    """

    native: ClassVar[bool] = True  # False: the rows come from `evaluate`
    inequality: ClassVar[bool] = False
    needs_mass: ClassVar[bool] = False
    moving: ClassVar[frozenset[str]] = frozenset()  # attributes that do not count as settings

    name: str
    priority: int
    enabled: bool
    required: bool
    version: int
    settings_version: int

    def _begin(self, name: str, priority: int) -> None:
        integer(f"priority of {name!r}", priority)
        self.__dict__.update(version=0, settings_version=0)
        self.name = name
        self.priority = int(priority)
        self.enabled = True

    def __setattr__(self, name: str, value: object) -> None:
        if name == "enabled":
            value = bool(value)
            if self.__dict__.get(name) is value:
                return
        object.__setattr__(self, name, value)
        self._changed(name)

    def _changed(self, name: str) -> None:
        self.__dict__["version"] += 1
        if name not in self.moving:
            self.__dict__["settings_version"] += 1

    @property
    @abstractmethod
    def kind(self) -> str:
        """Name of the rows in the core's registry (`cpp/tasks/registry.hpp`)."""

    @abstractmethod
    def row_count(self, robot: Robot) -> int:
        """Count the rows for a robot.

        Parameters
        ----------
        robot

        Returns
        -------
        int
            Number of rows.
        """

    def frames(self, robot: Robot) -> tuple[int, int]:
        """Return the indices of the frame and of its reference frame; -1 is the world.

        Parameters
        ----------
        robot

        Returns
        -------
        tuple[int, int]
            Index of the frame, and of its reference frame; -1 is the world.
        """
        return -1, -1

    def memory(self, robot: Robot) -> int:
        """Count the numbers that the core keeps from one step to the next.

        Parameters
        ----------
        robot

        Returns
        -------
        int
            Number of float64.
        """
        return 0

    def check(self, robot: Robot) -> None:
        """Raise if these rows are not defined for the robot.

        Parameters
        ----------
        robot
        """
        if self.needs_mass and not robot.mass > 0:
            hint = repair_hint(robot.description.source)
            raise InputError(f"{self.name!r} needs mass, but {robot.name!r} has no moving mass{hint}")

    @abstractmethod
    def settings(self, robot: Robot) -> dict[str, Any]:
        """Return the fields of the core's block that are neither target nor motion of the target.

        Parameters
        ----------
        robot

        Returns
        -------
        dict[str, Any]
            Values by the names of the core's fields.
        """

    def references(self) -> dict[str, Array | None]:
        """Return the fields of the core's block that define the target and its motion."""
        return {}

    def batch(self) -> tuple[int, ...]:
        """Return the batch shape of the references."""
        return ()

    def prepare(self, robot: Robot, q: Array) -> None:  # noqa: B027 (most rows take nothing from q)
        """Take values that were not given, such as a target, from q.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).
        """

    def evaluate(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        """Compute error (..., rows) and Jacobian (..., rows, nv) of rows that are not native.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).

        Returns
        -------
        tuple[Array, Array]
            Errors (..., rows) and Jacobians (..., rows, nv).
        """
        return self.error(robot, q), self.jacobian(robot, q)

    def error(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the unweighted error (..., rows).

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).

        Returns
        -------
        Array
            Errors (..., rows).
        """
        return _compute(self, robot, q, np.zeros(robot.nv), "error")

    def jacobian(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the unweighted Jacobian (..., rows, nv): J v is the rate at which v reduces the error.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).

        Returns
        -------
        Array
            Jacobians (..., rows, nv).
        """
        return _compute(self, robot, q, np.zeros(robot.nv), "jacobian")

    def drift(self, robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
        """Compute (dJ/dt) v (..., rows) at joint velocities v (..., nv), for a target at rest.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).
        v
            Joint velocities (..., nv).

        Returns
        -------
        Array
            Drifts (..., rows).
        """
        return _compute(self, robot, q, v, "drift")

    def labels(self, robot: Robot, q: ArrayLike, v: ArrayLike | None = None) -> Array:
        """Return labels (..., rows) of the rows, by default their indices; -1 for unused rows.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).
        v
            Joint velocities (..., nv), for the rows at the acceleration level; None for those at the velocity level.

        Returns
        -------
        Array
            Labels (..., rows).
        """
        if v is None:
            return _compute(self, robot, q, np.zeros(robot.nv), "labels")
        return _compute(self, robot, q, v, "braking_labels")

    def remaining_names(self, robot: Robot, q: Array, x: Array, dt: float) -> list[str]:
        """Name the rows that `remaining` returns, where they have individual names.

        Parameters
        ----------
        robot, q, x, dt
            See `remaining`.

        Returns
        -------
        list[str]
            One name for each row, or none at all.
        """
        return []

    @abstractmethod
    def remaining(self, robot: Robot, q: Array, x: Array, dt: float) -> tuple[Array, Array]:
        """Return weighted rows J (k, nv) and their residuals (k,) after the motion x (nv,) of duration dt.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).
        x
            Motion (nv,) of the step.
        dt
            Duration of the step [s].

        Returns
        -------
        tuple[Array, Array]
            Rows J (k, nv) and residuals (k,).
        """


class Block:
    """The fields of one task or limit, by name, among the numbers of all of them."""

    def __init__(self, robot: Robot, source: Rows, offset: int = 0) -> None:
        source.check(robot)
        self.robot, self.source, self.offset = robot, source, offset
        self.rows = source.row_count(robot)
        self._dtype = layout(source.kind, **_sizes(source.kind, self.rows, robot))
        self.size = block_size(self._dtype)
        self.version = self._settings_version = -1
        self._fields: dict[str, Array] = {}
        self._settings: dict[str, Any] = {}

    def write_entry(self, entry: np.void, level: int) -> None:
        """Fill the entry of the core's table."""
        source = self.source
        entry["kind"], entry["level"] = codes("task_kind")[source.kind], level
        entry["frame"], entry["reference"] = source.frames(self.robot)
        entry["rows"], entry["offset"] = self.rows, self.offset
        entry["inequality"], entry["required"] = source.inequality, source.required
        entry["memory"] = source.memory(self.robot)

    def attach(self, numbers: Array) -> None:
        """Use the corresponding part of a new array (..., size of all blocks)."""
        self.version = self._settings_version = -1
        view = named_view(numbers[..., self.offset : self.offset + self.size], self._dtype)
        self._fields = {name: view[name] for name in self._dtype.names or ()}

    def write(self) -> None:
        """Write changes."""
        source = self.source
        if self._settings_version != source.settings_version:
            self._settings = source.settings(self.robot)  # kept alive: the core may refer to it
            for name, value in self._settings.items():
                self.put(name, value)
            self._settings_version = source.settings_version
        for name, value in source.references().items():
            self.put(name, value)
        self.version = source.version

    def put(self, name: str, value: Any) -> None:
        """Write one field, whose last axis must match; None is zero."""
        to = self._fields[name]
        if isinstance(value, np.ndarray) and value.ndim and value.shape[-1] != to.shape[-1]:
            raise InputError(f"{name} of {self.source.name!r} must have shape (..., {to.shape[-1]}), got {value.shape}")
        to[...] = 0.0 if value is None else value

    def has(self, name: str) -> bool:
        """Return whether there is a field of this name."""
        return name in self._fields


def _sizes(kind: str, rows: int, robot: Robot) -> dict[str, int]:
    """Return the sizes that the layout of a kind needs."""
    known = {"rows": rows, "nq": robot.nq, "nv": robot.nv}
    fields = _core.layouts()[kind]
    assert isinstance(fields, list)  # a block, not a record
    asked = {size for _, _, shape in fields for size in shape if isinstance(size, str)}
    return {name: known[name] for name in asked}


def _compute(source: Rows, robot: Robot, q: ArrayLike, v: ArrayLike, output: str) -> Array:
    """Compute a "task_output" of all rows in the core, for a target at rest."""
    block = Block(robot, source)
    numbers = np.zeros((*source.batch(), block.size))
    block.attach(numbers)
    block.write()
    for name, value in (("weights", 1.0), ("velocity", 0.0), ("acceleration", 0.0)):
        if block.has(name):
            block.put(name, value)
    entry = np.zeros(1, dtype=layout("task_entry"))
    block.write_entry(entry[0], 0)
    return _core.task_rows(robot, q, v, entry, numbers, block.rows, codes("task_output")[output])
