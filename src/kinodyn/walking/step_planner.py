"""The steps of a walk at run time: planned after commands, changed by touchdowns that come early or late."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, numbers
from kinodyn.errors import InputError
from kinodyn.walking.biped import Biped
from kinodyn.walking.footstep_generator import FootstepGenerator
from kinodyn.walking.footsteps import Footstep, body_beside, standing_feet, yaw_near
from kinodyn.walking.planned_ground import PlannedGround
from kinodyn.walking.reference_generator import ReferenceGenerator
from kinodyn.walking.replanning import Replanner
from kinodyn.walking.schedule import ContactSchedule
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.step_timing import GaitTiming
from kinodyn.walking.terrain_plan import TerrainPlan

STUMBLE_RETREAT = 0.01  # [m] by which a foot draws back from the edge that holds it up


class StepPlanner:
    """The contact schedule of a walk: commands and reported contacts change it.

    Parameters and attributes are those of `Planner`, which adapts the steps to the measured CoM and plans its motion.
    """

    def __init__(
        self,
        body: Biped,
        settings: GaitSettings | None,
        limits: StepLimits | None,
        start: dict[str, Footstep] | None,
        time: float,
    ) -> None:
        self.body = body
        self.settings = own = settings or GaitSettings.from_robot(body)
        self.limits = limits or StepLimits.from_robot(
            body,
            max_leg_extension=own.max_leg_extension,
            min_leg_extension=own.min_leg_extension,
            max_turn=own.max_turn,
        )
        self.schedule = ContactSchedule(body, dict(start or standing_feet(body)), (), own, time=time)
        self.ground = PlannedGround(body, own)
        self._references = ReferenceGenerator(self.ground)
        self._generator = FootstepGenerator(body, self.limits, own)
        self._replanner = Replanner(body, self.limits, own, self._generator)
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
