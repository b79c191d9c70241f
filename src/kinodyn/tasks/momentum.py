"""The momentum of the whole body."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.dynamics import centroidal
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.task import Kind, Task, weights_of


class MomentumTask(Task):
    """Move with a given momentum about the centre of mass (..., 6), linear [kg m/s] first, then angular [kg m^2/s].

    By default it asks for none: arms then make up for the swing of legs. `weights=(0, 0, 0, 1, 1, 1)` asks for the
    angular part alone. Weights are per unit of mass of the robot, so that the rows compare with metres.
    """

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
        """Return zero: a momentum is of a motion, and q alone is at rest."""
        return np.zeros((*np.shape(q)[:-1], 6))

    def error(self, robot: Robot, q: ArrayLike) -> Array:
        """Return the momentum (..., 6) that is asked for."""
        assert self.target is not None
        return self.target - self.measure(robot, q)

    def jacobian(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the centroidal momentum matrix (..., 6, nv)."""
        return centroidal.momentum_matrix(robot, q)

    def row_weights(self, robot: Robot) -> Array:
        """Return the weights of the rows, per unit of mass."""
        weights: Array = self.weights / robot.mass
        return weights

    def integers(self, robot: Robot) -> tuple[int, int, int, int]:
        """Return kind and rows for the core."""
        if not robot.mass > 0:
            raise InputError(f"{self.name!r} needs a mass, and {robot.name!r} has none that moves")
        return Kind.MOMENTUM, -1, -1, 6

    def settings(self, robot: Robot) -> Array:
        """Return the weights for the core."""
        return self.row_weights(robot)

    def missing(self, robot: Robot, q: ArrayLike) -> Array:
        """Return zeros: it is a motion that is asked for, not a place."""
        return np.zeros((*np.shape(q)[:-1], 2))
