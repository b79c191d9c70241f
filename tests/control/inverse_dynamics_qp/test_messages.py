"""Contacts that are switched, desired forces, limits in conflict, and error messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import kinodyn as kd
from kinodyn.control.cones import patch
from kinodyn.errors import InputError, UnknownNameError


def gone(result: kd.control.ControlResult, kind: str) -> dict[str, float]:
    return {each.name: each.amount for each in result.violations if each.kind == kind}


def test_contacts_are_switched_and_their_forces_bounded(scene: Callable[..., Any]) -> None:
    world = scene("humanoid")
    controller, weight = world.controller(), 9.81 * world.robot.mass
    left, right = (controller.contacts[name] for name in ("left_sole", "right_sole"))
    forces = controller.solve(world.state()).forces
    assert sum(f[2] for f in forces.values()) == pytest.approx(weight, rel=1e-4)
    left.maximum = 0.2 * weight
    result = controller.solve(world.state())
    assert result.forces["left_sole"][2] == pytest.approx(0.2 * weight, rel=1e-6)
    assert "normal force of left_sole" in result.at_limits
    left.bound(0.7 * weight, 2 * weight)
    assert controller.solve(world.state()).forces["left_sole"][2] >= 0.7 * weight - 1e-6
    left.bound(0.0, 2 * weight)
    left.friction = right.friction = 0.01
    for f in controller.solve(world.state()).forces.values():
        assert np.linalg.norm(f[:2]) <= 0.01 * f[2] + 1e-6
    left.friction = right.friction = 0.8
    left.normal = right.normal = (0.3, 0.0, 1.0)  # a slope of 17 degrees, steeper than friction 0.2 would hold
    assert controller.solve(world.state()).status == "solved"
    np.testing.assert_allclose(left.normal, np.array([0.3, 0.0, 1.0]) / np.sqrt(1.09))
    left.active = False
    result = controller.solve(world.state())
    np.testing.assert_array_equal(result.forces["left_sole"], 0.0)
    assert result.forces["right_sole"][2] > 0.5 * weight and left.maximum == 2 * weight
    right.active = False
    flight = controller.solve(world.state())
    com = world.robot.mass * kd.kinematics.com_jacobian(world.robot, world.q) @ flight.a
    np.testing.assert_allclose(com, [0, 0, -weight], atol=1e-9 * weight)  # nothing to push against


def test_desired_forces_are_exerted_where_tasks_leave_them_free(scene: Callable[..., Any]) -> None:
    world = scene("talos")
    controller, weight = world.controller(), 9.81 * world.robot.mass
    left, right = (controller.contacts[contact.name] for contact in world.contacts)
    even = controller.solve(world.state())
    desired = even.forces[left.name] * 0.6
    left.force, right.force = desired, even.forces[right.name] + even.forces[left.name] * 0.4
    # the same whole wrench about one point: shift the moment of what the right foot takes over
    apart = [kd.kinematics.pose(world.robot, world.q, use.name)[:3, 3] for use in (left, right)]
    moved = even.forces[left.name][:3] * 0.4
    right.force = right.force + np.concatenate([np.zeros(3), np.cross(apart[0] - apart[1], moved)])
    found = controller.solve(world.state())
    closer = [np.linalg.norm(r.forces[left.name][:3] - desired[:3]) for r in (even, found)]
    assert closer[1] < 0.5 * closer[0]
    assert sum(f[2] for f in found.forces.values()) == pytest.approx(weight, rel=1e-3)
    left.force = right.force = None
    np.testing.assert_allclose(controller.solve(world.state()).forces[left.name], even.forces[left.name], atol=1e-6)


def test_infeasible_problems_give_the_least_violation_and_name_it(scene: Callable[..., Any]) -> None:
    world = scene("humanoid")
    weak = world.controller(limits=[kd.limits.TorqueLimit(1e-3), kd.limits.AccelerationLimit(1.0)])
    result = weak.solve(world.state())
    assert result.status == "relaxed" and not result.success
    assert np.abs(result.a[6:]).max() <= 1 + 1e-6 and (np.abs(result.tau) <= 1e-3).all()
    slipped = gone(result, "contact")
    assert min(slipped.values()) > 5 and set(slipped) == {"left_sole", "right_sole"}  # it falls almost freely
    assert gone(result, "task")["com"] > 5 and "com" in " ".join(map(str, result.violations))

    icy = scene("humanoid")
    for contact in icy.contacts:
        contact.friction = 1e-6
    icy.v[:2] = 0.5
    result = icy.controller().solve(icy.state())
    for f in result.forces.values():
        assert np.linalg.norm(f[:2]) <= 1e-6 * f[2] + 1e-6

    stretched = scene("humanoid")
    stretched.q[7:] = np.clip(0.0, stretched.robot.limits.lower[7:], stretched.robot.limits.upper[7:])
    stretched.v = np.random.default_rng(0).normal(size=stretched.robot.nv)
    result = stretched.controller().solve(stretched.state())
    assert np.isfinite(result.tau).all() and result.status != "failed"


def test_contradictory_contacts_share_the_violation(scene: Callable[..., Any]) -> None:
    world = scene("humanoid")
    controller = world.controller(limits=[])
    controller.add(kd.contact.Contact("left_foot", name="hook"))
    for name, side in (("left_sole", 0.01), ("hook", -0.01)):
        use = controller.contacts[name]
        use.target = kd.kinematics.pose(world.robot, world.q, use.contact.frame) + np.eye(4)[0][:, None] * [
            0,
            0,
            0,
            side,
        ]
        use.stabilise = (100.0, 0.0)
    result = controller.solve(world.state())
    slips = result.slips
    assert result.status == "relaxed"
    assert slips["left_sole"][0] == pytest.approx(-1.0, abs=0.05) and slips["hook"][0] == pytest.approx(1.0, abs=0.05)


def test_tasks_and_contacts_can_be_added_and_removed(scene: Callable[..., Any]) -> None:
    world = scene("humanoid")
    controller = world.controller()
    first = controller.solve(world.state())
    more = kd.tasks.FrameTask("right_palm", kd.kinematics.pose(world.robot, world.q, "right_palm"), weights=3.0)
    T = more.target.copy()
    T[0, 3] += 0.2
    more.target = T
    controller.add(more)
    with_it = controller.solve(world.state())
    assert np.abs(with_it.a - first.a).max() > 0.1 and "right_palm" in controller.tasks
    more.enabled = False
    np.testing.assert_allclose(controller.solve(world.state()).a, first.a, atol=1e-8)
    more.enabled = True
    np.testing.assert_allclose(controller.solve(world.state()).a, with_it.a, atol=1e-8)
    controller.remove(more)
    np.testing.assert_allclose(controller.solve(world.state()).a, first.a, atol=1e-8)
    np.testing.assert_array_equal(controller(0.0, world.state()), controller.solve(world.state()).tau)


def test_a_batch_agrees_with_single_states(scene: Callable[..., Any]) -> None:
    worlds = [scene("humanoid", seed, 0.1) for seed in range(5)]
    one = worlds[0]
    q, v = np.stack([w.q for w in worlds]), np.stack([w.v for w in worlds])
    com = next(task for task in one.tasks if isinstance(task, kd.tasks.ComTask))
    targets = kd.kinematics.com(one.robot, q)
    com.target = targets
    controller = one.controller(mode="strict")
    together = controller.solve(kd.State(one.robot, q, v))
    assert together.tau.shape == (5, one.robot.nv) and together.status.shape == (5,)
    for k in range(5):
        com.target = targets[k]
        alone = one.controller(mode="strict").solve(kd.State(one.robot, q[k], v[k]))
        np.testing.assert_allclose(together.a[k], alone.a, atol=1e-7 * (1 + np.abs(alone.a).max()))
        np.testing.assert_allclose(together.forces["left_sole"][k], alone.forces["left_sole"], atol=1e-4)
    with pytest.raises(InputError, match="for one state"):
        _ = together.violations


def test_a_reset_clears_default_targets(scene: Callable[..., Any]) -> None:
    world = scene("humanoid")
    world.tasks.append(kd.tasks.FrameTask("right_palm"))
    controller = world.controller()
    controller.solve(world.state())
    seen = controller.tasks["right_palm"].target
    np.testing.assert_allclose(seen, kd.kinematics.pose(world.robot, world.q, "right_palm"))
    controller.reset()
    assert controller.tasks["right_palm"].target is None
    assert controller.solve(world.state()).success


@pytest.mark.parametrize("corners", [3, 4, 6, 2])
def test_a_wrench_is_in_the_cone_if_forces_at_the_corners_add_up_to_it(corners: int) -> None:
    rng = np.random.default_rng(corners)
    angle = 2 * np.pi * np.arange(corners) / corners
    places = np.stack([0.1 * np.cos(angle), 0.05 * np.sin(angle), np.zeros(corners)], axis=1)
    contact = kd.contact.Contact("foot", corners=places, friction=0.7)
    shape = patch(contact, np.array([0.0, 0.0, 1.0]))
    R, middle = shape.R, shape.p
    mu = 0.7 / np.sqrt(2)
    edges = np.array([[x, y, 1.0] for x in (mu, -mu) for y in (mu, -mu)]) @ R.T
    rays = np.array([np.concatenate([f, np.cross(p - middle, f)]) for p in places for f in edges]).T
    kept = [k for k in range(6) if shape.mask >> k & 1]
    turned = np.kron(np.eye(2), R.T) @ rays
    inside = 0
    for _ in range(150):
        some = turned @ (rng.random(rays.shape[1]) * (rng.random(rays.shape[1]) < 0.3))
        wrench = some + 0.2 * rng.normal(size=6) * np.abs(turned).mean(axis=1) * (rng.random() < 0.7)
        told = (shape.cone @ (wrench / [1, 1, 1, *[shape.length] * 3])[kept]).max()
        wrench[[k for k in range(6) if k not in kept]] = 0.0
        if abs(told) < 1e-6:
            continue  # on the edge
        found = linprog(np.zeros(rays.shape[1]), A_eq=turned[kept], b_eq=wrench[kept])
        assert (told < 0) == (found.status == 0)
        inside += told < 0
    assert 20 < inside < 150


def test_errors_explain_misuse(scene: Callable[..., Any]) -> None:
    world = scene("humanoid")
    robot, task = world.robot, world.tasks[0]
    make = kd.control.InverseDynamicsQP
    with pytest.raises(InputError, match='"weighted" or "strict"'):
        make(robot, [task], mode="lexicographic")
    with pytest.raises(InputError, match="dt must be a positive number"):
        make(robot, [task], dt=0.0)
    with pytest.raises(InputError, match="two tasks are called"):
        make(robot, [task, task])
    with pytest.raises(UnknownNameError, match="unknown frame"):
        make(robot, [task], contacts=[kd.contact.Contact("tail")])
    with pytest.raises(InputError, match="torque limits must be positive"):
        make(robot, [task], limits=[kd.limits.TorqueLimit(-1.0)])
    with pytest.raises(InputError, match="contacts must be a list of kinodyn.dynamics.contact.Constraint objects"):
        make(robot, [task], contacts=["left_sole"])
    controller = world.controller()
    use = controller.contacts["left_sole"]
    for wrong in (-1.0, np.nan):
        with pytest.raises(InputError, match="0 <= minimum <= maximum"):
            use.maximum = wrong
    with pytest.raises(InputError, match="force of 'left_sole'"):
        use.force = [1.0, 2.0]
    with pytest.raises(InputError, match="limits must be a list of kinodyn.limits.Limit objects"):
        make(robot, [task], limits=["position"])
    with pytest.raises(InputError, match="the state belongs to"):
        controller.solve(kd.State(kd.load("panda"), np.zeros(7)))
    with pytest.raises(InputError, match="velocity of 'com'"):
        controller.tasks["com"].velocity = [0.0, np.nan, 0.0]
    controller.tasks["com"].velocity = np.zeros(4)
    with pytest.raises(InputError, match=r"velocity of 'com' must have shape \(\.\.\., 3\)"):
        controller.solve(world.state())
    with pytest.raises(InputError, match="frequency of 'com'"):
        controller.tasks["com"].frequency = -1.0
    with pytest.raises(InputError, match="gains of 'com'"):
        controller.tasks["com"].gains = 3.0
