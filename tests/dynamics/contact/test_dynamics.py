"""Dynamics with contacts and loops: against dense equations of motion, identities, and what misuse must say."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.model.robot import Robot

FEET = {"humanoid": ("left_sole", "right_sole"), "talos": ("left_sole_link", "right_sole_link")}
CORNERS = [[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0]]


@pytest.fixture(params=["humanoid", "talos"])
def stance(request: pytest.FixtureRequest) -> tuple[Robot, list[kd.contact.Contact]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)  # of mimics on fixed joints
        robot = kd.load(request.param, base="floating")
    return robot, [kd.contact.Contact(foot) for foot in FEET[request.param]]


def states(robot: Robot, n: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(1)
    return robot.random(n, seed=2), rng.normal(size=(n, robot.nv)), 20 * rng.normal(size=(n, robot.nv))


def drift(robot: Robot, q: Array, v: Array, contacts: list[kd.contact.Contact]) -> Array:
    return np.concatenate([kd.kinematics.jacobian_dot(robot, q, v, c.frame) @ v for c in contacts])


def test_accelerations_and_forces_solve_the_equations_of_motion(stance: tuple[Robot, list[kd.contact.Contact]]) -> None:
    robot, contacts = stance
    q, v, tau = states(robot, 100)
    push = {robot.frame_names[5]: np.random.default_rng(3).normal(size=(100, 6))}
    a, forces = kd.contact.dynamics(robot, q, v, tau, contacts, push)
    J = kd.contact.jacobian(robot, q, contacts)
    assert (forces.rank == 12).all() and forces.rows == 12
    effort = kd.dynamics.inverse(robot, q, v, a, push) - (np.swapaxes(J, -1, -2) @ forces.vector[..., None])[..., 0]
    np.testing.assert_allclose(effort, tau, rtol=0, atol=1e-8 * np.abs(forces.vector).max())
    for k in range(100):
        still = J[k] @ a[k] + drift(robot, q[k], v[k], contacts)
        np.testing.assert_allclose(still, 0.0, atol=1e-9 * np.abs(a[k]).max())


def test_the_jacobian_of_contacts_is_that_of_their_frames(stance: tuple[Robot, list[kd.contact.Contact]]) -> None:
    robot, contacts = stance
    q = robot.random(10, seed=4)
    expected = np.concatenate([kd.kinematics.jacobian(robot, q, c.frame) for c in contacts], axis=-2)
    np.testing.assert_allclose(kd.contact.jacobian(robot, q, contacts), expected, rtol=0, atol=1e-13)


def test_corners_constrain_a_foot_like_a_surface_with_forces_of_least_norm(
    stance: tuple[Robot, list[kd.contact.Contact]],
) -> None:
    robot, (left, right) = stance
    q, v, tau = states(robot, 20)
    whole, wrench = kd.contact.dynamics(robot, q, v, tau, [left, right])
    # corners stop the same motion; their accelerations differ by what the foot's rotation does, so it must not turn
    v = kd.contact.impact(robot, q, v, [left, right])[0]
    whole, wrench = kd.contact.dynamics(robot, q, v, tau, [left, right])
    patch = kd.contact.Contact(left.frame, corners=CORNERS)
    spread, forces = kd.contact.dynamics(robot, q, v, tau, [patch, right])
    assert (forces.rank == 12).all() and forces.rows == 18
    np.testing.assert_allclose(spread, whole, rtol=0, atol=1e-7 * np.abs(whole).max())
    at = forces[patch.name]
    scale = np.abs(wrench[left.name]).max()
    np.testing.assert_allclose(at.sum(axis=-2), wrench[left.name][..., :3], rtol=0, atol=1e-7 * scale)
    J = kd.contact.jacobian(robot, q, [patch])
    least = np.linalg.pinv(np.swapaxes(J, -1, -2)) @ (np.swapaxes(J, -1, -2) @ at.reshape(20, 12, 1))
    np.testing.assert_allclose(at.reshape(20, 12), least[..., 0], rtol=0, atol=1e-6 * scale)


def test_an_impact_stops_what_touches_and_creates_no_energy(stance: tuple[Robot, list[kd.contact.Contact]]) -> None:
    robot, contacts = stance
    q, v, _ = states(robot, 50)
    J = kd.contact.jacobian(robot, q, contacts)
    before = kd.dynamics.kinetic_energy(robot, q, v)
    for share in (0.0, 0.4, 1.0):
        after, impulse = kd.contact.impact(robot, q, v, contacts, restitution=share)
        np.testing.assert_allclose(J @ after[..., None], -share * (J @ v[..., None]), atol=1e-9)
        momentum = kd.dynamics.mass_matrix(robot, q) @ (after - v)[..., None]
        np.testing.assert_allclose(
            momentum, np.swapaxes(J, -1, -2) @ impulse.vector[..., None], atol=1e-8 * np.abs(momentum).max()
        )
        assert (kd.dynamics.kinetic_energy(robot, q, after) <= before * (1 + 1e-12)).all()
    np.testing.assert_allclose(kd.dynamics.kinetic_energy(robot, q, after), before, rtol=1e-9)


def test_projected_equations_give_the_same_motion_without_forces(
    stance: tuple[Robot, list[kd.contact.Contact]],
) -> None:
    robot, contacts = stance
    q, v, tau = states(robot, 10)
    a, _ = kd.contact.dynamics(robot, q, v, tau, contacts)
    M, h, S, N = kd.contact.projected(robot, q, v, contacts)
    y = np.linalg.solve(M, (S @ tau[..., None])[..., 0][..., None] - h[..., None])[..., 0]
    J = kd.contact.jacobian(robot, q, contacts)
    within = (N @ y[..., None])[..., 0]
    np.testing.assert_allclose(J @ within[..., None], 0.0, atol=1e-9 * np.abs(a).max())
    own = (np.swapaxes(N, -1, -2) @ a[..., None])[..., 0]
    np.testing.assert_allclose(y, own, rtol=0, atol=1e-7 * np.abs(a).max())


def test_two_hands_on_one_bar_move_together() -> None:
    robot = kd.load("humanoid")
    q, v, tau = states(robot, 20)
    loop = kd.contact.Loop("left_palm", "right_palm", directions="x y z")
    a, forces = kd.contact.dynamics(robot, q, v, tau, [loop])
    assert forces[loop.name].shape == (20, 3)
    step = 1e-4  # the palm seen from the other accelerates by nothing
    places = []
    for t in (-step, 0.0, step):
        moved = robot.integrate(q, t * v + 0.5 * t * t * a)
        T = np.linalg.inv(kd.kinematics.pose(robot, moved, "right_palm")) @ kd.kinematics.pose(
            robot, moved, "left_palm"
        )
        places.append(T[..., :3, 3])
    bend = (places[0] - 2 * places[1] + places[2]) / step**2
    np.testing.assert_allclose(bend, 0.0, atol=1e-4 * np.abs(a).max())


def test_drift_of_a_foot_is_corrected() -> None:
    robot = kd.load("humanoid")
    q, still = robot.configuration("standing"), np.zeros(robot.nv)
    T = kd.kinematics.pose(robot, q, "left_sole").copy()
    T[:3, 3] += [0.01, -0.02, 0.03]
    foot = kd.contact.Contact("left_sole", target=T)
    a, _ = kd.contact.dynamics(robot, q, still, still, [foot], stabilise=10.0)
    pulled = kd.kinematics.jacobian(robot, q, "left_sole") @ a
    np.testing.assert_allclose(pulled, [1.0, -2.0, 3.0, 0.0, 0.0, 0.0], atol=1e-9)


def test_a_batch_agrees_with_single_states(stance: tuple[Robot, list[kd.contact.Contact]]) -> None:
    robot, contacts = stance
    q, v, tau = states(robot, 9)
    a, forces = kd.contact.dynamics(robot, q, v, tau, contacts)
    for k in range(9):
        one, force = kd.contact.dynamics(robot, q[k], v[k], tau[k], contacts)
        np.testing.assert_allclose(one, a[k], rtol=0, atol=1e-10 * np.abs(a[k]).max())
        np.testing.assert_allclose(force.vector, forces.vector[k], rtol=0, atol=1e-10 * np.abs(force.vector).max())


def test_errors_explain_invalid_contacts() -> None:
    robot = kd.load("humanoid")
    q, still = robot.neutral(), np.zeros(robot.nv)
    for friction in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="friction"):
            kd.contact.Contact("left_sole", friction=friction)
    with pytest.raises(UnknownNameError, match="left_sol"):
        kd.contact.dynamics(robot, q, still, still, [kd.contact.Contact("left_soul")])
    with pytest.raises(InputError, match="empty"):
        kd.contact.dynamics(robot, q, still, still, [])
    with pytest.raises(InputError, match="two contacts"):
        kd.contact.dynamics(robot, q, still, still, [kd.contact.Contact("left_sole"), kd.contact.Contact("left_sole")])
    with pytest.raises(InputError, match="single one"):
        kd.contact.dynamics(robot, q, still, still, kd.contact.Contact("left_sole"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="directions"):
        kd.contact.Loop("left_palm", "right_palm", directions="x w")
    with pytest.raises(InputError, match="restitution"):
        kd.contact.impact(robot, q, still, [kd.contact.Contact("left_sole")], restitution=1.5)
    with pytest.raises(InputError, match="tau"):
        kd.contact.dynamics(robot, q, still, still * np.nan, [kd.contact.Contact("left_sole")])


def test_every_joint_type_moves_under_constraints(every_kind: Robot, instruction_set: str) -> None:
    """Ball, planar and free joints, and joints that follow others; a batch, and one state alone."""
    robot = every_kind
    q, v, tau = states(robot, 13)
    push = {"l4": np.random.default_rng(5).normal(size=(13, 6))}
    T = kd.spatial.pose([0.1, -0.2, 0.3], kd.spatial.rot_y(0.7))
    ties = [
        kd.contact.Contact("l9"),
        kd.contact.Loop("l7", "l2", T_frame=T, directions="x z ry").satisfied_at(robot, q),
    ]
    a, forces = kd.contact.dynamics(robot, q, v, tau, ties, push)
    after, impulses = kd.contact.impact(robot, q, v, ties, restitution=0.5)
    J = kd.contact.jacobian(robot, q, ties)
    Jt = np.swapaxes(J, -1, -2)
    assert (forces.rank == 9).all() and forces.consistent.all()
    effort = kd.dynamics.inverse(robot, q, v, a, push) - (Jt @ forces.vector[..., None])[..., 0]
    np.testing.assert_allclose(effort, tau, rtol=0, atol=1e-9 * np.abs(forces.vector).max())
    still = J[:, :6] @ a[..., None] + kd.kinematics.jacobian_dot(robot, q, v, "l9") @ v[..., None]
    np.testing.assert_allclose(still, 0.0, atol=1e-9 * np.abs(a).max())
    np.testing.assert_allclose(J @ after[..., None], -0.5 * J @ v[..., None], atol=1e-9 * np.abs(v).max())
    momentum = kd.dynamics.mass_matrix(robot, q) @ (after - v)[..., None]
    np.testing.assert_allclose(momentum, Jt @ impulses.vector[..., None], atol=1e-9 * np.abs(momentum).max())
    one = [ties[0], ties[1].satisfied_at(robot, q[3])]
    alone, _ = kd.contact.dynamics(robot, q[3], v[3], tau[3], one, {"l4": push["l4"][3]})
    np.testing.assert_allclose(alone, a[3], rtol=0, atol=1e-9 * np.abs(a[3]).max())


def test_nearly_singular_configurations_keep_full_accuracy() -> None:
    """Two flat feet lock a quadruped's legs; where a leg is almost stretched, J M^-1 J^T has a condition of 1e10.

    The other way to the same accelerations goes through an orthonormal basis of what J leaves, whose condition is only
    the root of that.
    """
    robot = kd.load("go2", base="floating")
    q, v, tau = states(robot, 100)
    contacts = [kd.contact.Contact("FL_foot"), kd.contact.Contact("FR_foot")]
    a, forces = kd.contact.dynamics(robot, q, v, tau, contacts)
    M, h, J = kd.dynamics.mass_matrix(robot, q), kd.dynamics.bias(robot, q, v), kd.contact.jacobian(robot, q, contacts)
    A = J @ np.linalg.solve(M, np.swapaxes(J, -1, -2))
    assert np.linalg.cond(A).max() > 1e9 and (forces.rank == 12).all()
    for k in range(100):
        U, values, Vt = np.linalg.svd(J[k])
        c = Vt[:12].T @ (U.T @ -drift(robot, q[k], v[k], contacts) / values)
        N = Vt[12:].T
        expected = c + N @ np.linalg.solve(N.T @ M[k] @ N, N.T @ (tau[k] - h[k] - M[k] @ c))
        np.testing.assert_allclose(a[k], expected, rtol=0, atol=1e-9 * np.abs(expected).max())
