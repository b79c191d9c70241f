"""Covariances of the filter behind the estimator of legged robots, where they are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.estimation import SensorNoise
from kinodyn.estimation.contact_ekf import ContactEKF
from kinodyn.estimation.legged import SETTLING_FACTOR, SETTLING_TIME, TOUCHDOWN_LOAD, _slip_scale

NOISE = SensorNoise(
    gyro=0.02, accelerometer=0.3, gyro_bias=0.05, accelerometer_bias=0.07, gyro_drift=0.011, accelerometer_drift=0.013,
    foot_position=0.017, foot_rotation=0.019, slip=0.023, roll=0.029, ground=0.031,
)  # fmt: skip
GRAVITY = np.array([0.0, 0.0, -9.81])
R = kd.spatial.from_euler([0.4, -0.3, 0.2])
VELOCITY, POSITION = np.array([0.5, -0.2, 0.1]), np.array([3.0, -4.0, 1.0])
NONE = np.zeros(3)
DT = 0.01


def started(deviation: Array, noise: SensorNoise = NOISE, flat: tuple[bool, ...] = (True, False)) -> ContactEKF:
    ekf = ContactEKF(list(flat), noise, GRAVITY)
    ekf.reset(R, VELOCITY, POSITION, deviation)
    return ekf


def blocks(ekf: ContactEKF) -> list[Array]:
    """Return the diagonal blocks: base rotation, velocity, position, contacts, rotations of flat ones, biases."""
    return [ekf.P[k : k + 3, k : k + 3] for k in range(0, ekf.size, 3)]


def test_deviations_are_those_given_at_the_start_wherever_the_base_is() -> None:
    given = np.array([0.1, 0.2, 0.3])
    ekf = started(given)
    np.testing.assert_allclose(ekf.deviation(), np.repeat(given, 3), rtol=1e-12)
    np.testing.assert_allclose(blocks(ekf)[-2], NOISE.gyro_bias**2 * np.eye(3), rtol=1e-12)
    np.testing.assert_allclose(blocks(ekf)[-1], NOISE.accelerometer_bias**2 * np.eye(3), rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_one_reading_adds_the_noise_of_the_sensors_and_of_the_feet(scale: float) -> None:
    """Of a base at rest at the origin, known exactly, with known biases."""
    ekf = ContactEKF(
        [True, False], SensorNoise(**{**vars(NOISE), "gyro_bias": 0.0, "accelerometer_bias": 0.0}), GRAVITY
    )
    ekf.reset(R, NONE, NONE, NONE)
    ekf.predict(DT, R.T @ -GRAVITY, NONE, (scale, 0.0))
    found = blocks(ekf)
    walks = [NOISE.slip * scale, 0.0, NOISE.roll * scale, NOISE.gyro_drift, NOISE.accelerometer_drift]
    expected = [(NOISE.gyro * DT) ** 2, (NOISE.accelerometer * DT) ** 2, 0.25 * (NOISE.accelerometer * DT**2) ** 2]
    for block, variance in zip(found, [*expected, *(DT * walk**2 for walk in walks)], strict=True):
        np.testing.assert_allclose(block, variance * np.eye(3), rtol=1e-12, atol=1e-12 * variance)
    np.testing.assert_allclose(ekf.vectors[:2], np.zeros((2, 3)), rtol=0, atol=1e-15)


def test_an_unknown_tilt_is_an_unknown_acceleration() -> None:
    """A tilt of e [rad] turns gravity: after t seconds the velocity is off by g e t, the position by g e t^2 / 2."""
    exact = SensorNoise(**dict.fromkeys(vars(NOISE), 0.0) | {"foot_position": 1.0, "foot_rotation": 1.0, "ground": 1.0})
    ekf = ContactEKF([True], exact, GRAVITY)
    ekf.reset(np.eye(3), NONE, NONE, np.array([0.01, 0.0, 0.0]))
    for _ in range(100):
        ekf.predict(DT, -GRAVITY, NONE, (0.0,))
    expected = [0.01] * 3 + [0.01 * 9.81] * 2 + [0.0] + [0.005 * 9.81] * 2 + [0.0]
    np.testing.assert_allclose(ekf.deviation(), expected, rtol=1e-9, atol=1e-12)


def test_a_new_contact_is_where_the_base_sees_it_with_its_own_and_the_base_uncertainty() -> None:
    ekf, T = started(np.array([0.1, 0.2, 0.3])), kd.spatial.pose([0.3, -0.2, -0.9], kd.spatial.rot_y(0.3))
    for contact in (0, 1):
        ekf.add_contact(contact, T)
        np.testing.assert_allclose(ekf.vectors[2 + contact], POSITION + R @ T[:3, 3], rtol=1e-12)
    np.testing.assert_allclose(ekf.contact_rotations[0], R @ T[:3, :3], rtol=0, atol=1e-12)
    rotation, _, position, first, second, turn, _, _ = blocks(ekf)
    np.testing.assert_allclose(first - position, NOISE.foot_position**2 * np.eye(3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(second - position, NOISE.foot_position**2 * np.eye(3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(turn - rotation, NOISE.foot_rotation**2 * np.eye(3), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(ekf.P, ekf.P.T)


def test_a_known_plane_leaves_the_uncertainty_of_the_ground() -> None:
    """The height of a contact combines what is known of it and of the ground, weighted by their variances."""
    ekf = started(np.array([0.0, 0.0, 0.3]))
    ekf.add_contact(0, kd.spatial.pose([0.0, 0.0, -0.9]))
    before, own = ekf.vectors[2, 2], 0.3**2 + NOISE.foot_position**2
    ekf.correct_by_plane(0, np.array([0.0, 0.0, 1.0]), 0.2)
    share = own / (own + NOISE.ground**2)
    assert ekf.vectors[2, 2] == pytest.approx(before + share * (0.2 - before), rel=1e-9)
    assert blocks(ekf)[3][2, 2] == pytest.approx(own * NOISE.ground**2 / (own + NOISE.ground**2), rel=1e-9)
    assert blocks(ekf)[3][0, 0] == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize(
    ("load", "since", "expected"),
    [
        (1.0, None, 0.0),
        (1.0, 0.0, SETTLING_FACTOR),
        (1.0, 0.99 * SETTLING_TIME, SETTLING_FACTOR),
        (1.0, 1.01 * SETTLING_TIME, 1.0),
        (1.99 * TOUCHDOWN_LOAD, 1.0, SETTLING_FACTOR),
        (2.01 * TOUCHDOWN_LOAD, 1.0, 1.0),
    ],
)
def test_feet_move_while_they_settle_and_under_little_load(load: float, since: float | None, expected: float) -> None:
    assert _slip_scale(load, since) == expected
