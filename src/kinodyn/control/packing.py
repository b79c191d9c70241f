"""Tasks as the core takes them: integers for what they are, numbers for what they want."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.custom import CustomTask
from kinodyn.tasks.frame import FrameTask
from kinodyn.tasks.gaze import GazeTask
from kinodyn.tasks.task import Kind, Task

ROWS = {Kind.POSE: 6, Kind.POINT: 3, Kind.COM: 3, Kind.MOMENTUM: 6, Kind.GAZE: 3}


class TaskSlot:
    """One task's place among the numbers: target, velocity, acceleration, stiffness, damping, weights, more."""

    def __init__(self, robot: Robot, task: Task, place: int) -> None:
        self.robot, self.task, self.place = robot, task, place
        kind, self.frame, self.reference, rows = task.integers(robot)
        self.kind = Kind(kind)
        self.rows = robot.nv if self.kind == Kind.POSTURE else rows if self.kind == Kind.ROWS else ROWS[self.kind]
        self.target_size = {Kind.POSE: 16, Kind.POSTURE: robot.nq}.get(self.kind, self.rows)
        more = {Kind.POSE: 3, Kind.POINT: 3, Kind.GAZE: 3, Kind.ROWS: self.rows * (robot.nv + 1)}.get(self.kind, 0)
        self.size = self.target_size + 5 * self.rows + more
        self.active = True
        self.version = -1
        self._weights: object = None
        self._gains: object = None
        self._sizes = (self.target_size, *[self.rows] * 5, more)
        self._parts: list[Array] = []

    def integers(self, level: int) -> list[int]:
        """Return kind, level, frame, reference frame, rows, place and whether it counts."""
        return [self.kind, level, self.frame, self.reference, self.rows, self.place, int(self.active)]

    def alone(self) -> bool:
        """Tell whether the task wants one thing, not a batch of them."""
        task = self.task
        return all(
            array is None or array.ndim == axes
            for array, axes in ((task.target, task.target_axes()), (task.velocity, 1), (task.acceleration, 1))
        )

    def batch(self) -> tuple[int, ...]:
        """Return the batch shape of what the task wants."""
        task = self.task
        shapes = [()] if task.target is None else [task.target.shape[: task.target.ndim - task.target_axes()]]
        shapes += [array.shape[:-1] for array in (task.velocity, task.acceleration) if array is not None]
        return np.broadcast_shapes(*shapes)

    def attach(self, numbers: Array) -> None:
        """Take its place among numbers (..., all of them) that hold nothing yet."""
        self.version, self._weights, self._gains = -1, None, None
        ends = self.place + np.cumsum([0, *self._sizes])
        self._parts = [numbers[..., a:b] for a, b in zip(ends[:-1], ends[1:], strict=True)]
        if self.kind == Kind.POSE:
            target = self._parts[0]
            self._parts[0] = target.reshape(*target.shape[:-1], 4, 4)

    def write(self, q: Array) -> None:
        """Write what is new about the task."""
        task, parts = self.task, self._parts
        if task.target is None:
            task.follow(self.robot, q)
        self._put(0, task.target, "target")
        self._put(1, task.velocity, "velocity")
        self._put(2, task.acceleration, "acceleration")
        if self._weights is not task.weights or self._gains is not task.gains:
            self._write_settings(parts)
        self.version = task.version

    def _write_settings(self, parts: list[Array]) -> None:
        task = self.task
        self._weights, self._gains = task.weights, task.gains
        self._put(3, task.gains[0], "stiffness")
        self._put(4, task.gains[1], "damping")
        weights = task.row_weights(self.robot)
        parts[5][...] = weights if len(weights) == self.rows else weights[0]
        if isinstance(task, FrameTask):
            parts[6][...] = task.point
        elif isinstance(task, GazeTask):
            parts[6][...] = task.axis

    def _put(self, part: int, value: Array | None, what: str) -> None:
        to = self._parts[part]
        if value is None:
            to[...] = 0.0
            return
        if value.ndim > 0 and value.shape[-1] != to.shape[-1]:
            raise InputError(f"{what} of {self.task.name!r} must have shape (..., {to.shape[-1]}), got {value.shape}")
        to[...] = value

    def evaluate(self, q: Array, v: Array) -> None:
        """Write the rows of a task of the user's own, at (q, v): its drift dJ/dt v by central differences."""
        task, robot = self.task, self.robot
        assert isinstance(task, CustomTask)
        error, J = task.evaluate(robot, q)
        speed = float(np.abs(v).max(initial=0.0))
        drift = np.zeros(error.shape)
        if speed > 0:
            step = 1e-5 / speed
            after, before = (task.evaluate(robot, robot.integrate(q, sign * step * v))[1] for sign in (1.0, -1.0))
            drift = ((after - before) @ v[..., None])[..., 0] / (2.0 * step)
        self._put(0, error, "error")
        self._put(1, task.velocity, "velocity")
        self._put(2, task.acceleration, "acceleration")
        self._write_settings(self._parts)
        self._parts[6][...] = np.concatenate([J.reshape(*J.shape[:-2], -1), drift], axis=-1)
        self.version = task.version
