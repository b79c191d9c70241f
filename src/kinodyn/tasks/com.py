"""The centre of mass."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.task import Kind, Task, weights_of


class ComTask(Task):
    """Bring the centre of mass to a position (..., 3) in the world; three weights along the world's axes.

    `weights=(1, 1, 0)` leaves its height free.
    """

    def __init__(
        self,
        target: ArrayLike | None = None,
        *,
        weights: ArrayLike = 1.0,
        priority: int = 1,
        gain: float = 1.0,
        required: bool = True,
        name: str = "com",
    ) -> None:
        super().__init__(name, priority, gain, required)
        self.target = target
        self.weights = weights

    def check_target(self, value: ArrayLike) -> Array:
        """Return the position."""
        return numbers(f"target of {self.name!r}", value, 3)

    def check_weights(self, value: ArrayLike) -> Array:
        """Return one weight per row."""
        return weights_of(self.name, value, 3)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Measure the centre of mass."""
        return kinematics.com(robot, q)

    def error(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the way (..., 3) to the target."""
        assert self.target is not None
        return self.target - self.measure(robot, q)

    def jacobian(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the Jacobian (..., 3, nv) of the centre of mass."""
        return kinematics.com_jacobian(robot, q)

    def row_weights(self, robot: Robot) -> Array:
        """Return the weights of the rows."""
        weights: Array = self.weights
        return weights

    def integers(self, robot: Robot) -> tuple[int, int, int, int]:
        """Return kind and rows for the core."""
        if not robot.mass > 0:
            raise InputError(f"{self.name!r} needs a centre of mass, and {robot.name!r} has no mass that moves")
        return Kind.COM, -1, -1, 3

    def settings(self, robot: Robot) -> Array:
        """Return weights and gain for the core."""
        return np.append(self.weights, self.gain)
