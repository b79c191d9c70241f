"""In closed loop: robots stand, sway and reach; limits are never exceeded; nothing random breaks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array

DT = 2e-3


def advance(world: Any, tau: Array, push: dict[str, Array] | None = None) -> None:
    """Move on by DT, feet held by the ground."""
    robot = world.robot
    if world.contacts:
        feet = [kd.contact.Contact(c.frame, point=c.corners.mean(axis=0)) for c in world.contacts]
        a, _ = kd.contact.dynamics(robot, world.q, world.v, tau, feet, push, stabilise=20.0)
    else:
        a = kd.dynamics.forward(robot, world.q, world.v, tau)
    world.v = world.v + DT * a
    world.q = robot.integrate(world.q, DT * world.v)


@pytest.mark.parametrize(("name", "mode"), [("humanoid", "strict"), ("talos", "weighted"), ("g1", "strict")])
def test_a_robot_sways_reaches_and_returns(name: str, mode: str, scene: Callable[..., Any]) -> None:
    world = scene(name)
    world.tasks[0].weights = 0.05
    com, hand = (next(t for t in world.tasks if isinstance(t, kind)) for kind in (kd.tasks.ComTask, kd.tasks.FrameTask))
    p0, T0, q0 = com.target, hand.target, world.q
    controller = world.controller(mode=mode, dt=DT)
    state, far = world.state(), 0.0
    w = 2 * np.pi / 0.8
    for k in range(480):
        t = min(k * DT, 0.8)  # there and back in 0.8 s, then still
        part = 0.5 * (1 - np.cos(w * t)), 0.5 * w * np.sin(w * t), 0.5 * w * w * np.cos(w * t) * (t < 0.8)
        com.track(p0 + [0, 0.03 * part[0], 0], [0, 0.03 * part[1], 0], [0, 0.03 * part[2], 0])
        T = T0.copy()
        T[0, 3] += 0.05 * part[0]
        zeros = [0.0] * 5
        hand.track(T, [0.05 * part[1], *zeros], [0.05 * part[2], *zeros])
        result = controller.solve(state.update(world.q, world.v))
        assert result.status == "solved"
        advance(world, result.tau)
        far = max(far, float(np.linalg.norm(kd.kinematics.com(world.robot, world.q) - com.target)))
    assert far < 3e-3
    assert np.linalg.norm(kd.kinematics.com(world.robot, world.q) - p0) < 2e-4
    for contact in world.contacts:
        moved = kd.kinematics.pose(world.robot, world.q, contact.frame) - kd.kinematics.pose(
            world.robot, q0, contact.frame
        )
        assert np.abs(moved).max() < 1e-3


@pytest.mark.parametrize("semi_implicit", [True, False])
@pytest.mark.parametrize("acceleration", [None, 12.0])
def test_an_arm_with_targets_beyond_its_limits_never_exceeds_them(
    semi_implicit: bool, acceleration: float | None
) -> None:
    robot = kd.load("panda")
    rng = np.random.default_rng(0)
    q, v = 0.5 * (robot.limits.lower + robot.limits.upper), np.zeros(robot.nv)
    posture = kd.tasks.PostureTask(q)
    posture.frequency = 30.0
    limits = [kd.limits.PositionLimit(), kd.limits.VelocityLimit()]
    if acceleration:
        limits.append(kd.limits.AccelerationLimit(acceleration))
    controller = kd.control.InverseDynamicsQP(robot, [posture], dt=DT, limits=limits, braking=20.0)
    state, reached = kd.State(robot, q), 0
    for k in range(2500):
        if k % 100 == 0:
            posture.target = 2.0 * robot.random(seed=rng)
        result = controller.solve(state.update(q, v))
        assert result.status == "solved"
        a = kd.dynamics.forward(robot, q, v, result.tau)
        assert acceleration is None or np.abs(a).max() <= acceleration + 1e-6
        q = q + DT * v + (1.0 if semi_implicit else 0.5) * DT * DT * a
        v = v + DT * a
        room = np.minimum(q - robot.limits.lower, robot.limits.upper - q)
        assert room.min() >= -1e-12 and (np.abs(v) <= robot.limits.velocity + 1e-9).all()
        reached += room.min() < 1e-3
    assert reached > 100  # they were reached


def test_a_joint_beyond_its_limits_returns_within_them() -> None:
    robot = kd.load("panda")
    q = 0.5 * (robot.limits.lower + robot.limits.upper)
    q[3], v = robot.limits.upper[3] + 0.1, np.zeros(robot.nv)
    v[3] = 0.5
    controller = kd.control.InverseDynamicsQP(robot, [kd.tasks.PostureTask(q)], dt=DT)
    state = kd.State(robot, q)
    for _ in range(400):
        result = controller.solve(state.update(q, v))
        v = v + DT * kd.dynamics.forward(robot, q, v, result.tau)
        q = q + DT * v
    assert robot.limits.upper[3] - 1e-3 < q[3] < robot.limits.upper[3] + 5e-3  # back, and held there against its task


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("name", "mode"), [("humanoid", "weighted"), ("talos", "strict")])
def test_limits_hold_while_hands_track_random_targets(
    name: str, mode: str, seed: int, scene: Callable[..., Any]
) -> None:
    world = scene(name)
    robot, rng = world.robot, np.random.default_rng(seed)
    com, hand = (next(t for t in world.tasks if isinstance(t, kind)) for kind in (kd.tasks.ComTask, kd.tasks.FrameTask))
    p0, T0 = com.target, hand.target
    controller = world.controller(mode=mode, dt=DT)
    state = world.state()
    for k in range(1200):
        if k % 40 == 0:
            com.target = p0 + rng.uniform(-0.02, 0.02, size=3)
            T = T0.copy()
            T[:3, 3] += rng.normal(size=3)
            hand.target = T
        result = controller.solve(state.update(world.q, world.v))
        assert result.status == "solved"
        advance(world, result.tau)
        beyond = np.maximum(world.q - robot.limits.upper, robot.limits.lower - world.q)[7:]
        assert beyond.max() < 1e-9 and (np.abs(result.tau) <= robot.limits.effort).all()
        assert (np.abs(world.v) <= robot.limits.velocity + 1e-5)[6:].all()


def test_ten_thousand_random_ticks_give_finite_torques_within_limits(scene: Callable[..., Any]) -> None:
    rng = np.random.default_rng(2)
    count = 0
    kinds: set[str] = set()
    for name, mode in (("humanoid", "weighted"), ("humanoid", "strict"), ("solo12", "weighted"), ("g1", "strict")):
        world = scene(name)
        robot = world.robot
        controller = world.controller(mode=mode, dt=DT)
        lower, upper = np.maximum(robot.limits.lower, -3), np.minimum(robot.limits.upper, 3)
        state = world.state()
        for k in range(2500):
            if k % 10 == 0:  # another state, other forces, other contacts
                q = robot.integrate(world.q, 0.4 * rng.normal(size=robot.nv))
                q[7:] = np.clip(q[7:], lower[7:] - 0.1, upper[7:] + 0.1)
                v = rng.normal(size=robot.nv) * rng.choice([0.0, 0.5, 5.0])
            if k % 25 == 0:
                for use in controller.contacts.values():
                    use.active = bool(rng.random() < 0.8)
                    use.bound(0.0, float(rng.choice([0.0, 50.0, 1e4])))
            for task in world.tasks:
                if isinstance(task, kd.tasks.ComTask):
                    task.track(rng.normal(size=3) * 10 ** rng.uniform(-2, 3), rng.normal(size=3), rng.normal(size=3))
            v = v + 0.1 * rng.normal(size=robot.nv)
            result = controller.solve(state.update(q, v))
            assert np.isfinite(result.tau).all() and np.isfinite(result.a).all()
            assert (np.abs(result.tau) <= robot.limits.effort).all()
            assert result.status != "failed", result.violations
            kinds.add(str(result.status))
            count += 1
    assert count == 10_000 and kinds == {"solved", "relaxed"}


def smooth(t: float, length: float) -> tuple[float, float, float]:
    """Go from 0 to 1 with the least jerk: position, velocity, acceleration."""
    x = min(max(t / length, 0.0), 1.0)
    rate, gain = 30 * x**2 - 60 * x**3 + 30 * x**4, 60 * x - 180 * x**2 + 120 * x**3
    return 10 * x**3 - 15 * x**4 + 6 * x**5, rate / length, gain / length**2


@pytest.mark.parametrize("mode", ["weighted", "strict"])
def test_a_humanoid_shifts_its_weight_lifts_a_foot_and_sets_it_down(mode: str, scene: Callable[..., Any]) -> None:
    world, dt = scene("humanoid"), 4e-3
    robot, (left, right) = world.robot, world.contacts
    com = next(task for task in world.tasks if isinstance(task, kd.tasks.ComTask))
    start, T_left, T_right = com.target, *(kd.kinematics.pose(robot, world.q, c.frame) for c in (left, right))
    over = np.array([*T_right[:2, 3], start[2]])
    swing = kd.tasks.FrameTask("left_sole", T_left, weights=5.0, priority=1, name="swing")
    world.tasks.append(swing)
    controller = world.controller(mode=mode, dt=dt)
    swing.enabled = False
    foot, weight = controller.contacts["left_sole"], 9.81 * robot.mass
    state = world.state()
    for k in range(500):
        t = k * dt
        com.track(*(a + b * (over - start) for a, b in zip((start, 0.0, 0.0), smooth(t, 0.9), strict=True)))
        if 0.8 < t < 1.0:
            foot.maximum = weight * (1.0 - t)
        elif t >= 1.0:
            if foot.active:
                foot.active = False
                swing.enabled = True
            up = (
                smooth(t - 1.0, 0.5)
                if t < 1.5
                else (1 - smooth(t - 1.5, 0.5)[0], *(-x for x in smooth(t - 1.5, 0.5)[1:]))
            )
            ahead = smooth(t - 1.0, 1.0)
            T = T_left.copy()
            T[:3, 3] += [0.1 * ahead[0], 0.0, 0.05 * up[0]]
            swing.track(T, *([0.1 * a, 0, 0.05 * u, 0, 0, 0] for a, u in zip(ahead[1:], up[1:], strict=True)))
        result = controller.solve(state.update(world.q, world.v))
        assert result.status == "solved"
        ground = [kd.contact.Contact(name) for name, use in controller.contacts.items() if use.active]
        a, forces = kd.contact.dynamics(robot, world.q, world.v, result.tau, ground, stabilise=20.0)
        assert min(f[2] for f in forces.values()) > -1e-6  # the ground never has to pull
        world.v = world.v + dt * a
        world.q = robot.integrate(world.q, dt * world.v)
    moved = kd.kinematics.pose(robot, world.q, "left_sole")[:3, 3] - T_left[:3, 3]
    np.testing.assert_allclose(moved, [0.1, 0, 0], atol=6e-3)
    np.testing.assert_allclose(kd.kinematics.pose(robot, world.q, "right_sole"), T_right, atol=1e-3)
