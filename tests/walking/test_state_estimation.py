"""Walking by estimated state: the true state of the base is never read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.sim import Observation, observe
from kinodyn.walking import Biped, EstimatingController, GaitSettings, make_simulator

# a gyro, an accelerometer and encoders of the cheaper kind, with biases that nobody told the estimator of
NOISE = {"q": 1e-4, "v": 1e-2, "gyro": 0.01, "accelerometer": 0.1, "gyro_bias": 0.005, "accelerometer_bias": 0.03}


def test_the_humanoid_walks_by_the_estimate_and_knows_tilt_and_velocity() -> None:
    robot = kd.load("humanoid")
    result = kd.walking.walk(robot, (0.3, 0.0, 0.0), duration=7.0, estimate=True, noise=NOISE, seed=1)
    assert result.walked and result.speed == pytest.approx(0.3, rel=0.1)
    recording = result.recording
    q, v = (np.asarray(recording.signals[name]) for name in ("q_estimated", "v_estimated"))
    errors = kd.estimation.base_errors(recording.q, recording.v, q, v)
    assert np.degrees(errors.tilt).max() < 0.5
    assert np.linalg.norm(errors.velocity, axis=1).max() < 0.03
    assert np.abs(errors.position[:, 2]).max() < 0.01
    assert 1e-5 < np.linalg.norm(errors.position[-1, :2]) < 0.02 * result.distance  # it drifts, slowly
    assert (q - recording.q)[:, 7:].std() == pytest.approx(1e-4, rel=0.05)


class Spy:
    """A controller that keeps what it saw."""

    def __init__(self) -> None:
        self.seen = list[Array]()

    def act(self, observation: Observation) -> Array:
        state = observation.state
        self.seen.append(np.concatenate([state.q, state.v]))
        return np.zeros(state.robot.nv)


def watched(body: Biped, moved: bool) -> Array:
    """Let it fall for 20 ms, and tell what its controller saw; `moved`: the state it is given has another base."""
    robot, spy = body.robot, Spy()
    simulator = make_simulator(body)
    simulator.reset(body.q)
    controller = EstimatingController(spy, robot, body.q, dt=2e-3, noise=NOISE, seed=3)
    rng = np.random.default_rng(0)
    for k in range(10):
        q, v = simulator.q.copy(), simulator.v.copy()
        if moved:
            q[:3], q[3:7], v[:6] = rng.normal(size=3), (0.0, 0.6, 0.0, 0.8), rng.normal(size=6)
        simulator.step(controller.act(observe(simulator, kd.State(robot, q, v), 2e-3 * k)), steps=2)
    return np.array(spy.seen)


def test_the_controller_sees_nothing_of_the_true_base() -> None:
    body = Biped.from_robot(kd.load("humanoid"))
    np.testing.assert_array_equal(watched(body, moved=False), watched(body, moved=True))


@pytest.mark.parametrize("engine", ["mujoco", "native"])
def test_the_imu_reports_the_mean_since_the_last_reading(engine: Any) -> None:
    body = Biped.from_robot(kd.load("humanoid"))
    rarely, often = (make_simulator(body, engine) for _ in range(2))
    readings = []
    for simulator in (rarely, often):
        simulator.reset(body.q)
    for _ in range(3):
        often.step(np.zeros(body.robot.nv))
        readings.append(np.array(often.read_imu()))
    rarely.step(np.zeros(body.robot.nv), steps=3)
    np.testing.assert_array_equal(rarely.q, often.q)
    mean = np.array(rarely.read_imu())
    np.testing.assert_allclose(mean, np.mean(readings, axis=0), atol=1e-12 if engine == "mujoco" else 1e-3)
    np.testing.assert_array_equal(np.array(often.read_imu()), readings[-1])  # no time has passed


def test_both_engines_measure_the_same_imu_in_free_fall_and_in_rotation() -> None:
    body = Biped.from_robot(kd.load("humanoid"))
    q, v = body.q.copy(), np.zeros(body.robot.nv)
    q[2] += 1.0
    v[:6] = (0.3, -0.2, 0.1, 0.5, -1.0, 2.0)
    readings = []
    for engine in ("mujoco", "native"):
        simulator = make_simulator(body, engine)  # type: ignore[arg-type]
        simulator.reset(q, v)
        simulator.step(np.zeros(body.robot.nv), steps=10)
        readings.append(simulator.read_imu())
    np.testing.assert_allclose(readings[0].angular_velocity, readings[1].angular_velocity, atol=0.02)
    np.testing.assert_allclose(readings[0].acceleration, readings[1].acceleration, atol=0.1)


def test_a_fall_is_detected_from_the_true_base() -> None:
    robot = kd.load("humanoid")
    push = kd.sim.Push("torso", [0.0, 1500.0, 0.0], start=0.4, duration=0.2)
    result = kd.walking.walk(robot, (0.0, 0.0, 0.0), duration=2.6, estimate=True, pushes=[push])
    assert not result.walked and result.fallen is not None
    q = np.vstack([result.body.q, result.recording.q])  # the true states
    feet = [kd.kinematics.pose(robot, q, foot.frame)[:, 2, 3] for foot in result.body.feet.values()]
    height = kd.kinematics.com(robot, q)[:, 2] - np.min(feet, axis=0)
    low = height[1:] < GaitSettings.from_robot(robot).fall_height * height[0]
    assert result.fallen == pytest.approx(float(result.recording.time[low.argmax()]), abs=0.02)  # by the estimate


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ({"imu": 0.1}, "unknown noise 'imu'"),
        ({"q": -1.0}, "must be a nonnegative standard"),
        ({"v": [1.0, 2.0]}, "must be a nonnegative standard"),
    ],
)
def test_invalid_noise_is_rejected(noise: dict[str, Any], message: str) -> None:
    with pytest.raises(kd.KinodynError, match=message):
        kd.walking.walk(kd.load("humanoid"), duration=4.0, estimate=True, noise=noise)
