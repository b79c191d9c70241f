"""Limit checks over the whole duration: exact extrema, torques between samples, messages with joint and time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.trajectory.extrema import polynomial_roots


@settings(max_examples=50)
@given(st.integers(0, 100_000), st.integers(0, 6))
def test_the_maximum_of_a_polynomial_is_at_an_end_or_at_a_root_of_its_derivative(seed: int, degree: int) -> None:
    """Of any degree, also when the leading coefficients are nothing, or next to nothing."""
    rng = np.random.default_rng(seed)
    coefficients = np.zeros(8)
    coefficients[: degree + 1] = rng.normal(size=degree + 1)
    coefficients[degree + 1 :] = rng.normal(size=7 - degree) * rng.choice([0.0, 1e-15, 1e-11])
    slope = np.polynomial.polynomial.polyder(coefficients)
    places = np.append(polynomial_roots(slope[:, None])[:, 0], [0.0, 1.0])
    found = np.polynomial.polynomial.polyval(places, coefficients)
    seen = np.polynomial.polynomial.polyval(np.linspace(0.0, 1.0, 5001), coefficients)
    assert found.max() >= seen.max() - 1e-12 and found.min() <= seen.min() + 1e-12


def test_extrema_of_splines_are_exact_where_samples_miss_them(panda: kd.Robot) -> None:
    motion = tr.quintic_spline(panda.random(6, seed=3), 0.7 * np.arange(6), robot=panda)
    report = tr.check(panda, motion, acceleration=5.0, jerk=50.0, torque=False)
    t = np.linspace(0.0, motion.duration, 100_001)
    for kind, order, limit in (("velocity", 1, panda.limits.velocity), ("acceleration", 2, 5.0), ("jerk", 3, 50.0)):
        seen = (np.abs(motion(t, order)) / limit).max(axis=0)
        ratio: Array = report.peak_ratio[kind]  # type: ignore[index]
        assert (ratio >= seen - 1e-12).all() and (ratio <= seen * (1.0 + 1e-4)).all()
        assert report.exact[kind]  # type: ignore[index]
        for i, time in enumerate(report.time[kind]):  # type: ignore[index]
            sides = [abs(motion(at, order)[i]) for at in (time, np.nextafter(time, 0.0))]
            assert max(sides) / np.broadcast_to(limit, 7)[i] == pytest.approx(ratio[i], rel=1e-9)


def test_a_known_peak_is_reported_with_joint_time_and_excess(panda: kd.Robot) -> None:
    q0 = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
    q1 = q0 + np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    report = tr.check(panda, tr.minimum_jerk(q0, q1, 0.8, robot=panda), acceleration=5.0, torque=False)
    velocity = next(violation for violation in report.violations if violation.kind == "velocity")
    assert velocity.joint == "panda_joint3" and velocity.time == pytest.approx(0.4)
    assert velocity.value == pytest.approx(1.875 / 0.8) and velocity.excess == pytest.approx(1.875 / 0.8 - 2.175)
    assert report.violations[0].kind == "acceleration"  # a larger fraction of its limit
    assert not report and "'panda_joint3'" in str(report) and "beyond its limit" in str(report)
    assert "within limits" in str(tr.check(panda, tr.minimum_jerk(q0, q1, 4.0, robot=panda)))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_violations_have_the_sign_of_the_motion_and_begin_beyond_the_tolerance(panda: kd.Robot, sign: float) -> None:
    """Velocities by roots of polynomials, and torques and another trajectory by refined samples."""
    q0 = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
    motion = tr.minimum_jerk(q0, q0 + sign * np.eye(7)[2], 0.8, robot=panda)
    by_roots = tr.check(panda, motion, torque=False).violations[0]
    assert by_roots.value == pytest.approx(sign * 1.875 / 0.8) and by_roots.limit == sign * 2.175
    limit = 1.875 / 0.8 / 1.01
    for tolerance, is_within in ((0.0099, False), (0.0101, True)):
        assert tr.check(panda, motion, velocity=limit, torque=False, tolerance=tolerance).ok == is_within
    swing = Swing()
    by_samples = tr.check(None, swing, velocity=1.9).violations[0]
    assert by_samples.limit == np.copysign(1.9, by_samples.value)
    assert by_samples.value == pytest.approx(swing(by_samples.time, 1)[0], rel=1e-9)
    q, v, a = (motion(np.linspace(0.0, 0.8, 2001), order) for order in (0, 1, 2))
    torques = kd.dynamics.inverse(panda, q, v, a)
    for violation in tr.check(panda, motion, velocity=np.inf, torque=1.0).violations:
        along = torques[:, panda.joint_names.index(violation.joint)]
        assert violation.value == pytest.approx(along[np.abs(along).argmax()], rel=1e-4)


def test_position_violations_between_waypoints_are_found(panda: kd.Robot) -> None:
    """The spline overshoots a waypoint that is just inside."""
    q = np.tile([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0], (4, 1))
    q[1:3, 0] = panda.limits.upper[0] - 1e-3
    motion = tr.cubic_spline(q, [0.0, 1.0, 2.0, 3.0], robot=panda)
    violation = tr.check(panda, motion, velocity=np.inf, torque=False).violations[0]
    t = np.linspace(0.0, 3.0, 100_001)
    assert (violation.kind, violation.joint) == ("position", "panda_joint1") and violation.time == pytest.approx(
        1.5, abs=1e-9
    )
    assert violation.value == pytest.approx(motion(t)[:, 0].max(), abs=1e-9)
    low = q.copy()
    low[1:3, 0] *= -1.0
    below = tr.check(
        panda, tr.cubic_spline(low, [0.0, 1.0, 2.0, 3.0], robot=panda), velocity=np.inf, torque=False
    ).violations[0]
    assert below.limit == panda.limits.lower[0] and below.value == pytest.approx(-violation.value)


def test_peak_torques_are_those_of_inverse_dynamics(panda: kd.Robot) -> None:
    motion = tr.cubic_spline(
        panda.random(5, seed=2) * 0.6 + [0, 0, 0, -0.8, 0, 0.7, 0], 0.5 * np.arange(5), robot=panda
    )
    report = tr.check(panda, motion)
    t = np.linspace(0.0, motion.duration, 100_001)
    tau = kd.dynamics.inverse(panda, motion(t), motion(t, 1), motion(t, 2))
    seen = (np.abs(tau) / panda.limits.effort).max(axis=0)
    np.testing.assert_allclose(report.peak_ratio["torque"], seen, rtol=1e-6)
    assert (report.peak_ratio["torque"] >= seen * (1.0 - 1e-12)).all() and report.exact["torque"] is False


class Swing:
    """Somebody else's trajectory: cosine of one joint."""

    duration = 3.0

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        w, time = 2.0, np.asarray(t, dtype=float)
        value = (np.cos(w * time), -w * np.sin(w * time), -(w**2) * np.cos(w * time))[order]
        return np.stack([value, 0.0 * value], axis=-1)

    def sample(self, dt: float) -> tr.Samples:
        t = np.arange(0.0, self.duration, dt)
        return tr.Samples(t, self(t), self(t, 1), self(t, 2))


def test_any_trajectory_can_be_checked_by_refined_samples() -> None:
    report = tr.check(kd.load("planar2r"), Swing(), velocity=1.5, acceleration=5.0)
    assert report.peak_ratio["velocity"][0] == pytest.approx(2.0 / 1.5, rel=1e-10) and not report.exact["velocity"]
    assert report.violations[0].joint == "joint1" and abs(np.sin(2.0 * report.violations[0].time)) == pytest.approx(1.0)
    plain = tr.check(None, Swing(), acceleration=3.0)
    assert plain.violations[0].joint == "x0" and plain.violations[0].excess == pytest.approx(1.0)


def test_a_floating_base_needs_wrenches_for_torques(humanoid: kd.Robot) -> None:
    q = np.tile(humanoid.configuration("standing"), (2, 1))
    q[1, 7] += 0.1
    motion = tr.minimum_jerk(q[0], q[1], 1.0, robot=humanoid)
    report = tr.check(humanoid, motion)
    assert "torque" not in report.peak_ratio and "contact" in report.skipped["torque"] and "not checked" in str(report)
    weight = np.array([0.0, 0.0, humanoid.mass * 9.81, 0.0, 0.0, 0.0])
    lifted = tr.check(humanoid, motion, wrenches=lambda t: {humanoid.frame_names[0]: np.tile(weight, (len(t), 1))})
    assert lifted.peak_ratio["torque"].max() > 0.0


@pytest.mark.parametrize(
    ("robot", "motion", "options"),
    [
        ("panda", lambda: tr.minimum_jerk([0.0], [1.0], 1.0), {}),
        ("humanoid", lambda: tr.minimum_jerk(np.zeros(50), np.ones(50), 1.0), {}),
        ("panda", lambda: 3.0, {}),
        (None, lambda: tr.minimum_jerk([0.0], [1.0], 1.0), {"velocity": 0.0}),
        (None, lambda: tr.minimum_jerk([0.0], [1.0], 1.0), {"velocity": [1.0, 1.0]}),
    ],
)
def test_invalid_arguments_raise(robot: str | None, motion: Callable[[], Any], options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        tr.check(None if robot is None else kd.load(robot), motion(), **options)
