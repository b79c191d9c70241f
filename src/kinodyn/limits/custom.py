"""User-defined limits."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.limits.limit import RowLimit
from kinodyn.model.robot import Robot
from kinodyn.tasks.evaluated import EvaluatedRows, Function


@displayed
class CustomLimit(EvaluatedRows, RowLimit):
    """Keep user-defined margins from becoming negative.

    Parameters
    ----------
    name
        Name in results and messages.
    function
        `function(robot, q)` returns the margins (..., rows), negative beyond the limit, and their gradients
        (..., rows, nv): the rate of the margins is `gradient @ v`. Solvers call it once per step, with their batch
        axes.
    rows
        Number of margins.
    priority, braking
        See `RowLimit`.

    Examples
    --------
    The elbow of a planar arm stays 0.5 m above the ground:

    >>> import kinodyn as kd
    >>> import numpy as np
    >>> robot = kd.load("planar2r")
    >>> def height(robot, q):
    ...     return np.sin(q[..., :1]) - 0.5, np.stack([np.cos(q[..., :1]), 0.0 * q[..., :1]], axis=-1)
    >>> limit = kd.limits.CustomLimit("height", height, rows=1)
    >>> result = kd.ik.WholeBody(robot, [kd.tasks.PostureTask([0.0, 0.0])], [limit]).solve([1.0, 0.2])
    >>> print(np.sin(result.q[0]).round(6))
    0.5
    """

    @check_types
    def __init__(self, name: str, function: Function, *, rows: int, priority: int = 1, braking: float = 10.0) -> None:
        super().__init__(name, priority, braking)
        self._evaluate_by(function, rows)

    def evaluate(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        # J of a limit is the rate at which velocities reduce the margins
        margin, gradient = super().evaluate(robot, q)
        return margin, -gradient

    def __repr__(self) -> str:
        return f"CustomLimit({self.name!r}, rows={self.rows}, priority={self.priority})"
