"""User-defined tasks."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.evaluated import EvaluatedRows, Function
from kinodyn.tasks.task import Task, weights_of


@displayed
class CustomTask(EvaluatedRows, Task):
    """Bring a user-defined error to zero.

    Parameters
    ----------
    name
        Name in results and messages.
    function
        `function(robot, q)` returns the error (..., rows), target minus actual value, and the Jacobian (..., rows, nv)
        of the actual value, such that `J v` is minus the rate of the error. Solvers call it once per step, with their
        batch axes.
    rows
        Number of rows of the error.
    weights
        One number, or one for each row.
    priority, gain, required
        See `Task`.

    Examples
    --------
    >>> import kinodyn as kd
    >>> import numpy as np
    >>> robot = kd.load("planar2r")
    >>> def straight(robot, q):  # bring the elbow to zero
    ...     return -q[..., 1:], np.broadcast_to([[0.0, 1.0]], (*q.shape[:-1], 1, 2))
    >>> q = kd.ik.WholeBody(robot, [kd.tasks.CustomTask("straight", straight, rows=1)]).solve([0.3, 0.5]).q
    >>> print(q.round(6) + 0.0)
    [0.3 0. ]
    """

    @check_types
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
        self._evaluate_by(function, rows)
        self.weights = weights

    def check_target(self, value: ArrayLike) -> Array:
        raise InputError(f"{self.name!r} takes no target: its function returns the error")

    def check_weights(self, value: ArrayLike) -> Array:
        return weights_of(self.name, value, self.rows)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        return self.error(robot, q)  # the function returns no separate value

    def references(self) -> dict[str, Array | None]:
        return {"velocity": self._velocity, "acceleration": self._acceleration}  # the error comes from `evaluate`

    def prepare(self, robot: Robot, q: Array) -> None:
        pass  # the target is part of the function

    def reset(self) -> None:
        pass
