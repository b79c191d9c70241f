"""Durations of steps and the height of the CoM: chosen from the velocity, within the reach of the legs."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.walking import Biped, Footstep, GaitSettings, StepLimits
from kinodyn.walking.com_height import ComHeight
from kinodyn.walking.step_timing import GaitTiming


@pytest.fixture
def timing(body: Biped, limits: StepLimits) -> GaitTiming:
    return GaitTiming(GaitSettings.from_robot(body), limits)


def test_slow_steps_have_the_durations_of_the_settings_and_faster_ones_are_never_slower(timing: GaitTiming) -> None:
    assert timing.at_velocity((0.1, 0.0, 0.0)) == timing.slow
    times = [timing.at_velocity((v, 0.0, 0.0)).step_time for v in np.linspace(0.0, timing.max_velocity[0], 40)]
    assert (np.diff(times) <= 1e-12).all()
    assert times[0] == timing.slow.step_time and times[-1] == pytest.approx(timing.fast.step_time)


def test_steps_at_every_allowed_velocity_are_within_their_limits(timing: GaitTiming, limits: StepLimits) -> None:
    rng = np.random.default_rng(0)
    allowed = 0
    for velocity in rng.uniform(-1.1, 1.1, (300, 3)) * timing.max_velocity:
        try:
            timing.check(velocity)
        except kd.InputError:
            continue
        allowed += 1
        assert limits.fits(velocity * timing.at_velocity(velocity).step_time)
    assert allowed > 50


def test_the_hips_are_as_low_as_the_legs_need_and_not_lower(body: Biped) -> None:
    longest = 0.985 * body.leg
    height = ComHeight(body, 0.985)
    assert height.drop(Footstep("left", 0.0, body.width, 0.0), Footstep("right", 0.0, 0.0, 0.0)) == 0.0
    drops = []
    for length in np.linspace(0.0, 0.6, 13):
        drop = height.drop(Footstep("left", length, body.width, 0.0), Footstep("right", 0.0, 0.0, 0.0))
        drops.append(drop)
        leg = np.hypot(body.hip_height - drop, 0.5 * length)
        assert leg <= longest + 1e-12
    assert (np.diff(drops) >= 0).all() and 0.02 < drops[-1] < 0.15
