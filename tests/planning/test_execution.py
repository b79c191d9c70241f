"""Execution of plans: arrival at the goal, replanning around new obstacles, stops where there is no path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import World
from kinodyn.control import Gains, PDGravity
from kinodyn.errors import InputError
from kinodyn.planning import execute, plan

from .test_plan import LEFT, PANDA, RIGHT

V = PANDA.limits.velocity


def wall_at(world: World, time: float) -> Callable[[float], None]:
    """Return a function that puts a wall between start and goal at a time."""

    def place(t: float) -> None:
        if t >= time and "wall" not in world.names:
            world.add_box("wall", (0.3, 0.04, 0.6), ((0.65, 0.0, 0.3), None))

    return place


@pytest.mark.parametrize("engine", ["native", "mujoco"])
def test_a_plan_is_followed_to_the_goal(engine: str) -> None:
    found = plan(PANDA, LEFT, RIGHT)
    if engine == "native":
        simulator: kd.sim.Simulator = kd.sim.NativeSimulator(PANDA)
    else:
        simulator = kd.sim.MujocoSimulator(PANDA, dt=1e-3, contacts=False)
    simulator.reset(LEFT)
    result = execute(found, simulator)
    assert result.success and result.reason == "" and result.replans == 0
    assert result.tracking_error < 0.01 and result.goal_error < 1e-3
    duration = found.trajectory().duration
    assert duration < result.recording.duration < duration + 0.6
    np.testing.assert_allclose(simulator.q, RIGHT, atol=1e-3)


def test_a_wall_that_appears_is_avoided_on_another_path() -> None:
    world = World()
    found = plan(PANDA, LEFT, RIGHT, world)
    result = execute(found, PANDA, world=world, on_check=wall_at(world, 0.1))
    assert result.success and result.replans == result.replans_in_motion == 1 and result.unsafe_stops == 0
    assert len(result.planning_times) == 1
    speed = np.abs(result.recording.v).max(axis=1)
    changed = np.flatnonzero(result.recording.time > 0.12)[0]  # it continues from where it is, without a stop
    assert speed[changed : changed + 50].min() > 0.02
    assert kd.collision.free(PANDA, result.recording.q, world).all()
    reference = result.recording.signals["q_reference"]
    dt = np.diff(result.recording.time)[:, None]
    v = np.diff(reference, axis=0) / dt
    a = np.diff(v, axis=0) / dt[1:]
    assert (np.abs(v) <= V * 1.001).all()
    assert (np.abs(a) <= 4 * V * 1.001).all()
    jerk = np.diff(a, axis=0) / dt[2:]
    assert (np.abs(jerk) <= 40 * V * 1.01).all()


def test_what_appears_away_from_the_remaining_motion_does_not_matter() -> None:
    world = World()
    found = plan(PANDA, LEFT, RIGHT, world)

    def behind(t: float) -> None:
        if t > 1.0 and "box" not in world.names:  # where the robot has been
            hand = kd.kinematics.pose(PANDA, LEFT, "panda_link7")[:3, 3]
            world.add_box("box", (0.1, 0.1, 0.1), (hand, None))

    assert not kd.collision.free(PANDA, LEFT, _with_box_at_the_start()).all()
    result = execute(found, PANDA, world=world, on_check=behind)
    assert result.success and result.replans == 0 and "box" in world.names


def _with_box_at_the_start() -> World:
    world = World()
    world.add_box("box", (0.1, 0.1, 0.1), (kd.kinematics.pose(PANDA, LEFT, "panda_link7")[:3, 3], None))
    return world


def test_an_obstacle_at_the_goal_stops_the_robot_and_is_named() -> None:
    world = World()
    found = plan(PANDA, LEFT, RIGHT, world)
    hand = kd.kinematics.pose(PANDA, RIGHT, "panda_link7")[:3, 3]

    def occupy(t: float) -> None:
        if t > 0.1 and "crate" not in world.names:
            world.add_box("crate", (0.2, 0.2, 0.2), (hand, None))

    result = execute(found, PANDA, world=world, on_check=occupy, wait=0.5, time_budget=0.2)
    assert result.status == "stopped" and "crate" in result.reason
    assert np.abs(result.recording.v[-1]).max() < 1e-3
    assert kd.collision.free(PANDA, result.recording.q, world).all()


def test_an_obstacle_that_goes_away_lets_the_robot_continue() -> None:
    world = World()
    found = plan(PANDA, LEFT, RIGHT, world)
    hand = kd.kinematics.pose(PANDA, RIGHT, "panda_link7")[:3, 3]

    def pass_by(t: float) -> None:
        if 0.1 < t < 1.0 and "crate" not in world.names:
            world.add_box("crate", (0.2, 0.2, 0.2), (hand, None))
        if t > 1.0 and "crate" in world.names:
            world.remove("crate")

    result = execute(found, PANDA, world=world, on_check=pass_by, wait=3.0, time_budget=0.2)
    assert result.success and result.replans == 1 and len(result.planning_times) > 1


def test_what_appears_just_ahead_of_the_robot_is_an_unsafe_stop() -> None:
    world = World()
    found = plan(PANDA, LEFT, RIGHT, world)
    ahead = kd.kinematics.pose(PANDA, found.trajectory()(0.6), "panda_link7")[:3, 3]

    def appear(t: float) -> None:
        if t > 0.5 and "crate" not in world.names:
            world.add_box("crate", (0.1, 0.1, 0.1), (ahead, None))

    result = execute(found, PANDA, world=world, on_check=appear, wait=0.3)
    assert result.status == "stopped" and result.unsafe_stops == 1 and "crate" in result.reason


def test_a_controller_that_does_nothing_is_aborted() -> None:
    result = execute(plan(PANDA, LEFT, RIGHT), PANDA, controller=lambda reference: lambda t, state: 0.0 * state.v)
    assert result.status == "aborted" and "from its reference" in result.reason
    assert result.tracking_error > 0.1


def test_other_controllers_and_trajectories_are_followed() -> None:
    gains = Gains.from_frequency(60.0)
    trajectory = plan(PANDA, LEFT, RIGHT).trajectory(velocity=0.4)
    result = execute(
        trajectory, PANDA, controller=lambda target: PDGravity(PANDA, target, gains), control_dt=2e-3, settling_time=1.0
    )
    assert result.success and 1e-4 < result.tracking_error < 0.1


def test_invalid_motions_and_robots_are_rejected() -> None:
    with pytest.raises(InputError, match="motion"):
        execute(LEFT, PANDA)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="another robot"):
        execute(plan(PANDA, LEFT, RIGHT), kd.load("panda").replace(damping=1.0))
    for bad in ({"max_replans": -1}, {"wait": -1.0}, {"check_dt": 0.0}, {"max_error": np.nan}):
        with pytest.raises(InputError):
            execute(plan(PANDA, LEFT, RIGHT), PANDA, **bad)  # type: ignore[arg-type]


def test_the_robot_brakes_when_it_is_asked_to() -> None:
    robot = kd.load("panda")
    found = kd.planning.plan(robot, [0, -0.8, 0, -2.4, 0, 1.6, 0.8], [1, -0.2, 0, -2, 0, 1.6, 0.8])
    result = kd.planning.execute(found, robot, on_check=lambda t: t > 0.31)
    assert result.status == "stopped" and result.reason == "stop requested at 0.32 s"
    assert result.goal_error > 0.1 and np.abs(result.recording.v[-1]).max() < 1e-3
    acceleration = np.abs(np.diff(result.recording.v, axis=0) / np.diff(result.recording.time)[:, None])
    assert acceleration.max() < 4.0 * robot.limits.velocity.max() + 1.0  # the default limit, reached in 0.25 s
