"""A path with a timing law: the chain rule, knots, invalid laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.errors import InputError

Check = Callable[..., None]


def test_rates_with_another_timing_law_follow_the_chain_rule(humanoid: kd.Robot, assert_rates_match: Check) -> None:
    path = tr.cubic_spline(humanoid.random(4, seed=1), [0.0, 0.5, 1.2, 2.0], robot=humanoid)
    motion = path.along(tr.minimum_jerk([0.0], [2.0], 3.0))
    assert isinstance(motion, tr.TimedPath) and motion.duration == 3.0
    assert_rates_match(motion)
    np.testing.assert_allclose(motion([0.0, 3.0], 1), 0.0, atol=1e-12)
    when = motion.knots[1:-1]
    np.testing.assert_allclose(motion.law(when)[:, 0], [0.5, 1.2], atol=1e-12)


def test_a_timed_path_can_be_stretched_checked_and_retimed(panda: kd.Robot) -> None:
    middle = 0.5 * (panda.limits.lower + panda.limits.upper)
    inside = middle + 0.4 * (panda.random(4, seed=1) - middle)
    path = tr.cubic_spline(inside, [0.0, 0.2, 0.4, 0.6], robot=panda)
    motion = path.along(tr.trapezoid([0.0], [0.6], velocity=1.0, acceleration=10.0))
    slow = motion.stretched(2.0)
    t = np.linspace(0.0, motion.duration, 9)
    for order in range(3):
        np.testing.assert_allclose(slow(2.0 * t, order), motion(t, order) / 2.0**order, atol=1e-9)
    report = tr.check(panda, motion, acceleration=50.0, torque=False)
    found = tr.retime(panda, motion, acceleration=50.0, torque=False)
    expected = max(report.peak_ratio["velocity"].max(), np.sqrt(report.peak_ratio["acceleration"].max()))
    assert found.status == "slowed" and found.factor == pytest.approx(expected, rel=1e-6) and found.check.ok


def test_invalid_timing_laws_are_rejected() -> None:
    path = tr.minimum_jerk([0.0, 1.0], [1.0, 0.0], 1.0)
    for law, words in (
        (tr.minimum_jerk([1.0], [0.0], 1.0), "law must not decrease"),
        (tr.minimum_jerk([0.0], [1.5], 1.0), "law must be from 0 to 1"),
        (path, "one number"),
    ):
        with pytest.raises(InputError, match=words):
            path.along(law)
    with pytest.raises(InputError, match="order 3"):
        path.along(tr.minimum_jerk([0.0], [1.0], 1.0))(0.5, 3)
