"""Loops stay closed over 100,000 steps of simulation, and energy does what it should."""

from __future__ import annotations

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Inertia, Joint, Link
from kinodyn.dynamics.contact import Constraint
from kinodyn.model.robot import Robot

STEPS = 100_000


def bar(name: str, length: float, mass: float) -> Link:
    inertia = mass * length**2 / 12 * np.diag([0.01, 1.0, 1.0])
    return Link(name, Inertia(mass, np.array([length / 2, 0.0, 0.0]), inertia))


def hinge(name: str, parent: str, child: str, x: float, z: float = 0.0, damping: float = 0.0) -> Joint:
    T = kd.spatial.pose([x, 0.0, z])
    return Joint(name, "continuous", parent, child, T, np.array([0.0, 1.0, 0.0]), damping=damping)


def linkage(base: str, damping: float) -> tuple[Robot, kd.contact.Loop]:
    """A four-bar in the x-z plane, on the ground or below a body that floats."""
    trunk = Link("trunk", Inertia(4.0, np.zeros(3), np.diag([0.1, 0.2, 0.2])))
    links = (trunk, bar("crank", 0.1, 0.5), bar("coupler", 0.35, 1.0), bar("rocker", 0.3, 0.8))
    joints = (
        hinge("j1", "trunk", "crank", -0.15, -0.1, damping),
        hinge("j2", "crank", "coupler", 0.1),
        hinge("j3", "trunk", "rocker", 0.15, -0.1),
    )
    robot = Robot(Description("linkage", links, joints, base="fixed"))
    if base == "floating":
        whole = Link("world"), *links
        free = Joint("base", "floating", "world", "trunk")
        robot = Robot(Description("linkage", whole, (free, *joints), gravity=(0.0, 0.0, 0.0)))
    ends = {"T_frame": kd.spatial.pose([0.35, 0.0, 0.0]), "T_other": kd.spatial.pose([0.3, 0.0, 0.0])}
    return robot, kd.contact.Loop("coupler", "rocker", directions="x z", **ends)


def simulate(robot: Robot, q: Array, v: Array, ties: list[Constraint], dt: float) -> tuple[Array, Array]:
    """Step by the midpoint rule, then back onto the constraints."""
    path, rates = np.empty((STEPS + 1, robot.nq)), np.empty((STEPS + 1, robot.nv))
    path[0] = q = kd.contact.project(robot, q, ties).q
    rates[0] = v = kd.contact.project_velocity(robot, q, v, ties)
    free = np.zeros(robot.nv)
    for k in range(1, STEPS + 1):
        v_half = v + dt / 2 * kd.contact.dynamics(robot, q, v, free, ties)[0]
        a_half = kd.contact.dynamics(robot, robot.integrate(q, dt / 2 * v), v_half, free, ties)[0]
        path[k] = q = kd.contact.project(robot, robot.integrate(q, dt * v_half), ties, tolerance=1e-11).q
        rates[k] = v = kd.contact.project_velocity(robot, q, v + dt * a_half, ties)
    return path, rates


def assert_closed(robot: Robot, path: Array, rates: Array, ties: list[Constraint]) -> None:
    assert np.abs(kd.contact.constraint_error(robot, path, ties)).max() < 1e-9
    J = kd.contact.jacobian(robot, path[::50], ties)
    assert np.abs(J @ rates[::50, :, None]).max() < 1e-9


def energy(robot: Robot, path: Array, rates: Array) -> Array:
    return kd.dynamics.kinetic_energy(robot, path, rates) + kd.dynamics.potential_energy(robot, path)


def test_a_four_bar_stays_closed_over_many_turns() -> None:
    robot, loop = linkage("fixed", damping=0.0)
    q = kd.contact.project(robot, np.array([1.0, -1.2, -1.8]), [loop]).q
    turning = kd.contact.project_velocity(robot, q, np.array([1.0, 0.0, 0.0]), [loop])
    path, rates = simulate(robot, q, 30.0 * turning / turning[0], [loop], 1e-4)
    assert_closed(robot, path, rates, [loop])
    assert np.ptp(path[:, 0]) > 20 * np.pi  # ten turns of the crank and more
    total = energy(robot, path, rates)
    assert np.abs(total - total[0]).max() < 2e-5 * np.ptp(kd.dynamics.kinetic_energy(robot, path, rates))


def test_a_floating_loop_conserves_momentum_and_loses_energy_by_damping_only() -> None:
    robot, loop = linkage("floating", damping=0.02)
    q = np.concatenate([robot.neutral()[:7], [1.0, -1.2, -1.8]])
    v, dt = np.array([0.1, -0.2, 0.05, 0.3, 0.2, -0.4, 6.0, 0.0, 0.0]), 1e-4
    path, rates = simulate(robot, q, v, [loop], dt)
    assert_closed(robot, path, rates, [loop])
    total = energy(robot, path, rates)
    power = robot.damping[6] * rates[:, 6] ** 2
    taken = dt * np.cumsum(0.5 * (power[1:] + power[:-1]))
    assert taken[-1] > 0.05 * total[0]
    assert np.abs(total[0] - total[1:] - taken).max() < 1e-6 * total[0]
    momentum = kd.centroidal.momentum(robot, path, rates)
    assert np.ptp(momentum, axis=0).max() < 1e-6 * np.linalg.norm(momentum[0])


def test_projection_does_not_move_satisfied_constraints() -> None:
    robot, loop = linkage("fixed", damping=0.0)
    q = kd.contact.project(robot, np.array([1.0, -1.2, -1.8]), [loop])
    assert q.success and q.iterations > 0
    again = kd.contact.project(robot, q.q, [loop])
    np.testing.assert_array_equal(again.q, q.q)
    assert again.iterations == 0


def test_projection_takes_the_shortest_step_in_the_metric_of_the_mass_matrix() -> None:
    """Onto two constraints from nearby: the step is M-orthogonal to every motion that keeps them."""
    robot = kd.load("humanoid")
    q = robot.configuration("standing")
    ties = [
        kd.contact.Contact("left_sole").satisfied_at(robot, q),
        kd.contact.Loop("left_palm", "right_palm").satisfied_at(robot, q),
    ]
    off = robot.integrate(q, 1e-5 * np.random.default_rng(0).normal(size=(20, robot.nv)))
    found = kd.contact.project(robot, off, ties)
    assert found.success.all() and (found.iterations <= 3).all()
    step = robot.difference(off, found.q)
    N = kd.contact.projected(robot, found.q, np.zeros(robot.nv), ties).N
    across = np.swapaxes(N, -1, -2) @ kd.dynamics.mass_matrix(robot, found.q) @ step[..., None]
    along = kd.dynamics.mass_matrix(robot, found.q) @ step[..., None]
    assert np.abs(across).max() < 1e-4 * np.abs(along).max()


def test_a_half_turn_is_not_mistaken_for_no_rotation() -> None:
    """At 180 degrees the antisymmetric part of a rotation vanishes; its error is 2 all the same."""
    robot = kd.load("humanoid")
    q = np.stack([robot.neutral()] * 3)
    flips = np.stack([kd.spatial.rot_x(np.pi), kd.spatial.rot_y(np.pi), kd.spatial.rot_z(np.pi - 1e-6)])
    target = kd.kinematics.pose(robot, q, "pelvis") @ kd.spatial.pose(rotation=flips)
    error = kd.contact.constraint_error(robot, q, [kd.contact.Contact("pelvis", target=target)])
    np.testing.assert_allclose(np.abs(error[:, 3:]), 2 * np.eye(3), atol=1e-5)


def test_projection_is_the_same_alone_and_in_a_batch() -> None:
    robot, loop = linkage("floating", damping=0.0)
    rng = np.random.default_rng(2)
    q = robot.random(11, seed=3)
    q[:, 7:] = [1.0, -1.2, -1.8] + 0.3 * rng.normal(size=(11, 3))
    found = kd.contact.project(robot, q, [loop])
    assert found.success.all()
    np.testing.assert_array_equal(found.q, [kd.contact.project(robot, each, [loop]).q for each in q])
