"""The walking planner at run time: from commands and measurements to references for the whole body."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, numbers
from kinodyn.errors import InputError
from kinodyn.walking.biped import Biped
from kinodyn.walking.footstep_generator import FootstepGenerator
from kinodyn.walking.footsteps import Footstep, body_beside, standing_feet, yaw_near
from kinodyn.walking.mpc import MPC, MPCPlan, pair
from kinodyn.walking.phases import DIRECTIONS, Phase
from kinodyn.walking.planned_ground import PlannedGround
from kinodyn.walking.reference import Reference
from kinodyn.walking.reference_generator import ReferenceGenerator
from kinodyn.walking.replanning import Replanner
from kinodyn.walking.schedule import ContactSchedule
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.step_adaptation import AdaptedStep
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.step_timing import GaitTiming
from kinodyn.walking.terrain_plan import TerrainPlan

STUMBLE_RETREAT = 0.01  # [m] by which a foot draws back from the edge that holds it up
UNEVEN_STEP = 0.05  # [m] height of a step from which on it keeps its foothold as long as possible


class Planner:
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
        self.body, self.adapt = body, adapt
        self.settings = own = settings or GaitSettings.from_robot(body)
        self.limits = limits or StepLimits.from_robot(
            body,
            max_leg_extension=own.max_leg_extension,
            min_leg_extension=own.min_leg_extension,
            max_turn=own.max_turn,
        )
        self.mpc = mpc or MPC(samples=own.mpc_samples, weights=own.mpc)
        self.schedule = ContactSchedule(body, dict(start or standing_feet(body)), (), own, time=time)
        self.plan: MPCPlan | None = None
        self.adapted: AdaptedStep | None = None
        self.dcm_margin, self.dcm_deficit = np.inf, np.zeros(2)
        self.ground = PlannedGround(body, own)
        self._references = ReferenceGenerator(self.ground)
        self._generator = FootstepGenerator(body, self.limits, own)
        self._replanner = Replanner(body, self.limits, own, self._generator)
        self._trajectory = self.schedule.nominal
        self._new_command = False
        self._stumbled = -1  # the last step in which the foot was held up

    @property
    def velocity(self) -> Array:
        """Commanded velocity (3,): forward, lateral [m/s], turn [rad/s]."""
        return self._generator.velocity

    @property
    def terrain(self) -> TerrainPlan | None:
        """The plan over terrain that is followed, if there is one."""
        return self.ground.terrain

    @property
    def timing(self) -> GaitTiming:
        """Durations of steps at a velocity."""
        return self._generator.timing

    @property
    def walking(self) -> bool:
        """Whether the robot is to keep walking."""
        return self._generator.walking

    def command(self, velocity: ArrayLike) -> None:
        """Walk at a velocity; zero marches on the spot.

        Parameters
        ----------
        velocity
            Forward, lateral [m/s], turn [rad/s] (3,).

        Raises
        ------
        InputError
            For a velocity beyond the limits; the message gives the limit, and nothing changes.
        """
        self._generator.command(velocity)
        self._new_command = True

    def go_to(self, goal: ArrayLike, *, speed: float) -> None:
        """Walk to a goal and stand there; one out of reach, or a speed beyond the limits, raises InputError.

        Parameters
        ----------
        goal
            x, y [m] and yaw [rad] of the centre between the soles (3,).
        speed
            [m/s]
        """
        self._generator.go_to(goal, speed=speed)
        self._new_command = True

    def follow(self, terrain: TerrainPlan) -> None:
        """Walk on the footsteps of a plan over terrain, and stand at its goal.

        Parameters
        ----------
        terrain
            The plan; it starts where the robot stands.
        """
        self.ground.terrain = terrain
        self._generator.follow(terrain.steps)
        self._new_command = True

    def check_goal(self, goal: ArrayLike, speed: float) -> None:
        """Raise InputError if a goal cannot be reached at a speed.

        Parameters
        ----------
        goal
            x, y [m] and yaw [rad] (3,).
        speed
            [m/s]
        """
        self._generator.check_goal(goal, speed)

    def stop(self) -> None:
        """Slow down within a step or two, bring the feet together, and stand."""
        self._generator.stop()
        self._new_command = True

    def stopping_pose(self, t: float) -> tuple[float, float, float]:
        """Return where the robot would stand if it stopped now.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        tuple of 3 floats
            x, y [m] and yaw [rad] of the centre between the ankles.
        """
        phase = self.schedule.at(t)
        last = phase.swing or list(phase.feet.values())[-1]
        return body_beside(last, self.limits.width)

    def standing(self, t: float) -> bool:
        """Return whether both feet stand and no step is planned.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        bool
        """
        return self.schedule.at(t).kind == "stand" and not self.walking

    def plan_steps(self, t: float) -> bool:
        """Plan new steps after a command, or when few of the planned ones are left. `update` does so too.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        bool
            False, without any change, if there are enough steps.
        """
        missing = self.schedule.count - self.schedule.at(t).step < self.settings.steps_ahead - 1
        if not self._new_command and not (self.walking and missing):
            return False
        self._rebuild(t)
        return True

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
        com = self._trajectory.at(t).com if com is None else com
        velocity = self._trajectory.at(t).velocity if velocity is None else velocity
        self.plan_steps(t)
        self.adapt_steps(t, com, velocity)
        return self.plan_com(t, com, velocity, zmp)

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
            self._adapt(t, dcm)
        return self.schedule is not before

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
        dcm: Array = _planar("com", com) + _planar("velocity", velocity) / self.body.omega
        room = self.schedule.capture_region(t) - DIRECTIONS @ dcm
        worst = int(room.argmin())
        self.dcm_margin = float(room[worst])
        self.dcm_deficit = max(-self.dcm_margin, 0.0) * DIRECTIONS[worst]
        return dcm

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
        self.plan = self.mpc(self.schedule, t, _planar("com", com), _planar("velocity", velocity), zmp=zmp)
        self._trajectory = self.plan.trajectory
        return self.plan

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
        return self._references.reference(t, self.schedule.at(t), self._trajectory)

    def touchdown(self, t: float, side: str, T_world_sole: MatrixLike | None = None) -> bool:
        """Report an early touchdown of the foot in the air.

        Parameters
        ----------
        t
            [s]
        side
        T_world_sole
            Measured pose (4, 4); by default the planned one.

        Returns
        -------
        bool
            False, without any change, if that foot is not in the air.
        """
        phase = self.schedule.at(t)
        if phase.swing is None or phase.swing.side != side or t <= phase.start:
            return False
        T = self._references.swing(phase)(t) if T_world_sole is None else as_pose(T_world_sole, "T_world_sole")
        step = Footstep(side, float(T[0, 3]), float(T[1, 3]), yaw_near(T, phase.swing.yaw), float(T[2, 3]))
        if self.terrain is not None:  # heights stay those of the map
            step = self.terrain.landed(step, phase.swing)
        # a longer double support after an early touchdown, a shorter one after a late one: steps keep their rhythm
        nominal = self.schedule.builder.timing(phase.swing).double
        following = self.schedule.phases[self.schedule.index(t) + 1]
        if self.terrain is not None and following.kind == "double":  # that before a high step is longer
            nominal = following.length
        double = min(max(nominal + self._references.planned_touchdown - t, 0.5 * nominal), 2.0 * nominal)
        self._rebuild(t, landing=step, end=t, double=double)
        return True

    def stumble(self, t: float, side: str, T_world_sole: MatrixLike, force: ArrayLike) -> bool:
        """Report that the foot in the air is held up, by an edge: it draws back a little and is lifted higher.

        Parameters
        ----------
        t
            [s]
        side
        T_world_sole
            Measured pose (4, 4).
        force
            On the foot along the ground (2,) [N].

        Returns
        -------
        bool
            False, without any change, if that foot is not in the air, or has been lifted higher in this step before.
        """
        phase, push = self.schedule.at(t), numbers("force", force, 2)
        if phase.swing is None or phase.swing.side != side or not phase.start < t < phase.end:
            return False
        if self._stumbled == phase.step:
            return False
        self._stumbled = phase.step
        T = as_pose(T_world_sole, "T_world_sole").copy()
        T[:2, 3] += STUMBLE_RETREAT * push / max(float(np.hypot(*push)), 1e-9)
        self._references.lift_higher(t, phase, T)
        return True

    def landed(self, t: float, side: str) -> None:
        """Report that a foot has begun to stand, where it was measured: the speed of the walk follows from it.

        Parameters
        ----------
        t
            [s]
        side
        """
        if self.ground.estimate is not None:
            T = self.ground.estimate.soles[side]
            yaw = float(np.arctan2(T[1, 0], T[0, 0]))
            self._generator.landed(t, Footstep(side, float(T[0, 3]), float(T[1, 3]), yaw))

    def roll(self, t: float, side: str, edge: str) -> None:
        """Report that a foot begins to roll over its toes or heel: from now on nothing else of it bears load.

        Parameters
        ----------
        t
            [s]
        side
        edge
            "toe" or "heel".
        """
        if self.schedule.at(t).kind == "double":
            self.schedule = self.schedule.rolled(t, side, edge)

    def delay(self, t: float, seconds: float, lower: float = 0.0, descent_speed: float = 0.0) -> bool:
        """Delay the touchdown of a foot that has found no ground.

        Parameters
        ----------
        t, seconds
            Current time and delay [s].
        lower
            By how much lower the touchdown is expected [m].
        descent_speed
            Downward speed at touchdown [m/s].

        Returns
        -------
        bool
            False if no foot is in the air.
        """
        if not (0 < seconds < np.inf and np.isfinite(lower) and 0 <= descent_speed < np.inf):
            raise InputError(
                "seconds must be positive, lower finite and descent_speed 0 or more, "
                f"got {seconds!r}, {lower!r}, {descent_speed!r}"
            )
        phase = self.schedule.at(t)
        if phase.swing is None:
            return False
        step, end = self._replanner.delayed(phase, seconds, lower)
        self._references.retarget_swing(t, phase, step, end, descent_speed)
        self._rebuild(t, landing=step, end=end)
        return True

    def _rebuild(
        self, t: float, landing: Footstep | None = None, end: float | None = None, double: float | None = None
    ) -> None:
        self._new_command = False
        self.schedule = self._replanner.rebuild(self.schedule, t, landing=landing, end=end, double=double)

    def _adapt(self, t: float, dcm: Array) -> None:
        """Change steps if the planned ones leave too little margin to capture the robot."""
        phase, margin = self.schedule.at(t), self.dcm_margin
        self.adapted = None
        if margin < 0 and phase.kind in ("stand", "stop") and not self.walking:
            self.schedule = self._replanner.recovery_step(self.schedule, t, dcm)
        if margin < 0 and phase.kind == "double" and phase.end - t > self._replanner.urgent_double_support:
            self.schedule = self._replanner.retime_double_support(self.schedule, t, dcm)
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
    return pair(name, np.asarray(value)[..., :2])
