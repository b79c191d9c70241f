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
        """Return the momentum.

        Parameters
        ----------
        value
            What was assigned.

        Returns
        -------
        Array
            The target as an array.
        """
        return numbers(f"target of {self.name!r}", value, 6)

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
        return weights_of(self.name, value, 6)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Return zero: q alone is at rest.

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
        return np.zeros((*np.shape(q)[:-1], 6))

    def row_weights(self, robot: Robot) -> Array:
        """Return the weights of the rows, per unit of mass.

        Parameters
        ----------
        robot
            The robot.

        Returns
        -------
        Array
            Weights (rows,).
        """
        weights: Array = self.weights / robot.mass
        return weights

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
        return 6

    def check(self, robot: Robot) -> None:
        """Raise if the robot has no mass.

        Parameters
        ----------
        robot
            The robot.
        """
        if not robot.mass > 0:
            raise InputError(f"{self.name!r} needs a mass, and {robot.name!r} has none that moves")

    def step_gain(self, dt: float) -> float:
        """Return dt: the momentum times dt is the motion.

        Parameters
        ----------
        dt
            Duration of the step [s].

        Returns
        -------
        float
            The factor.
        """
        return dt

    def missing(self, robot: Robot, q: ArrayLike) -> Array:
        """Return zeros: it asks for a motion, not for a place.

        Parameters
        ----------
        robot
            The robot.
        q
            Configurations (..., nq).

        Returns
        -------
        Array
            Distances and angles (..., 2).
        """
        return np.zeros((*np.shape(q)[:-1], 2))
