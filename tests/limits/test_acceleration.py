"""Joints that may only change their speed slowly brake in time before their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description.types import Description, Inertia, Joint, Link
from kinodyn.model.robot import Robot

BATCH = 60


def within(robot: Robot, q: Any) -> bool:
    return bool((q >= robot.limits.lower - 1e-9).all() and (q <= robot.limits.upper + 1e-9).all())


@pytest.mark.parametrize("dt", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("name", ["panda", "humanoid"])
def test_acceleration_and_position_limits_hold(name: str, dt: float) -> None:
    robot = kd.load(name)
    rng = np.random.default_rng(0)
    largest = 5.0
    posture = kd.tasks.PostureTask(robot.random(BATCH, seed=rng), priority=1)
    limits = [kd.limits.PositionLimit(), kd.limits.VelocityLimit(), kd.limits.AccelerationLimit(largest)]
    solver = kd.ik.WholeBody(robot, [posture], limits)
    q, v = robot.random(BATCH, seed=rng), np.zeros((BATCH, robot.nv))
    joints = slice(6 if robot.base == "floating" else 0, None)
    reached = 0
    for k in range(200):
        if k % 40 == 0:  # to the very ends, or beyond them
            goal = robot.random(BATCH, seed=rng)
            angles = slice(7 if robot.base == "floating" else 0, None)
            goal[:, angles] += 3.0 * rng.normal(size=goal[:, angles].shape)
            posture.target = goal
        step = solver.step(q, dt)
        change = np.abs(step.v - v)[:, joints]
        assert (change <= largest * dt * (1 + 1e-9)).all()
        assert (np.abs(step.v) <= robot.limits.velocity * (1 + 1e-9)).all()
        assert within(robot, step.q)
        reached += int((np.abs(step.at_bound).sum(axis=-1) > 0).sum())
        q, v = step.q, step.v
    assert reached > 0


def test_a_joint_brakes_as_late_as_possible() -> None:
    robot = kd.load("panda")
    dt, a = 0.01, 2.0
    q = robot.configuration("ready").copy()
    goal = q.copy()
    goal[0] = 10.0  # beyond its end
    solver = kd.ik.WholeBody(
        robot, [kd.tasks.PostureTask(goal)], [kd.limits.PositionLimit(), kd.limits.AccelerationLimit(a)]
    )
    room = robot.limits.upper[0] - q[0]
    speeds = []
    for _ in range(1000):
        step = solver.step(q, dt)
        q = step.q
        speeds.append(step.v[0])
    # speeding up for half of the way and braking for the other half: the fastest way from rest to rest
    np.testing.assert_allclose(q[0], robot.limits.upper[0], rtol=0, atol=1e-9)
    assert max(speeds) == pytest.approx(np.sqrt(a * room), rel=0.02)
    moving = int((np.array(speeds) > 1e-9).sum())
    assert moving * dt == pytest.approx(2 * np.sqrt(room / a), rel=0.03)


def test_the_last_step_but_one_before_an_end_is_as_long_as_the_last_braking_allows() -> None:
    robot, dt, a = kd.load("panda"), 0.01, 2.0
    goal = robot.configuration("ready").copy()
    goal[0] = 10.0  # beyond its end
    limits = [kd.limits.PositionLimit(), kd.limits.AccelerationLimit(a)]
    solver = kd.ik.WholeBody(robot, [kd.tasks.PostureTask(goal)], limits)
    for room, speed in ((1.1, 1.0), (0.7, 0.7)):  # in units of a dt^2 and of a dt, from which it stops in one step
        q, v = robot.configuration("ready").copy(), np.zeros(7)
        q[0], v[0] = robot.limits.upper[0] - room * a * dt**2, a * dt
        assert solver.step(q, dt, v).v[0] == pytest.approx(speed * a * dt, rel=1e-9)


def test_the_current_velocity_can_be_given() -> None:
    robot = kd.load("panda")
    q, v = robot.configuration("ready"), np.full(7, 0.5)
    solver = kd.ik.WholeBody(robot, [kd.tasks.PostureTask(q)], [kd.limits.AccelerationLimit(1.0)])
    np.testing.assert_allclose(solver.step(q, 0.1, v).v, 0.4, rtol=1e-9)
    np.testing.assert_allclose(solver.step(q, 0.1).v, 0.3, rtol=1e-9)
    solver.reset()
    np.testing.assert_allclose(solver.step(q, 0.1).v, 0.0, atol=1e-12)


def test_single_joints_can_have_limits_of_their_own() -> None:
    robot = kd.load("panda")
    q = robot.configuration("ready")
    limits = [
        kd.limits.AccelerationLimit({"panda_joint2": 0.5}),
        kd.limits.VelocityLimit({"panda_joint3": 0.1}, scale=0.5),
    ]
    step = kd.ik.WholeBody(robot, [kd.tasks.PostureTask(q + 1.0)], limits).step(q, 0.1)
    expected = 0.5 * robot.limits.velocity
    expected[1], expected[2] = 0.05, 0.05
    np.testing.assert_allclose(step.v, np.minimum(expected, 10.0), rtol=1e-9)


@pytest.mark.parametrize(
    ("q", "v", "name"),
    [
        (0.0, 0.0, "acceleration limit of joint"),
        (0.0, 0.4999, "velocity limit of joint"),
        (0.999999, 0.0, "position limit of joint"),
    ],
)
def test_inverse_dynamics_names_the_limit_that_bounds_an_acceleration(q: float, v: float, name: str) -> None:
    inertia = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    slider = Joint("joint", "prismatic", "base", "slider", np.eye(4), np.eye(3)[0], lower=-1, upper=1, velocity=0.5)
    robot = Robot(Description("slider", (Link("base", inertia), Link("slider", inertia)), (slider,)))
    limits = [kd.limits.PositionLimit(), kd.limits.VelocityLimit(), kd.limits.AccelerationLimit(3.0)]
    controller = kd.control.InverseDynamicsQP(robot, [kd.tasks.PostureTask([5.0])], limits=limits)
    assert controller.solve(kd.State(robot, [q], [v])).at_limits == (name,)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_joint_that_is_too_fast_brakes_as_hard_as_it_may_and_no_harder_than_it_must(side: float) -> None:
    inertia = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    slider = Joint("joint", "prismatic", "base", "slider", axis=np.eye(3)[0], velocity=0.5)
    robot = Robot(Description("slider", (Link("base", inertia), Link("slider", inertia)), (slider,)))
    dt, braking = 0.01, 7.0
    faster = kd.tasks.PostureTask([side * 1e3])
    controller = kd.control.InverseDynamicsQP(
        robot, [faster], limits=[kd.limits.VelocityLimit()], dt=dt, braking=braking
    )
    for speed, expected in ((0.5 + 0.5 * braking * dt, 0.5 * braking), (0.5 + 1.5 * braking * dt, braking), (9.0, 7.0)):
        result = controller.solve(kd.State(robot, [0.0], [side * speed]))
        assert result.a[0] == pytest.approx(-side * expected, rel=1e-6)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_joint_beyond_its_end_returns_as_fast_as_its_velocity_limit_allows(side: float) -> None:
    robot, dt = kd.load("panda"), 0.1
    q = robot.configuration("ready").copy()
    end = robot.limits.upper[0] if side > 0 else robot.limits.lower[0]
    q[0] = end + side
    beyond = q.copy()
    beyond[0] += side
    limits = [kd.limits.PositionLimit(), kd.limits.VelocityLimit({"panda_joint1": 0.5})]
    solver = kd.ik.WholeBody(robot, [kd.tasks.PostureTask(beyond)], limits)
    for k in range(1, 31):
        q = solver.step(q, dt).q
        assert q[0] == pytest.approx(end + side * max(1.0 - 0.05 * k, 0.0), abs=1e-9)


@pytest.mark.parametrize("up", [-1.0, 1.0])
def test_an_acceleration_that_the_motor_cannot_prevent_is_the_least_one_and_named(up: float) -> None:
    """A slider of 1 kg falls along or against its axis; 2 N are not enough to hold it."""
    inertia = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    axis = np.array([0.0, 0.0, up])
    slider = Joint("joint", "prismatic", "base", "slider", axis=axis, velocity=50.0, effort=2.0)
    robot = Robot(Description("slider", (Link("base", inertia), Link("slider", inertia)), (slider,)))
    limits = [kd.limits.AccelerationLimit(3.0), kd.limits.TorqueLimit()]
    controller = kd.control.InverseDynamicsQP(robot, [kd.tasks.PostureTask([0.0])], limits=limits)
    result = controller.solve(kd.State(robot, [0.0], [0.0]))
    assert result.status == "relaxed"
    assert result.a[0] == pytest.approx(-up * 7.81, abs=1e-4) and result.tau[0] == pytest.approx(up * 2.0, abs=1e-4)
    (violation,) = (each for each in result.violations if each.kind == "limit")
    assert violation.name == "acceleration limit of joint" and violation.amount == pytest.approx(4.81, abs=1e-4)


def slider(**options: float) -> Robot:
    """Make a slider of 1 kg along x."""
    inertia = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    joint = Joint("joint", "prismatic", "base", "slider", axis=np.eye(3)[0], **options)  # type: ignore[arg-type]
    return Robot(Description("slider", (Link("base", inertia), Link("slider", inertia)), (joint,)))


def test_a_joint_that_must_brake_harder_than_planned_still_stops_before_its_end() -> None:
    """Braking is planned with half of the motor's 6 N; from 1 m/s, 0.1 m before the end, 5 m/s^2 are needed."""
    robot, dt = slider(lower=-1.0, upper=0.1, velocity=5.0, effort=6.0), 1e-3
    limits = [kd.limits.PositionLimit(), kd.limits.TorqueLimit()]
    controller = kd.control.InverseDynamicsQP(robot, [kd.tasks.PostureTask([1.0])], limits=limits, dt=dt, braking=50.0)
    q, v = np.zeros(1), np.ones(1)
    for _ in range(400):
        result = controller.solve(kd.State(robot, q, v))
        assert result.status == "solved" and abs(result.tau[0]) <= 6.0 + 1e-6
        v = v + dt * result.a
        q = q + dt * v
        assert q[0] <= 0.1 + 1e-9
    assert q[0] == pytest.approx(0.1, abs=2e-3)


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_the_weight_of_accelerations_counts_beside_those_of_tasks(weight: float) -> None:
    """The least of (a - desired)^2 + weight^2 a^2."""
    robot = slider()
    task = kd.tasks.PostureTask([1.0])
    plain, heavy = (
        kd.control.InverseDynamicsQP(robot, [task], limits=[], acceleration_weight=w).solve(
            kd.State(robot, [0.0], [0.0])
        )
        for w in (1e-9, weight)
    )
    assert plain.a[0] > 1.0 and heavy.a[0] == pytest.approx(plain.a[0] / (1.0 + weight**2), rel=1e-6)
