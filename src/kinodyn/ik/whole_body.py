"""Whole-body inverse kinematics: tasks in strict order of priority, within limits, step by step or until at rest.

The core does the work (`cpp/kernels/whole_body.cpp`); this file puts tasks and limits in order for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.conflicts import Step, WholeBodyResult
from kinodyn.limits import AccelerationLimit, ComLimit, PositionLimit, VelocityLimit
from kinodyn.limits.joints import ENDLESS
from kinodyn.model.robot import Robot
from kinodyn.tasks.custom import CustomTask
from kinodyn.tasks.task import Kind, Task

Limit: TypeAlias = PositionLimit | VelocityLimit | AccelerationLimit | ComLimit
LIMITS = (PositionLimit, VelocityLimit, AccelerationLimit, ComLimit)
LONGEST = 0.5  # rad or m that `solve` moves anything at once
MOST = 120  # tasks and limits that the core takes at once
REST = 1e-7  # motion below which `solve` has come to rest


class WholeBody:
    """Move a whole robot by tasks.

    Tasks of smaller priority number come first, strictly: a later one cannot disturb them. Tasks of equal priority are
    weighed against each other. Joint limits come before all tasks. There is always an answer: what cannot be met is
    approached as far as it goes, and the result can tell what stood in the way.

    Parameters
    ----------
    tasks
        `FrameTask`, `ComTask`, `PostureTask`, `ContactTask`, `MomentumTask`, `GazeTask`, `CustomTask`.
    limits
        `PositionLimit`, `VelocityLimit`, `AccelerationLimit`, `ComLimit`; by default the robot's position and
        velocity limits. An empty list is none.
    damping
        How much far targets are damped: squares of joint motion count as `damping` times the square of the error.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> q = robot.configuration("standing")
    >>> T = kd.kinematics.pose(robot, q, "left_palm").copy()
    >>> T[:3, 3] += [0.1, 0.0, 0.1]
    >>> feet = [kd.tasks.ContactTask("left_sole"), kd.tasks.ContactTask("right_sole")]
    >>> solver = kd.ik.WholeBody(robot, [*feet, kd.tasks.FrameTask("left_palm", T), kd.tasks.PostureTask(q)])
    >>> bool(solver.solve(q).success)
    True
    """

    def __init__(
        self, robot: Robot, tasks: Sequence[Task], limits: Sequence[Limit] | None = None, *, damping: float = 0.05
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
        if not isinstance(damping, int | float | np.number) or not 0 <= damping < np.inf:
            raise InputError(f"damping must be a number from 0 on, got {damping!r}")
        self.robot = robot
        self.damping = float(damping)
        self.tasks = _checked(tasks)
        self.limits = _checked_limits([PositionLimit(), VelocityLimit()] if limits is None else limits)
        self._order = _in_order(self.tasks, self.limits)
        if len(self._order) > MOST:
            raise InputError(f"{len(self._order)} tasks and balance limits are too many; {MOST} can be served at once")
        self._bounds()
        self._compile()
        self._versions: list[int] = []
        self._velocity = np.zeros(robot.nv)
        self._held = self._nothing_held
        self._dt = 0.0

    def __repr__(self) -> str:
        return f"WholeBody({self.robot.name}, {len(self.tasks)} tasks, {len(self.limits)} limits)"

    def step(self, q: ArrayLike, dt: float, v: ArrayLike | None = None) -> Step:
        """Find the motion for the next `dt` seconds from q (..., nq).

        The answer is within limits: at most the largest velocity, braking in time before the ends of joints, and from
        beyond them back as fast as it may.

        Parameters
        ----------
        v
            Velocity (..., nv) that the robot has, for `AccelerationLimit`; by default that of the step before.
        """
        if dt is not self._dt:
            if not isinstance(dt, int | float | np.number) or not 0 < dt < np.inf:
                raise InputError(f"dt must be a positive number of seconds, got {dt!r}")
            self._dt, self._settings = dt, np.array([dt, self.damping, 1.0, 0.0])
        start = self._ready(q)
        if self._velocity.ndim > 1 and self._velocity.shape[:-1] != start.shape[:-1]:
            self._velocity = np.zeros(self.robot.nv)  # other robots than those of the step before
        before = self._velocity if v is None else v
        found = self._run(start, before, self._settings, self._fastest, self._acceleration)
        self._velocity, self._held = found[1], found[3]
        return Step(self, start, dt, found)

    def solve(self, q0: ArrayLike, *, iterations: int = 2000, tolerance: float = 1e-6) -> WholeBodyResult:
        """Find a configuration at rest, from q0 (..., nq): tasks met, or as near as they get.

        Velocity and acceleration limits do not count here; from beyond position limits it starts at the nearest
        configuration within. `tolerance` is in metres and radians.
        """
        if not isinstance(iterations, int | np.integer) or iterations < 1:
            raise InputError(f"iterations must be a positive whole number, got {iterations!r}")
        if not isinstance(tolerance, int | float | np.number) or not tolerance > 0:
            raise InputError(f"tolerance must be a positive number, got {tolerance!r}")
        start = self._ready(q0)
        if not np.isfinite(start).all():
            raise InputError(f"q0 must be finite, got {start!r}")
        q = np.clip(start, self._lower, self._upper)
        calm, reach, none = np.zeros(self.robot.nv), np.full(self.robot.nv, LONGEST), self._no_limit
        native = not self._custom
        for k in range(1 if native else iterations):
            settings = np.array([1.0, self.damping, iterations if native else 1, REST])
            found = self._run(q, calm, settings, reach, none)
            steps = found[4][..., 0] + (0 if native else k)
            q = found[0]
            at_rest = found[4][..., 2] > 0 if native else np.abs(found[1]).max(axis=-1) <= REST
            if at_rest.all():
                break
        return WholeBodyResult(self, q, at_rest, steps.astype(int), tolerance)

    def reset(self) -> None:
        """Forget the step before, and the places that tasks without a target have taken from it."""
        for task in self.tasks:
            if task.follows and not isinstance(task, CustomTask):
                task.target = None
        self._velocity = np.zeros(self.robot.nv)
        self._held = self._nothing_held

    def _bounds(self) -> None:
        robot = self.robot
        self._no_limit = np.full(robot.nv, ENDLESS)
        self._lower, self._upper = np.full(robot.nq, -ENDLESS), np.full(robot.nq, ENDLESS)
        self._fastest = self._acceleration = self._no_limit
        for limit in self.limits:
            if isinstance(limit, PositionLimit):
                lower, upper = limit.bounds(robot)
                self._lower, self._upper = np.maximum(self._lower, lower), np.minimum(self._upper, upper)
            elif isinstance(limit, VelocityLimit):
                self._fastest = np.minimum(self._fastest, limit.bounds(robot))
            elif isinstance(limit, AccelerationLimit):
                self._acceleration = np.minimum(self._acceleration, limit.bounds(robot))

    def _compile(self) -> None:
        """Write down the structure for the core: kind, level, frame, reference frame, rows and need of each task."""
        integers: list[int] = []
        level = -1
        before = None
        for key, entry in self._order:
            level += key != before
            before = key
            if isinstance(entry, ComLimit):
                if not self.robot.mass > 0:
                    raise InputError(f"{entry.name!r} needs a mass, and {self.robot.name!r} has none that moves")
                integers += [Kind.COM_LIMIT, level, -1, -1, len(entry.edges), 1]
            else:
                kind, frame, reference, rows = entry.integers(self.robot)
                integers += [kind, level, frame, reference, rows, int(entry.required)]
        self._levels = level + 2  # one row for the motion as a whole
        self._nothing_held = np.zeros(self._levels * self.robot.nv)
        self._integers = np.array(integers, dtype=np.int32).tobytes()
        self._custom = [(2 * k, entry) for k, (_, entry) in enumerate(self._order) if isinstance(entry, CustomTask)]

    def _ready(self, q: ArrayLike) -> Array:
        """Check q, and see what has changed about the tasks."""
        robot = self.robot
        try:
            start = np.asarray(q, dtype=float)
        except (TypeError, ValueError) as cause:
            raise InputError(f"q must be numbers of shape (..., {robot.nq}), got {q!r}") from cause
        if start.ndim < 1 or start.shape[-1] != robot.nq:
            raise InputError(f"q must have shape (..., {robot.nq}), got {start.shape}")
        versions = [task.version for task in self.tasks]
        if versions != self._versions:
            self._refresh(start)
        return start

    def _refresh(self, q: Array) -> None:
        self._numbers: list[Array] = []
        for _, entry in self._order:
            if isinstance(entry, ComLimit):
                self._numbers += [entry.edges.reshape(-1), np.zeros(1)]
            elif isinstance(entry, CustomTask):
                self._numbers += [np.zeros(1), np.zeros(1)]
            else:
                if entry.target is None:
                    entry.follow(self.robot, q)
                self._numbers += entry.numbers(self.robot)
        self._versions = [task.version for task in self.tasks]

    def _run(self, q: Array, v: ArrayLike, settings: Array, fastest: Array, acceleration: Array) -> tuple[Array, ...]:
        for place, task in self._custom:
            self._numbers[place : place + 2] = task.numbers_at(self.robot, q)
        held = self._held
        if held.ndim > 1 and held.shape[:-1] != q.shape[:-1]:
            held = self._nothing_held
        return _core.whole_body(
            self.robot,
            q,
            v,
            settings,
            self._lower,
            self._upper,
            fastest,
            acceleration,
            held,
            self._integers,
            self._numbers,
            self._levels,
        )


def _checked(tasks: Sequence[Task]) -> tuple[Task, ...]:
    if isinstance(tasks, Task):
        raise InputError(f"tasks must be a list of tasks, got one alone: {tasks!r}")
    result = tuple(tasks)
    if not result:
        raise InputError("tasks is empty; give one at least")
    names: set[str] = set()
    for task in result:
        if not isinstance(task, Task):
            raise InputError(f"tasks must be kinodyn tasks, got {task!r}")
        if task.name in names:
            raise InputError(f"two tasks are called {task.name!r}; give one of them another name=")
        names.add(task.name)
    return result


def _checked_limits(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    if isinstance(limits, LIMITS):
        raise InputError(f"limits must be a list of limits, got one alone: {type(limits).__name__}")
    result = tuple(limits)
    for limit in result:
        if not isinstance(limit, LIMITS):
            raise InputError(f"limits must be kinodyn limits, got {limit!r}")
    return result


def _in_order(tasks: Sequence[Task], limits: Sequence[Limit]) -> list[tuple[tuple[int, bool], Task | ComLimit]]:
    """Sort by priority; within one, limits come before tasks."""
    entries: list[tuple[tuple[int, bool], Task | ComLimit]] = [
        ((limit.priority, False), limit) for limit in limits if isinstance(limit, ComLimit)
    ]
    entries += [((task.priority, True), task) for task in tasks]
    return sorted(entries, key=lambda entry: entry[0])
