"""A payload is identified alone, on robots whose own parameters are known."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd

COM, INERTIA = np.array([0.02, -0.03, 0.11]), np.diag([0.004, 0.006, 0.005])


def measured(robot: kd.Robot, noise: float = 0.0) -> kd.identification.Measurements:
    motion = kd.identification.exciting_trajectory(robot, starts=5, iterations=0)
    time = motion.times(50)
    return kd.identification.simulate(robot, time, *motion(time), noise=noise)


@pytest.mark.parametrize(("name", "frame"), [("ur5", "wrist_3_link"), ("panda", "panda_link8")])
def test_exact_torques_give_the_exact_payload(name: str, frame: str) -> None:
    robot = kd.load(name)
    loaded = robot.with_payload(frame, 1.7, COM, INERTIA)
    found = kd.identification.payload(robot, measured(loaded), frame)
    assert found.status == "converged" and found.mass == pytest.approx(1.7, rel=1e-5)
    np.testing.assert_allclose(found.com, COM, atol=1e-5)
    np.testing.assert_allclose(found.inertia, INERTIA, atol=1e-5)
    assert found.residual < 1e-4 * found.unloaded_residual
    assert found.robot.mass == pytest.approx(loaded.mass, rel=1e-5)


def test_an_estimate_that_has_not_converged_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinodyn.identification.consistent.MAX_STEPS", 1)
    robot = kd.load("ur5")
    found = kd.identification.payload(robot, measured(robot.with_payload("wrist_3_link", 1.7, COM)), "wrist_3_link")
    assert found.status == "not converged in 1 steps"


def test_noise_leaves_errors_of_the_size_that_is_reported() -> None:
    robot = kd.load("ur5")
    found = kd.identification.payload(
        robot, measured(robot.with_payload("wrist_3_link", 1.7, COM), 0.01), "wrist_3_link"
    )
    truth = np.array([1.7, *(1.7 * COM)])
    estimate = np.array([found.mass, *(found.mass * found.com)])
    assert (np.abs(estimate - truth) < 5 * found.standard_errors[:4]).all()
    assert kd.identification.is_physically_consistent(found.robot.inertial_parameters).all()


def test_at_rest_mass_and_com_are_found_and_the_inertia_stays_consistent() -> None:
    robot = kd.load("ur5")
    q = robot.random(40, seed=3)
    zeros = np.zeros_like(q)
    tau = kd.dynamics.inverse(robot.with_payload("wrist_3_link", 2.0, COM), q, zeros, zeros)
    data = kd.identification.measurements(robot, np.arange(40.0), q, tau, v=zeros, a=zeros)
    found = kd.identification.payload(robot, data, "wrist_3_link")
    assert found.mass == pytest.approx(2.0, rel=1e-3)
    np.testing.assert_allclose(found.com, COM, atol=1e-3)
    assert (np.linalg.eigvalsh(found.inertia) > 0.0).all()


def test_no_payload_is_found_where_there_is_none() -> None:
    robot = kd.load("ur5")
    assert kd.identification.payload(robot, measured(robot), "wrist_3_link").mass < 1e-3


def test_bad_input_is_refused() -> None:
    robot = kd.load("ur5")
    with pytest.raises(kd.UnknownNameError, match="wrist_9"):
        kd.identification.payload(robot, measured(robot), "wrist_9")
    with pytest.raises(kd.InputError, match="data must be a kinodyn.identification.Measurements"):
        kd.identification.payload(robot, np.zeros(3), "wrist_3_link")
    with pytest.raises(kd.InputError, match="fixed to the world"):
        kd.identification.payload(robot, measured(robot), "base")
    with pytest.raises(kd.InputError, match="the data are of"):
        kd.identification.payload(kd.load("panda"), measured(robot), "panda_link8")
