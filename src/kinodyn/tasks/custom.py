"""Tasks that users write themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.rows import Rows
from kinodyn.tasks.task import Task, weights_of

Function = Callable[[Robot, Array], "tuple[ArrayLike, ArrayLike]"]


class CustomTask(Task):
    """Bring an error of your own to zero.

    Parameters
    ----------
    name
        How results and messages call it.
    function
        `function(robot, q)` returns the error (..., rows), the motion that is missing, and the Jacobian (..., rows, nv)
        of what moves, such that `J v` is minus the rate of the error. Solvers call it once a step, with batch axes if
        they have some.
    rows
        How many numbers the error has.
    weights
        One number, or one for each row.
    priority, gain, required
        See `Task`.

    Examples
    --------
    >>> import kinodyn as kd
    >>> import numpy as np
    >>> robot = kd.load("planar2r")
    >>> def straight(robot, q):  # the elbow to zero
    ...     return -q[..., 1:], np.broadcast_to([[0.0, 1.0]], (*q.shape[:-1], 1, 2))
    >>> q = kd.ik.WholeBody(robot, [kd.tasks.CustomTask("straight", straight, rows=1)]).solve([0.3, 0.5]).q
    >>> print(q.round(6) + 0.0)
    [0.3 0. ]
    """

    kind = "rows"
    native = False

    def __init__(
        self,
        name: str,
        function: Function,
        *,
        rows: int,
        weights: ArrayLike = 1.0,
        priority: int = 1,
        gain: float = 1.0,
        required: bool = True,
    ) -> None:
        super().__init__(name, priority, gain, required)
        if not callable(function):
            raise InputError(f"{name!r} needs a function of (robot, q), got {function!r}")
        if not isinstance(rows, int | np.integer) or rows < 1:
            raise InputError(f"rows of {name!r} must be a positive integer, got {rows!r}")
        self.function = function
        self.rows = int(rows)
        self.weights = weights

    def check_target(self, value: ArrayLike) -> Array:
        """Refuse: the function knows its target.

        Parameters
        ----------
        value
            What was assigned.

        Returns
        -------
        Array
            The target as an array.
        """
        raise InputError(f"{self.name!r} takes no target: its function returns the error")

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
        return weights_of(self.name, value, self.rows)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Return the error, which is all that is known.

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
        return self.error(robot, q)

    def evaluate(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        """Call the function and check what it returns.

        Parameters
        ----------
        robot
            The robot.
        q
            Configurations (..., nq).

        Returns
        -------
        tuple[Array, Array]
            Errors (..., rows) and Jacobians (..., rows, nv).
        """
        return evaluate(self.name, self.function, self.rows, robot, q)

    def error(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the error (..., rows).

        Parameters
        ----------
        robot
            The robot.
        q
            Configurations (..., nq).

        Returns
        -------
        Array
            Errors (..., rows).
        """
        return self.evaluate(robot, q)[0]

    def jacobian(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the Jacobian (..., rows, nv).

        Parameters
        ----------
        robot
            The robot.
        q
            Configurations (..., nq).

        Returns
        -------
        Array
            Jacobians (..., rows, nv).
        """
        return self.evaluate(robot, q)[1]

    def drift(self, robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
        """Compute (dJ/dt) v (..., rows) by central differences.

        Parameters
        ----------
        robot
            The robot.
        q
            Configurations (..., nq).
        v
            Joint velocities (..., nv).

        Returns
        -------
        Array
            Drifts (..., rows).
        """
        return drift_by_differences(self, robot, q, v)

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
        return self.rows

    def references(self) -> dict[str, Array | None]:
        """Return the motion of the target; the error comes from `evaluate`."""
        return {"velocity": self._velocity, "acceleration": self._acceleration}

    def prepare(self, robot: Robot, q: Array) -> None:
        """Do nothing: the function knows its target.

        Parameters
        ----------
        robot
            The robot.
        q
            Configurations (..., nq).
        """

    def forget(self) -> None:
        """Do nothing: the function knows its target."""


def evaluate(name: str, function: Function, rows: int, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
    """Call a user's function and check that it returns numbers (..., rows) and (..., rows, nv)."""
    values, J = function(robot, np.asarray(q, dtype=float))
    return numbers(f"first result of {name!r}", values, rows), numbers(f"Jacobian of {name!r}", J, rows, robot.nv)


def drift_by_differences(source: Rows, robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Compute (dJ/dt) v (..., rows) of rows by central differences of their Jacobian along v (..., nv)."""
    velocity = np.asarray(v, dtype=float)
    speed = float(np.abs(velocity).max(initial=0.0))
    if speed == 0:
        return np.zeros((*np.shape(q)[:-1], source.row_count(robot)))
    step = 1e-5 / speed
    after, before = (source.evaluate(robot, robot.integrate(q, sign * step * velocity))[1] for sign in (1.0, -1.0))
    drift: Array = ((after - before) @ velocity[..., None])[..., 0] / (2.0 * step)
    return drift
