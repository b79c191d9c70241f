"""The centre of mass (CoM)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.tasks.vector import VectorTask


@displayed
class ComTask(VectorTask):
    """Bring the CoM to a position.

    Parameters
    ----------
    target
        Position (..., 3) in the world [m]. None: the CoM position at the first configuration.
    weights
        One number [1/m], or three along the axes of the world; `(1, 1, 0)` leaves the height free.
    priority, gain, required, name
        See `Task`.
    """

    kind = "com"
    needs_mass = True
    size = 3

    @check_types
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

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        return kinematics.com(robot, q)
