"""Looking at something."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.task import Kind, Task, frozen, weights_of


class GazeTask(Task):
    """Turn an axis of a frame towards a point (..., 3) of the world; turning about that axis stays free.

    Parameters
    ----------
    frame
        The camera or the head.
    target
        The point to look at.
    axis
        The line of sight (3,) in the frame, of any length.
    """

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
            raise InputError(f"axis of {self.name!r} has no direction: {axis!r}")
        self.axis = frozen(given / length)
        self.target = target
        self.weights = weights

    def check_target(self, value: ArrayLike) -> Array:
        """Return the point."""
        return numbers(f"target of {self.name!r}", value, 3)

    def check_weights(self, value: ArrayLike) -> Array:
        """Return one weight per row."""
        return weights_of(self.name, value, 1)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Return a point one metre ahead on the line of sight."""
        T = kinematics.pose(robot, q, self.frame)
        return T[..., :3, 3] + T[..., :3, :3] @ self.axis

    def error(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the rotation (..., 2) that is missing, about two axes across the line of sight."""
        axis, d, _ = self._sight(robot, q)
        turn = np.cross(axis, d)
        sine, cosine = np.linalg.norm(turn, axis=-1), (axis * d).sum(axis=-1)
        angle = np.arctan2(sine, cosine)
        u, w = _across(d)
        # straight away from the target every way round is as long: take u
        unit = np.where(sine[..., None] > 1e-9, turn / np.maximum(sine, 1e-9)[..., None], u)
        e = angle[..., None] * unit
        return np.stack([(u * e).sum(axis=-1), (w * e).sum(axis=-1)], axis=-1)

    def jacobian(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute how the joints turn the axis relative to the line of sight (..., 2, nv)."""
        _, d, distance = self._sight(robot, q)
        J = kinematics.jacobian(robot, q, self.frame)
        sideways = np.cross(d[..., :, None], J[..., :3, :], axisa=-2, axisb=-2, axisc=-2)
        rate = J[..., 3:, :] + sideways / distance[..., None, None]
        return np.stack([(v[..., None, :] @ rate)[..., 0, :] for v in _across(d)], axis=-2)

    def _sight(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array, Array]:
        """Return the frame's axis, the direction to the target and the distance."""
        assert self.target is not None
        T = kinematics.pose(robot, q, self.frame)
        way = self.target - T[..., :3, 3]
        distance = np.linalg.norm(way, axis=-1)
        axis = T[..., :3, :3] @ self.axis
        near = distance < 1e-9  # the eye is at the target: nothing to look at
        d = np.where(near[..., None], axis, way / np.where(near, 1.0, distance)[..., None])
        return axis, d, np.where(near, np.inf, distance)

    def row_weights(self, robot: Robot) -> Array:
        """Return the weight of both rows."""
        return np.repeat(self.weights, 2)

    def integers(self, robot: Robot) -> tuple[int, int, int, int]:
        """Return kind, frame and rows for the core."""
        return Kind.GAZE, robot.frame_index(self.frame), -1, 2

    def settings(self, robot: Robot) -> Array:
        """Return weight, gain and axis for the core."""
        return np.concatenate([self.weights, [self.gain], self.axis])

    def parts(self) -> tuple[slice, slice]:
        """Count both rows as angles."""
        return slice(0, 0), slice(0, None)


def _across(d: Array) -> tuple[Array, Array]:
    """Make two unit vectors at right angles to unit vectors (..., 3), as the core does."""
    other = np.where(np.abs(d[..., :1]) < 0.6, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    u = np.cross(d, other)
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    return u, np.cross(d, u)
