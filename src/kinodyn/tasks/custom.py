"""Tasks that users write themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.task import Kind, Task, weights_of

Function = Callable[[Robot, Array], "tuple[ArrayLike, ArrayLike]"]


class CustomTask(Task):
    """Bring something of your own to zero.

    `function(robot, q)` returns the motion that is missing (..., k) and the Jacobian (..., k, nv) of what moves; it
    is called once a step.

    >>> import kinodyn as kd
    >>> import numpy as np
    >>> robot = kd.load("planar2r")
    >>> def straight(robot, q):  # the elbow to zero
    ...     return -q[..., 1:], np.broadcast_to([[0.0, 1.0]], (*q.shape[:-1], 1, 2))
    >>> q = kd.ik.WholeBody(robot, [kd.tasks.CustomTask("straight", straight, rows=1)]).solve([0.3, 0.5]).q
    >>> print(q.round(6) + 0.0)
    [0.3 0. ]
    """

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
            raise InputError(f"rows of {name!r} must be a positive whole number, got {rows!r}")
        self.function = function
        self.rows = int(rows)
        self.weights = weights

    def check_target(self, value: ArrayLike) -> Array:
        """Refuse: the function knows what it wants."""
        raise InputError(f"{self.name!r} takes no target: its function says what is missing")

    def check_weights(self, value: ArrayLike) -> Array:
        """Return one weight per row."""
        return weights_of(self.name, value, self.rows)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Return the error, which is all that is known."""
        return self.error(robot, q)

    def evaluate(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        """Call the function and check what it returns."""
        error, J = self.function(robot, np.asarray(q, dtype=float))
        return numbers(f"error of {self.name!r}", error, self.rows), numbers(
            f"Jacobian of {self.name!r}", J, self.rows, robot.nv
        )

    def error(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute what is missing (..., rows)."""
        return self.evaluate(robot, q)[0]

    def jacobian(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the Jacobian (..., rows, nv)."""
        return self.evaluate(robot, q)[1]

    def row_weights(self, robot: Robot) -> Array:
        """Return the weights of the rows."""
        weights: Array = self.weights
        return weights

    def integers(self, robot: Robot) -> tuple[int, int, int, int]:
        """Return kind and rows for the core."""
        return Kind.ROWS, -1, -1, self.rows

    def settings(self, robot: Robot) -> Array:
        """Return nothing: `numbers_at` gives the core everything."""
        return np.zeros(0)

    def numbers_at(self, robot: Robot, q: Array) -> tuple[Array, Array]:
        """Return the errors and the Jacobian with the gain, weighted, as the core takes them."""
        error, J = self.evaluate(robot, q)
        rows = (self.weights[:, None] * J).reshape(*J.shape[:-2], -1)
        gain = np.full((*J.shape[:-2], 1), self.gain)
        return self.weights * error, np.concatenate([rows, gain], axis=-1)
