"""The schedule of a simulated walk: when to start, when to stop, and when it is over."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers, positive
from kinodyn.errors import InputError
from kinodyn.model.state import State
from kinodyn.sim import Observation
from kinodyn.terrain import HeightMap
from kinodyn.walking.controller import WalkingController
from kinodyn.walking.footsteps import wrap
from kinodyn.walking.metrics import path_heading, progress
from kinodyn.walking.terrain_feasibility import require_strong_steps, takes_long_steps
from kinodyn.walking.terrain_plan import TerrainPlan

STANDING_TIME = 0.5  # [s] before the first step
STOPPING_TIME = 2.0  # [s] before the end, for stopping
MAX_DURATION = 1e5  # [s]
RESTING_TIME = 1.0  # [s] of standing at the end of a walk that has arrived, and of lying after a fall


class WalkSchedule:
    """Commands a walking controller to start and stop, and measures the time of its ticks.

    Parameters
    ----------
    controller
    velocity
        Forward, lateral [m/s], turn [rad/s] (3,); with a goal only its first number counts.
    duration
        Total time [s]; with a distance or a goal, the longest time.
    distance
        Distance to walk along the path [m].
    goal
        x, y [m] and yaw [rad] to walk to (3,).
    ground
        Map of the terrain, if it is known: all footsteps are planned on it at the beginning, straight ahead if there is
        no goal.

    Attributes
    ----------
    duration : float
        Longest time of the walk [s].
    velocity : (3,)
        Commanded velocity; zero with a goal.
    checked_velocity : (3,)
        Velocity that the robot must be able to walk at.
    own_goal : bool
        Whether the goal is one straight ahead that only the duration determines: the walk may be over before it.
    walked : float
        Distance to where the robot would stop, along the path [m].
    stopped : float
        Time of the command to stop [s]; inf before.
    tick_times : list of float
        Computation time of each tick [s].
    """

    def __init__(
        self,
        controller: WalkingController,
        velocity: ArrayLike,
        *,
        duration: float | None,
        distance: float | None,
        goal: ArrayLike | None,
        ground: HeightMap | None = None,
    ) -> None:
        if distance is not None and goal is not None:
            raise InputError("give a distance or a goal, not both")
        self.controller, self.distance = controller, distance
        self.goal: Array | None = None
        self.own_goal = False
        self.velocity = np.array(controller.planner.timing.check(velocity))
        self.checked_velocity = self.velocity
        self.tick_times: list[float] = []
        self.walked, self.stopped, self._standing_since = 0.0, np.inf, np.inf
        self._last_pose: Array | None = None
        if ground is not None:
            needed = self._start_over(ground, goal, duration)
        else:
            needed = self._start_to_goal(goal) if goal is not None else self._start()
        before = controller.settings.first_double_support if self.checked_velocity.any() else 0.0
        self.duration = _checked_duration(needed if duration is None else duration, controller.dt, before)

    def _start(self) -> float:
        self.controller.command(self.velocity, at=STANDING_TIME)
        return 10.0 if self.distance is None else self._time_for(self.distance)

    def _start_to_goal(self, goal: ArrayLike) -> float:
        self.goal = numbers("goal", goal, 3)
        speed = float(self.velocity[0])
        self.controller.go_to(self.goal, speed=speed, at=STANDING_TIME)
        self.checked_velocity, self.velocity = np.array([speed, 0.0, 0.0]), np.zeros(3)
        return 10.0 + 3.0 * float(np.hypot(*self.goal[:2])) / speed + 5.0 * abs(float(self.goal[2]))

    def _start_over(self, ground: HeightMap, goal: ArrayLike | None, duration: float | None) -> float:
        """Plan footsteps over terrain to the goal, or straight ahead."""
        planner, speed = self.controller.planner, float(np.hypot(*self.velocity[:2]))
        if goal is None:
            if self.velocity[2] != 0.0:
                raise InputError("walks over known terrain turn only towards a goal; give a goal, or no turn")
            if speed < 0.01:
                raise InputError(f"a walk over terrain needs a speed; the velocity is {self.velocity.tolist()}")
            walking = (10.0 if duration is None else float(duration)) - STANDING_TIME - STOPPING_TIME
            reach = speed * walking if self.distance is None else self.distance
            goal, self.own_goal = (*(reach / speed * self.velocity[:2]), 0.0), self.distance is None
        plan = TerrainPlan(
            planner.body,
            ground,
            goal,
            speed=speed,
            settings=planner.settings,
            limits=planner.limits,
            quick=takes_long_steps(planner, speed),
        )
        require_strong_steps(plan)
        self.controller.follow(plan, at=STANDING_TIME)
        self.goal, self.distance = plan.plan.goal, None
        self.checked_velocity, self.velocity = np.array([speed, 0.0, 0.0]), np.zeros(3)
        steps = sum(step.timing.step_time for step in plan.steps if step.timing is not None)
        return STANDING_TIME + 1.2 * steps + 5.0

    def _time_for(self, distance: float) -> float:
        speed = float(np.hypot(*self.velocity[:2]))
        positive("distance", distance)
        if speed < 0.01:
            raise InputError(f"a distance of {distance:g} m needs a speed; the velocity is {self.velocity.tolist()}")
        return STANDING_TIME + 1.3 * distance / speed + 5.0

    @property
    def stands(self) -> bool:
        """Whether the robot has come to a stand after its last step."""
        return self._standing_since < np.inf

    @property
    def signals(self) -> dict[str, object]:
        """Signals of the controller."""
        return self.controller.signals

    @property
    def rolling_feet(self) -> tuple[str, ...]:
        """Frames of the feet that roll over their toes or heels."""
        return self.controller.rolling_feet

    def act(self, observation: Observation) -> Array:
        """Compute the torques (nv,) of one control tick."""
        begin = time.perf_counter()
        self._steer(observation.time)
        tau = self.controller.act(observation)
        self.tick_times.append(time.perf_counter() - begin)
        return tau

    def _steer(self, t: float) -> None:
        """Stop when the time is over or the distance has been covered."""
        planner = self.controller.planner
        if self.stopped == np.inf:
            if self.goal is not None:
                self.stopped = t if t > STANDING_TIME and not planner.walking else np.inf
            elif self.distance is None:
                if t >= self.duration - STOPPING_TIME - 1e-9:
                    self._stop(t)
            else:
                self._measure_distance(t)
                # of the positions where the robot can stop, the nearest
                if self.walked >= self.distance - 0.5 * self.step_length(planner.velocity):
                    self._stop(t)
        if self.stopped < np.inf and self._standing_since == np.inf and planner.standing(t):
            self._standing_since = t

    def _stop(self, t: float) -> None:
        self.controller.command(None, at=t)
        self.stopped = t

    def _measure_distance(self, t: float) -> None:
        x, y, yaw = self.controller.planner.stopping_pose(t)
        pose = np.array([x, y, yaw])
        if self._last_pose is not None:
            (dx, dy, turn), before = pose - self._last_pose, self._last_pose[2:]
            heading = path_heading(before + 0.5 * wrap(turn), self.velocity)  # of the chord of a curve
            self.walked += progress(np.array([[dx, dy]]), heading, self.velocity)
        self._last_pose = pose

    def step_length(self, velocity: Array) -> float:
        """Compute the length of a step at a velocity (3,) [m]."""
        return float(np.hypot(*velocity[:2])) * self.controller.planner.timing.at_velocity(velocity).step_time

    def over(self, t: float, state: State) -> bool:
        """Return whether the walk is over before its duration."""
        fallen = self.controller.fallen
        if fallen is not None and t > fallen + RESTING_TIME:
            return True
        arrives = self.goal is not None or self.distance is not None
        return arrives and t > self._standing_since + RESTING_TIME


def _checked_duration(duration: float, dt: float, before_step: float) -> float:
    """Return the duration in whole time steps; it must leave time for one step of the foot."""
    least = STANDING_TIME + before_step + STOPPING_TIME
    if not isinstance(duration, int | float | np.number) or not least < duration <= MAX_DURATION:
        raise InputError(
            f"duration must be above {least:.3g} s, of which {STANDING_TIME} s are for standing, {before_step:.2g} s "
            f"for the first double support and {STOPPING_TIME} s for stopping, at most "
            f"{MAX_DURATION:g} s, got {duration!r}"
        )
    return round(float(duration) / dt) * dt
