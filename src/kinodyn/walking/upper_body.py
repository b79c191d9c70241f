"""Tasks of the upper body during a walk: targets in the world or in the heading frame, and hands as supports."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from math import cos, sin

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.control.inverse_dynamics import InverseDynamicsQP
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.state import State
from kinodyn.tasks import FrameTask, GazeTask
from kinodyn.tasks.task import Task
from kinodyn.walking.hand_support import HandSupport, SupportPhase
from kinodyn.walking.reference import Reference

UNLOADED = np.zeros(6)  # the wrench on a frame that no observed force is listed for


@displayed
class UpperBody:
    """What the upper body does while the robot walks.

    The walk comes first: feet, CoM and trunk are tracked with weights of 4 to 20 (`TrackingGains`), so that a task of
    weight 1 is subordinate to them. Tasks that the arms alone can serve are not affected.

    Parameters
    ----------
    tasks
        Tasks with targets in the world, such as a hand that stays at a point. Targets, weights and `enabled` may change
        while the robot walks.
    heading_tasks
        `FrameTask` and `GazeTask` with targets in the *heading frame*, which walks with the robot: z up, x along the
        heading, its origin below the CoM by the height of the CoM in the stance.
    supports
        Hands that lean on something for a time.

    Examples
    --------
    >>> import kinodyn as kd
    >>> hand = kd.tasks.FrameTask("left_palm", [0.35, 0.2, 1.0], weights=5.0)
    >>> upper_body = kd.walking.UpperBody(heading_tasks=[hand])
    >>> controller = kd.walking.WalkingController(kd.load("humanoid"), upper_body=upper_body)
    """

    @check_types
    def __init__(
        self,
        tasks: Sequence[Task] = (),
        *,
        heading_tasks: Sequence[Task] = (),
        supports: Sequence[HandSupport] = (),
    ) -> None:
        self.tasks, self.supports = tuple(tasks), tuple(supports)
        self.heading_tasks = tuple(_HeadingTask(task) for task in heading_tasks)
        self._phases = tuple(SupportPhase(support) for support in self.supports)

    def holding(self, *heading_tasks: Task) -> UpperBody:
        """Return a copy with further tasks in the heading frame.

        Parameters
        ----------
        *heading_tasks

        Returns
        -------
        UpperBody
        """
        own = (moving.source for moving in self.heading_tasks)
        return UpperBody(self.tasks, heading_tasks=[*own, *heading_tasks], supports=self.supports)

    @property
    def frames(self) -> tuple[str, ...]:
        """Frames whose contact forces are observed."""
        return tuple(support.contact.frame for support in self.supports)

    @check_types
    def add_to(self, qp: InverseDynamicsQP) -> None:
        """Add the tasks and contacts to a controller.

        Parameters
        ----------
        qp
            The controller of the whole body.
        """
        qp.add(*self.tasks, *(moving.tracked for moving in self.heading_tasks))
        for phase in self._phases:
            phase.add_to(qp)

    @check_types
    def update(
        self, t: float, state: State, reference: Reference, ground: float, forces: Mapping[str, Array] | None
    ) -> None:
        """Move the targets with the heading frame, and switch the supports.

        Parameters
        ----------
        t
            [s]
        state
            Measured state.
        reference
            Reference of the whole body.
        ground
            Height of the ground below the CoM [m].
        forces
            Measured contact wrenches (6,) by frame; without them, supports bear load as planned.
        """
        for moving in self.heading_tasks:
            moving.update(reference, ground)
        for phase in self._phases:
            phase.update(t, state, None if forces is None else forces.get(phase.frame, UNLOADED))


class _HeadingTask:
    """A task whose target is given in the heading frame, and the task in the world that tracks it."""

    def __init__(self, task: Task) -> None:
        if not isinstance(task, FrameTask | GazeTask):
            raise InputError(f"heading_tasks take FrameTask and GazeTask, got {task!r}")
        if task.target is None or (isinstance(task, FrameTask) and task.relative_to is not None):
            raise InputError(f"{task.name!r} needs a target in the heading frame, and no relative_to")
        if task.target.ndim > task.target_axes():
            raise InputError(f"{task.name!r} must have one target, got shape {task.target.shape}")
        self.source, self.tracked = task, copy.copy(task)

    def update(self, reference: Reference, ground: float) -> None:
        self.tracked.enabled, self.tracked.weights = self.source.enabled, self.source.weights
        target = self.source.target
        assert target is not None
        c, s = cos(reference.heading), sin(reference.heading)
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        p = np.array([reference.com[0], reference.com[1], ground])
        velocity = np.array([*reference.com_velocity[:2], 0.0, 0.0, 0.0, reference.heading_rate])
        acceleration = np.array([*reference.com_acceleration[:2], 0.0, 0.0, 0.0, reference.heading_acceleration])
        if target.ndim == 2:
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = R @ target[:3, :3], R @ target[:3, 3] + p
            offset = T[:3, 3] - p
        else:
            T = R @ target + p
            offset = T - p
            velocity, acceleration = velocity[:3], acceleration[:3]
        # of a point that turns with the heading frame
        velocity[:2] += reference.heading_rate * np.array([-offset[1], offset[0]])
        acceleration[:2] += reference.heading_acceleration * np.array([-offset[1], offset[0]])
        acceleration[:2] -= reference.heading_rate**2 * offset[:2]
        self.tracked.track(T, velocity, acceleration)
