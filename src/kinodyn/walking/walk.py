"""A walk from beginning to end: the robot in MuJoCo, moved by nothing but its torques."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.control.controller import ControlFunction
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.recording import Recording
from kinodyn.sim import MujocoSimulator, Push, simulate
from kinodyn.walking.ability import require_feasible, require_strong
from kinodyn.walking.biped import Biped
from kinodyn.walking.controller import FALLEN, WalkingController
from kinodyn.walking.result import Judge, WalkResult
from kinodyn.walking.sensing import SensedController, SensedSimulator, fallen

STAND = 0.5  # [s] before the first step
STOP = 2.0  # [s] before the end: it is told to stop
REST = 1.0  # [s] that it stands in the end when it has arrived
NEAR, ALIGNED = 0.1, np.deg2rad(5.0)  # from a goal [m, rad]: it has arrived


def walk(
    robot: Robot,
    velocity: ArrayLike = (0.3, 0.0, 0.0),
    *,
    duration: float | None = None,
    distance: float | None = None,
    goal: ArrayLike | None = None,
    pushes: Sequence[Push] = (),
    noise: Mapping[str, ArrayLike] | None = None,
    estimate: bool = False,
    seed: int = 0,
    progress: bool = False,
    **settings: Any,
) -> WalkResult:
    """Let a robot walk in MuJoCo at a velocity (3,): forward, sideways [m/s], turn [rad/s].

    It stands for half a second, walks, stops and stands.

    Parameters
    ----------
    robot
    velocity
        With `goal` only its first number counts: how fast to go there.
    duration
        How long all of it takes [s], the last two seconds for stopping; 10 s by default. With `distance` or `goal`: how
        long at most, by default as long as it may need.
    distance
        How far to walk along the path [m].
    goal
        Where to walk: x, y [m] and heading [rad] of the middle between the soles; it begins at 0, 0, 0.
    pushes
        Forces from outside at given times.
    noise
        Of what the controller sees: standard deviations {"q": ..., "v": ...}; with `estimate` "q" and "v" of the
        joints, "gyro", "accelerometer", and "gyro_bias", "accelerometer_bias" for biases.
    estimate
        Whether the controller sees what an `estimation.LeggedEstimator` makes of the inertial unit, encoders and foot
        forces; the base's true state is then never read.
    seed
        Of the noise: with the same one, everything is the same to the last bit.
    progress
        Whether to show a bar on stderr, if that is a terminal.
    settings
        Those of `sim.MujocoSettings`, such as friction or mass_scale: the controller does not know of them.

    A robot that cannot walk (no two feet, too weak), a velocity beyond its limits, or a goal too far away raises an
    error with the reason before anything moves. So does a pace that inverse kinematics cannot follow.

    Example
    -------
    >>> import kinodyn as kd
    >>> result = kd.walking.walk(kd.load("humanoid"), duration=4.0)
    >>> result.walked
    True
    """
    body = Biped.of(robot)
    engine = SensedSimulator if estimate else MujocoSimulator
    simulator = engine(robot, frames=[foot.frame for foot in body.feet.values()], **settings)
    controller = WalkingController(body, forces=simulator.contact_forces)
    course = Course(controller, velocity, duration=duration, distance=distance, goal=goal)
    require_strong(body)
    require_feasible(controller.planner, course.pace)
    begin = time.perf_counter()
    seen: ControlFunction = course
    if isinstance(simulator, SensedSimulator):
        seen, noise = SensedController(course, simulator, body.q, dt=controller.dt, noise=noise, seed=seed), None
    recording = simulate(
        robot,
        seen,
        course.longest,
        q0=body.q,
        engine=simulator,
        dt=simulator.dt,
        control_dt=controller.dt,
        record_dt=controller.dt,
        pushes=pushes,
        noise=noise,
        seed=seed,
        until=course.over,
        progress=progress,
    )
    if controller.fallen is None:
        controller.fallen = fallen(body, recording, FALLEN)
    return judged(course, recording, time.perf_counter() - begin)


class Course:
    """Tells a controller when to begin and when to stop, and keeps the time of its ticks."""

    def __init__(
        self,
        controller: WalkingController,
        velocity: ArrayLike,
        *,
        duration: float | None,
        distance: float | None,
        goal: ArrayLike | None,
    ) -> None:
        self.controller, self.distance, self.goal = controller, distance, goal
        if distance is not None and goal is not None:
            raise InputError("give a distance or a goal, not both")
        planner = controller.planner
        self.velocity = np.array(planner.limits.check(velocity, planner.timing.step))
        self.pace = self.velocity
        self.times: list[float] = []
        self.way, self.stopped, self.rested = 0.0, np.inf, np.inf
        self._before: Array | None = None
        if goal is not None:
            self.goal = numbers("goal", goal, 3)
            speed = float(self.velocity[0])
            controller.go_to(self.goal, speed=speed, at=STAND)
            needed = 10.0 + 3.0 * float(np.hypot(*self.goal[:2])) / speed + 5.0 * abs(float(self.goal[2]))
            self.pace, self.velocity = np.array([speed, 0.0, 0.0]), np.zeros(3)
        else:
            controller.command(self.velocity, at=STAND)
            needed = 10.0 if distance is None else self._time_for(distance)
        self.longest = _duration(needed if duration is None else duration, controller.dt)

    def _time_for(self, distance: float) -> float:
        speed = float(np.hypot(*self.velocity[:2]))
        if not isinstance(distance, int | float | np.number) or not 0 < distance < np.inf:
            raise InputError(f"distance must be a positive number of metres, got {distance!r}")
        if speed < 0.01:
            raise InputError(f"to walk {distance:g} m a speed is needed, the velocity is {self.velocity.tolist()}")
        return STAND + 1.3 * distance / speed + 5.0

    @property
    def signals(self) -> dict[str, object]:
        """Give what the controller wants to be recorded."""
        return self.controller.signals

    def __call__(self, t: float, state: State) -> Array:
        """Compute torques; sense, decide, act."""
        begin = time.perf_counter()
        self._steer(t, state)
        tau = self.controller(t, state)
        self.times.append(time.perf_counter() - begin)
        return tau

    def _steer(self, t: float, state: State) -> None:
        """Stop when the time is over or the distance walked."""
        planner = self.controller.planner
        if self.goal is not None:
            if self.stopped == np.inf and t > STAND and not planner.walking:
                self.stopped = t
        elif self.distance is None:
            if self.stopped == np.inf and t >= self.longest - STOP - 1e-9:
                self._stop(t)
        elif self.stopped == np.inf:
            self._measure(t)
            # of the places where it can stop, the nearest
            if self.way >= self.distance - 0.5 * float(np.hypot(*planner.velocity[:2])) * planner.timing.step:
                self._stop(t)
        if self.stopped < np.inf and self.rested == np.inf and planner.standing(t):
            self.rested = t

    def _stop(self, t: float) -> None:
        self.controller.command(None, at=t)
        self.stopped = t

    def _measure(self, t: float) -> None:
        """Add up the way to where it would stop, along the path."""
        x, y, _ = self.controller.planner.stopping_place(t)
        here = np.array([x, y])
        if self._before is not None:
            self.way += float(np.hypot(*(here - self._before)))
        self._before = here

    def over(self, t: float, state: State) -> bool:
        """Tell whether there is nothing more to see."""
        fallen = self.controller.fallen
        if fallen is not None and t > fallen + REST:
            return True
        arrives = self.goal is not None or self.distance is not None
        return arrives and t > self.rested + REST


def judged(course: Course, recording: Recording, elapsed: float) -> WalkResult:
    """Measure how a walk went."""
    controller, body = course.controller, course.controller.body
    judge = Judge(body, recording, controller.fallen)
    end = min(course.stopped, float(recording.time[-1]))
    speed, turning = judge.motion(course.velocity, STAND, end)
    drift = (turning - float(course.velocity[2])) * (end - STAND - 2.0)
    if course.goal is not None:
        drift = float(judge.yaw[-1] - np.asarray(course.goal)[2])
        drift = float(np.arctan2(np.sin(drift), np.cos(drift)))
    reason = _reason(course, recording, judge, drift)
    margins = judge.margins()
    return WalkResult(
        body,
        recording,
        not reason,
        reason,
        controller.fallen,
        course.velocity,
        judge.distance(),
        speed,
        turning,
        drift,
        judge.steps(),
        float(margins.min(initial=np.inf)),
        float(margins.mean()) if len(margins) else np.nan,
        *judge.tracking(),
        judge.slip(),
        judge.torques(),
        judge.cost_of_transport(controller.weight),
        float(recording.duration / elapsed),
        np.quantile(course.times, [0.5, 0.99, 1.0]),
        np.quantile(controller.plan_times, [0.5, 0.99, 1.0]),
        np.quantile(controller.solve_times, [0.5, 0.99, 1.0]),
    )


def _reason(course: Course, recording: Recording, judge: Judge, drift: float) -> str:
    """Say why it is no walk, or nothing."""
    if course.controller.fallen is not None:
        return f"fell after {course.controller.fallen:.2f} s"
    if recording.status != "complete":
        return recording.reason
    if course.velocity.any() and judge.steps() == 0:
        return f"took no step in {recording.duration:g} s, of which it stands the first and stops in the last"
    if course.goal is not None:
        middle = 0.5 * sum(
            T[-1, :2, 3] + T[-1, :2, :2] @ foot.middle
            for T, foot in zip(judge.soles.values(), course.controller.body.feet.values(), strict=True)
        )
        off = float(np.hypot(*(middle - np.asarray(course.goal)[:2])))
        if off > NEAR or abs(drift) > ALIGNED:
            return f"stands {off:.3g} m and {np.rad2deg(drift):.2g} degrees off the goal after {recording.duration:g} s"
    if course.distance is not None and course.stopped == np.inf:
        return f"walked {course.way:.3g} m of {course.distance:g} m in {recording.duration:g} s"
    return ""


def _duration(duration: float, dt: float) -> float:
    if not isinstance(duration, int | float | np.number) or not STAND + STOP < duration < np.inf:
        raise InputError(f"duration must be above {STAND + STOP} s, got {duration!r}")
    return round(float(duration) / dt) * dt
