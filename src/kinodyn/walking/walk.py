"""A simulated walk from start to end, actuated by joint torques alone."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.recording import Recording
from kinodyn.sim import ObservationController, Push, Simulator
from kinodyn.terrain import HeightMap, Terrain, parse
from kinodyn.walking.biped import Biped
from kinodyn.walking.carrying import Carrying
from kinodyn.walking.controller import WalkingController
from kinodyn.walking.default_speed import default_speed
from kinodyn.walking.engines import Engine, make_simulator
from kinodyn.walking.feasibility import require_feasible, require_strong
from kinodyn.walking.metrics import WalkMetrics, fall_time
from kinodyn.walking.result import WalkResult
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.simulation import run_controller
from kinodyn.walking.state_estimation import EstimatingController
from kinodyn.walking.upper_body import UpperBody
from kinodyn.walking.walk_schedule import STANDING_TIME, WalkSchedule

TERRAIN_SPEED = 0.3  # [m/s] at which a walk over terrain is, unless another one is given
MAP_EDGE = 2.0  # [m] of ground around the shapes of a terrain that the planner knows
MAP_NOISE, MAP_OFFSET = 0.005, 0.01  # [m] standard deviations of the errors of a noisy map: of a cell, and of all
DISTANCE_TOLERANCE = 0.1  # fraction of a distance that may be missing or too much, beside half a step
GOAL_TOLERANCE = (0.1, np.deg2rad(5.0))  # [m, rad] within which a goal is reached


@check_types
def walk(
    robot: Robot | Biped,
    velocity: ArrayLike | None = None,
    *,
    duration: float | None = None,
    distance: float | None = None,
    goal: ArrayLike | None = None,
    terrain: Terrain | str | None = None,
    map: Literal["known", "noisy", "blind"] | HeightMap = "known",  # noqa: A002 - as on the command line
    settings: GaitSettings | None = None,
    upper_body: UpperBody | None = None,
    carry: float | Carrying | None = None,
    engine: Engine | Simulator = "mujoco",
    pushes: Sequence[Push] = (),
    noise: Mapping[str, ArrayLike] | None = None,
    estimate: bool = False,
    seed: int = 0,
    progress: bool = False,
    **options: Any,
) -> WalkResult:
    """Simulate a walk: the robot stands for half a second, walks, stops and stands.

    Parameters
    ----------
    robot
        A robot with two feet, or its `Biped`.
    velocity
        Forward, lateral [m/s], turn [rad/s] (3,), by default `default_speed` forward. With `goal` only the first number
        counts.
    duration
        Total time [s], the last two seconds for stopping; by default 10 s. With `distance` or `goal` the longest time,
        by default as long as may be needed.
    distance
        Distance to walk along the path [m]: what the robot is pushed back counts as negative. It has walked if it
        stands within half a step and 10 % of the distance.
    goal
        x, y [m] and yaw [rad] to walk to, of the centre between the soles (3,); it starts at (0, 0, 0).
    terrain
        Ground to walk on, or its text (`terrain.parse`), such as "stairs:0.185,0.24,10"; level by default. The robot
        starts at the origin, where it must be level.
    map
        What the planner knows of the terrain: "known", the heights as they are; "noisy", with errors of 5 mm in each
        cell and 1 cm in all; "blind", nothing, the feet feel the ground; or a map. With a map all footsteps are planned
        before the walk, to the goal or straight ahead.
    settings
        Settings of the gait, by default `GaitSettings.from_robot(robot)`.
    upper_body
        Tasks of the upper body during the walk, and hands that support it.
    carry
        Mass [kg] of a box that the robot carries level in both hands, or a `Carrying`; the controller knows of it. A
        load that it does not know of is an option of the engine: `loads=[sim.Load(...)]`.
    engine
        "mujoco"; "native", kinodyn's own dynamics; or an object that offers the protocol `sim.Simulator`.
    pushes
        External forces at given times.
    noise
        Standard deviations of the measured state, {"q": ..., "v": ...}; with `estimate` "q" and "v" of the joints,
        "gyro", "accelerometer", and "gyro_bias", "accelerometer_bias".
    estimate
        Whether the controller sees the estimate of an `estimation.LeggedEstimator` from IMU, encoders and foot forces;
        the true state of the base is then never read.
    seed
        Seed of the noise; equal seeds give bit-identical walks.
    progress
        Whether to show a progress bar on stderr, if that is a terminal.
    options
        Options of the engine, unknown to the controller, such as friction; see `make_simulator`.

    Returns
    -------
    WalkResult

    Raises
    ------
    KinodynError
        Before anything moves, if the robot cannot walk: no two feet, too weak, or legs that cannot follow the steps.
    InputError
        For a velocity beyond the limits of the robot, or a goal too far away.

    Examples
    --------
    >>> import kinodyn as kd
    >>> result = kd.walking.walk(kd.load("humanoid"), duration=4.0)
    >>> result.walked
    True
    """
    body = simulated = robot if isinstance(robot, Biped) else Biped.from_robot(robot)
    upper_body = upper_body or UpperBody()
    if carry is not None:
        carrying = carry if isinstance(carry, Carrying) else Carrying.from_robot(body, carry)
        body, simulated, upper_body = carrying.body, carrying.unloaded, upper_body.holding(*carrying.tasks)
        options["loads"] = [*options.get("loads", ()), carrying.load]
    if terrain is not None:
        if "ground" in options:
            raise InputError("give terrain, which the planner knows, or ground, an option of the engine, not both")
        terrain = options["ground"] = parse(terrain) if isinstance(terrain, str) else terrain
    simulator = make_simulator(simulated, engine, frames=upper_body.frames, **options)
    controller = WalkingController(body, settings=settings, upper_body=upper_body)
    require_strong(body)
    if velocity is None:
        usual = default_speed(controller.planner)
        velocity = (usual if terrain is None else min(usual, TERRAIN_SPEED), 0.0, 0.0)
    schedule = WalkSchedule(
        controller,
        velocity,
        duration=duration,
        distance=distance,
        goal=goal,
        ground=None if terrain is None else planner_map(terrain, map, seed),
    )
    require_feasible(controller.planner, schedule.checked_velocity)
    acting: ObservationController = schedule
    if estimate:
        acting = EstimatingController(schedule, body.robot, body.q, dt=controller.dt, noise=noise, seed=seed)
    begin = time.perf_counter()
    recording = run_controller(
        simulator,
        controller,
        schedule.duration,
        acting=acting,
        pushes=pushes,
        noise=None if estimate else noise,
        seed=seed,
        until=schedule.over,
        progress=progress,
    )
    if controller.fallen is None:
        controller.fallen = fall_time(body, recording, controller.settings.fall_height)
    return measure(schedule, recording, time.perf_counter() - begin)


def planner_map(
    terrain: Terrain,
    map: Literal["known", "noisy", "blind"] | HeightMap,
    seed: int,  # noqa: A002 - as on the command line
) -> HeightMap | None:
    """Make the map of a terrain that a planner sees; None if it is blind."""
    if isinstance(map, HeightMap):
        return map
    if map not in ("known", "noisy", "blind"):
        raise InputError(f'map must be "known", "noisy", "blind" or a terrain.HeightMap, got {map!r}')
    if map == "blind":
        return None
    around = terrain.region + [[-MAP_EDGE, -MAP_EDGE], [MAP_EDGE, MAP_EDGE]]
    if map == "known":
        return terrain.map(region=around)
    offset = float(np.random.default_rng(seed).normal(0.0, MAP_OFFSET))
    return terrain.map(region=around).disturbed(MAP_NOISE, offset, seed).smoothed()


def measure(schedule: WalkSchedule, recording: Recording, elapsed: float) -> WalkResult:
    """Compute the metrics of a walk that took `elapsed` seconds to simulate."""
    controller, velocity = schedule.controller, schedule.velocity
    metrics = WalkMetrics(controller.body, recording, controller.fallen)
    end = min(schedule.stopped, float(recording.time[-1]))
    rows = metrics.steady(STANDING_TIME, end)
    speed, turning = metrics.motion(velocity, rows)
    if schedule.goal is None:
        drift = (turning - float(velocity[2])) * metrics.span(rows)
    else:
        speed, drift = metrics.goal_speed(STANDING_TIME), metrics.goal_offset(schedule.goal)[1]
    reason = _failure(schedule, recording, metrics)
    margins = metrics.margins()
    com_error, foot_error, trunk_error = metrics.tracking()
    return WalkResult(
        body=controller.body,
        recording=recording,
        walked=not reason,
        reason=reason,
        fallen=controller.fallen,
        commanded=velocity,
        distance=metrics.distance(),
        speed=speed,
        turning=turning,
        heading_drift=drift,
        steps=metrics.steps(),
        least_margin=float(margins.min(initial=np.inf)),
        mean_margin=float(margins.mean()) if len(margins) else np.nan,
        com_error=com_error,
        foot_error=foot_error,
        trunk_error=trunk_error,
        slip=metrics.slip(),
        torques=metrics.torques(),
        cost_of_transport=metrics.cost_of_transport(),
        real_time=float(recording.duration / elapsed),
        tick=np.quantile(schedule.tick_times, [0.5, 0.99, 1.0]),
        plan=np.quantile(controller.plan_times, [0.5, 0.99, 1.0]),
        mpc=np.quantile(controller.solve_times, [0.5, 0.99, 1.0]),
    )


def _failure(schedule: WalkSchedule, recording: Recording, metrics: WalkMetrics) -> str:
    """Explain why the robot did not walk as commanded; empty if it did."""
    fallen, duration = schedule.controller.fallen, recording.duration
    if fallen is not None:
        return f"fell after {fallen:.2f} s"
    if recording.status != "complete":
        return recording.reason
    if schedule.velocity.any() and metrics.steps() == 0:
        return f"took no step in {duration:g} s, of which the last two seconds are for stopping"
    on_the_way = schedule.own_goal and not schedule.stands
    if schedule.goal is not None and not on_the_way:
        offset, drift = metrics.goal_offset(schedule.goal)
        if offset > GOAL_TOLERANCE[0] or abs(drift) > GOAL_TOLERANCE[1]:
            return f"stands {offset:.3g} m and {np.rad2deg(drift):.2g} degrees off the goal after {duration:g} s"
    if schedule.distance is not None:
        covered = metrics.progress(schedule.velocity)
        tolerance = 0.5 * schedule.step_length(schedule.velocity) + DISTANCE_TOLERANCE * schedule.distance
        if schedule.stopped == np.inf or abs(covered - schedule.distance) > tolerance:
            return f"walked {covered:.3g} m of {schedule.distance:g} m in {duration:g} s"
    return ""
