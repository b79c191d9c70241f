"""The momentum of the whole body."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.task import Task, weights_of


class MomentumTask(Task):
    """Move with a given momentum about the CoM.

    It asks for a motion, not for a place: `error` is the momentum that is missing at rest, the target itself, and a
    step of duration dt is to have `jacobian @ x = target dt`. Controllers bring the momentum to the target with
    `damping` alone; `velocity` is the rate of the target.

    Parameters
    ----------
    target
        Momentum (..., 6), linear [kg m/s] first, then angular [kg m^2/s]. By default it is zero: arms then compensate
        the swing of legs.
    weights
        One number or six; `(0, 0, 0, 1, 1, 1)` asks for the angular part alone. They are divided by the robot's mass,
        so that the rows compare with those of positions.
    priority, required, name
        See `Task`.
    """

    kind = "momentum"

    def __init__(
        self,
        target: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        *,
        weights: ArrayLike = 1.0,
        priority: int = 1,
        required: bool = False,
        name: str = "momentum",
    ) -> None:
        super().__init__(name, priority, 1.0, required)
        self.target = target
        self.weights = weights

    def check_target(self, value: ArrayLike) -> Array:
        """Return the momentum."""
        return numbers(f"target of {self.name!r}", value, 6)

    def check_weights(self, value: ArrayLike) -> Array:
        """Return one weight per row."""
        return weights_of(self.name, value, 6)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Return zero: q alone is at rest."""
        return np.zeros((*np.shape(q)[:-1], 6))

    def row_weights(self, robot: Robot) -> Array:
        """Return the weights of the rows, per unit of mass."""
        weights: Array = self.weights / robot.mass
        return weights

    def row_count(self, robot: Robot) -> int:
        """Count the rows."""
        return 6

    def check(self, robot: Robot) -> None:
        """Raise if the robot has no mass."""
        if not robot.mass > 0:
            raise InputError(f"{self.name!r} needs a mass, and {robot.name!r} has none that moves")

    def step_gain(self, dt: float) -> float:
        """Return dt: the momentum times dt is the motion."""
        return dt

    def missing(self, robot: Robot, q: ArrayLike) -> Array:
        """Return zeros: it asks for a motion, not for a place."""
        return np.zeros((*np.shape(q)[:-1], 2))
