"""The gaze task."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, copied_on_access
from kinodyn.checks import numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.task import Task, weights_of


@displayed
@copied_on_access("axis")
class GazeTask(Task):
    """Point an axis of a frame at a position; rotation about that axis stays free.

    The error is the rotation vector [rad] that turns the axis towards the point: its two components normal to the axis,
    in the axes of the frame.

    Parameters
    ----------
    frame
        Frame of the camera or the head.
    target
        The point (..., 3) to look at, in the world [m].
    axis
        The line of sight (3,) in the frame, of any length.
    weights
        One number [1/rad].
    priority, gain, required, name
        See `Task`.
    """

    kind = "gaze"

    @check_types
    def __init__(
        self,
        frame: str,
        target: ArrayLike,
        *,
        axis: ArrayLike = (1.0, 0.0, 0.0),
        weights: float = 1.0,
        priority: int = 1,
        gain: float = 1.0,
        required: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(name or f"gaze of {frame}", priority, gain, required)
        self.frame = frame
        given = numbers(f"axis of {self.name!r}", axis, 3)
        length = float(np.linalg.norm(given))
        if not length > 1e-9:
            raise InputError(f"axis of {self.name!r} must be a nonzero vector, got {axis!r}")
        self.axis = given / length
        self.target = target
        self.weights = weights

    def check_target(self, value: ArrayLike) -> Array:
        return numbers(f"target of {self.name!r}", value, 3)

    def check_weights(self, value: ArrayLike) -> Array:
        return weights_of(self.name, value, 1)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        T = kinematics.pose(robot, q, self.frame)
        return T[..., :3, 3] + T[..., :3, :3] @ self.axis

    def row_weights(self, robot: Robot) -> Array:
        return np.repeat(self.weights, 2)

    def row_count(self, robot: Robot) -> int:
        return 2

    def frames(self, robot: Robot) -> tuple[int, int]:
        return robot.frame_index(self.frame), -1

    def own_settings(self) -> dict[str, Any]:
        return {"axis": self.axis}

    def parts(self) -> tuple[slice, slice]:
        return slice(0, 0), slice(0, None)
