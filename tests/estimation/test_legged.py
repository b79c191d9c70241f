"""What a legged robot feels tells how its base moves: exact, noisy and biased sensors, slips, flight."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.dynamics.contact import Plane
from kinodyn.estimation import LeggedEstimator, SensorNoise
from kinodyn.estimation.rotations import orthonormalised, quaternion, rotation

DT = 2e-3
STEP = 0.5  # [s] on each foot; joints rest when feet change


@dataclass(frozen=True)
class Motion:
    """What is true, row by row, and what exact sensors say of the time between rows."""

    robot: kd.Robot
    feet: tuple[kd.balance.Foot, ...]
    q: Array
    velocity: Array
    acceleration: Array
    angular_velocity: Array
    stands: Array
    dt: float

    def joints_v(self, k: int) -> Array:
        result: Array = (self.q[k, 7:] - self.q[k - 1, 7:]) / self.dt
        return result

    def wrenches(self, k: int) -> dict[str, Array]:
        return {self.feet[self.stands[k]].frame: np.array([0.0, 0.0, 9.81 * self.robot.mass, 0.0, 0.0, 0.0])}

    def run(
        self, estimator: LeggedEstimator, start: Array | None = None, **noise: float | Array
    ) -> tuple[Array, Array]:
        """Estimate the whole motion: q (n, nq) and v (n, nv); `noise` is added to the readings, arrays as they are."""
        rng = np.random.default_rng(0)
        error = {
            name: rng.normal(size=(len(self.q), 3)) * value for name, value in noise.items() if np.ndim(value) == 0
        }
        error |= {name: np.tile(value, (len(self.q), 1)) for name, value in noise.items() if np.ndim(value) > 0}
        zero = np.zeros((len(self.q), 3))
        estimator.reset(self.q[0] if start is None else start)
        rows = [(estimator.q, estimator.v)]
        for k in range(1, len(self.q)):
            imu = (
                self.acceleration[k] + error.get("accelerometer", zero)[k],
                self.angular_velocity[k] + error.get("gyro", zero)[k],
            )
            rows.append(estimator.update(self.dt, imu, self.q[k, 7:], self.joints_v(k), self.wrenches(k)))
        return np.array([q for q, _ in rows]), np.array([v for _, v in rows])


def stepping(name: str, steps: int, dt: float = DT) -> Motion:
    """Move a robot's joints at random, `steps` times, each time around another foot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name, base="floating")
    feet, rng = kd.balance.feet(robot), np.random.default_rng(0)
    neutral = robot.configuration("standing") if name == "humanoid" else robot.neutral()
    s = np.arange(1, round(STEP / dt) + 1) * dt / STEP
    share = (4.0 * s * (1.0 - s)) ** 4
    q, stands = neutral[None].copy(), [0]
    for step in range(steps):
        foot, rows = feet[step % len(feet)], np.tile(q[-1], (len(share), 1))
        rows[:, 7:] += share[:, None] * rng.uniform(-0.3, 0.3, size=robot.nq - 7)
        T_world_sole = foot.sole_pose(robot, q[-1])
        in_base = rows.copy()
        in_base[:, :7] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        T = T_world_sole @ np.linalg.inv(foot.sole_pose(robot, in_base))
        rows[:, :3], rows[:, 3:7] = T[:, :3, 3], kd.spatial.as_quaternion(T[:, :3, :3])
        q = np.vstack([q, rows])
        stands += [step % len(feet)] * len(share)
    return Motion(robot, feet, q, *readings(q, robot.gravity, dt), np.array(stands), dt)


def readings(q: Array, gravity: Array, dt: float) -> tuple[Array, Array, Array]:
    """Find velocities at the rows such that constant accelerations between lead from row to row, and what is felt."""
    R = kd.spatial.from_quaternion(q[:, 3:7])
    velocity = np.gradient(q[:, :3], dt, axis=0)
    turn = np.zeros((len(q), 3))
    turn[1:] = kd.spatial.log3(np.swapaxes(R[:-1], -1, -2) @ R[1:])
    middle = R[:-1] @ kd.spatial.exp3(0.5 * turn[1:])
    felt = np.zeros((len(q), 3))
    felt[1:] = np.einsum("kji,kj->ki", middle, np.diff(velocity, axis=0) / dt - gravity)
    return velocity, felt, turn / dt


def tilt(q: Array, other: Array) -> Array:
    """Measure the angle [rad] between the verticals that two bases see."""
    up, other_up = (kd.spatial.from_quaternion(x[..., 3:7])[..., 2, :] for x in (q, other))
    result: Array = np.linalg.norm(np.cross(up, other_up), axis=-1)
    return result


def world_velocity(q: Array, v: Array) -> Array:
    """Compute the velocity of the base along the world's axes."""
    result: Array = np.einsum("...ij,...j->...i", kd.spatial.from_quaternion(q[..., 3:7]), v[..., :3])
    return result


@pytest.fixture(scope="module")
def humanoid() -> Motion:
    return stepping("humanoid", 8)


def worst(motion: Motion) -> Array:
    """Run with exact sensors; give the largest errors of position, rotation, velocity."""
    q, v = motion.run(LeggedEstimator(motion.robot))
    turn = motion.robot.difference(motion.q, q)[:, 3:6]
    np.testing.assert_array_equal(q[:, 7:], motion.q[:, 7:])
    errors = (q[:, :3] - motion.q[:, :3], turn, world_velocity(q, v) - motion.velocity)
    return np.array([np.abs(error).max() for error in errors])


@pytest.mark.parametrize("name", ["humanoid", "anymal_c_simple"])
def test_with_exact_sensors_the_estimate_is_exact_up_to_the_time_step(name: str) -> None:
    coarse, fine = (stepping(name, 4, dt=dt) for dt in (DT, 0.5 * DT))
    assert np.ptp(fine.q[:, :3], axis=0).max() > 0.1 and tilt(fine.q, fine.q[0]).max() > 0.1  # it does move
    errors = worst(fine)
    assert (errors < [5e-5, 3e-5, 2e-3]).all()
    assert (worst(coarse) > 2.5 * errors).all()  # of second order


def test_biases_are_estimated(humanoid: Motion) -> None:
    gyro, accelerometer = np.array([0.01, -0.005, 0.008]), np.array([0.02, 0.03, -0.05])
    estimator = LeggedEstimator(humanoid.robot, noise=SensorNoise(gyro=1e-3, accelerometer=1e-2, gyro_bias=0.01))
    q, v = humanoid.run(estimator, gyro=gyro, accelerometer=accelerometer)
    np.testing.assert_allclose(estimator.gyro_bias, gyro, atol=1e-3)
    np.testing.assert_allclose(estimator.accelerometer_bias, accelerometer, atol=1e-2)
    assert tilt(q, humanoid.q).max() < 5e-3 and tilt(q, humanoid.q)[-1] < 2e-3
    drifting = LeggedEstimator(humanoid.robot, noise=SensorNoise(gyro_bias=0.0, accelerometer_bias=0.0))
    wrong, _ = humanoid.run(drifting, gyro=gyro, accelerometer=accelerometer)
    assert tilt(wrong, humanoid.q)[-1] > 2 * tilt(q, humanoid.q)[-1]


def test_a_wrong_initial_state_is_corrected_if_its_deviation_is_given(humanoid: Motion) -> None:
    robot = humanoid.robot
    lean = np.zeros(robot.nv)
    lean[0], lean[3:5] = 0.1, (0.05, -0.05)

    class Uncertain(LeggedEstimator):
        def reset(self, q: Any, v: Any = None, **_: Any) -> None:
            wrong = None if v is None else v + lean
            super().reset(robot.integrate(q, lean), wrong, deviation=(0.1, 0.2, 0.1))

    q, v = humanoid.run(Uncertain(robot, noise=SensorNoise(accelerometer_bias=0.0)))
    assert tilt(q, humanoid.q)[0] > 0.06
    assert tilt(q, humanoid.q)[-1] < 2e-3
    np.testing.assert_allclose(world_velocity(q, v)[-1], humanoid.velocity[-1], atol=2e-3)


def test_errors_agree_with_the_estimated_deviations(humanoid: Motion) -> None:
    told = list[Array]()

    class Telling(LeggedEstimator):
        def update(self, *readings: Any) -> tuple[Array, Array]:
            result = super().update(*readings)
            told.append(self.deviation())
            return result

    estimator = Telling(humanoid.robot, noise=SensorNoise(gyro_bias=0.0, accelerometer_bias=0.0))
    q, v = humanoid.run(estimator, gyro=0.01, accelerometer=0.1)
    deviation = np.array(told)
    R, R_true = (kd.spatial.from_quaternion(x[1:, 3:7]) for x in (q, humanoid.q))
    errors = np.hstack(
        [
            kd.spatial.log3(R_true @ np.swapaxes(R, -1, -2)),
            (world_velocity(q, v) - humanoid.velocity)[1:],
            (q - humanoid.q)[1:, :3],
        ]
    )
    # all sensors but the encoders, which are exact here, are as noisy as was told
    shares = np.sqrt((errors**2 / deviation**2).mean(axis=0))
    assert (shares < 1.5).all() and (shares[3:6] > 0.05).all()
    assert (deviation[-1, 6:] > 1.5 * deviation[200, 6:]).all()  # position is only counted
    assert deviation[:, :2].max() < 0.01 and deviation[:, 3:6].max() < 0.03


def test_position_and_heading_are_unobservable(humanoid: Motion) -> None:
    """Readings are the same wherever the robot is and faces, so estimates differ by where it was told to start."""
    moved = humanoid.q[0].copy()
    moved[:3] = kd.spatial.rot_z(0.7) @ moved[:3] + [1.0, -2.0, 0.3]
    moved[3:7] = kd.spatial.as_quaternion(kd.spatial.rot_z(0.7) @ kd.spatial.from_quaternion(moved[3:7]))
    noise: dict[str, float | Array] = {"gyro": 0.01, "accelerometer": 0.1}
    q, v = humanoid.run(LeggedEstimator(humanoid.robot), **noise)
    other, other_v = humanoid.run(LeggedEstimator(humanoid.robot), moved, **noise)
    np.testing.assert_allclose(other[:, :3], q[:, :3] @ kd.spatial.rot_z(0.7).T + [1.0, -2.0, 0.3], atol=1e-7)
    np.testing.assert_allclose(tilt(other, q), 0.0, atol=1e-8)
    np.testing.assert_allclose(other_v, v, atol=1e-7)


def test_known_ground_corrects_the_height(humanoid: Motion) -> None:
    start = humanoid.q[0].copy()
    start[2] += 0.003
    sole = humanoid.feet[0].sole_pose(humanoid.robot, humanoid.q[0])[:3, 3]
    free, _ = humanoid.run(LeggedEstimator(humanoid.robot), start)
    held, _ = humanoid.run(LeggedEstimator(humanoid.robot, noise=SensorNoise(ground=1e-4), ground=Plane(sole)), start)
    assert free[-1, 2] - humanoid.q[-1, 2] == pytest.approx(0.003, abs=1e-4)
    assert abs(held[-1, 2] - humanoid.q[-1, 2]) < 3e-4


def test_in_flight_the_base_follows_free_fall() -> None:
    robot = kd.load("humanoid")
    estimator = LeggedEstimator(robot)
    q, v = robot.configuration("standing"), np.zeros(robot.nv)
    v[:3], v[3:6] = (0.3, 0.1, 1.0), (0.0, 0.0, 2.0)
    estimator.reset(q, v)
    for _ in range(100):
        estimator.update(1e-3, (np.zeros(3), v[3:6]), q[7:], v[6:], {})
    assert estimator.standing == ()
    np.testing.assert_allclose(estimator.q[:3], q[:3] + [0.03, 0.01, 0.1 - 0.5 * 9.81 * 0.01], atol=1e-12)
    np.testing.assert_allclose(kd.spatial.as_euler(kd.spatial.from_quaternion(estimator.q[3:7]), "ZYX")[0], 0.2)


def test_a_slipping_foot_does_not_move_the_base() -> None:
    robot = kd.load("humanoid")
    q = robot.configuration("standing")
    left, right = kd.balance.feet(robot)
    estimator = LeggedEstimator(robot)
    estimator.reset(q)
    half = np.array([0.0, 0.0, 0.5 * 9.81 * robot.mass, 0.0, 0.0, 0.0])
    knee = robot.joint("left_knee").q.start
    for k in range(400):
        slipping = q[7:].copy()
        slipping[knee - 7] += 0.2 if k >= 200 else 0.0  # the left foot is somewhere else at once
        estimator.update(
            DT, (np.array([0.0, 0.0, 9.81]), np.zeros(3)), slipping, np.zeros(30), {left.frame: half, right.frame: half}
        )
        assert estimator.standing == (left.frame, right.frame) or k == 0
    np.testing.assert_allclose(robot.difference(q, estimator.q)[:6], 0.0, atol=1e-4)
    np.testing.assert_allclose(estimator.v[:6], 0.0, atol=1e-3)


def test_single_rotations_are_those_of_the_batched_functions() -> None:
    for vector in np.random.default_rng(0).normal(size=(30, 3)) * np.geomspace(1e-12, 3.0, 30)[:, None]:
        R = rotation(vector)
        np.testing.assert_allclose(R, kd.spatial.exp3(vector), atol=1e-14)
        x = np.array(quaternion(R))
        np.testing.assert_allclose(x * np.sign(x[3]), kd.spatial.as_quaternion(R), atol=1e-12)
    almost = orthonormalised(R + 1e-6)
    np.testing.assert_allclose(almost @ almost.T, np.eye(3), atol=1e-10)


def test_invalid_arguments_are_rejected() -> None:
    robot = kd.load("humanoid")
    estimator = LeggedEstimator(robot)
    imu, q, v = (np.array([0.0, 0.0, 9.81]), np.zeros(3)), np.zeros(30), np.zeros(30)
    with pytest.raises(kd.KinodynError, match="fixed base"):
        LeggedEstimator(kd.load("panda"))
    with pytest.raises(kd.InputError, match="feet is empty"):
        LeggedEstimator(robot, feet=[])
    with pytest.raises(kd.InputError, match=r"contact\.Plane"):
        LeggedEstimator(robot, ground=0.0)  # type: ignore[arg-type]
    with pytest.raises(kd.InputError, match="q must be"):
        estimator.reset(np.zeros(3))
    with pytest.raises(kd.InputError, match="nonnegative"):
        estimator.reset(robot.neutral(), deviation=(0.1, -0.1, 0.1))
    with pytest.raises(kd.InputError, match="dt must be"):
        estimator.update(0.0, imu, q, v, {})
    with pytest.raises(kd.InputError, match=r"joints_q must be \(30,\)"):
        estimator.update(DT, imu, q[1:], v, {})
    with pytest.raises(kd.InputError, match="acceleration must be"):
        estimator.update(DT, (np.full(3, np.nan), np.zeros(3)), q, v, {})
    with pytest.raises(kd.UnknownNameError, match="left_sole"):
        estimator.update(DT, imu, q, v, {"left_soul": np.zeros(6)})
    with pytest.raises(kd.InputError, match="gyro must be a nonnegative number"):
        SensorNoise(gyro=-1.0)
    with pytest.raises(kd.InputError, match="foot_position must be a positive number"):
        SensorNoise(foot_position=0.0)


def test_base_errors_separate_tilt_and_heading() -> None:
    robot = kd.load("humanoid")
    q, v = robot.random(20, seed=0), np.random.default_rng(0).normal(size=(20, robot.nv))
    shifted, faster = q.copy(), v.copy()
    shifted[:, :3] += [0.1, 0.2, 0.3]
    faster[:, 1] += 0.5
    turned = kd.spatial.rot_z(0.3) @ kd.spatial.rot_x(0.2) @ kd.spatial.from_quaternion(q[:, 3:7])
    shifted[:, 3:7] = kd.spatial.as_quaternion(turned)
    errors = kd.estimation.base_errors(q, v, shifted, faster)
    np.testing.assert_allclose(errors.position, np.tile([0.1, 0.2, 0.3], (20, 1)), atol=1e-12)
    np.testing.assert_allclose(errors.velocity, np.tile([0.0, 0.5, 0.0], (20, 1)), atol=1e-12)
    np.testing.assert_allclose(errors.heading, 0.3, atol=1e-12)
    np.testing.assert_allclose(errors.tilt, 0.2, atol=1e-9)
