"""The walking planner at run time: from commands and measurements to references for the whole body."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import number, numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.walking.biped import Biped
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.mpc import MPC, MPCPlan, pair
from kinodyn.walking.phases import DIRECTIONS, Phase
from kinodyn.walking.reference import Reference
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.step_adaptation import AdaptedStep
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.step_planner import StepPlanner

UNEVEN_STEP = 0.05  # [m] height of a step from which on it keeps its foothold as long as possible
# Adaptation margins by which the DCM of a pushed robot is outside of what the planned steps capture. Fast walks change
# steps too: the DCM of the humanoid at 1.2 m/s is outside by up to 2.7 of them.
PUSH = 4.0
AFTER_PUSH = 1.4  # time constants of the pendulum for which a push counts after the last change of steps


@displayed
class Planner(StepPlanner):
    """Plans a walk online: a state machine around contact schedule, swing foot and MPC.

    `command`, `go_to` and `stop` set the task. `update` (20 to 50 times a second) takes measurements, moves footsteps
    if the planned ones cannot capture the robot any more, and plans the pendulum. `reference` (at every control tick)
    returns the references of the whole body. `touchdown` and `delay` report early and late touchdowns.

    Parameters
    ----------
    body
        The biped.
    settings
        By default `GaitSettings.from_robot(body)`.
    limits
        Limits of footsteps, by default derived from the robot.
    start
        Both feet at the beginning, side -> Footstep; by default the stance.
    time
        Start [s].
    mpc
        By default made from the settings.
    adapt
        Whether steps change position and time after a push.

    Attributes
    ----------
    schedule : ContactSchedule
        The current plan of the feet.
    plan : MPCPlan or None
        The current plan of the pendulum.
    adapted : AdaptedStep or None
        The step adaptation of the last update.
    ground : PlannedGround
        The ground that the plan assumes. With an estimate of it, swing feet start from their measured pose and land on
        the ground extrapolated from the stance foot, and the CoM keeps its height above it.
    dcm_margin : float
        Margin of the measured DCM in the region that the planned steps capture [m]; negative: they cannot.
    dcm_deficit : (2,)
        By how much and in which direction the DCM was outside of that region at the last update [m].
    """

    @check_types
    def __init__(
        self,
        body: Biped,
        *,
        settings: GaitSettings | None = None,
        limits: StepLimits | None = None,
        start: dict[str, Footstep] | None = None,
        time: float = 0.0,
        mpc: MPC | None = None,
        adapt: bool = True,
    ) -> None:
        super().__init__(body, settings, limits, start, time)
        self.adapt = adapt
        self.mpc = mpc or MPC(samples=self.settings.mpc_samples, weights=self.settings.mpc)
        self.plan: MPCPlan | None = None
        self.adapted: AdaptedStep | None = None
        self.dcm_margin, self.dcm_deficit = np.inf, np.zeros(2)
        self._pushed_until = -np.inf  # [s]
        self._trajectory = self.schedule.nominal

    @check_types
    def update(
        self, t: float, com: ArrayLike | None = None, velocity: ArrayLike | None = None, zmp: ArrayLike | None = None
    ) -> MPCPlan:
        """Take measurements, change steps if they cannot capture the robot, and plan the pendulum.

        Parameters
        ----------
        t
            [s]
        com, velocity
            Measured CoM (2,) or (3,) [m, m/s]; None takes the planned ones.
        zmp
            Current ZMP (2,) [m], if a jump from there is to be penalised.

        Returns
        -------
        MPCPlan
        """
        t = number("t", t)
        com = self._trajectory.at(t).com if com is None else com
        velocity = self._trajectory.at(t).velocity if velocity is None else velocity
        self.plan_steps(t)
        self.adapt_steps(t, com, velocity)
        return self.plan_com(t, com, velocity, zmp)

    @check_types
    def adapt_steps(self, t: float, com: ArrayLike, velocity: ArrayLike) -> bool:
        """Change the steps if the planned ones cannot capture the robot any more; the first half of `update`.

        Parameters
        ----------
        t
            [s]
        com, velocity
            Measured CoM (2,) or (3,) [m, m/s].

        Returns
        -------
        bool
            Whether the steps have changed.
        """
        dcm = self.measure_margin(t, com, velocity)
        before = self.schedule
        if self.adapt:
            self._adapt(t, _planar("com", com), dcm)
        return self.schedule is not before

    @check_types
    def measure_margin(self, t: float, com: ArrayLike, velocity: ArrayLike) -> Array:
        """Measure `dcm_margin` and `dcm_deficit` with the planned steps.

        Parameters
        ----------
        t, com, velocity
            As for `adapt_steps`.

        Returns
        -------
        dcm : (2,) array
            [m]
        """
        t = number("t", t)
        dcm: Array = _planar("com", com) + _planar("velocity", velocity) / self.body.omega
        room = self.schedule.capture_region(t) - DIRECTIONS @ dcm
        worst = int(room.argmin())
        self.dcm_margin = float(room[worst])
        self.dcm_deficit = max(-self.dcm_margin, 0.0) * DIRECTIONS[worst]
        if self.dcm_margin < -PUSH * self.settings.adaptation_margin or (self.recovering and self.pushed(t)):
            self._pushed_until = t + AFTER_PUSH / self.body.omega
        return dcm

    @property
    def recovering(self) -> bool:
        """Whether the steps have to change."""
        return self.dcm_margin < self.settings.adaptation_margin

    def pushed(self, t: float) -> bool:
        """Return whether the steps change, or have just changed, because of a push.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        bool
        """
        return t < self._pushed_until

    @check_types
    def plan_com(self, t: float, com: ArrayLike, velocity: ArrayLike, zmp: ArrayLike | None = None) -> MPCPlan:
        """Plan the pendulum over the planned steps; the second half of `update`.

        Parameters
        ----------
        t, com, velocity, zmp
            As for `update`.

        Returns
        -------
        MPCPlan
        """
        self.plan = self.mpc(self.schedule, number("t", t), _planar("com", com), _planar("velocity", velocity), zmp=zmp)
        self._trajectory = self.plan.trajectory
        return self.plan

    @check_types
    def reference(self, t: float) -> Reference:
        """Compute the references of the whole body.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        Reference
        """
        t = number("t", t)
        return self._references.reference(t, self.schedule.at(t), self._trajectory)

    def _adapt(self, t: float, com: Array, dcm: Array) -> None:
        """Change steps if the planned ones leave too little margin to capture the robot."""
        phase, margin = self.schedule.at(t), self.dcm_margin
        self.adapted = None
        if margin < 0 and phase.kind in ("stand", "stop") and not self.walking:
            self.schedule = self._replanner.recovery_step(self.schedule, t, dcm)
        if margin < 0 and phase.kind == "double" and phase.end - t > self._replanner.recovery_double_support:
            self.schedule = self._replanner.retime_double_support(self.schedule, t, com, dcm)
        if phase.swing is None or margin >= self._least_margin(phase):
            return
        pose, twist, _ = self._references.swing(phase).at(t)
        self.adapted = adapted = self._replanner.adapt(self.schedule, t, dcm, pose[:2, 3], twist[:2])
        if adapted is not None:
            end = t + adapted.remaining
            step = adapted.step
            if self.terrain is not None:
                step = self.terrain.snapped(step) or phase.swing
            self._references.retarget_swing(t, phase, step, end, self.settings.touchdown_speed)
            self._references.planned_touchdown = end
            self._rebuild(t, landing=step, end=end)

    def _least_margin(self, phase: Phase) -> float:
        """Return the margin of the DCM below which a step changes [m]: on uneven ground, only when it has to."""
        stance, step = next(iter(phase.feet.values())), phase.swing
        uneven = self.terrain is not None and step is not None and abs(step.z - stance.z) > UNEVEN_STEP
        return 0.0 if uneven else self.settings.adaptation_margin


def _planar(name: str, value: ArrayLike) -> Array:
    """Return the horizontal part (2,) of a vector (2,) or (3,)."""
    vector = numbers(name, value)
    if vector.shape not in ((2,), (3,)):
        raise InputError(f"{name} must have shape (2,) or (3,), got {vector.shape}")
    return pair(name, vector[:2])
