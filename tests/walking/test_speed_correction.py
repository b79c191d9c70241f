"""The commanded speed is corrected by the measured one."""

from __future__ import annotations

import numpy as np
import pytest

from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.speed_correction import SpeedCorrection

STEP_TIME = 0.5  # [s]


def walk(correction: SpeedCorrection, velocity: np.ndarray, gain: float, steps: int) -> float:
    """Step on an arc, `gain` times as fast along it as the corrected velocity; return the last speed [m/s]."""
    x, y, yaw, speed = 0.0, 0.0, 0.3, 0.0
    for k in range(steps):
        v = gain * correction.factor * velocity[:2]
        chord = yaw + 0.5 * velocity[2] * STEP_TIME
        x += STEP_TIME * float(np.cos(chord) * v[0] - np.sin(chord) * v[1])
        y += STEP_TIME * float(np.sin(chord) * v[0] + np.cos(chord) * v[1])
        yaw += velocity[2] * STEP_TIME
        speed = float(np.hypot(*v))
        correction.observe(k * STEP_TIME, Footstep("left" if k % 2 else "right", x, y, yaw), velocity)
    return speed


@pytest.mark.parametrize("gain", [0.92, 1.0, 1.08, 1.3])
@pytest.mark.parametrize("velocity", [(0.5, 0.0, 0.0), (0.0, -0.3, 0.0), (0.3, 0.1, 0.2)])
def test_a_robot_that_walks_too_fast_or_too_slowly_reaches_its_speed(
    velocity: tuple[float, float, float], gain: float
) -> None:
    commanded = np.array(velocity)
    assert walk(SpeedCorrection(), commanded, gain, 60) == pytest.approx(np.hypot(*velocity[:2]), rel=0.01)


def test_the_correction_is_bounded_and_pushes_do_not_count() -> None:
    correction = SpeedCorrection()
    walk(correction, np.array([0.4, 0.0, 0.0]), 0.7, 60)
    assert correction.factor == pytest.approx(1.2)
    pushed = SpeedCorrection()
    for k, x in enumerate((0.0, 0.8)):  # one stride of twice its length
        pushed.observe(k * 1.0, Footstep("left", x, 0.0, 0.0), np.array([0.4, 0.0, 0.0]))
    assert pushed.factor == 1.0


def test_stepping_in_place_needs_no_correction() -> None:
    correction = SpeedCorrection()
    walk(correction, np.zeros(3), 1.0, 6)
    assert correction.factor == 1.0


@pytest.mark.parametrize("gain", [0.97, 1.0, 1.03])
def test_a_robot_that_turns_too_fast_or_too_slowly_reaches_its_rate(gain: float) -> None:
    correction, commanded, yaw, rate = SpeedCorrection(), np.array([0.0, 0.0, -1.0]), 0.3, 0.0
    for k in range(60):
        rate = gain * correction.turn_factor * commanded[2]
        yaw += rate * STEP_TIME
        heading = (yaw + np.pi) % (2.0 * np.pi) - np.pi  # as it is measured
        correction.observe(k * STEP_TIME, Footstep("left" if k % 2 else "right", 0.0, 0.0, heading), commanded)
    assert rate == pytest.approx(commanded[2], rel=1e-3) and correction.factor == 1.0
