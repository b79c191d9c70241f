"""Inverse dynamics as a quadratic program (QP): the controller of robots in contact. The core solves it
(`cpp/kernels/id_qp.cpp`); this file prepares tasks, contacts and limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import distinct_names, instance, one_of, positive
from kinodyn.control.contact_setpoint import ContactSetpoint
from kinodyn.control.plan import ControlPlan
from kinodyn.control.result import ControlResult
from kinodyn.display import displayed
from kinodyn.dynamics.contact.constraints import Constraint
from kinodyn.errors import InputError, unknown_name
from kinodyn.layouts import block_size, layout, named_view
from kinodyn.limits import Limit, PositionLimit, TorqueLimit, VelocityLimit
from kinodyn.limits.bounds import JointBounds, by_joint
from kinodyn.limits.limit import RowLimit, checked_limits
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.tasks.task import Task

MODES = ("weighted", "strict")
BRAKING_ACCELERATION = 50.0  # rad/s^2 or m/s^2


@displayed
class InverseDynamicsQP:
    """Compute the torques that minimise task errors within the limits of contacts, motors and joints.

    Tasks are those of inverse kinematics, tracked in time (`task.track(target, velocity, acceleration)`,
    `task.frequency`, `task.damping_ratio`). The desired accelerations a of each satisfy J a = -(dJ/dt) v + damping
    de/dt + stiffness e, so that its error e decays like an oscillator.

    There is always a solution. Where limits conflict, torques and contact forces stay within theirs, joints violate
    their acceleration bounds as little as possible, then contacts move as little as possible; the result names them.

    Parameters
    ----------
    robot
    tasks
        `FrameTask`, `ComTask`, `PostureTask`, `MomentumTask`, `GazeTask`, `CustomTask`; more can be added later.
    contacts
        All `contact.Contact` and `contact.Loop` objects that may become active. `controller.contacts[name]`, a
        `ContactSetpoint`, switches each on and off, bounds its normal force and sets a desired force.
    mode
        "weighted": a weighted sum of all tasks; "strict": a task with a larger priority number never disturbs one with
        a smaller number.
    dt
        Control period [s], over which limits look ahead.
    limits
        `PositionLimit`, `VelocityLimit`, `AccelerationLimit`, `TorqueLimit`, `ComLimit`, `CollisionLimit`,
        `CustomLimit`; by default the robot's position, velocity and torque limits. An empty list is none.
    braking
        Deceleration [rad/s^2, m/s^2] that is assumed to be available before position limits: one number, (nv,) or a
        dict; an `AccelerationLimit` overrides it. A joint that half of its torque limit cannot decelerate that fast
        begins to brake correspondingly earlier.
    acceleration_weight, force_weight
        Weights of accelerations, and of forces in units of the robot's weight, relative to tasks of weight 1. In strict
        mode the first damps every level; where limits are active, motion that only helps to work around them is
        weighted ten times as much, so that other joints do not move excessively for a small gain.
    stabilise
        Rate [1/s] at which moving contacts are stopped; see `ContactSetpoint`.

    Examples
    --------
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

    @check_types
    def __init__(
        self,
        robot: Robot,
        tasks: Sequence[Task],
        *,
        contacts: Sequence[Constraint] = (),
        mode: str = "weighted",
        dt: float = 1e-3,
        limits: Sequence[Limit] | None = None,
        braking: ArrayLike | Mapping[str, float] = BRAKING_ACCELERATION,
        acceleration_weight: float = 1e-3,
        force_weight: float = 1e-2,
        stabilise: float | tuple[float, float] = 20.0,
    ) -> None:
        if not robot.mass > 0:
            raise InputError(f"{robot.name!r} has no moving mass and needs no torques")
        one_of("mode", mode, MODES)
        self.robot, self.mode = robot, mode
        self._settings = _settings(dt=dt, acceleration_weight=acceleration_weight, force_weight=force_weight)
        self.limits = checked_limits([PositionLimit(), VelocityLimit(), TorqueLimit()] if limits is None else limits)
        for limit in self.limits:
            limit.check_acceleration_level()
        self._bounds = JointBounds(robot)
        self._bounds.braking[...] = by_joint(robot, "braking", braking, np.full(robot.nv, BRAKING_ACCELERATION))
        for limit in self.limits:
            limit.narrow(robot, self._bounds)
        self._stabilise = stabilise
        self._tasks: dict[str, Task] = {}
        self._setpoints: dict[str, ContactSetpoint] = {}
        self._plan: ControlPlan | None = None
        self.add(*tasks, *contacts)

    def __repr__(self) -> str:
        counts = f"{len(self._tasks)} tasks, {len(self._setpoints)} contacts"
        return f"InverseDynamicsQP({self.robot.name}, {counts}, {self.mode})"

    @property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks by name."""
        return MappingProxyType(self._tasks)

    @property
    def contacts(self) -> Mapping[str, ContactSetpoint]:
        """The setpoints of the contacts by name."""
        return MappingProxyType(self._setpoints)

    def add(self, *entries: Task | Constraint) -> None:
        """Add tasks and contacts.

        Parameters
        ----------
        *entries
            Tasks, `contact.Contact` and `contact.Loop` objects, with names that are not in use.
        """
        for entry in entries:
            if isinstance(entry, Task):
                distinct_names("tasks", (*self._tasks, entry.name))
                self._tasks[entry.name] = entry
            else:
                setpoint = ContactSetpoint(self.robot, entry, self._stabilise)
                distinct_names("contacts", (*self._setpoints, setpoint.name))
                self._setpoints[setpoint.name] = setpoint
        self._plan = None

    def remove(self, *entries: Task | Constraint) -> None:
        """Remove tasks and contacts; `task.enabled` and `contacts[name].active` switch them at less cost.

        Parameters
        ----------
        *entries
            Tasks and contacts that were added.
        """
        for entry in entries:
            is_task = isinstance(entry, Task)
            table: dict[str, Task] | dict[str, ContactSetpoint] = self._tasks if is_task else self._setpoints
            if entry.name not in table:
                raise unknown_name("task" if is_task else "contact", entry.name, table)
            del table[entry.name]
        self._plan = None

    def solve(self, state: State) -> ControlResult:
        """Compute accelerations, forces and torques at a state.

        The controller uses its own robot model. The robot of the state may have other masses, like a true robot and its
        model, but must have the same joints.

        Parameters
        ----------
        state
            State or batch of states.

        Returns
        -------
        ControlResult
            Accelerations, forces, torques, status and violations.
        """
        instance("state", state, State, "a kinodyn.State")
        if state.robot is not self.robot and state.robot.joint_names != self.robot.joint_names:
            raise InputError(f"the state belongs to {state.robot!r}, the controller to {self.robot!r}")
        plan = self._plan
        if plan is None:
            plan = self._plan = self._make_plan()
        plan.update(state.q, state.v)
        found = _core.id_qp(
            self.robot,
            state.q,
            state.v,
            self._settings,
            self._bounds.numbers,
            plan.tasks.entries,
            plan.tasks.numbers,
            plan.contacts.entries,
            plan.contacts.numbers,
            plan.warm_start(state.q.shape[:-1]),
            plan.levels,
        )
        plan.keep(found.active)
        return ControlResult(plan, found, plan.state_for_names(state.q, state.v))

    def _make_plan(self) -> ControlPlan:
        rows = [limit for limit in self.limits if isinstance(limit, RowLimit)]
        setpoints = list(self._setpoints.values())
        return ControlPlan(self.robot, list(self._tasks.values()), rows, setpoints, strict=self.mode == "strict")

    def __call__(self, t: float, state: State) -> Array:
        """Return the torques (..., nv) at time t [s] and a state."""
        return self.solve(state).tau

    def reset(self) -> None:
        """Clear the active set, and targets that tasks have taken from a state."""
        for task in self._tasks.values():
            task.reset()
        if self._plan is not None:
            self._plan.reset()


def _settings(**values: float) -> Array:
    dtype = layout("id_qp_settings")
    numbers = np.zeros(block_size(dtype))
    view = named_view(numbers, dtype)
    for name, value in values.items():
        positive(name, value)
        view[name] = value
    return numbers
