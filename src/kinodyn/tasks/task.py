"""What all tasks have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.motion import Motion, vector


class Kind(IntEnum):
    """Names the kinds that the core knows (`cpp/kernels/tasks.hpp`)."""

    POSE = 0
    POINT = 1
    COM = 2
    POSTURE = 3
    MOMENTUM = 4
    GAZE = 5
    ROWS = 6
    COM_LIMIT = 7


FIXED = frozenset({"priority", "required", "frame", "relative_to", "rows"})  # solvers are built on them


class Task(Motion, ABC):
    """Something to be achieved, in competition with other tasks.

    Attributes
    ----------
    name : str
        How results and messages call it.
    priority : int
        0 comes first. A task never disturbs one with a smaller number; tasks of the same number are weighed against
        each other.
    weights
        Factors of the parts of the error, in competition with tasks of the same priority; 0 leaves a part free.
    gain : float
        The share of the error that one step removes where nothing stands against it, from 0 to 1.
    required : bool
        Whether `WholeBody.solve` must meet the task to call its answer a success.
    target
        What is to be reached; None stands for where the robot is when it is first asked. Arrays are kept read-only:
        assign a new one to change it. Leading axes are batch axes.
    velocity, acceleration, frequency, damping_ratio, gains
        For controllers, which follow a task in time; see `tasks.motion.Motion`. Inverse kinematics asks where, not
        when, and does not need them.
    """

    name: str
    priority: int
    gain: float
    required: bool
    weights: Any
    version: int

    def __init__(self, name: str, priority: int, gain: float, required: bool) -> None:
        if not isinstance(priority, int | np.integer) or isinstance(priority, bool) or priority < 0:
            raise InputError(f"priority of {name!r} must be a whole number from 0 on, got {priority!r}")
        self.version = 0
        self.name = name
        self.priority = int(priority)
        self.required = bool(required)
        self.gain = gain
        self._rest()
        self._target: Array | None = None
        self.follows = True  # the target was not given: it is where the robot was first seen

    def __setattr__(self, name: str, value: object) -> None:
        if name == "gain":
            value = _fraction(self.name, value)
        if name == "weights":
            value = self.check_weights(value)
        if name in FIXED and name in self.__dict__:
            raise AttributeError(f"{name!r} of {self.name!r} is fixed; make another task")
        object.__setattr__(self, name, value)
        if name != "version":
            object.__setattr__(self, "version", self.version + 1)  # solvers see that something is new

    @property
    def target(self) -> Array | None:
        """Give the target, read-only."""
        return self._target

    @target.setter
    def target(self, value: MatrixLike | None) -> None:
        self.follows = value is None
        self._target = None if value is None else frozen(self.check_target(value))

    def track(self, target: Any, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None) -> None:
        """Set the target and its motion at once, as a control loop does every tick."""
        checked = frozen(self.check_target(target))
        v = None if velocity is None else vector(f"velocity of {self.name!r}", velocity)
        a = None if acceleration is None else vector(f"acceleration of {self.name!r}", acceleration)
        self.__dict__.update(_target=checked, follows=False, _velocity=v, _acceleration=a, version=self.version + 1)

    def follow(self, robot: Robot, q: Array) -> None:
        """Take where the robot is for the target."""
        self._target = frozen(self.measure(robot, q))

    @abstractmethod
    def check_target(self, value: Any) -> Array:
        """Return the target as an array, or raise an error that explains what is wrong."""

    @abstractmethod
    def check_weights(self, value: Any) -> Any:
        """Return the weights as they are kept, or raise an error that explains what is wrong."""

    @abstractmethod
    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Measure what the target is compared with."""

    @abstractmethod
    def error(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the motion (..., k) that is missing, without weights."""

    @abstractmethod
    def jacobian(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute how joint velocities change what is measured (..., k, nv), without weights."""

    @abstractmethod
    def row_weights(self, robot: Robot) -> Array:
        """Return the weight (k,) of each row of `error` and `jacobian`."""

    @abstractmethod
    def integers(self, robot: Robot) -> tuple[int, int, int, int]:
        """Return kind, frame, reference frame and rows for the core."""

    @abstractmethod
    def settings(self, robot: Robot) -> Array:
        """Return what the core wants to know beside the target."""

    def numbers(self, robot: Robot) -> tuple[Array, Array]:
        """Return the target and the settings as the core takes them."""
        assert self._target is not None
        tail = self.target_axes()
        flat = self._target.reshape(*self._target.shape[: self._target.ndim - tail], -1)
        return flat, self.settings(robot)

    def target_axes(self) -> int:
        """Return the number of axes of one target."""
        return 1

    def missing(self, robot: Robot, q: ArrayLike) -> Array:
        """Measure the distance [m] and the angle [rad] (..., 2) that are missing, in the directions with weight."""
        wanted = self.error(robot, q) * (self.row_weights(robot) > 0)
        linear, angular = self.parts()
        return np.stack([np.linalg.norm(wanted[..., part], axis=-1) for part in (linear, angular)], axis=-1)

    def parts(self) -> tuple[slice, slice]:
        """Return which rows are distances and which are angles."""
        return slice(0, None), slice(0, 0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, priority={self.priority})"


def frozen(array: Array) -> Array:
    """Return a read-only copy."""
    copy = np.array(array, dtype=float)
    copy.flags.writeable = False
    return copy


def weights_of(name: str, value: ArrayLike, size: int) -> Array:
    """Return weights (size,) from one number or several, or raise."""
    what = f"weights of {name!r}"
    given = numbers(what, value) if np.ndim(value) == 0 else numbers(what, value, size)
    result = np.array(np.broadcast_to(given, (size,)))
    if (result < 0).any() or not result.any():
        raise InputError(f"{what} must not be negative and not all zero, got {value!r}")
    return frozen(result)


def _fraction(name: str, value: object) -> float:
    if not isinstance(value, int | float | np.number) or not 0 < value <= 1:
        raise InputError(f"gain of {name!r} must be above 0 and at most 1, got {value!r}")
    return float(value)
