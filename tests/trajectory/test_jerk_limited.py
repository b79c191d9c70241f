"""Jerk-limited motion: known durations, any state to any state, waypoints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import ruckig
from hypothesis import given, settings
from hypothesis import strategies as st

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.errors import InputError

Check = Callable[..., None]
LIMITS = {"velocity": 1.0, "acceleration": 2.0, "jerk": 10.0}


def test_a_long_distance_takes_the_known_time() -> None:
    """With all limits reached: distance / speed + speed / acceleration + acceleration / jerk."""
    motion = tr.jerk_limited([0.0], [3.0], **LIMITS)  # type: ignore[arg-type]
    assert abs(motion.duration - (3.0 / 1.0 + 1.0 / 2.0 + 2.0 / 10.0)) < 1e-12
    report = tr.check(None, motion, **LIMITS)  # type: ignore[arg-type]
    assert report.ok and all(report.exact[kind] for kind in ("velocity", "acceleration", "jerk"))
    for kind in ("velocity", "acceleration", "jerk"):
        assert abs(report.peak_ratio[kind][0] - 1.0) < 1e-9  # type: ignore[index]


@settings(max_examples=80)
@given(st.integers(0, 100_000))
def test_any_state_to_any_state_within_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    velocity, acceleration, jerk = rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 3.0, n), rng.uniform(2.0, 20.0, n)
    q0, q1 = rng.normal(size=(2, n))
    v0, v1 = rng.uniform(-0.5, 0.5, size=(2, n)) * velocity
    spare = np.sqrt(velocity * jerk) * 0.6
    a0, a1 = rng.uniform(-1.0, 1.0, size=(2, n)) * np.minimum(0.5 * acceleration, spare)
    limits = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    motion = tr.jerk_limited(q0, q1, v0=v0, v1=v1, a0=a0, a1=a1, **limits)
    end = motion.duration
    np.testing.assert_allclose(motion([0.0, end]), [q0, q1], atol=1e-7)  # as near as ruckig comes
    np.testing.assert_allclose(motion([0.0, end], 1), [v0, v1], atol=1e-7)
    np.testing.assert_allclose(motion([0.0, end], 2), [a0, a1], atol=1e-7)
    assert tr.check(None, motion, tolerance=1e-7, **limits).ok
    inner = motion.knots[1:-1]
    np.testing.assert_allclose(motion(np.nextafter(inner, 0.0), 2), motion(inner, 2), atol=1e-9)


def test_polynomials_agree_with_ruckig_at_every_time() -> None:
    given_input, found = ruckig.InputParameter(3), ruckig.Trajectory(3)
    given_input.current_position, given_input.current_velocity = [0.0, 0.1, 0.2], [0.2, -0.4, 0.0]
    given_input.current_acceleration, given_input.target_position = [0.3, 0.0, -0.5], [1.0, -1.0, 0.3]
    given_input.max_velocity, given_input.max_acceleration = [1.0] * 3, [2.0] * 3
    given_input.max_jerk = [10.0] * 3
    ruckig.Ruckig(3).calculate(given_input, found)
    motion = tr.jerk_limited(
        [0.0, 0.1, 0.2],
        [1.0, -1.0, 0.3],
        v0=[0.2, -0.4, 0.0],
        a0=[0.3, 0.0, -0.5],
        **LIMITS,  # type: ignore[arg-type]
    )
    for t in np.linspace(0.0, found.duration, 37):
        for order, values in enumerate(found.at_time(t)):
            np.testing.assert_allclose(motion(t, order), values, atol=1e-10)


def test_a_start_beyond_the_limits_returns_within_them() -> None:
    motion = tr.jerk_limited([0.0], [5.0], v0=[1.6], a0=[2.5], **LIMITS)  # type: ignore[arg-type]
    np.testing.assert_allclose(motion(0.0, 1), [1.6])
    np.testing.assert_allclose(motion(0.0, 2), [2.5])
    t = np.linspace(1.5, motion.duration, 500)
    assert np.abs(motion(t, 1)).max() <= 1.0 + 1e-9 and abs(motion(motion.duration)[0] - 5.0) < 1e-9


def test_synchronisation_modes_and_a_longer_duration() -> None:
    ends = ([0.0, 0.0], [2.0, 0.5])
    straight = tr.jerk_limited(*ends, synchronise="phase", **LIMITS)  # type: ignore[arg-type]
    t = np.linspace(0.0, straight.duration, 40)
    np.testing.assert_allclose(straight(t)[:, 1], straight(t)[:, 0] / 4.0, atol=1e-12)
    early = tr.jerk_limited(*ends, synchronise="none", **LIMITS)  # type: ignore[arg-type]
    assert abs(early(0.6 * early.duration)[1] - 0.5) < 1e-9
    longer = tr.jerk_limited(*ends, duration=6.0, **LIMITS)  # type: ignore[arg-type]
    assert abs(longer.duration - 6.0) < 1e-9
    with pytest.raises(InputError, match="at least"):
        tr.jerk_limited(*ends, duration=0.5, **LIMITS)  # type: ignore[arg-type]


def assert_passes(found: tr.JerkLimitedResult, waypoints: np.ndarray, limits: dict[str, object]) -> None:
    motion = found.trajectory
    np.testing.assert_allclose(motion(found.times), waypoints, atol=1e-7)
    inner = motion.knots[1:-1]
    for order in (0, 1, 2):
        np.testing.assert_allclose(motion(np.nextafter(inner, 0.0), order), motion(inner, order), atol=1e-7)
    assert tr.check(motion.robot, motion, torque=False, tolerance=1e-7, **limits).ok  # type: ignore[arg-type]


def test_waypoints_are_passed_within_all_limits_and_faster_than_by_stopping(panda: kd.Robot) -> None:
    s = np.linspace(0.0, 1.0, 6)[:, None]
    q = np.sin(2.0 * s + np.arange(7)) * 0.8 + [0.0, 0.0, 0.0, -1.5, 0.0, 1.8, 0.0]
    limits: dict[str, object] = {"acceleration": 8.0, "jerk": 60.0}
    found = tr.jerk_limited_waypoints(q, robot=panda, **limits)  # type: ignore[arg-type]
    assert_passes(found, q, limits)
    assert found.bound <= found.trajectory.duration < 0.75 * found.stopping
    stopping = tr.jerk_limited_waypoints(q, sweeps=0, robot=panda, **limits)  # type: ignore[arg-type]
    assert stopping.trajectory.duration == pytest.approx(found.stopping)
    pieces = [tr.jerk_limited(q[k], q[k + 1], robot=panda, **limits).duration for k in range(5)]  # type: ignore[arg-type]
    assert found.stopping == pytest.approx(sum(pieces))


def test_collinear_waypoints_take_little_longer_than_the_direct_motion() -> None:
    found = tr.jerk_limited_waypoints([[0.0], [0.3], [1.0], [1.2], [2.0]], **LIMITS)  # type: ignore[arg-type]
    direct = tr.jerk_limited([0.0], [2.0], **LIMITS).duration  # type: ignore[arg-type]
    assert found.bound == pytest.approx(direct)
    assert found.trajectory.duration < 1.05 * direct < 0.7 * found.stopping


def test_position_limits_hold_between_waypoints_next_to_them(panda: kd.Robot) -> None:
    low, high = panda.limits.lower + 0.01, panda.limits.upper - 0.01
    q = np.stack([low, high, low, 0.5 * (low + high)])
    limits: dict[str, object] = {"acceleration": 15.0, "jerk": 400.0}
    assert_passes(tr.jerk_limited_waypoints(q, sweeps=3, robot=panda, **limits), q, limits)  # type: ignore[arg-type]


def test_a_floating_base_stops_at_waypoints_while_joints_do_not(humanoid: kd.Robot) -> None:
    q = humanoid.random(3, seed=2)
    most = np.full(humanoid.nv, 2.0)
    found = tr.jerk_limited_waypoints(q, velocity=most, acceleration=4 * most, jerk=40 * most, sweeps=1, robot=humanoid)
    at = found.trajectory(found.times)
    np.testing.assert_allclose(humanoid.difference(at, q), 0.0, atol=1e-7)
    np.testing.assert_allclose(found.trajectory(found.times[1], 1)[:6], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tr.jerk_limited([0.0], [1.0], velocity=1.0, acceleration=1.0, jerk=np.inf), "no jerk limit"),
        (lambda: tr.jerk_limited([0.0], [1.0], v1=[2.0], **LIMITS), "no motion within the limits"),  # type: ignore[arg-type]
        (lambda: tr.jerk_limited([0.0], [np.nan], **LIMITS), "NaN"),  # type: ignore[arg-type]
        (lambda: tr.jerk_limited([0.0], [1.0], synchronise="both", **LIMITS), "synchronise"),  # type: ignore[arg-type]
        (lambda: tr.jerk_limited_waypoints([[0.0]], **LIMITS), "at least two"),  # type: ignore[arg-type]
        (lambda: tr.jerk_limited_waypoints([[0.0], [1.0]], sweeps=-1, **LIMITS), "sweeps"),  # type: ignore[arg-type]
    ],
)
def test_invalid_arguments_raise(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_waypoints_outside_position_limits_are_rejected(panda: kd.Robot) -> None:
    q = panda.random(3, seed=0)
    q[1, 0] = 5.0
    with pytest.raises(InputError, match="waypoint 1"):
        tr.jerk_limited_waypoints(q, acceleration=1.0, jerk=1.0, robot=panda)
