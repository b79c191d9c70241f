"""Inverse dynamics as a quadratic programme: the controller of robots that stand on what they touch.

The core does the work (`cpp/kernels/inverse_dynamics.cpp`); this file puts tasks, contacts and limits in order for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.control.plan import Plan
from kinodyn.control.result import ControlResult
from kinodyn.control.uses import ContactUse
from kinodyn.dynamics.contact.constraints import Constraint
from kinodyn.errors import InputError, unknown_name
from kinodyn.limits import AccelerationLimit, PositionLimit, VelocityLimit
from kinodyn.limits.joints import ENDLESS, _by_joint
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.tasks.custom import CustomTask
from kinodyn.tasks.task import Task

Limit: TypeAlias = PositionLimit | VelocityLimit | AccelerationLimit
LIMITS = (PositionLimit, VelocityLimit, AccelerationLimit)
MODES = ("weighted", "strict")


class InverseDynamicsQP:
    """Find the torques that serve tasks best, within what contacts, motors and joints can do.

    Tasks are those of inverse kinematics, followed in time (`task.track(target, velocity, acceleration)`,
    `task.frequency`, `task.damping_ratio`). With `mode="weighted"` all are weighed against each other; with
    `mode="strict"` a task of larger priority number never disturbs one of a smaller.

    There is always an answer. Where limits contradict each other, torques and contact forces stay within theirs,
    joints exceed the bounds of their accelerations as little as can be, then contacts move as little as can be; the
    result names them.

    Parameters
    ----------
    tasks
        `FrameTask`, `ComTask`, `PostureTask`, `MomentumTask`, `GazeTask`, `CustomTask`; more can be added later.
    contacts
        `contact.Contact` and `contact.Loop` objects: all that may hold the robot. `controller.contacts[name]` switches
        each on and off, bounds its normal force and says which force is wished for.
    dt
        Time [s] between ticks, for which joint limits look ahead.
    limits
        `PositionLimit`, `VelocityLimit`, `AccelerationLimit`; by default the robot's position and velocity limits.
    torque_limits
        True: those of the robot; False: none; or numbers, or a dict of joint -> limit.
    braking
        Deceleration [rad/s^2, m/s^2] that joints are trusted to have before their position limits: one number, (nv,)
        or a dict; an `AccelerationLimit` overrules it.
    acceleration_weight, force_weight
        What accelerations, and forces in units of the robot's weight, cost beside tasks of weight 1. In strict mode
        the first damps every level; where limits hold a level back, motion that might help around them costs ten times
        as much, lest all other joints be flung about for little.
    stabilise
        Rate [1/s] at which contacts that move are stopped; see `ContactUse`.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> q = robot.configuration("standing")
    >>> sole = [[0.15, 0.05, 0.0], [0.15, -0.05, 0.0], [-0.05, -0.05, 0.0], [-0.05, 0.05, 0.0]]
    >>> feet = [kd.contact.Contact(name, corners=sole) for name in ("left_sole", "right_sole")]
    >>> tasks = [kd.tasks.ComTask(weights=10.0), kd.tasks.PostureTask(q)]
    >>> controller = kd.control.InverseDynamicsQP(robot, tasks, contacts=feet)
    >>> result = controller.solve(kd.State(robot, q))
    >>> print(result.status, round(sum(f[2] for f in result.forces.values()) / robot.mass, 2))
    solved 9.81
    """

    def __init__(
        self,
        robot: Robot,
        tasks: Sequence[Task],
        *,
        contacts: Sequence[Constraint] = (),
        mode: str = "weighted",
        dt: float = 1e-3,
        limits: Sequence[Limit] | None = None,
        torque_limits: bool | ArrayLike | Mapping[str, float] = True,
        braking: ArrayLike | Mapping[str, float] = 50.0,
        acceleration_weight: float = 1e-3,
        force_weight: float = 1e-2,
        stabilise: float | tuple[float, float] = 20.0,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
        if not robot.mass > 0:
            raise InputError(f"{robot.name!r} has no mass that moves: it needs no torques")
        if mode not in MODES:
            raise InputError(f'mode must be "weighted" or "strict", got {mode!r}')
        self.robot, self.mode = robot, mode
        given = {"dt": dt, "acceleration_weight": acceleration_weight, "force_weight": force_weight}
        for name, value in given.items():
            if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise InputError(f"{name} must be a positive number, got {value!r}")
        self._settings = np.array([dt, acceleration_weight, force_weight], dtype=float)
        self._limits = _limits(robot, [PositionLimit(), VelocityLimit()] if limits is None else limits, braking)
        self._limits += (_torques(robot, torque_limits),)
        self._stabilise = stabilise
        self._tasks: dict[str, Task] = {}
        self._uses: dict[str, ContactUse] = {}
        self._plan: Plan | None = None
        self.add(*tasks, *contacts)

    def __repr__(self) -> str:
        return (
            f"InverseDynamicsQP({self.robot.name}, {len(self._tasks)} tasks, {len(self._uses)} contacts, {self.mode})"
        )

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Give the tasks by name."""
        return MappingProxyType(self._tasks)

    @property
    def contacts(self) -> Mapping[str, ContactUse]:
        """Give the contacts by name, and how they are used."""
        return MappingProxyType(self._uses)

    def add(self, *entries: Task | Constraint) -> None:
        """Add tasks and contacts."""
        for entry in entries:
            if isinstance(entry, Task):
                if entry.name in self._tasks:
                    raise InputError(f"two tasks are called {entry.name!r}; give one of them another name=")
                self._tasks[entry.name] = entry
            else:
                use = ContactUse(self.robot, entry, self._stabilise)
                if use.name in self._uses:
                    raise InputError(f"two contacts are called {use.name!r}; give one of them another name=")
                self._uses[use.name] = use
        self._plan = None

    def remove(self, *entries: Task | Constraint) -> None:
        """Remove tasks and contacts."""
        for entry in entries:
            table: dict[str, Task] | dict[str, ContactUse] = self._tasks if isinstance(entry, Task) else self._uses
            if entry.name not in table:
                raise unknown_name("task" if isinstance(entry, Task) else "contact", entry.name, table)
            del table[entry.name]
        self._plan = None

    def enable(self, task: str, on: bool = True) -> None:
        """Let a task count, or not; cheaper than adding and removing it."""
        if task not in self._tasks:
            raise unknown_name("task", task, self._tasks)
        if self._plan is None:
            self._plan = Plan(self.robot, self._tasks, self._uses, self.mode)
        self._plan.enable(task, on)

    def solve(self, state: State) -> ControlResult:
        """Find accelerations, forces and torques at a state (..., q and v).

        The controller computes with its own robot. That of the state may differ in masses, as the true robot does from
        its model, but not in joints.
        """
        if state.robot is not self.robot and state.robot.joint_names != self.robot.joint_names:
            raise InputError(f"the state is of another robot, {state.robot!r}, than the controller, {self.robot!r}")
        plan = self._plan
        if plan is None:
            plan = self._plan = Plan(self.robot, self._tasks, self._uses, self.mode)
        plan.update(state.q, state.v)
        found = _core.id_qp(
            self.robot,
            state.q,
            state.v,
            self._settings,
            self._limits,
            plan.task_numbers,
            plan.support_numbers,
            plan.held_for(state.q.shape[:-1]),
            plan.integers,
            plan.task_rows,
            plan.support_rows,
            None,
        )
        plan.held = found[3]
        return ControlResult(plan, found)

    def __call__(self, t: float, state: State) -> Array:
        """Return the torques (..., nv) at time t [s] and a state."""
        return self.solve(state).tau

    def reset(self) -> None:
        """Forget the tick before, and the places that tasks without a target have taken from it."""
        for task in self._tasks.values():
            if task.follows and not isinstance(task, CustomTask):
                task.target = None
        if self._plan is not None:
            self._plan.forget()


def _limits(robot: Robot, limits: Sequence[Limit], braking: ArrayLike | Mapping[str, float]) -> tuple[Array, ...]:
    """Return lower, upper (nq), largest velocity, largest acceleration and braking (nv)."""
    if isinstance(limits, LIMITS):
        raise InputError(f"limits must be a list of limits, got one alone: {type(limits).__name__}")
    lower, upper = np.full(robot.nq, -ENDLESS), np.full(robot.nq, ENDLESS)
    fastest, most = np.full(robot.nv, ENDLESS), np.full(robot.nv, ENDLESS)
    for limit in limits:
        if isinstance(limit, PositionLimit):
            low, high = limit.bounds(robot)
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        elif isinstance(limit, VelocityLimit):
            fastest = np.minimum(fastest, limit.bounds(robot))
        elif isinstance(limit, AccelerationLimit):
            most = np.minimum(most, limit.bounds(robot))
        else:
            raise InputError(f"limits must be position, velocity or acceleration limits, got {limit!r}")
    brakes = _by_joint(robot, "braking", braking, np.full(robot.nv, 50.0))
    return lower, upper, fastest, most, np.where(most < ENDLESS, most, brakes)


def _torques(robot: Robot, values: bool | ArrayLike | Mapping[str, float]) -> Array:
    if values is False:
        return np.full(robot.nv, ENDLESS)
    own = np.minimum(robot.limits.effort, ENDLESS)
    if values is True:
        return own
    return np.minimum(_by_joint(robot, "torque_limits", values, own), ENDLESS)
