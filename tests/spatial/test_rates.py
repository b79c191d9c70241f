"""Rates of Euler angles, quaternions and rotation vectors against differences of rotations, and Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pinocchio
import pytest

from kinodyn import spatial
from kinodyn.arrays import Array, Reference
from kinodyn.errors import InputError, SingularError

ORDERS = [a + b + c for a in "XYZ" for b in "XYZ" for c in "XYZ" if a != b != c]
STEP = 1e-6
PARAMETERS: dict[str, Callable[[Array], Array]] = {
    **{order: partial(spatial.as_euler, order=order) for order in ORDERS},
    "quaternion": spatial.as_quaternion,
    "rotation_vector": spatial.log3,
}
in_both_axes = pytest.mark.parametrize("reference", ["world", "local"])
in_every_order = pytest.mark.parametrize("order", ORDERS)


def omega_of(path: Callable[[float], Array], reference: Reference) -> Array:
    """Measure the angular velocity at time 0 of a path of rotations."""
    ahead, behind = path(STEP), path(-STEP)
    before, after = np.swapaxes(behind, -2, -1), ahead
    turn = before @ after if reference == "local" else after @ before
    return spatial.log3(turn) / (2 * STEP)


def draw(*shape: int) -> Array:
    return np.random.default_rng(5).normal(size=shape)


@in_both_axes
@in_every_order
def test_euler_rates_matrix_gives_the_angular_velocity(order: str, reference: Reference) -> None:
    angles, rates = draw(2, 4, 5, 3)
    omega = omega_of(lambda t: spatial.from_euler(angles + t * rates, order), reference)
    E = spatial.euler_rates_matrix(angles, order, reference)
    np.testing.assert_allclose((E @ rates[..., None])[..., 0], omega, rtol=0, atol=1e-8)
    np.testing.assert_allclose(spatial.euler_rates(angles, omega, order, reference), rates, rtol=0, atol=1e-6)


@in_both_axes
def test_every_batch_shape_gives_the_rates_of_its_rotations(reference: Reference) -> None:
    angles, omega = draw(2, 2, 2, 2, 3)
    for function, arguments in ((spatial.euler_rates_matrix, (angles,)), (spatial.euler_rates, (angles, omega))):
        whole = function(*arguments, reference=reference)
        one_less = function(*(given[0] for given in arguments), reference=reference)
        row = function(*(given[0, 0] for given in arguments), reference=reference)
        single = function(*(given[0, 0, 0] for given in arguments), reference=reference)
        for found, expected in ((one_less, whole[0]), (row, whole[0, 0]), (single, whole[0, 0, 0])):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


def test_euler_rates_of_zyx_agree_with_pinocchio() -> None:
    for yaw_pitch_roll in draw(5, 3):
        E = pinocchio.rpy.computeRpyJacobian(yaw_pitch_roll[::-1].copy(), pinocchio.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(spatial.euler_rates_matrix(yaw_pitch_roll), E[:, ::-1], rtol=0, atol=1e-14)


@in_every_order
def test_euler_rates_at_gimbal_lock_say_how_many_are_locked(order: str) -> None:
    lock = 0.0 if order[0] == order[2] else np.pi / 2
    angles = np.array([[0.1, 1.0, 0.2], [0.1, lock, 0.2], [0.3, lock + np.pi, 0.4]])
    with pytest.raises(SingularError, match=f"2 of 3 orientations are at the gimbal lock of {order}"):
        spatial.euler_rates(angles, [0.0, 0.0, 1.0], order)
    with pytest.raises(SingularError, match="gimbal lock"):
        spatial.analytic_map(spatial.from_euler(angles[1], order), order)


@in_every_order
def test_euler_rates_close_to_gimbal_lock_are_still_right(order: str) -> None:
    near = 1e-6 if order[0] == order[2] else np.pi / 2 - 1e-6
    angles, omega = np.array([0.3, near, -0.2]), np.array([0.5, -0.4, 0.3])
    rates = spatial.euler_rates(angles, omega, order)
    np.testing.assert_allclose(spatial.euler_rates_matrix(angles, order) @ rates, omega, rtol=0, atol=1e-9)


@in_every_order
def test_gimbal_lock_begins_where_the_axes_span_a_volume_of_one_in_a_hundred_million(order: str) -> None:
    lock, rotation = 0.0 if order[0] == order[2] else np.pi / 2, np.array([0.5, -0.4, 0.3])
    for side in (-1.0, 1.0):
        angles = np.array([0.3, lock + side * 1.1e-8, -0.2])
        omega = spatial.euler_rates_matrix(angles, order) @ rotation
        np.testing.assert_allclose(spatial.euler_rates(angles, omega, order)[1], rotation[1], rtol=0, atol=1e-7)
        with pytest.raises(SingularError, match="gimbal lock"):
            spatial.euler_rates([0.3, lock + side * 0.9e-8, -0.2], omega, order)


@in_both_axes
def test_quaternion_rates_are_the_derivative_and_convert_back(reference: Reference) -> None:
    q, omega = draw(4, 5, 4), draw(4, 5, 3)
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    rates = spatial.quaternion_rates(q, omega, reference)

    def path(t: float) -> Array:
        moved = q + t * rates
        return spatial.from_quaternion(moved / np.linalg.norm(moved, axis=-1, keepdims=True))

    np.testing.assert_allclose(omega_of(path, reference), omega, rtol=0, atol=1e-8)
    np.testing.assert_allclose((rates * q).sum(axis=-1), np.zeros((4, 5)), rtol=0, atol=1e-14)
    E = spatial.quaternion_rates_matrix(q, reference)
    np.testing.assert_allclose((E @ rates[..., None])[..., 0], omega, rtol=0, atol=1e-14)
    np.testing.assert_allclose(E @ q[..., None], np.zeros((4, 5, 3, 1)), rtol=0, atol=1e-14)


@in_both_axes
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 1.0, 3.0, np.pi, 5.0])
def test_rotation_vector_rates_are_the_derivative_and_convert_back(angle: float, reference: Reference) -> None:
    phi, rates = draw(2, 6, 3)
    phi *= angle / np.linalg.norm(phi, axis=-1, keepdims=True)
    omega = omega_of(lambda t: spatial.exp3(phi + t * rates), reference)
    E = spatial.rotation_vector_rates_matrix(phi, reference)
    np.testing.assert_allclose((E @ rates[..., None])[..., 0], omega, rtol=0, atol=1e-8)
    back = spatial.rotation_vector_rates(phi, (E @ rates[..., None])[..., 0], reference)
    np.testing.assert_allclose(back, rates, rtol=0, atol=1e-12)


def test_rotation_vector_rates_at_a_full_turn_raise() -> None:
    with pytest.raises(SingularError, match="full turn"):
        spatial.rotation_vector_rates([0, 2 * np.pi, 0], [1, 0, 0])


def test_aligned_and_world_are_the_same_for_an_angular_velocity() -> None:
    angles, omega = draw(2, 3)
    np.testing.assert_array_equal(
        spatial.euler_rates(angles, omega, reference="aligned"), spatial.euler_rates(angles, omega, reference="world")
    )


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_analytic_map_gives_the_rates_of_the_parameters(parameters: str) -> None:
    R, omega = spatial.exp3(draw(3, 4, 3)), np.array([0.3, -0.8, 0.5])
    ahead, behind = (PARAMETERS[parameters](spatial.exp3(sign * STEP * omega) @ R) for sign in (1, -1))
    rates = (spatial.analytic_map(R, parameters) @ omega[:, None])[..., 0]
    np.testing.assert_allclose(rates, (ahead - behind) / (2 * STEP), rtol=1e-7, atol=1e-7)
    T = spatial.pose([1, 2, 3], R)
    np.testing.assert_array_equal(spatial.analytic_map(T, parameters), spatial.analytic_map(R, parameters))


def test_analytic_map_of_unknown_parameters_lists_the_known_ones() -> None:
    with pytest.raises(
        InputError, match='parameters must be "quaternion", "rotation_vector" or an order such as "ZYX"'
    ):
        spatial.analytic_map(np.eye(3), "rpy")
