"""Bodies without inertia that loops hold: the KKT matrix is regular although the mass matrix is not."""

from __future__ import annotations

import itertools
from typing import Literal

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
    alone = [kd.contact.dynamics(robot, *state, [LOOP])[0] for state in zip(q, v, tau, strict=True)]
    np.testing.assert_allclose(alone, a, rtol=1e-10)


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


def hexapod(base: Literal["fixed", "floating"]) -> tuple[Robot, list[kd.contact.Loop]]:
    """Build a platform on six legs without inertia, each a universal and a prismatic joint; five close loops."""
    inertia = Inertia(5.0, np.zeros(3), 0.5 * np.eye(3))
    links = [Link("ground", inertia), Link("platform", inertia)]
    joints: list[Joint] = []
    frames: list[Frame] = []
    loops: list[kd.contact.Loop] = []
    for k in range(6):
        third, side = 2 * np.pi * (k // 2) / 3, 1 if k % 2 else -1
        foot, corner = third + 0.2 * side, third + 0.8 * side
        T_foot, T_corner = np.eye(4), np.eye(4)
        T_foot[:2, 3] = np.cos(foot), np.sin(foot)
        T_corner[:2, 3] = 0.6 * np.cos(corner), 0.6 * np.sin(corner)
        links += [Link(f"{part}{k}") for part in ("yoke", "cylinder", "rod")]
        joints += [
            Joint(f"roll{k}", "revolute", "ground", f"yoke{k}", T_foot, axis=(1, 0, 0)),
            Joint(f"pitch{k}", "revolute", f"yoke{k}", f"cylinder{k}", axis=(0, 1, 0)),
            Joint(f"stroke{k}", "prismatic", f"cylinder{k}", f"rod{k}", axis=(0, 0, 1)),
        ]
        if k == 0:
            joints.append(Joint("ball", "ball", "rod0", "platform", np.linalg.inv(T_corner)))
        else:
            frames += [Frame(f"rod_end{k}", f"rod{k}", np.eye(4)), Frame(f"corner{k}", "platform", T_corner)]
            loops.append(kd.contact.Loop(f"rod_end{k}", f"corner{k}", directions="x y z"))
    description = Description("hexapod", tuple(links), tuple(joints), tuple(frames), base=base)
    return Robot(description), loops


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_hexapod_with_massless_legs_moves_by_the_kkt_equations(base: Literal["fixed", "floating"]) -> None:
    robot, loops = hexapod(base)
    q = robot.neutral()
    for k in range(6):
        q[robot.joint(f"stroke{k}").q] = 1.2
    found = kd.contact.project(robot, q, loops)
    assert found.success
    rng = np.random.default_rng(0)
    v = kd.contact.project_velocity(robot, found.q, rng.normal(size=robot.nv), loops)
    tau = rng.normal(size=robot.nv)
    a, forces = kd.contact.dynamics(robot, found.q, v, tau, loops)
    M, h = kd.dynamics.mass_matrix(robot, found.q), kd.dynamics.bias(robot, found.q, v)
    planned = plan(robot, loops)
    J, acceleration = _core.constraint_jacobian(robot, found.q, v, planned.records, planned.poses)
    kkt = np.block([[M, -J.T], [J, np.zeros((15, 15))]])
    assert np.linalg.matrix_rank(M) < robot.nv and np.linalg.matrix_rank(kkt) == len(kkt)
    expected = np.linalg.solve(kkt, np.concatenate([tau - h, acceleration]))
    np.testing.assert_allclose(a, expected[: robot.nv], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(forces.vector, expected[robot.nv :], rtol=1e-7, atol=1e-7)
