"""Balance laws on the pendulum do what their error equations say."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.balance import lipm

W = 3.3


def test_the_dcm_error_decays_at_the_gain() -> None:
    wanted, dt = np.array([0.1, -0.05]), 1e-3
    xi = wanted + [0.02, -0.03]
    for _ in range(300):
        xi = lipm.move_dcm(xi, kd.balance.dcm_feedback(xi, wanted, wanted, W, gain=4.0), W, dt)
    held = np.exp(W * dt) - (1.0 + 4.0 / W) * np.expm1(W * dt)  # what is left of it after one tick
    np.testing.assert_allclose(xi - wanted, held**300 * np.array([0.02, -0.03]), rtol=1e-9)
    assert held**300 == pytest.approx(np.exp(-4.0 * 0.3), rel=0.01)


def test_the_zmp_stays_in_the_polygon() -> None:
    square = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
    errors = np.random.default_rng(0).normal(size=(100, 2))
    found = kd.balance.dcm_feedback(errors, [0.0, 0.0], [0.0, 0.0], W, gain=3.0, polygon=square)
    assert np.abs(found).max() <= 0.1 and (np.abs(found).max(axis=1) > 0.0999).any()


def test_zmp_feedback_is_stable_and_rejects_unstable_gains() -> None:
    com, velocity = np.array(0.03), np.array(0.1)
    for _ in range(500):
        zmp = (velocity + 5.0 * com) / 2.0  # at which the law asks for the velocity that the mass has
        law = kd.balance.zmp_feedback(com, 0.0, 0.0, zmp, 0.0, W, com_gain=5.0, zmp_gain=2.0)
        assert law == pytest.approx(float(velocity), abs=1e-12)
        com, velocity = lipm.move(com, velocity, zmp, W, 0.01)
    assert abs(float(com)) < 1e-6 and abs(float(velocity)) < 1e-6
    with pytest.raises(kd.InputError, match="stable for com_gain > omega > zmp_gain"):
        kd.balance.zmp_feedback(0.0, 0.0, 0.0, 0.0, 0.0, W, com_gain=3.0, zmp_gain=2.0)
    with pytest.raises(kd.InputError, match="omega must be a positive number"):
        kd.balance.zmp_feedback(0.0, 0.0, 0.0, 0.0, 0.0, np.full(3, W), com_gain=5.0, zmp_gain=2.0)
    with pytest.raises(kd.InputError, match="gain must be a positive number"):
        kd.balance.dcm_feedback([0, 0], [0, 0], [0, 0], W, gain=-1.0)


def test_the_strategy_follows_from_the_margin() -> None:
    margins = [0.05, 0.005, -0.01, -0.05, -0.4]
    found = kd.balance.strategy(margins, hip=0.03, step=0.3, reserve=0.01)
    assert found.tolist() == ["ankle", "hip", "hip", "step", "fall"]
