"""Poses, twists, wrenches and spatial inertias: laws between frames, and Pinocchio as a reference."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pinocchio
import pytest
from scipy.spatial.transform import Rotation

from kinodyn import spatial
from kinodyn.arrays import Array, Reference
from kinodyn.errors import InputError


def draw(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def poses(*batch: int, seed: int = 0) -> Array:
    return spatial.exp(2 * draw(*batch, 6, seed=seed))


def bodies(n: int) -> tuple[Array, Array, Array]:
    """Draw masses, centres of mass and inertias about them that a body can have."""
    rng = np.random.default_rng(7)
    corners = rng.normal(size=(n, 10, 3))
    corners -= corners.mean(axis=1, keepdims=True)
    second = np.einsum("nki,nkj->nij", corners, corners)
    inertia = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    return rng.uniform(0.1, 5, n), rng.normal(size=(n, 3)), inertia


def test_pose_puts_position_and_rotation_together_in_any_form() -> None:
    p, q = draw(4, 1, 3), draw(5, 4)
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    rotation = Rotation.from_quat(q)
    T = spatial.pose(p, rotation)
    assert T.shape == (4, 5, 4, 4)
    np.testing.assert_array_equal(T[2, 3, :3, 3], p[2, 0])
    np.testing.assert_array_equal(T[2, 3, :3, :3], rotation[3].as_matrix())
    np.testing.assert_array_equal(T[2, 3, 3], [0, 0, 0, 1])
    np.testing.assert_array_equal(spatial.pose(p, quaternion=q), T)
    np.testing.assert_array_equal(spatial.pose(p, rotation.as_matrix()), T)
    np.testing.assert_array_equal(spatial.pose(), np.eye(4))
    with pytest.raises(InputError, match="both"):
        spatial.pose(p, rotation, quaternion=q)


def test_inverse_is_the_matrix_inverse() -> None:
    T = poses(3, 4)
    np.testing.assert_allclose(spatial.inverse(T), np.linalg.inv(T), rtol=0, atol=1e-13)


def test_adjoint_twists_wrenches_and_inertias_agree_with_pinocchio() -> None:
    for T, x, body in zip(poses(8), draw(8, 6, seed=1), zip(*bodies(8), strict=True), strict=True):
        M = pinocchio.SE3(T)
        np.testing.assert_allclose(spatial.adjoint(T), M.action, rtol=0, atol=1e-14)
        np.testing.assert_allclose(spatial.move_twist(T, x), (M * pinocchio.Motion(x)).vector, rtol=0, atol=1e-13)
        np.testing.assert_allclose(spatial.move_wrench(T, x), (M * pinocchio.Force(x)).vector, rtol=0, atol=1e-13)
        expected = pinocchio.Inertia(*body)
        inertia = spatial.inertia_matrix(*body)
        np.testing.assert_allclose(inertia, expected.matrix(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(spatial.move_inertia(T, inertia), (M * expected).matrix(), rtol=1e-12, atol=1e-11)


def test_adjoints_multiply_as_their_poses_do() -> None:
    A, B = poses(5, seed=1), poses(5, seed=2)
    np.testing.assert_allclose(spatial.adjoint(A @ B), spatial.adjoint(A) @ spatial.adjoint(B), rtol=0, atol=1e-12)


def test_power_and_kinetic_energy_are_the_same_in_every_frame() -> None:
    T, twist, wrench = poses(6), draw(6, 6, seed=1), draw(6, 6, seed=2)
    inertia = spatial.inertia_matrix(*bodies(6))
    moved = spatial.move_twist(T, twist)
    power = (twist * wrench).sum(axis=-1)
    np.testing.assert_allclose((moved * spatial.move_wrench(T, wrench)).sum(axis=-1), power, rtol=1e-12)
    energy = np.einsum("ni,nij,nj->n", twist, inertia, twist)
    np.testing.assert_allclose(np.einsum("ni,nij,nj->n", moved, spatial.move_inertia(T, inertia), moved), energy)


def test_spatial_inertia_gives_the_momentum_of_the_particles_it_is_made_of() -> None:
    masses, points, twist = np.abs(draw(20)) + 0.1, draw(20, 3, seed=1), draw(6, seed=2)
    total, com = masses.sum(), masses @ points / masses.sum()
    arms = points - com
    about_com = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    inertia = spatial.inertia_matrix(total, com, np.asarray(about_com))
    momenta = masses[:, None] * (twist[:3] + np.cross(twist[3:], points))
    expected = np.concatenate([momenta.sum(axis=0), np.cross(points, momenta).sum(axis=0)])
    np.testing.assert_allclose(inertia @ twist, expected, rtol=1e-12)
    np.testing.assert_array_equal(inertia, inertia.T)


def test_a_moved_inertia_is_that_of_the_moved_body() -> None:
    mass, com, about_com = bodies(6)
    T = poses(6)
    R, p = T[:, :3, :3], T[:, :3, 3]
    there = spatial.inertia_matrix(mass, (R @ com[..., None])[..., 0] + p, R @ about_com @ np.swapaxes(R, 1, 2))
    moved = spatial.move_inertia(T, spatial.inertia_matrix(mass, com, about_com))
    np.testing.assert_allclose(moved, there, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(moved, np.swapaxes(moved, -2, -1))


def test_inconsistent_inertias_are_rejected() -> None:
    with pytest.raises(InputError, match=r"mass must be nonnegative \[kg\]"):
        spatial.inertia_matrix([1, -1], [0, 0, 0], np.eye(3))
    np.testing.assert_array_equal(spatial.inertia_matrix(0, [1, 2, 3], np.zeros((3, 3))), np.zeros((6, 6)))
    with pytest.raises(InputError, match="not symmetric"):
        spatial.inertia_matrix(1, [0, 0, 0], np.triu(np.ones((3, 3))))


def test_pose_error_leads_from_one_pose_to_the_other_in_each_reference() -> None:
    start, end = poses(7, 1), poses(5, seed=3)
    local, world, aligned = (
        spatial.pose_error(start, end, reference) for reference in ("local", "world", "local_world_aligned")
    )
    np.testing.assert_allclose(start @ spatial.exp(local), np.broadcast_to(end, (7, 5, 4, 4)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(spatial.exp(world) @ start, np.broadcast_to(end, (7, 5, 4, 4)), rtol=0, atol=1e-12)
    turned = spatial.pose(rotation=start[..., :3, :3])
    np.testing.assert_allclose(aligned, spatial.move_twist(turned, local), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(spatial.pose_error(start, end), aligned)


@pytest.mark.parametrize("reference", get_args(Reference))
def test_pose_error_of_equal_poses_is_zero_and_of_a_shift_is_the_shift(reference: Reference) -> None:
    T = poses(4)
    np.testing.assert_allclose(spatial.pose_error(T, T, reference), np.zeros((4, 6)), rtol=0, atol=1e-12)
    shift = spatial.pose_error(spatial.pose([1, 1, 1]), spatial.pose([2, 4, 6]), reference)
    np.testing.assert_allclose(shift, [1, 3, 5, 0, 0, 0], rtol=0, atol=1e-15)


def test_interpolation_starts_ends_and_keeps_the_twist() -> None:
    start, end = poses(3, seed=4), poses(3, seed=5)
    s = np.linspace(0, 1, 6)[:, None]
    T = spatial.interpolate(start, end, s)
    assert T.shape == (6, 3, 4, 4)
    np.testing.assert_allclose(T[0], start, rtol=0, atol=1e-14)
    np.testing.assert_allclose(T[-1], end, rtol=0, atol=1e-12)
    steps = spatial.pose_error(T[:-1], T[1:], "local")
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0], steps.shape), rtol=0, atol=1e-12)


def test_interpolation_over_a_half_turn_goes_through_the_quarter_turn() -> None:
    middle = spatial.interpolate(np.eye(4), spatial.pose([0, 0, 2], np.diag([-1, -1, 1])), 0.5)
    np.testing.assert_allclose(np.abs(middle[:2, :2]), [[0, 1], [1, 0]], rtol=0, atol=1e-15)
    np.testing.assert_allclose(middle[:3, 3], [0, 0, 1], rtol=0, atol=1e-15)


def test_a_rigid_transform_is_a_pose_everywhere() -> None:
    transform = pytest.importorskip("scipy.spatial.transform")
    if not hasattr(transform, "RigidTransform"):
        pytest.skip("this SciPy has no RigidTransform")
    rigid = transform.RigidTransform.from_matrix(poses(4))
    T, twist = rigid.as_matrix(), draw(4, 6)
    np.testing.assert_array_equal(spatial.as_pose(rigid), T)
    np.testing.assert_array_equal(spatial.as_rotation(rigid), T[:, :3, :3])
    for function in (spatial.inverse, spatial.log, spatial.adjoint):
        np.testing.assert_array_equal(function(rigid), function(T))
    np.testing.assert_array_equal(spatial.move_twist(rigid, twist), spatial.move_twist(T, twist))
    np.testing.assert_array_equal(spatial.pose_error(rigid, rigid), spatial.pose_error(T, T))
    np.testing.assert_array_equal(spatial.interpolate(rigid, T, 0.5), spatial.interpolate(T, T, 0.5))
