"""The centre of mass (CoM)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.task import Task, weights_of


class ComTask(Task):
    """Bring the CoM to a position.

    Parameters
    ----------
    target
        Position (..., 3) in the world [m]. None: where the CoM is when first asked.
    weights
        One number [1/m], or three along the axes of the world; `(1, 1, 0)` leaves the height free.
    priority, gain, required, name
        See `Task`.
    """

    kind = "com"

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
        """Return the position.

        Parameters
        ----------
        value
            What was assigned.

        Returns
        -------
        Array
            The target as an array.
        """
        return numbers(f"target of {self.name!r}", value, 3)

    def check_weights(self, value: ArrayLike) -> Array:
        """Return one weight per row.

        Parameters
        ----------
        value
            What was assigned.

        Returns
        -------
        Array
            The weights as they are kept.
        """
        return weights_of(self.name, value, 3)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Measure the position (..., 3) of the CoM.

        Parameters
        ----------
        robot
            The robot.
        q
            Configurations (..., nq).

        Returns
        -------
        Array
            What is measured, with the batch axes of q.
        """
        return kinematics.com(robot, q)

    def row_count(self, robot: Robot) -> int:
        """Count the rows.

        Parameters
        ----------
        robot
            The robot.

        Returns
        -------
        int
            Number of rows.
        """
        return 3

    def check(self, robot: Robot) -> None:
        """Raise if the robot has no mass.

        Parameters
        ----------
        robot
            The robot.
        """
        if not robot.mass > 0:
            raise InputError(f"{self.name!r} needs a centre of mass, and {robot.name!r} has no mass that moves")
