"""Bodies without inertia that loops hold: the KKT matrix is regular although the mass matrix is not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Frame, Inertia, Joint, Link
from kinodyn.dynamics.contact.constraints import plan
from kinodyn.errors import SingularError
from kinodyn.model.robot import Robot

LOOP = kd.contact.Loop("coupler_end", "rocker_end", directions="x y z")


def at(x: float) -> Array:
    T = np.eye(4)
    T[0, 3] = x
    return T


def rod(name: str, length: float, mass: float) -> Link:
    across = mass * length**2 / 12
    return Link(name, Inertia(mass, np.array([length / 2, 0, 0]), np.diag([across / 100, across, across])))


def four_bar(crank: float, coupler: float, rocker: float) -> Robot:
    """Build a linkage of rods with these masses; a rod of mass 0 has no inertia at all."""
    masses = {"crank": (0.4, crank), "coupler": (1.0, coupler), "rocker": (0.8, rocker)}
    rods = [rod(name, *size) if size[1] else Link(name) for name, size in masses.items()]
    joints = (
        Joint("a", "revolute", "ground", "crank"),
        Joint("b", "revolute", "crank", "coupler", at(0.4)),
        Joint("c", "revolute", "ground", "rocker", at(1.0)),
    )
    frames = (Frame("coupler_end", "coupler", at(1.0)), Frame("rocker_end", "rocker", at(0.8)))
    return Robot(Description("four-bar", (Link("ground"), *rods), joints, frames, gravity=(0.0, -9.81, 0.0)))


def states(robot: Robot) -> tuple[Array, Array, Array]:
    crank = np.linspace(-1.5, 1.5, 11)
    found = kd.contact.project(robot, np.column_stack([crank, 0.8 - crank, np.full(11, 2.0)]), [LOOP])
    assert found.success.all()
    v = kd.contact.project_velocity(robot, found.q, np.tile([1.0, 0.2, 0.3], (11, 1)), [LOOP])
    return found.q, v, np.random.default_rng(0).normal(size=(11, 3))


@pytest.mark.parametrize("masses", list(itertools.product([0.0, 1.0], repeat=3))[1:])
def test_motion_and_forces_are_those_of_the_kkt_equations(masses: tuple[float, float, float]) -> None:
    robot = four_bar(*masses)
    q, v, tau = states(robot)
    a, forces = kd.contact.dynamics(robot, q, v, tau, [LOOP])
    M, h = kd.dynamics.mass_matrix(robot, q), kd.dynamics.bias(robot, q, v)
    planned = plan(robot, [LOOP])
    J, acceleration = _core.constraint_jacobian(robot, q, v, planned.records, planned.poses)
    for k in range(len(q)):
        kkt = np.block([[M[k], -J[k].T], [J[k], np.zeros((3, 3))]])
        expected = np.linalg.lstsq(kkt, np.concatenate([tau[k] - h[k], acceleration[k]]), rcond=1e-12)[0]
        np.testing.assert_allclose(a[k], expected[:3], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(forces.vector[k], expected[3:], rtol=1e-9, atol=1e-9)
    assert forces.consistent.all()
    alone, _ = kd.contact.dynamics(robot, q[4], v[4], tau[4], [LOOP])
    np.testing.assert_allclose(alone, a[4], rtol=1e-10)


def test_a_massless_rod_is_the_limit_of_light_ones() -> None:
    none, light = four_bar(1.0, 0.0, 1.0), four_bar(1.0, 1e-7, 1.0)
    q, v, tau = states(none)
    a, forces = kd.contact.dynamics(none, q, v, tau, [LOOP])
    near, others = kd.contact.dynamics(light, q, v, tau, [LOOP])
    np.testing.assert_allclose(a, near, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(forces.vector, others.vector, rtol=1e-5, atol=1e-5)
    after, _ = kd.contact.impact(none, q, np.ones(3), [LOOP])
    np.testing.assert_allclose(after, kd.contact.impact(light, q, np.ones(3), [LOOP])[0], rtol=1e-5, atol=1e-6)


def test_a_linkage_without_any_inertia_is_named() -> None:
    robot = four_bar(0.0, 0.0, 0.0)
    q = np.array([0.3, 0.5, 2.0])
    for call in (
        lambda: kd.contact.dynamics(robot, q, np.zeros(3), np.zeros(3), [LOOP]),
        lambda: kd.contact.impact(robot, q, np.ones(3), [LOOP]),
        lambda: kd.contact.project(robot, q, [LOOP]),
    ):
        with pytest.raises(SingularError, match="against no inertia"):
            call()
