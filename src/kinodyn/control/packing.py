"""Tasks as the core takes them: integers for what they are, numbers for what they want."""

from __future__ import annotations

import numpy as np

from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.robot import Robot
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
        ends = np.cumsum([place, self.target_size, *[self.rows] * 5, more])
        parts = [slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)]
        self._target, self._velocity, self._acceleration, self._stiffness, self._damping, self._weight, self._more = (
            parts
        )

    def integers(self, level: int) -> list[int]:
        """Return kind, level, frame, reference frame, rows, place and whether it counts."""
        return [self.kind, level, self.frame, self.reference, self.rows, self.place, int(self.active)]

    def batch(self) -> tuple[int, ...]:
        """Return the batch shape of what the task wants."""
        task = self.task
        shapes = [()] if task.target is None else [task.target.shape[: task.target.ndim - task.target_axes()]]
        shapes += [array.shape[:-1] for array in (task.velocity, task.acceleration) if array is not None]
        return np.broadcast_shapes(*shapes)

    def write(self, into: Array, q: Array) -> None:
        """Write what is new about the task to `into` (..., all numbers)."""
        task = self.task
        if isinstance(task, CustomTask):
            return
        if task.target is None:
            task.follow(self.robot, q)
        assert task.target is not None
        into[..., self._target] = (
            task.target.reshape(*task.target.shape[:-2], 16) if self.kind == Kind.POSE else task.target
        )
        self._put(into, self._velocity, task.velocity, "velocity")
        self._put(into, self._acceleration, task.acceleration, "acceleration")
        if self._weights is not task.weights or self._gains is not task.gains:
            self._write_settings(into)
        self.version = task.version

    def rewrite(self) -> None:
        """Forget what was written: the numbers are new memory."""
        self.version, self._weights, self._gains = -1, None, None

    def _write_settings(self, into: Array) -> None:
        task = self.task
        self._weights, self._gains = task.weights, task.gains
        for part, gain, what in zip((self._stiffness, self._damping), task.gains, ("stiffness", "damping"), strict=True):
            self._put(into, part, gain, what)
        weights = task.row_weights(self.robot)
        into[..., self._weight] = weights if len(weights) == self.rows else weights[0]
        if isinstance(task, FrameTask):
            into[..., self._more] = task.point
        elif isinstance(task, GazeTask):
            into[..., self._more] = task.axis

    def _put(self, into: Array, part: slice, value: Array | None, what: str) -> None:
        if value is None:
            into[..., part] = 0.0
            return
        if value.ndim > 0 and value.shape[-1] != self.rows:
            raise InputError(f"{what} of {self.task.name!r} must have shape (..., {self.rows}), got {value.shape}")
        into[..., part] = value

    def evaluate(self, into: Array, q: Array, v: Array) -> None:
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
        into[..., self._target] = error
        self._put(into, self._velocity, task.velocity, "velocity")
        self._put(into, self._acceleration, task.acceleration, "acceleration")
        self._write_settings(into)
        into[..., self._more] = np.concatenate([J.reshape(*J.shape[:-2], -1), drift], axis=-1)
        self.version = task.version
