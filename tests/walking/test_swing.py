"""Swing trajectories are smooth, however often their target changes, and stay above the ground."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.walking import SwingTrajectory

RNG = np.random.default_rng(0)


def place(scale: float = 0.3) -> Array:
    """Draw a place for a foot, slightly tilted."""
    T = np.eye(4)
    T[:3, :3] = kd.spatial.rot_z(RNG.uniform(-3, 3)) @ kd.spatial.exp3(0.1 * RNG.normal(size=3))
    T[:3, 3] = [*RNG.uniform(-scale, scale, 2), RNG.uniform(-0.03, 0.03)]
    return T


def test_a_swing_starts_and_ends_at_rest_at_its_poses() -> None:
    for _ in range(20):
        T0, T1 = place(), place()
        swing = SwingTrajectory(T0, T1, 1.0, 1.6, height=0.04)
        for t, T in ((1.0, T0), (1.6, T1), (0.5, T0), (2.0, T1)):
            np.testing.assert_allclose(swing(t), T, atol=1e-12)
        np.testing.assert_allclose([swing(t, k) for t in (1.0, 1.6) for k in (1, 2)], 0.0, atol=1e-9)
        assert swing(1.3)[2, 3] == pytest.approx(max(T0[2, 3], T1[2, 3]) + 0.04)
        heights = swing(np.linspace(1.0, 1.6, 200))[:, 2, 3]
        assert heights.min() > min(T0[2, 3], T1[2, 3]) - 1e-9


def test_a_swing_starts_and_ends_vertically() -> None:
    start, end = np.eye(4), np.eye(4)
    end[:2, 3] = (0.3, 0.1)
    swing = SwingTrajectory(start, end, 0.0, 1.0, height=0.1)
    for t, T in ((0.1, start), (0.9, end)):
        np.testing.assert_allclose(swing(t)[:2, 3], T[:2, 3], atol=1e-12)
        assert swing(t)[2, 3] > 0.005


def test_a_foot_in_motion_swings_on_from_its_velocity_and_lands_with_its_descent_speed() -> None:
    for _ in range(20):
        velocity = np.array([*RNG.uniform(-0.5, 0.5, 2), RNG.uniform(0.0, 0.4), *RNG.uniform(-1.0, 1.0, 3)])
        swing = SwingTrajectory(place(), place(), 0.0, 0.4, height=0.05, velocity=velocity, descent_speed=0.05)
        np.testing.assert_allclose(swing(0.0, 1), velocity, atol=1e-9)
        np.testing.assert_allclose(swing(0.4, 1), [0.0, 0.0, -0.05, 0.0, 0.0, 0.0], atol=1e-9)
        np.testing.assert_allclose(swing(0.4), swing.target, atol=1e-9)


def test_the_peak_velocity_along_the_ground_is_below_that_of_one_quintic() -> None:
    end = np.eye(4)
    end[0, 3] = 1.0
    swing = SwingTrajectory(np.eye(4), end, 0.0, 1.0, vertical_fraction=0.0)
    assert swing(np.linspace(0, 1, 200), 1)[:, 0].max() < 1.6 < 15.0 / 8.0


def test_a_late_foot_descends_without_a_stop() -> None:
    swing = SwingTrajectory(np.eye(4), place(), 0.0, 0.5)
    lower = swing.target.copy()
    lower[2, 3] -= 0.002
    swing.retarget(0.498, lower, 0.52, descent_speed=0.2)
    heights, speeds = swing(np.linspace(0.498, 0.52, 50))[:, 2, 3], swing(np.linspace(0.498, 0.52, 50), 1)[:, 2]
    assert (np.diff(heights) < 1e-12).all() and speeds[-1] == pytest.approx(-0.2)
    np.testing.assert_allclose(swing(0.52), lower, atol=1e-12)
    for wrong in (-0.1, np.nan, np.inf):
        with pytest.raises(kd.InputError, match="descent_speed must be"):
            swing.retarget(0.51, descent_speed=wrong)


def test_velocity_and_acceleration_are_derivatives() -> None:
    swing = SwingTrajectory(place(), place(), 0.0, 0.7)
    swing.retarget(0.3, place(), 0.8)
    t, h = RNG.uniform(0.01, 0.79, 50), 1e-6
    dT = (swing(t + h) - swing(t - h)) / (2 * h)
    spin = dT[:, :3, :3] @ np.swapaxes(swing(t)[:, :3, :3], -1, -2)
    np.testing.assert_allclose(swing(t, 1)[:, :3], dT[:, :3, 3], atol=1e-7)
    np.testing.assert_allclose(swing(t, 1)[:, 3:], kd.spatial.unskew(spin), atol=1e-7)
    np.testing.assert_allclose(swing(t, 2), (swing(t + h, 1) - swing(t - h, 1)) / (2 * h), atol=1e-5)


def test_single_times_agree_with_batches() -> None:
    swing = SwingTrajectory(place(), place(), 0.0, 0.7)
    swing.retarget(0.2, place(), 0.6)
    times = np.linspace(-0.1, 0.8, 40)
    for k, t in enumerate(times):
        for one, many in zip(swing.at(float(t)), swing.all(times), strict=True):
            np.testing.assert_allclose(one, many[k], atol=1e-10)


def test_random_changes_of_target_and_time_cause_no_jumps() -> None:
    lowest = np.inf
    for _ in range(150):
        level = place()
        level[2, 3] = 0.0
        swing = SwingTrajectory(np.eye(4), level, 0.0, 0.6, height=0.05)
        t = 0.0
        for _ in range(int(RNG.integers(1, 6))):
            t += RNG.uniform(0.0, 0.4) * (swing.end - t)
            before = swing.all(t)
            past = swing.all(np.linspace(0.0, t, 7))
            T = place() if RNG.random() < 0.7 else None
            if T is not None:
                T[2, 3] = 0.0
            end = t + RNG.uniform(0.1, 0.5) if RNG.random() < 0.7 else None
            swing.retarget(t, T, end)
            for old, new in zip(before, swing.all(t), strict=True):
                np.testing.assert_allclose(new, old, atol=1e-7)
            for old, new in zip(past, swing.all(np.linspace(0.0, t, 7)), strict=True):
                np.testing.assert_allclose(new, old, atol=1e-7)
            if T is not None:
                np.testing.assert_allclose(swing.target, T, atol=1e-12)
            np.testing.assert_allclose(swing(swing.end), swing.target, atol=1e-9)
            np.testing.assert_allclose([swing(swing.end, 1), swing(swing.end, 2)], 0.0, atol=1e-6)
        samples = swing(np.linspace(0, swing.end, 300))[:, 2, 3]
        lowest = min(lowest, float(samples.min()))
    assert lowest > -1e-6


def test_a_descending_foot_stays_above_the_ground_when_its_touchdown_is_delayed() -> None:
    T = np.eye(4)
    T[0, 3] = 0.3
    for late in (0.55, 0.58, 0.595):
        swing = SwingTrajectory(np.eye(4), T, 0.0, 0.6)
        swing.retarget(late, end=1.0)
        assert swing(np.linspace(late, 1.0, 400))[:, 2, 3].min() > -1e-8
        np.testing.assert_allclose(swing(1.0), T, atol=1e-9)


def test_invalid_arguments_are_rejected() -> None:
    swing = SwingTrajectory(np.eye(4), np.eye(4), 0.0, 0.5)
    with pytest.raises(kd.InputError, match="must end after it starts"):
        SwingTrajectory(np.eye(4), np.eye(4), 0.5, 0.5)
    with pytest.raises(kd.InputError, match="in the air from 0 s to 0.5 s"):
        swing.retarget(0.6)
    with pytest.raises(kd.InputError, match="must be after the time of the change"):
        swing.retarget(0.3, end=0.3)
    with pytest.raises(kd.InputError, match="order must be"):
        swing(0.1, 3)
    with pytest.raises(kd.InputError, match="descent_speed"):
        SwingTrajectory(np.eye(4), np.eye(4), 0.0, 0.5, descent_speed=-1.0)
    with pytest.raises(kd.InputError, match="height"):
        SwingTrajectory(np.eye(4), np.eye(4), 0.0, 0.5, height=-1.0)
