"""Limits that users write themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.limits.limit import RowLimit
from kinodyn.model.robot import Robot
from kinodyn.tasks.custom import Function, drift_by_differences, evaluate


class CustomLimit(RowLimit):
    """Keep margins of your own from becoming negative.

    Parameters
    ----------
    name
        How results and messages call it.
    function
        `function(robot, q)` returns the margins (..., rows), negative beyond the limit, and their gradients
        (..., rows, nv): the rate of the margins is `gradient @ v`. Solvers call it once a step, with batch axes if they
        have some.
    rows
        How many margins there are.
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

    kind = "rows"
    native = False

    def __init__(self, name: str, function: Function, *, rows: int, priority: int = 1, braking: float = 10.0) -> None:
        super().__init__(name, priority, braking)
        if not callable(function):
            raise InputError(f"{name!r} needs a function of (robot, q), got {function!r}")
        if not isinstance(rows, int | np.integer) or rows < 1:
            raise InputError(f"rows of {name!r} must be a positive integer, got {rows!r}")
        self.function = function
        self.rows = int(rows)

    def row_count(self, robot: Robot) -> int:
        """Count the margins.

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

    def settings(self, robot: Robot) -> dict[str, Any]:
        """Return whether it counts, and its braking.

        Parameters
        ----------
        robot
            The robot.

        Returns
        -------
        dict[str, Any]
            Values by the names of the core's fields.
        """
        return {"enabled": float(self.enabled), "braking": self.braking}

    def evaluate(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        """Call the function; return the margins and how velocities reduce them.

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
        margin, gradient = evaluate(self.name, self.function, self.rows, robot, q)
        return margin, -gradient

    def error(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the margins (..., rows).

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
        """Compute how joint velocities reduce the margins (..., rows, nv): minus their gradients.

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

    def __repr__(self) -> str:
        return f"CustomLimit({self.name!r}, rows={self.rows}, priority={self.priority})"
