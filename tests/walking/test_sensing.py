"""Robots walk by what they feel: the base's true state is never read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.sim import MujocoSimulator
from kinodyn.walking import Biped
from kinodyn.walking.controller import FALLEN
from kinodyn.walking.sensing import SensedController, SensedSimulator

# a gyro, an accelerometer and encoders of the cheaper kind, with biases that nobody told the estimator of
NOISE = {"q": 1e-4, "v": 1e-2, "gyro": 0.01, "accelerometer": 0.1, "gyro_bias": 0.005, "accelerometer_bias": 0.03}


def test_the_humanoid_walks_by_its_own_senses_and_knows_tilt_and_velocity() -> None:
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

    def __call__(self, t: float, state: kd.State) -> Array:
        self.seen.append(np.concatenate([state.q, state.v]))
        return np.zeros(state.robot.nv)


def watched(body: Biped, moved: bool) -> Array:
    """Let it fall for 20 ms, and tell what its controller saw; `moved`: the state it is given has another base."""
    robot, spy = body.robot, Spy()
    simulator = SensedSimulator(robot, frames=[foot.frame for foot in body.feet.values()])
    simulator.reset(body.q)
    controller = SensedController(spy, simulator, body.q, dt=2e-3, noise=NOISE, seed=3)
    rng = np.random.default_rng(0)
    for k in range(10):
        q, v = simulator.q.copy(), simulator.v.copy()
        if moved:
            q[:3], q[3:7], v[:6] = rng.normal(size=3), (0.0, 0.6, 0.0, 0.8), rng.normal(size=6)
        simulator.step(controller(2e-3 * k, kd.State(robot, q, v)), steps=2)
    return np.array(spy.seen)


def test_the_controller_sees_nothing_of_the_true_base() -> None:
    body = Biped.of(kd.load("humanoid"))
    np.testing.assert_array_equal(watched(body, moved=False), watched(body, moved=True))


def test_the_unit_reports_the_mean_since_it_was_read() -> None:
    body = Biped.of(kd.load("humanoid"))
    sensed, plain = (kind(body.robot) for kind in (SensedSimulator, MujocoSimulator))
    readings = []
    for simulator in (sensed, plain):
        simulator.reset(body.q)
    for _ in range(3):
        plain.step(np.zeros(body.robot.nv))
        readings.append(np.array(plain.imu()))
    sensed.step(np.zeros(body.robot.nv), steps=3)
    np.testing.assert_array_equal(sensed.q, plain.q)
    np.testing.assert_allclose(np.array(sensed.mean_imu()), np.mean(readings, axis=0), atol=1e-12)
    np.testing.assert_array_equal(np.array(sensed.mean_imu()), readings[-1])  # nothing new


def test_a_fall_is_told_by_the_true_base() -> None:
    robot = kd.load("humanoid")
    push = kd.sim.Push("torso", [0.0, 1500.0, 0.0], start=0.4, duration=0.2)
    result = kd.walking.walk(robot, (0.0, 0.0, 0.0), duration=2.6, estimate=True, pushes=[push])
    assert not result.walked and result.fallen is not None
    low = result.recording.q[:, 2] < FALLEN * result.body.q[2]
    assert result.fallen == pytest.approx(float(result.recording.time[low.argmax()]), abs=0.1)


@pytest.mark.parametrize(
    ("noise", "message"),
    [({"imu": 0.1}, "unknown noise 'imu'"), ({"q": -1.0}, "from 0 on"), ({"v": [1.0, 2.0]}, "one")],
)
def test_wrong_noise_is_refused(noise: dict[str, Any], message: str) -> None:
    with pytest.raises(kd.KinodynError, match=message):
        kd.walking.walk(kd.load("humanoid"), duration=3.0, estimate=True, noise=noise)
