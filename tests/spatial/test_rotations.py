"""Matrices to and from quaternions, angle and axis, and the twelve orders of Euler angles, against SciPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

from kinodyn import spatial
from kinodyn.arrays import Array
from kinodyn.errors import InputError

ORDERS = ["".join(o) for o in itertools.product("XYZ", repeat=3) if o[0] != o[1] != o[2]]
ROT = {"X": spatial.rot_x, "Y": spatial.rot_y, "Z": spatial.rot_z}
in_every_order = pytest.mark.parametrize("order", ORDERS)


def quaternions(*batch: int) -> Array:
    q = np.random.default_rng(3).normal(size=(*batch, 4))
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def is_proper(order: str) -> bool:
    """Tell the orders whose first axis is also the last."""
    return order[0] == order[2]


def test_there_are_twelve_orders() -> None:
    assert len(ORDERS) == 12 and {"ZYX", "ZYZ"} < set(ORDERS)


@pytest.mark.parametrize("letter", "XYZ")
def test_elementary_rotations_agree_with_scipy(letter: str) -> None:
    angles = np.linspace(-7, 7, 30)
    expected = Rotation.from_euler(letter, angles[:, None]).as_matrix()
    np.testing.assert_allclose(ROT[letter](angles.reshape(5, 6)), expected.reshape(5, 6, 3, 3), rtol=0, atol=1e-14)


@in_every_order
def test_euler_angles_agree_with_scipy_both_ways(order: str) -> None:
    angles = np.random.default_rng(0).uniform(-3, 3, (100, 3))
    R = spatial.from_euler(angles, order)
    np.testing.assert_allclose(R, Rotation.from_euler(order, angles).as_matrix(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(spatial.as_euler(R, order), Rotation.from_matrix(R).as_euler(order), rtol=0, atol=1e-12)


@in_every_order
def test_euler_angles_within_their_range_survive_a_round_trip(order: str) -> None:
    rng = np.random.default_rng(1)
    first, last = rng.uniform(-3.1, 3.1, (2, 200))
    low, high = (0.001, 3.14) if is_proper(order) else (-1.57, 1.57)
    angles = np.stack([first, rng.uniform(low, high, 200), last], axis=-1)
    np.testing.assert_allclose(spatial.as_euler(spatial.from_euler(angles, order), order), angles, rtol=0, atol=1e-11)


@in_every_order
@pytest.mark.parametrize("distance", [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3])
def test_euler_angles_at_and_near_gimbal_lock_still_give_the_rotation(order: str, distance: float) -> None:
    locks = (0.0, np.pi) if is_proper(order) else (-np.pi / 2, np.pi / 2)
    for lock, sign, first, last in itertools.product(locks, (-1, 1), (0.0, 0.4, -3.0), (0.0, 2.0, np.pi)):
        R = spatial.from_euler([first, lock + sign * distance, last], order)
        angles = spatial.as_euler(R, order)
        np.testing.assert_allclose(spatial.from_euler(angles, order), R, rtol=0, atol=1e-11)
        assert (np.abs(angles) <= np.pi + 1e-15).all()
        if distance == 0.0:
            assert angles[2] == 0.0


@in_every_order
def test_gimbal_lock_begins_at_half_angle_sines_of_a_millionth_of_a_millionth(order: str) -> None:
    locks = (0.0, np.pi) if is_proper(order) else (-np.pi / 2, np.pi / 2)
    for lock, inward in zip(locks, (1.0, -1.0), strict=True):
        locked, free = (
            spatial.as_euler(spatial.from_euler([0.4, lock + inward * 2e-12 * share, 2.0], order), order)
            for share in (0.6, 1.3)
        )
        assert locked[2] == 0.0
        np.testing.assert_allclose(free, [0.4, lock, 2.0], rtol=0, atol=0.01)


@in_every_order
def test_half_turns_about_every_axis_pass_through_euler_angles(order: str) -> None:
    axes = np.array(list(itertools.product((-1, 0, 1), repeat=3)), dtype=float)
    axes = axes[np.linalg.norm(axes, axis=1) > 0]
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    R = 2 * axes[:, :, None] * axes[:, None, :] - np.eye(3)
    np.testing.assert_allclose(spatial.from_euler(spatial.as_euler(R, order), order), R, rtol=0, atol=1e-12)


@given(st.sampled_from(ORDERS), st.lists(st.floats(-10, 10), min_size=3, max_size=3))
def test_any_angles_have_a_rotation_whose_angles_give_it(order: str, angles: list[float]) -> None:
    R = spatial.from_euler(angles, order)
    np.testing.assert_allclose(spatial.from_euler(spatial.as_euler(R, order), order), R, rtol=0, atol=1e-11)


@pytest.mark.parametrize("order", ["zyx", "ZZX", "XYY", "ZY", "ABC", "", "ZYXZ", None, 3])
def test_an_unknown_order_lists_the_allowed_ones(order: str) -> None:
    with pytest.raises(InputError, match="no two neighbours equal"):
        spatial.from_euler([0, 0, 0], order)


def test_quaternions_and_matrices_agree_with_scipy() -> None:
    q = quaternions(4, 5)
    R = spatial.from_quaternion(q)
    np.testing.assert_allclose(R.reshape(-1, 3, 3), Rotation.from_quat(q.reshape(-1, 4)).as_matrix(), atol=1e-15)
    canonical = q * np.where(q[..., 3:] < 0, -1, 1)
    np.testing.assert_allclose(spatial.as_quaternion(R), canonical, rtol=0, atol=1e-14)


def test_the_quaternion_of_a_half_turn_has_one_sign() -> None:
    for axis in (*np.eye(3), *-np.eye(3)):
        q = spatial.as_quaternion(2 * np.outer(axis, axis) - np.eye(3))
        np.testing.assert_array_equal(q, [*np.abs(axis), 0.0])


@pytest.mark.parametrize("angle", [1e-12, 1e-8, 1e-3, 1.0, 3.0, np.pi - 1e-6, np.pi - 1e-9])
def test_angle_and_axis_survive_a_round_trip(angle: float) -> None:
    axes = quaternions(50)[:, :3]
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    angle_back, axis_back = spatial.as_angle_axis(spatial.from_angle_axis(angle, axes))
    np.testing.assert_allclose(angle_back, np.full(50, angle), rtol=0, atol=1e-14)
    np.testing.assert_allclose(axis_back, axes, rtol=0, atol=1e-15 / angle + 1e-14)


@pytest.mark.parametrize(
    "axis", [(1, 0, 0), (0, -1, 0), (0, 0, 1), (0.6, 0, 0.8), (-0.6, 0.8, 0), (2 / 3, 2 / 3, -1 / 3)]
)
def test_angle_and_axis_of_an_exact_half_turn(axis: tuple[float, ...]) -> None:
    angle, back = spatial.as_angle_axis(2 * np.outer(axis, axis) - np.eye(3))
    assert angle == pytest.approx(np.pi, abs=1e-15)
    np.testing.assert_allclose(np.outer(back, back), np.outer(axis, axis), rtol=0, atol=1e-15)


def test_no_rotation_has_angle_zero_and_a_unit_axis() -> None:
    angle, axis = spatial.as_angle_axis(np.broadcast_to(np.eye(3), (2, 3, 3)))
    np.testing.assert_array_equal(angle, [0, 0])
    np.testing.assert_array_equal(np.linalg.norm(axis, axis=-1), [1, 1])


def test_products_of_quaternions_are_products_of_rotations() -> None:
    a, b = quaternions(2, 7, 6)
    R_a, R_b = spatial.from_quaternion(a), spatial.from_quaternion(b)
    np.testing.assert_allclose(spatial.from_quaternion(spatial.quaternion_product(a, b)), R_a @ R_b, atol=1e-14)
    np.testing.assert_allclose(
        spatial.quaternion_product(a, spatial.quaternion_inverse(a)),
        np.broadcast_to([0.0, 0, 0, 1], a.shape),
        atol=1e-15,
    )


def test_quaternions_rotate_as_their_matrices_do() -> None:
    q, v = quaternions(3, 1), np.random.default_rng(0).normal(size=(5, 3))
    expected = np.einsum("aij,bj->abi", spatial.from_quaternion(q[:, 0]), v)
    np.testing.assert_allclose(spatial.quaternion_rotate(q, v), expected, rtol=0, atol=1e-14)


def test_slerp_agrees_with_scipy() -> None:
    s = np.linspace(0, 1, 11)
    for q0, q1 in quaternions(20, 2):
        expected = Slerp([0, 1], Rotation.from_quat([q0, q1]))(s).as_matrix()
        np.testing.assert_allclose(spatial.from_quaternion(spatial.slerp(q0, q1, s)), expected, rtol=0, atol=1e-14)


def test_slerp_starts_at_q0_and_ends_at_the_rotation_of_q1() -> None:
    q0, q1 = quaternions(2, 30)
    np.testing.assert_allclose(spatial.slerp(q0, q1, 0), q0, rtol=0, atol=1e-15)
    nearer = q1 * np.where((q0 * q1).sum(axis=-1, keepdims=True) < 0, -1, 1)
    np.testing.assert_allclose(spatial.slerp(q0, q1, 1), nearer, rtol=0, atol=1e-14)
    np.testing.assert_allclose(spatial.slerp(q0, -q0, 0.3), q0, rtol=0, atol=1e-14)
    half_turned = spatial.quaternion_product(q0, [1, 0, 0, 0])
    end = spatial.from_quaternion(spatial.slerp(q0, half_turned, 1))
    np.testing.assert_allclose(end, spatial.from_quaternion(half_turned), rtol=0, atol=1e-14)
