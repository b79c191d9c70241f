"""The base class of tasks."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike, copied_on_access
from kinodyn.checks import flag, numbers, shape_of
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.motion import Motion, vector
from kinodyn.tasks.rows import Rows

FIXED = frozenset({"priority", "required", "frame", "relative_to", "rows"})  # solvers are built for these values


@displayed
@copied_on_access("weights")
class Task(Motion, Rows):
    """Base class of tasks.

    Attributes
    ----------
    name : str
        Name in results and messages.
    priority : int
        0 is the highest. A task never disturbs one with a smaller number; tasks with the same number are weighted
        against each other.
    weights : array
        Weights of the rows of the error relative to other tasks of the same priority; 0 leaves a row free. They may be
        changed at any time, even all to zero.
    enabled : bool
        Whether the task is active. Switching it takes no time and needs no new solver.
    gain : float
        Fraction of the error that one step removes if nothing opposes it, above 0 and at most 1.
    required : bool
        Whether `WholeBody.solve` succeeds only if this task is satisfied.
    target : array or None
        Target value; None: the value at the first configuration of a solver. Leading axes are batch axes. Reading it
        returns a copy, as with `weights`: assign a new one to change it.
    velocity, acceleration, frequency, damping_ratio, gains
        For controllers, which track a task in time; see `tasks.motion.Motion`. Inverse kinematics does not use them.
    """

    moving: ClassVar[frozenset[str]] = frozenset(
        {"target", "_target", "follows", "velocity", "_velocity", "acceleration", "_acceleration"}
    )
    gain: float
    weights: Any

    @check_types
    def __init__(self, name: str, priority: int, gain: float, required: bool) -> None:
        self._begin(name, priority)
        self.required = flag(f"required of {name!r}", required)
        self.gain = gain
        self._rest()
        self._target: Array | None = None
        self.follows = True  # the target was not given: it is taken from the first configuration

    def __setattr__(self, name: str, value: object) -> None:
        if name == "gain":
            value = _fraction(self.name, value)
        if name == "weights":
            value = self.check_weights(value)
        if name in FIXED and name in self.__dict__:
            raise AttributeError(f"{name!r} of {self.name!r} is fixed; create a new task instead")
        super().__setattr__(name, value)

    @property
    def target(self) -> Array | None:
        """The target, a copy."""
        return None if self._target is None else self._target.copy()

    @target.setter
    def target(self, value: MatrixLike | None) -> None:
        self.follows = value is None
        self._target = None if value is None else np.array(self.check_target(value), dtype=float)

    def track(self, target: Any, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None) -> None:
        """Set the target and its motion at once, as a control loop does every tick.

        Parameters
        ----------
        target
            As the attribute `target`.
        velocity, acceleration
            Of the target, as the attributes of these names; None is zero.
        """
        checked = np.array(self.check_target(target), dtype=float)
        v = None if velocity is None else vector(f"velocity of {self.name!r}", velocity)
        a = None if acceleration is None else vector(f"acceleration of {self.name!r}", acceleration)
        self.__dict__.update(_target=checked, follows=False, _velocity=v, _acceleration=a, version=self.version + 1)

    def prepare(self, robot: Robot, q: Array) -> None:
        if self._target is None:
            self._target = np.array(self.measure(robot, q), dtype=float)

    def reset(self) -> None:
        """Clear a target that was taken from a configuration."""
        if self.follows:
            self.target = None

    @abstractmethod
    def check_target(self, value: Any) -> Array:
        """Return the target as an array, or raise an error that explains what is wrong.

        Parameters
        ----------
        value
            The assigned value.

        Returns
        -------
        Array
            The target as an array.
        """

    @abstractmethod
    def check_weights(self, value: Any) -> Any:
        """Return the checked weights, or raise an error that explains what is wrong.

        Parameters
        ----------
        value
            The assigned value.

        Returns
        -------
        Any
            The checked weights.
        """

    @abstractmethod
    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the value that is compared with the target.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).

        Returns
        -------
        Array
            The value, with the batch axes of q.
        """

    def row_weights(self, robot: Robot) -> Array:
        """Return the weight (rows,) of each row of `error` and `jacobian`.

        Parameters
        ----------
        robot

        Returns
        -------
        Array
            Weights (rows,).
        """
        weights: Array = self.weights
        return weights

    def settings(self, robot: Robot) -> dict[str, Any]:
        stiffness, damping = self.gains
        return {
            "enabled": float(self.enabled),
            "gain": self.gain,
            "weights": self.row_weights(robot),
            "stiffness": stiffness,
            "damping": damping,
            **self.own_settings(),
        }

    def own_settings(self) -> dict[str, Any]:
        """Return the fields that are specific to this kind of task."""
        return {}

    def references(self) -> dict[str, Array | None]:
        if self._target is None:
            raise InputError(f"{self.name!r} has no target; assign one, or let a solver take it from a configuration")
        return {"target": self._target, "velocity": self._velocity, "acceleration": self._acceleration}

    def batch(self) -> tuple[int, ...]:
        arrays = ((self._target, self.target_axes()), (self._velocity, 1), (self._acceleration, 1))
        shapes = [array.shape[: array.ndim - axes] for array, axes in arrays if array is not None and array.ndim > axes]
        return np.broadcast_shapes(*shapes) if shapes else ()

    def target_axes(self) -> int:
        """Return the number of axes of one target."""
        return 1

    def step_gain(self, dt: float) -> float:
        """Return the factor on the error that a step of duration dt [s] should remove.

        Parameters
        ----------
        dt
            Duration of the step [s].

        Returns
        -------
        float
            The factor.
        """
        return self.gain

    def remaining(self, robot: Robot, q: Array, x: Array, dt: float) -> tuple[Array, Array]:
        weights = self.row_weights(robot)
        J = weights[:, None] * self.jacobian(robot, q)
        return J, weights * self.error(robot, q) * self.step_gain(dt) - J @ x

    @check_types
    def missing(self, robot: Robot, q: ArrayLike) -> Array:
        """Measure the remaining distance [m] and angle [rad] (..., 2) in the rows with nonzero weight.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).

        Returns
        -------
        Array
            Distances and angles (..., 2).
        """
        error = self.error(robot, q) * (self.row_weights(robot) > 0)
        linear, angular = self.parts()
        return np.stack([np.linalg.norm(error[..., part], axis=-1) for part in (linear, angular)], axis=-1)

    def parts(self) -> tuple[slice, slice]:
        """Return which rows are distances and which are angles."""
        return slice(0, None), slice(0, 0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, priority={self.priority})"


def weights_of(name: str, value: ArrayLike, size: int) -> Array:
    """Return weights (size,) from one number or several, or raise."""
    what = f"weights of {name!r}"
    given = numbers(what, value) if shape_of(value) == () else numbers(what, value, size)
    if given.ndim > 1:
        raise InputError(f"{what} must be one number or ({size},), got shape {given.shape}")
    result = np.array(np.broadcast_to(given, (size,)))
    if (result < 0).any():
        raise InputError(f"{what} must be nonnegative, got {value!r}")
    return result


def _fraction(name: str, value: object) -> float:
    if not isinstance(value, int | float | np.number) or not 0 < value <= 1:
        raise InputError(f"gain of {name!r} must be above 0 and at most 1, got {value!r}")
    return float(value)
