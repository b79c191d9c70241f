"""Whole-body inverse kinematics: strictly prioritised tasks within limits, step by step or until convergence.

The core solves the problem (`cpp/kernels/whole_body.cpp`); this file sorts and packs the tasks and limits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import distinct_names, integer, list_of, nonnegative, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.ik.starts import configuration
from kinodyn.ik.whole_body_result import Step, WholeBodyResult
from kinodyn.layouts import block_size, layout, named_view
from kinodyn.limits import Limit, PositionLimit, VelocityLimit
from kinodyn.limits.bounds import UNLIMITED, JointBounds
from kinodyn.limits.limit import checked_limits
from kinodyn.model.robot import Robot
from kinodyn.tasks.rows import Rows
from kinodyn.tasks.table import TaskTable
from kinodyn.tasks.task import Task

LONGEST_STEP = 0.5  # maximum joint motion in one step of `solve` [rad or m]
MAX_ITERATIONS = 10**8
STEP_TOLERANCE = 1e-7  # joint motion in one step below which `solve` has converged [rad or m]


@displayed
class WholeBody:
    """Solve whole-body inverse kinematics with prioritised tasks.

    Priorities are strict: a task cannot disturb tasks with a smaller priority number. Tasks of equal priority are
    weighted against each other. Joint limits have priority over all tasks. There is always a solution: targets that
    cannot be reached are approached as closely as possible, and the result names the conflicts.

    Parameters
    ----------
    robot
    tasks
        `FrameTask`, `ComTask`, `PostureTask`, `ContactTask`, `MomentumTask`, `GazeTask`, `CustomTask`.
    limits
        `PositionLimit`, `VelocityLimit`, `AccelerationLimit`, `ComLimit`, `CollisionLimit`, `CustomLimit`; by default
        the robot's position and velocity limits. An empty list means no limits.
    damping
        Damping for distant targets: the squared joint motion is weighted by `damping` times the squared error.

    Examples
    --------
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

    @check_types
    def __init__(
        self, robot: Robot, tasks: Sequence[Task], limits: Sequence[Limit] | None = None, *, damping: float = 0.05
    ) -> None:
        nonnegative("damping", damping)
        self.robot = robot
        self.damping = float(damping)
        self.tasks = _checked(tasks)
        self.limits = checked_limits([PositionLimit(), VelocityLimit()] if limits is None else limits)
        for limit in self.limits:
            limit.check_velocity_level()
        self.order = _in_order(self.tasks, self.limits)
        levels = sorted({rank for rank, _ in self.order})
        self._levels = len(levels)
        self._table = TaskTable(robot, [(levels.index(rank), entry) for rank, entry in self.order])
        self._make_bounds()
        self._cold_start = np.zeros(_core.warm_start_size(robot, self._table.entries, self._levels))
        self._warm_start = self._cold_start
        self._velocity = np.zeros(robot.nv)
        self._dt = 0.0

    def __repr__(self) -> str:
        return f"WholeBody({self.robot.name}, {len(self.tasks)} tasks, {len(self.limits)} limits)"

    def step(self, q: ArrayLike, dt: float, v: ArrayLike | None = None) -> Step:
        """Find the motion for the next time step.

        It is within the limits: velocities are bounded, joints brake in time before their position limits, and joints
        beyond them return as fast as the other limits allow.

        Parameters
        ----------
        q
            Configurations (..., nq).
        dt
            Duration of the step [s].
        v
            Current velocity (..., nv), for `AccelerationLimit`; by default that of the previous step.

        Returns
        -------
        Step
            Configuration and velocity after the step, errors, and conflicts.
        """
        if dt is not self._dt:
            positive("dt", dt)
            self._dt, self._settings = dt, _settings(dt=dt, damping=self.damping, max_steps=1)
        start = configuration(self.robot, q, "q")
        if self._velocity.ndim > 1 and self._velocity.shape[:-1] != start.shape[:-1]:
            self._velocity = np.zeros(self.robot.nv)  # another batch than in the previous step
        before = self._velocity if v is None else v
        found = self._run(start, before, self._settings, self._bounds.numbers)
        self._velocity, self._warm_start = found.v, found.active
        return Step(self, start, dt, found)

    def solve(self, q0: ArrayLike, *, iterations: int = 2000, tolerance: float = 1e-6) -> WholeBodyResult:
        """Find a stationary configuration, in which the tasks are met or as close to it as possible.

        Velocity and acceleration limits do not apply here.

        Parameters
        ----------
        q0
            Start (..., nq). If it is beyond position limits, the nearest configuration within them is used.
        iterations
            Maximum number of steps.
        tolerance
            Error [m, rad] up to which a task is met.

        Returns
        -------
        WholeBodyResult
            Configuration, status, errors, and conflicts.
        """
        integer("iterations", iterations, 1, MAX_ITERATIONS)
        positive("tolerance", tolerance)
        start = configuration(self.robot, q0, "q0")
        if not np.isfinite(start).all():
            raise InputError(f"q0 must be finite, got {start!r}")
        q, info = self._until_rest(np.clip(start, self._bounds.lower, self._bounds.upper), int(iterations))
        return WholeBodyResult(self, q, info["at_rest"] > 0, info["steps"].astype(int), tolerance)

    def _until_rest(self, q: Array, max_steps: int) -> tuple[Array, np.ndarray]:
        """Run the core's iteration, which pauses at each new q if rows are computed in Python."""
        pausing = bool(self._table.evaluated)
        settings = _settings(dt=1.0, damping=self.damping, max_steps=max_steps, rest=STEP_TOLERANCE, pausing=pausing)
        no_motion, progress = np.zeros(self.robot.nv), None
        if pausing:
            progress = np.zeros(block_size(layout("solve_progress", levels=self._levels, nq=self.robot.nq)))
        while True:
            found = self._run(q, no_motion, settings, self._solve_bounds.numbers, progress)
            q, info = found.q, named_view(found.info, layout("whole_body_info"))
            if not pausing or (info["done"] > 0).all():
                return q, info
            self._warm_start, progress = found.active, found.progress

    def reset(self) -> None:
        """Reset the velocity, the warm start and the targets that tasks have taken from the first configuration."""
        for task in self.tasks:
            task.reset()
        self._velocity = np.zeros(self.robot.nv)
        self._warm_start = self._cold_start

    def _make_bounds(self) -> None:
        self._bounds, self._solve_bounds = JointBounds(self.robot), JointBounds(self.robot)
        for limit in self.limits:
            limit.narrow(self.robot, self._bounds)
        self._solve_bounds.lower[...], self._solve_bounds.upper[...] = self._bounds.lower, self._bounds.upper
        self._solve_bounds.velocity[...] = LONGEST_STEP
        self._solve_bounds.acceleration[...] = UNLIMITED

    def _run(
        self, q: Array, v: ArrayLike, settings: Array, bounds: Array, progress: Array | None = None
    ) -> _core.WholeBody:
        table, warm_start = self._table, self._warm_start
        table.update(q, self._velocity)
        if warm_start.ndim > 1 and warm_start.shape[:-1] != q.shape[:-1]:
            warm_start = self._cold_start
        return _core.whole_body(
            self.robot, q, v, settings, bounds, table.entries, table.numbers, warm_start, progress, self._levels
        )


def _settings(**values: float) -> Array:
    dtype = layout("whole_body_settings")
    numbers = np.zeros(block_size(dtype))
    view = named_view(numbers, dtype)
    for name, value in values.items():
        view[name] = value
    return numbers


def _checked(tasks: Sequence[Task]) -> tuple[Task, ...]:
    result = list_of("tasks", tasks, Task, "tasks")
    if not result:
        raise InputError("tasks is empty; at least one task is needed")
    distinct_names("tasks", (task.name for task in result))
    return result


def _in_order(tasks: Sequence[Task], limits: Sequence[Limit]) -> list[tuple[tuple[int, bool], Rows]]:
    """Sort tasks and limits with rows by priority; within one priority, limits precede tasks."""
    rows: list[Rows] = [*(limit for limit in limits if isinstance(limit, Rows)), *tasks]
    return sorted((((entry.priority, not entry.inequality), entry) for entry in rows), key=lambda entry: entry[0])
