"""Virtual work: mechanisms with loops against answers from paper, energy, and the same robot as a tree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.derivation import reduced_dynamics, virtual_work
from kinodyn.description.types import Description, Frame, Inertia, Joint, Link
from kinodyn.dynamics.contact import Loop
from kinodyn.errors import InputError, SingularError, UnknownNameError
from kinodyn.model.robot import Robot

Check = Callable[[Array, Array], None]
GRAVITY = (0.0, -9.81, 0.0)


def at(x: float, y: float = 0.0) -> Array:
    T = np.eye(4)
    T[:2, 3] = x, y
    return T


def pin(frame: str, other: str) -> list[Loop]:
    return [Loop(frame, other, directions="x y z")]


def rod(name: str, length: float, mass: float = 1.0) -> Link:
    across = mass * length**2 / 12
    return Link(name, Inertia(mass, np.array([length / 2, 0, 0]), np.diag([1e-3, across, across])))


def four_bar(crank: float, coupler: float, rocker: float, ground: float) -> tuple[Robot, list[Loop]]:
    """Crank and coupler hang on one pivot, the rocker on the other; the pin joins coupler and rocker."""
    links = (Link("ground"), rod("crank", crank), rod("coupler", coupler), rod("rocker", rocker))
    joints = (
        Joint("a", "revolute", "ground", "crank"),
        Joint("b", "revolute", "crank", "coupler", at(crank)),
        Joint("c", "revolute", "ground", "rocker", at(ground)),
    )
    frames = (Frame("coupler_end", "coupler", at(coupler)), Frame("rocker_end", "rocker", at(rocker)))
    robot = Robot(Description("four_bar", links, joints, frames, gravity=GRAVITY))
    return robot, pin("rocker_end", "coupler_end")


def slider_crank(crank: float, coupler: float) -> tuple[Robot, list[Loop]]:
    links = (Link("ground"), rod("crank", crank), rod("rod", coupler), rod("piston", 0.1, mass=2.0))
    slide = np.array([1.0, 0.0, 0.0])
    joints = (
        Joint("a", "revolute", "ground", "crank"),
        Joint("b", "revolute", "crank", "rod", at(crank)),
        Joint("c", "prismatic", "ground", "piston", axis=slide),
    )
    robot = Robot(Description("slider_crank", links, joints, (Frame("end", "rod", at(coupler)),), gravity=GRAVITY))
    return robot, pin("piston", "end")


def free_rods() -> tuple[Robot, list[Loop]]:
    """planar2r taken apart: two rods that move freely in the plane, held by pins at shoulder and elbow."""
    links = (Link("ground"), rod("rod1", 1.0), rod("rod2", 1.0))
    joints = tuple(Joint(f"free{i}", "planar", "ground", f"rod{i}") for i in (1, 2))
    robot = Robot(Description("rods", links, joints, (Frame("elbow", "rod1", at(1.0)),), gravity=GRAVITY))
    return robot, pin("rod1", "ground") + pin("rod2", "elbow")


def closed_four_bar(n: int = 40) -> tuple[Robot, list[Loop], Array]:
    robot, pins = four_bar(0.4, 1.0, 0.8, 1.0)
    crank = np.linspace(-3.0, 3.0, n)
    guess = np.stack([crank, 1.0 - crank, np.full(n, 2.0)], axis=-1)
    closed = kd.contact.project(robot, guess, pins, fixed=[0])
    assert closed.success.all()
    np.testing.assert_array_equal(closed.q[:, 0], crank)
    return robot, pins, closed.q


def test_an_open_tree_agrees_with_rnea(assert_equal: Check) -> None:
    robot = kd.load("planar3r")
    q, (u, rate) = robot.random(20), np.random.default_rng(0).normal(size=(2, 20, 3))
    found = virtual_work(robot, q, u, rate, [], independent=[0, 1, 2])
    assert_equal(found.tau, kd.dynamics.inverse(robot, q, u, rate))
    assert found.multipliers.shape == (20, 0)


def test_free_rods_with_pin_constraints_are_the_planar_arm(assert_equal: Check) -> None:
    """Angles of free rods are absolute: the torque of the elbow acts on both rods."""
    arm, (rods, pins) = kd.load("planar2r"), free_rods()
    q, v, a = arm.random(30, seed=1), *np.random.default_rng(2).normal(size=(2, 30, 2))
    absolute = np.array([[1.0, 0.0], [1.0, 1.0]])
    angle = q @ absolute.T
    elbow = np.stack([np.cos(angle[:, 0]), np.sin(angle[:, 0])], axis=-1)
    q_rods = np.concatenate([np.zeros((30, 2)), angle[:, :1], elbow, angle[:, 1:]], axis=-1)
    found = virtual_work(rods, q_rods, v @ absolute.T, a @ absolute.T, pins, independent=[2, 5])
    assert_equal(found.tau @ absolute, kd.dynamics.inverse(arm, q, v, a))


def test_pin_forces_of_free_rods_agree_with_newton_euler() -> None:
    """At rest the elbow carries the second rod, the shoulder both."""
    rods, pins = free_rods()
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.5])
    found = virtual_work(rods, q, [0.0, 0.0], [0.0, 0.0], pins, independent=[2, 5])
    np.testing.assert_allclose(found.multipliers, [0, 2 * 9.81, 0, 0, 9.81, 0], atol=1e-12)


def test_forces_of_the_tree_are_torques_and_multipliers(assert_equal: Check) -> None:
    robot, pins, q = closed_four_bar()
    u, rate = np.random.default_rng(3).normal(size=(2, 40, 1))
    found = virtual_work(robot, q, u, rate, pins, independent=[0])
    J, drift = kd.contact.jacobian(robot, q, pins), kd.contact.drift(robot, q, found.v, pins)
    assert_equal(np.einsum("nij,nj->ni", J, found.v), np.zeros((40, 3)))
    assert_equal(np.einsum("nij,nj->ni", J, found.a), -drift)
    held = np.einsum("nij,ni->nj", J, found.multipliers)
    held[:, 0] += found.tau[:, 0]
    assert_equal(held, kd.dynamics.inverse(robot, q, found.v, found.a))


def test_power_at_the_crank_is_the_rate_of_energy(assert_equal: Check) -> None:
    robot, pins, q = closed_four_bar()
    u, rate = np.random.default_rng(4).normal(size=(2, 40, 1))
    found = virtual_work(robot, q, u, rate, pins, independent=[0])

    def energy(t: float) -> Array:
        moved = q + t * found.v + 0.5 * t**2 * found.a
        v = found.v + t * found.a
        return kd.dynamics.kinetic_energy(robot, moved, v) + kd.dynamics.potential_energy(robot, moved)

    h = 1e-3
    slope = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    np.testing.assert_allclose(found.tau[:, 0] * u[:, 0], slope, atol=1e-8)


def test_the_piston_position_agrees_with_the_closed_form(assert_equal: Check) -> None:
    """x = r cos(q) + sqrt(l^2 - r^2 sin(q)^2); at the dead centres its acceleration is -r w^2 (1 +- r / l)."""
    r, length, w = 0.3, 1.0, 2.0
    robot, pins = slider_crank(r, length)
    crank = np.array([0.0, 0.7, 2.0, np.pi])
    tilt = -np.arcsin(r * np.sin(crank) / length)
    x = r * np.cos(crank) + length * np.cos(tilt)
    q = np.stack([crank, tilt - crank, x], axis=-1)
    np.testing.assert_allclose(kd.contact.constraint_error(robot, q, pins), 0.0, atol=1e-15)
    found = virtual_work(robot, q, [w], [0.0], pins, independent=[0])
    slope = -r * np.sin(crank) - r**2 * np.sin(crank) * np.cos(crank) / np.sqrt(length**2 - (r * np.sin(crank)) ** 2)
    assert_equal(found.v[:, 2], slope * w)
    assert_equal(found.a[[0, 3], 2], r * w**2 * np.array([-1 - r / length, 1 - r / length]))


def test_a_parallelogram_moves_like_one_link_and_a_sliding_one() -> None:
    """Its coupler does not turn: M = I_crank + I_rocker + m r^2, g = (m/2 + m/2 + m) g r cos q."""
    robot, pins = four_bar(0.5, 1.0, 0.5, 1.0)
    angle, r = 0.8, 0.5
    M, h = reduced_dynamics(robot, [angle, -angle, angle], [1.3], pins, independent=[0])
    np.testing.assert_allclose(M, [[2 * r**2 / 3 + r**2]], atol=1e-12)
    np.testing.assert_allclose(h, [2 * 9.81 * r * np.cos(angle)], atol=1e-12)


def test_reduced_dynamics_agrees_with_virtual_work(assert_equal: Check) -> None:
    robot, pins, q = closed_four_bar()
    u, rate = np.random.default_rng(5).normal(size=(2, 40, 1))
    M, h = reduced_dynamics(robot, q, u, pins, independent=[0])
    found = virtual_work(robot, q, u, rate, pins, independent=[0])
    assert_equal(np.einsum("nij,nj->ni", M, rate) + h, found.tau)


def test_the_crank_torque_of_a_wrench_has_the_power_of_the_wrench(assert_equal: Check) -> None:
    robot, pins, q = closed_four_bar()
    wrench = {"rocker": np.array([0.0, 0.0, 0.0, 0.0, 0.0, 5.0])}
    u = np.ones((40, 1))
    pushed, free = (virtual_work(robot, q, u, 0 * u, pins, independent=[0], wrenches=w) for w in (wrench, None))
    assert_equal((free.tau - pushed.tau)[:, 0], 5.0 * free.v[:, 2])


def test_batch_axes_broadcast(assert_equal: Check) -> None:
    robot, pins, q = closed_four_bar(6)
    found = virtual_work(robot, q[:, None], np.ones((4, 1)), [0.5], pins, independent=[0])
    alone = virtual_work(robot, q[2], [1.0], [0.5], pins, independent=[0])
    assert found.tau.shape == (6, 4, 1) and found.a.shape == (6, 4, 3)
    assert_equal(found.tau[2, 3], alone.tau)
    assert_equal(found.multipliers[2, 3], alone.multipliers)


def test_loops_that_cannot_close_are_not_called_closed() -> None:
    robot, pins = four_bar(0.2, 0.3, 0.2, 2.0)
    closed = kd.contact.project(robot, [0.0, 0.0, 3.0], pins, fixed=[0])
    assert closed.q.shape == (3,) and not closed.success


def test_dependent_coordinates_are_rejected() -> None:
    """With the crank stretched along the rod, the piston stands still: it decides nothing."""
    robot, pins = slider_crank(0.3, 1.0)
    with pytest.raises(SingularError, match="choose others as independent"):
        virtual_work(robot, [0.0, 0.0, 1.3], [1.0], [0.0], pins, independent=[2])
    with pytest.raises(InputError, match="allow fewer motions than 2"):
        virtual_work(robot, [0.0, 0.0, 1.3], [1.0, 1.0], [0.0, 0.0], pins, independent=[0, 1])
    with pytest.raises(InputError, match="2 coordinates are neither independent nor constrained"):
        virtual_work(robot, [0.0, 0.0, 1.3], [1.0], [0.0], [], independent=[0])


def test_invalid_input_is_rejected() -> None:
    robot, pins = slider_crank(0.3, 1.0)
    q = [0.0, 0.0, 1.3]
    with pytest.raises(InputError, match="independent must be different indices in v, from 0 to 2"):
        virtual_work(robot, q, [1.0], [0.0], pins, independent=[3])
    with pytest.raises(InputError, match=r"u must have shape \(..., 1\), got \(2,\)"):
        virtual_work(robot, q, [1.0, 2.0], [0.0], pins, independent=[0])
    with pytest.raises(InputError, match="u_rate must be finite numbers"):
        virtual_work(robot, q, [1.0], [np.nan], pins, independent=[0])
    with pytest.raises(InputError, match="not finite"):
        virtual_work(robot, [np.nan, 0.0, 0.0], [1.0], [0.0], pins, independent=[0])
    with pytest.raises(InputError, match=r"the constraint gave the shapes \(1, 2\) and \(1,\)"):
        virtual_work(robot, q, [1.0], [0.0], lambda q, v: (np.ones((1, 2)), np.ones(1)), independent=[0])
    with pytest.raises(UnknownNameError, match="unknown frame 'pistol'; did you mean 'piston'"):
        virtual_work(robot, q, [1.0], [0.0], pin("end", "pistol"), independent=[0])
    with pytest.raises(InputError, match="fixed must be indices in v, from 0 to 2"):
        kd.contact.project(robot, q, pins, fixed=[3])
