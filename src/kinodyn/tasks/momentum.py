"""The momentum of the whole body."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.tasks.vector import VectorTask


@displayed
class MomentumTask(VectorTask):
    """Move with a given momentum about the CoM.

    It prescribes a velocity, not a position: `error` is the momentum error at rest, that is, the target itself, and a
    step of duration dt satisfies `jacobian @ x = target dt`. Controllers bring the momentum to the target with
    `damping` alone; `velocity` is the rate of the target.

    Parameters
    ----------
    target
        Momentum (..., 6), linear [kg m/s] first, then angular [kg m^2/s]. The default is zero: the arms then compensate
        the swinging legs.
    weights
        One number or six; `(0, 0, 0, 1, 1, 1)` selects the angular part alone. They are divided by the robot's mass,
        so that the rows compare with those of positions.
    priority, required, name
        See `Task`.
    """

    kind = "momentum"
    needs_mass = True
    size = 6

    @check_types
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

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        return np.zeros((*np.shape(q)[:-1], 6))  # q alone is at rest

    def row_weights(self, robot: Robot) -> Array:
        weights: Array = self.weights / robot.mass
        return weights

    def step_gain(self, dt: float) -> float:
        return dt

    def missing(self, robot: Robot, q: ArrayLike) -> Array:
        return np.zeros((*np.shape(q)[:-1], 2))  # it prescribes a velocity, not a position
