"""The zero moment point from motion and from forces: the same point, where the laws say it is."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return kd.load("humanoid")


@pytest.fixture(scope="module")
def moving(robot: Robot) -> tuple[Array, Array, Array, kd.contact.Forces]:
    """Let it move with both feet held, pushed by random torques: states, accelerations and the forces on the feet."""
    rng = np.random.default_rng(0)
    q = np.tile(robot.configuration("standing"), (60, 1))
    q[:, 7:] += 0.1 * rng.normal(size=(60, robot.nq - 7))
    v = 0.3 * rng.normal(size=(60, robot.nv))
    tau = kd.dynamics.gravity(robot, q) + 3.0 * rng.normal(size=(60, robot.nv))
    tau[:, :6] = 0.0  # nothing but the ground acts on the base
    feet = [foot.contact() for foot in kd.balance.feet(robot)]
    a, forces = kd.contact.dynamics(robot, q, v, tau, feet)
    total = sum(f.sum(axis=-2) for f in forces.values())
    pressing = total[:, 2] > 100.0
    assert pressing.sum() > 20
    kept = kd.contact.Forces(feet, forces.vector[pressing], forces.rank[pressing])
    return q[pressing], v[pressing], a[pressing], kept


def test_at_rest_the_zmp_is_below_the_com(robot: Robot) -> None:
    q = robot.random(20, seed=1)
    point = kd.balance.zmp(robot, q, np.zeros(robot.nv), np.zeros(robot.nv), height=-0.2)
    np.testing.assert_allclose(point[:, :2], kd.kinematics.com(robot, q)[:, :2], atol=1e-12)
    np.testing.assert_array_equal(point[:, 2], -0.2)


def test_motion_and_forces_give_the_same_zmp(
    robot: Robot, moving: tuple[Array, Array, Array, kd.contact.Forces]
) -> None:
    q, v, a, forces = moving
    feet = kd.balance.feet(robot)
    points = kd.balance.sole_points(robot, q, feet)
    pushes = np.concatenate([forces["left"], forces["right"]], axis=-2)
    from_forces = kd.balance.zmp_from_forces(points, pushes, height=0.05)
    np.testing.assert_allclose(kd.balance.zmp(robot, q, v, a, height=0.05), from_forces, atol=1e-9)
    # and angular momentum has a part in it
    com = kd.kinematics.com(robot, q)
    g = 9.81 + kd.kinematics.com_acceleration(robot, q, v, a)[:, 2:]
    pendulum = com[:, :2] - (com[:, 2:] - 0.05) / g * kd.kinematics.com_acceleration(robot, q, v, a)[:, :2]
    assert np.abs(pendulum - from_forces[:, :2]).max() > 1e-3


def test_foot_wrenches_and_corner_forces_give_the_same_zmp(
    robot: Robot, moving: tuple[Array, Array, Array, kd.contact.Forces]
) -> None:
    q, v, a, forces = moving
    wrenches = {}
    for foot in kd.balance.feet(robot):
        arms = kd.balance.sole_points(robot, q, [foot]) - kd.kinematics.pose(robot, q, foot.frame)[:, None, :3, 3]
        f = forces[foot.side]
        wrenches[foot.frame] = np.concatenate([f.sum(axis=-2), np.cross(arms, f).sum(axis=-2)], axis=-1)
    point = kd.balance.zmp_from_wrenches(robot, q, wrenches)
    np.testing.assert_allclose(point, kd.balance.zmp(robot, q, v, a), atol=1e-9)


def test_the_zmp_is_the_force_weighted_mean_of_the_centres_of_pressure() -> None:
    rng = np.random.default_rng(2)
    poses, wrenches = [], []
    for _ in range(2):
        T = np.tile(np.eye(4), (50, 1, 1))
        T[:, :3, :3] = kd.spatial.rot_z(rng.uniform(-3, 3, 50))
        T[:, :2, 3] = rng.uniform(-1, 1, (50, 2))
        poses.append(T)
        wrenches.append(
            np.column_stack([rng.normal(size=(50, 2)) * 30, rng.uniform(100, 400, 50), rng.normal(size=(50, 3))])
        )
    cops = [kd.balance.cop(T, w) for T, w in zip(poses, wrenches, strict=True)]
    loads = np.stack([w[:, 2] for w in wrenches])
    mean = (loads[..., None] * np.stack(cops)).sum(axis=0) / loads.sum(axis=0)[:, None]
    points = np.stack([T[:, :3, 3] for T in poses], axis=1)
    lone = np.stack([np.concatenate([w[:, :3], w[:, 3:]], axis=-1) for w in wrenches], axis=1)
    moment = (np.cross(points, lone[..., :3]) + lone[..., 3:]).sum(axis=1)
    force = lone[..., :3].sum(axis=1)
    np.testing.assert_allclose(mean[:, 0], -moment[:, 1] / force[:, 2], atol=1e-12)
    np.testing.assert_allclose(mean[:, 1], moment[:, 0] / force[:, 2], atol=1e-12)


def test_the_centre_of_pressure_of_a_tilted_sole_lies_in_its_plane_without_moment_along_it() -> None:
    T = kd.spatial.pose([0.3, -0.2, 0.1], kd.spatial.rot_x(0.2) @ kd.spatial.rot_y(0.3))
    wrench = np.array([10.0, -5.0, 300.0, 4.0, -7.0, 1.0])
    point = kd.balance.cop(T, wrench)
    local = T[:3, :3].T @ (point - T[:3, 3])
    assert local[2] == pytest.approx(0.0, abs=1e-12)
    moment = wrench[3:] - np.cross(point - T[:3, 3], wrench[:3])
    np.testing.assert_allclose((T[:3, :3].T @ moment)[:2], 0.0, atol=1e-9)


def test_the_zmp_is_undefined_in_flight(robot: Robot) -> None:
    q, still = robot.neutral(), np.zeros(robot.nv)
    a = kd.dynamics.forward(robot, q, still, still)
    with pytest.raises(kd.SingularError, match="1 of 1 states do not press"):
        kd.balance.zmp(robot, q, still, a)
    both = kd.balance.zmp(robot, q, still, np.stack([a, still]), fill_value=[1.0, 2.0, 0.0])
    np.testing.assert_array_equal(both[0], [1.0, 2.0, 0.0])
    np.testing.assert_allclose(both[1, :2], kd.kinematics.com(robot, q)[:2], atol=1e-12)
    with pytest.raises(kd.SingularError, match="press on the ground"):
        kd.balance.zmp_from_forces([[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]])
    with pytest.raises(kd.SingularError):
        kd.balance.cop(np.eye(4), np.zeros(6))


def test_invalid_arguments_are_rejected(robot: Robot) -> None:
    with pytest.raises(kd.InputError, match="wrenches is empty"):
        kd.balance.zmp_from_wrenches(robot, robot.neutral(), {})
    with pytest.raises(kd.InputError, match=r"points must have shape \(..., 3\)"):
        kd.balance.zmp_from_forces([[0.0, 0.0]], [[0.0, 0.0, 1.0]])
    with pytest.raises(kd.UnknownNameError):
        kd.balance.zmp_from_wrenches(robot, robot.neutral(), {"left_sol": np.ones(6)})
