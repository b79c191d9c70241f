"""Moving obstacles: spheres with a predicted ballistic motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import number, numbers, positive, vector
from kinodyn.display import displayed
from kinodyn.layouts import layout


@check_types
@displayed
@dataclass(frozen=True, eq=False)
class MovingObstacle:
    """A moving sphere, observed at one time; its motion is predicted as ballistic.

    Attributes
    ----------
    position : (3,) array
        Position of its centre in the world [m].
    velocity : (3,) array
        [m/s]
    radius : float
        [m]; choose it larger for objects that are not spherical or not known exactly.
    acceleration : (3,) array
        [m/s^2]: zero by default, (0, 0, -9.81) for a ball thrown.
    time : float
        Time of the observation [s].

    Examples
    --------
    >>> ball = MovingObstacle([2, 0, 1], [-4, 0, 2], 0.05, acceleration=[0, 0, -9.81])
    >>> ball.at(0.5).round(3).tolist()
    [0.0, 0.0, 0.774]
    """

    position: Array
    velocity: Array
    radius: float
    acceleration: Array = (0.0, 0.0, 0.0)  # type: ignore[assignment]  # an array below
    time: float = 0.0

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "acceleration"):
            value = vector(name, getattr(self, name), 3)
            object.__setattr__(self, name, np.array(value))
        positive("radius", self.radius)
        number("time", self.time)

    def at(self, t: ArrayLike) -> Array:
        """Predict the position of the centre.

        Parameters
        ----------
        t : (...)
            Times [s].

        Returns
        -------
        (..., 3) array
            [m]
        """
        dt = (numbers("t", t) - self.time)[..., None]
        return np.asarray(self.position + dt * (self.velocity + 0.5 * dt * self.acceleration))


def sphere_records(obstacles: Sequence[MovingObstacle], t: float, margin: float) -> np.ndarray:
    """Return the records of the core, whose time 0 is t, with radii enlarged by a margin [m]."""
    records = np.zeros(len(obstacles), dtype=layout("moving_sphere"))
    for record, obstacle in zip(records, obstacles, strict=True):
        record["p"], record["a"] = obstacle.at(t), obstacle.acceleration
        record["v"] = obstacle.velocity + (t - obstacle.time) * obstacle.acceleration
        record["radius"] = obstacle.radius + margin
    return records
