"""The answer obeys the equations of motion, satisfies all constraints, and no other answer is better."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array

INFEASIBLE = -1  # exit flag of DAQP
ROBOTS = ("humanoid", "talos", "g1", "solo12", "panda")


def wander(world: Any, rng: np.random.Generator, size: float = 1.0) -> None:
    """Ask for random motions."""
    for task in world.tasks:
        if isinstance(task, kd.tasks.FrameTask):
            T = task.target.copy()
            T[:3, 3] += 0.2 * size * rng.normal(size=3)
            task.track(T, size * rng.normal(size=6), 3 * size * rng.normal(size=6))
        elif isinstance(task, kd.tasks.ComTask):
            shift, rate, gain = rng.normal(size=(3, 3)) * size
            task.track(task.target + 0.05 * shift, 0.2 * rate, gain)


def assert_obeys_the_equations_of_motion(world: Any, result: kd.control.ControlResult) -> None:
    robot, q, v = world.robot, world.q, world.v
    wrenches = {}
    for name, f in result.forces.items():
        wrenches[name] = f if len(f) == 6 else np.concatenate([f, np.zeros(3)])
    effort = kd.dynamics.inverse(robot, q, v, result.a, wrenches or None)
    scale = max(np.abs(result.tau).max(), 9.81 * robot.mass)
    np.testing.assert_allclose(effort, result.tau, rtol=0, atol=1e-9 * scale)
    if robot.base == "floating":
        np.testing.assert_array_equal(result.tau[:6], 0.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_solution_agrees_with_another_qp_solver(
    name: str, scene: Callable[..., Any], reference: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(5)
    active = solved = 0
    for seed in range(12):
        world = scene(name, seed)
        wander(world, rng)
        nv = world.robot.nv
        share = 0.6 if name != "solo12" else 1.0
        effort = np.minimum(share * world.robot.limits.effort, 1e30)
        largest = np.full(nv, 60.0 if name != "panda" else 8.0)
        world.settings = {
            "limits": [kd.limits.AccelerationLimit(float(largest[-1])), kd.limits.TorqueLimit(effort)],
            "stabilise": 0.0,
        }
        result = world.controller().solve(world.state())
        assert_obeys_the_equations_of_motion(world, result)
        other = reference(world)
        program = other.program(effort, largest)
        x, flag = program.solve()
        if flag < 0:
            assert flag != INFEASIBLE or result.status == "relaxed"
            continue
        solved += 1
        assert result.status == "solved"
        ours = other.x_of(result)
        value = program.A @ ours
        room = np.minimum(value - program.lower, program.upper - value)
        assert room.min() > -1e-8 * (1 + np.abs(ours).max())
        size = abs(program.cost(x)) + 1e-9
        assert program.cost(ours) <= program.cost(x) + 1e-7 * size
        np.testing.assert_allclose(ours[:nv], x[:nv], rtol=0, atol=2e-5 * (1 + np.abs(x[:nv]).max()))
        active += np.count_nonzero(result.active)
    assert solved >= 8 and active >= 8  # the comparison was about something


@pytest.mark.parametrize("name", ["humanoid", "talos", "g1"])
@pytest.mark.parametrize("mode", ["weighted", "strict"])
def test_feet_do_not_accelerate_and_all_limits_hold(name: str, mode: str, scene: Callable[..., Any]) -> None:
    rng = np.random.default_rng(6)
    for seed in range(6):
        world = scene(name, seed, 0.1)
        wander(world, rng)
        result = world.controller(mode=mode, stabilise=0.0).solve(world.state())
        assert result.status == "solved", result.violations
        assert_obeys_the_equations_of_motion(world, result)
        for contact in world.contacts:
            middle = contact.corners.mean(axis=0)
            J = kd.kinematics.jacobian(world.robot, world.q, contact.frame)
            a = kd.kinematics.acceleration(world.robot, world.q, world.v, result.a, contact.frame)
            r = kd.kinematics.pose(world.robot, world.q, contact.frame)[:3, :3] @ middle
            w = J[3:] @ world.v
            place = a[:3] + np.cross(a[3:], r) + np.cross(w, np.cross(w, r))
            np.testing.assert_allclose([*place, *a[3:]], 0, atol=1e-9 * (1 + np.abs(result.a).max()))
            force = result.forces[contact.name][:3]
            normal = force @ contact.normal
            assert normal >= -1e-6
            assert np.linalg.norm(force - normal * contact.normal) <= contact.friction * normal + 1e-6
        assert (np.abs(result.tau) <= world.robot.limits.effort).all()


def residual(world: Any, desired_of: Callable[..., Any], task: Any, a: Array) -> Array:
    J, want, weights = desired_of(world.robot, task, world.q, world.v)
    missing: Array = (want - J @ a) * (weights > 0)
    return missing


@pytest.mark.parametrize("name", ["humanoid", "talos", "panda"])
def test_a_lower_task_never_disturbs_a_higher_one(
    name: str, scene: Callable[..., Any], desired_of: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(7)
    for seed in range(8):
        world = scene(name, seed)
        wander(world, rng)
        above = [task for task in world.tasks if task.priority <= 2]
        world.tasks = above
        before = world.controller(mode="strict").solve(world.state())
        conflict = kd.tasks.FrameTask(world.hand, np.eye(4), priority=4, weights=50.0, name="against")
        world.tasks = [*above, conflict]
        after = world.controller(mode="strict").solve(world.state())
        for task in above:
            was, now = (residual(world, desired_of, task, r.a) for r in (before, after))
            if task.priority == max(t.priority for t in above):
                continue  # with nothing below it, the last level also holds the small weights of all accelerations
            np.testing.assert_allclose(now, was, rtol=0, atol=1e-9 * (1 + np.abs(before.a).max()))
        third = kd.tasks.PostureTask(world.robot.random(seed=9), priority=5)
        world.tasks = [*above, conflict, third]
        last = world.controller(mode="strict").solve(world.state())
        for task in above:
            was, now = (residual(world, desired_of, task, r.a) for r in (after, last))
            np.testing.assert_allclose(now, was, rtol=0, atol=1e-9 * (1 + np.abs(after.a).max()))


def test_strict_levels_are_the_limit_of_ever_larger_weights(
    scene: Callable[..., Any], desired_of: Callable[..., Any]
) -> None:
    world = scene("humanoid", 3, 0.05)
    wander(world, np.random.default_rng(8), 0.1)
    strict = world.controller(mode="strict", acceleration_weight=1e-5).solve(world.state())
    for task in world.tasks:
        own = task.row_weights(world.robot) * (world.robot.mass if isinstance(task, kd.tasks.MomentumTask) else 1.0)
        task.weights = own * 300.0 ** (3 - task.priority)
    weighted = world.controller(acceleration_weight=1e-5).solve(world.state())
    com, hand = (
        next(task for task in world.tasks if isinstance(task, kind)) for kind in (kd.tasks.ComTask, kd.tasks.FrameTask)
    )
    for task, close in ((com, 1e-5), (hand, 1e-4)):
        ours, limit = (residual(world, desired_of, task, result.a) for result in (weighted, strict))
        np.testing.assert_allclose(ours, limit, rtol=0, atol=close * np.abs(strict.a).max())


def test_widely_different_weights_are_solved(scene: Callable[..., Any]) -> None:
    world = scene("humanoid")
    wander(world, np.random.default_rng(8), 0.1)
    for task in world.tasks:
        task.weights = 1e7 if isinstance(task, kd.tasks.ComTask) else 1e-6
    for mode in ("weighted", "strict"):
        result = world.controller(mode=mode, acceleration_weight=1e-6, force_weight=1e-6).solve(world.state())
        assert result.status == "solved"
        assert np.abs(result.errors["com"]).max() < 1e-3


def test_reported_errors_are_the_task_residuals(scene: Callable[..., Any], desired_of: Callable[..., Any]) -> None:
    world = scene("talos", 4)
    wander(world, np.random.default_rng(9))
    result = world.controller().solve(world.state())
    for task in world.tasks:
        expected = residual(world, desired_of, task, result.a)
        np.testing.assert_allclose(result.errors[task.name], expected, atol=1e-9 * (1 + np.abs(result.a).max()))
