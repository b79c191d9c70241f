"""Rows that a user's function computes instead of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import integer, numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.rows import Rows

Function: TypeAlias = "Callable[[Robot, Array], tuple[ArrayLike, ArrayLike]]"


class EvaluatedRows(Rows):
    """Rows of a `CustomTask` or `CustomLimit`.

    Attributes
    ----------
    function : callable
        Of (robot, q): returns numbers (..., rows) and their Jacobian (..., rows, nv).
    rows : int
        Number of rows.
    """

    kind = "rows"
    native = False

    def _evaluate_by(self, function: Function, rows: int) -> None:
        if not callable(function):
            raise InputError(f"{self.name!r} needs a function of (robot, q), got {function!r}")
        integer(f"rows of {self.name!r}", rows, 1)
        self.function = function
        self.rows = int(rows)

    def row_count(self, robot: Robot) -> int:
        return self.rows

    def evaluate(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        returned = self.function(robot, numbers("q", q, robot.nq))
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            raise InputError(f"the function of {self.name!r} must return (values, Jacobian), got {returned!r:.60}")
        values, J = returned
        what = f"{{}} of {self.name!r}".format
        return numbers(what("first result"), values, self.rows), numbers(what("Jacobian"), J, self.rows, robot.nv)

    def error(self, robot: Robot, q: ArrayLike) -> Array:
        return self.evaluate(robot, q)[0]

    def jacobian(self, robot: Robot, q: ArrayLike) -> Array:
        return self.evaluate(robot, q)[1]

    def drift(self, robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
        # central differences of the Jacobian along v
        velocity = np.asarray(v, dtype=float)
        speed = float(np.abs(velocity).max(initial=0.0))
        if speed == 0:
            return np.zeros((*np.shape(q)[:-1], self.rows))
        step = 1e-5 / speed
        after, before = (self.jacobian(robot, robot.integrate(q, sign * step * velocity)) for sign in (1.0, -1.0))
        drift: Array = ((after - before) @ velocity[..., None])[..., 0] / (2.0 * step)
        return drift
