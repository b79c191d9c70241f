"""Trapezoids: known times, limits on every joint, moving ends, and ruckig with a huge jerk limit as reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.errors import InputError

Check = Callable[..., None]


def test_known_times_of_trapezoid_and_triangle() -> None:
    long = tr.trapezoid([0.0], [5.0], velocity=2.0, acceleration=4.0)
    assert abs(long.duration - (5.0 / 2.0 + 2.0 / 4.0)) < 1e-14
    np.testing.assert_allclose(long.knots, [0.0, 0.5, 2.5, 3.0])
    short = tr.trapezoid([0.0], [-0.25], velocity=2.0, acceleration=4.0)
    assert abs(short.duration - 2.0 * np.sqrt(0.25 / 4.0)) < 1e-14 and len(short.knots) == 3
    np.testing.assert_allclose(short(0.25, 1), [-1.0])


def test_from_rest_to_rest_all_joints_stay_on_the_line(panda: kd.Robot) -> None:
    q = panda.random(2, seed=0)
    motion = tr.trapezoid(q[0], q[1], acceleration=5.0, robot=panda)
    t = np.linspace(0.0, motion.duration, 50)
    fraction = (motion(t) - q[0]) / (q[1] - q[0])
    np.testing.assert_allclose(fraction, fraction[:, :1] * np.ones(7), atol=1e-12)
    report = tr.check(panda, motion, acceleration=5.0, torque=False)
    assert report.ok and abs(max(load.max() for load in report.peak_ratio.values()) - 1.0) < 1e-9


def test_a_longer_duration_keeps_full_acceleration_and_cruises_slower() -> None:
    motion = tr.trapezoid([0.0, 0.0], [2.0, 1.0], velocity=1.0, acceleration=1.0, duration=5.0)
    assert motion.duration == 5.0
    np.testing.assert_allclose(motion(5.0), [2.0, 1.0])
    np.testing.assert_allclose(motion(0.0, 2), [1.0, 0.5])
    with pytest.raises(InputError, match="at least 3 s"):
        tr.trapezoid([0.0, 0.0], [2.0, 1.0], velocity=1.0, acceleration=1.0, duration=2.9)


@settings(max_examples=60)
@given(st.integers(0, 100_000))
def test_moving_ends_are_met_within_limits_in_the_least_common_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    velocity, acceleration = rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 3.0, n)
    q0, q1 = rng.normal(size=(2, n))
    v0, v1 = rng.uniform(-1.0, 1.0, size=(2, n)) * velocity
    motion = tr.trapezoid(q0, q1, velocity=velocity, acceleration=acceleration, v0=v0, v1=v1)
    end = motion.duration
    np.testing.assert_allclose(motion([0.0, end]), [q0, q1], atol=1e-9)
    np.testing.assert_allclose(motion([0.0, end], 1), [v0, v1], atol=1e-12)
    assert tr.check(None, motion, velocity=velocity, acceleration=acceleration).ok
    reference = tr.jerk_limited(q0, q1, velocity=velocity, acceleration=acceleration, jerk=1e5, v0=v0, v1=v1)
    np.testing.assert_allclose(end, reference.duration, rtol=2e-3, atol=1e-4)


def test_durations_impossible_from_a_moving_start_are_skipped() -> None:
    """At 1 rad/s with 0.6 rad to go: 0.6 s by going on, or 5.4 s by turning back; between only up to braking."""
    limits = {"velocity": 1.0, "acceleration": 1.0, "v0": [1.0], "v1": [1.0]}
    assert abs(tr.trapezoid([0.0], [0.6], **limits).duration - 0.6) < 1e-12  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the next possible"):
        tr.trapezoid([0.0], [0.6], duration=2.0, **limits)  # type: ignore[arg-type]
    slow = tr.trapezoid([0.0], [0.6], duration=6.0, **limits)  # type: ignore[arg-type]
    assert slow.duration == 6.0 and slow(6.0)[0] == pytest.approx(0.6, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"velocity": 1.0, "acceleration": 0.0}, "acceleration must be positive"),
        ({"velocity": 1.0, "acceleration": np.inf}, "no moving joint"),
        ({"velocity": 1.0, "acceleration": 1.0, "v0": [2.0]}, "above its limit"),
        ({"velocity": 1.0, "acceleration": np.inf, "v0": [0.5]}, "no acceleration limit"),
        ({"velocity": {"x1": 1.0}, "acceleration": 1.0}, "unknown coordinate"),
        ({"velocity": 1.0, "acceleration": 1.0, "duration": np.nan}, "duration"),
        ({"velocity": 1.0, "acceleration": 1.0, "v0": [np.nan]}, "NaN"),
    ],
)
def test_invalid_arguments_raise(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(kd.KinodynError, match=words):
        tr.trapezoid([0.0], [1.0], **arguments)  # type: ignore[arg-type]


def test_zero_distance_takes_no_time_and_unlimited_speed_gives_triangles() -> None:
    still = tr.trapezoid([1.0], [1.0], velocity=1.0, acceleration=1.0)
    assert still.duration == 0.0 and still(3.0) == 1.0 and len(still.sample(0.1).time) == 1
    assert tr.trapezoid([1.0], [1.0], acceleration=1.0, duration=2.0).duration == 2.0
    assert abs(tr.trapezoid([0.0], [100.0], acceleration=1.0).duration - 20.0) < 1e-12
