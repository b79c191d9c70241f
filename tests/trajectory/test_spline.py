"""Splines through waypoints: SciPy as reference, end conditions, times from limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.interpolate import CubicSpline, make_interp_spline

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.description.types import Joint
from kinodyn.errors import InputError

Check = Callable[..., None]
RNG = np.random.default_rng(2)
TIMES = np.array([0.0, 0.5, 1.4, 2.0, 2.2, 3.0, 4.0])
POINTS = RNG.normal(size=(7, 3))
V0, V1, A0, A1 = RNG.normal(size=(4, 3))
T = np.linspace(0.0, 4.0, 301)


@pytest.mark.parametrize("ends", ["natural", "not-a-knot", "periodic", "clamped"])
def test_cubic_splines_agree_with_scipy(ends: str) -> None:
    points = POINTS.copy()
    points[-1] = points[0] if ends == "periodic" else points[-1]
    given = {"v0": V0, "v1": V1} if ends == "clamped" else {}
    motion = tr.cubic_spline(points, TIMES, ends=ends, **given)  # type: ignore[arg-type]
    reference = CubicSpline(TIMES, points, bc_type=((1, V0), (1, V1)) if ends == "clamped" else ends)
    for order in range(3):
        np.testing.assert_allclose(motion(T, order), reference(T, order), atol=1e-10)


def test_quintic_splines_agree_with_scipy_and_four_times_continuous(assert_continuous: Check) -> None:
    motion = tr.quintic_spline(POINTS, TIMES, v0=V0, v1=V1, a0=A0, a1=A1)
    reference = make_interp_spline(TIMES, POINTS, k=5, bc_type=([(1, V0), (2, A0)], [(1, V1), (2, A1)]))
    for order in range(3):
        np.testing.assert_allclose(motion(T, order), reference(T, order), atol=1e-8)
    assert_continuous(motion, 3)
    fourth = motion.derivative(4)
    ends = fourth[0, :-1] + fourth[1, :-1] * np.diff(TIMES)[:-1, None]
    np.testing.assert_allclose(ends, fourth[0, 1:], atol=1e-7 * np.abs(fourth).max())


def test_natural_quintics_have_zero_third_and_fourth_derivatives_at_the_ends() -> None:
    motion = tr.quintic_spline(POINTS, TIMES, ends="natural")
    np.testing.assert_allclose(motion([0.0, 4.0], 3), 0.0, atol=1e-8)
    np.testing.assert_allclose(motion.derivative(4)[0, 0], 0.0, atol=1e-7)


@pytest.mark.parametrize(("make", "order"), [(tr.cubic_spline, 2), (tr.quintic_spline, 3)])
def test_splines_minimise_the_integral_of_squared_acceleration_or_jerk(
    make: Callable[..., tr.PiecewisePolynomial], order: int
) -> None:
    """Any bump that is zero, with its slopes, at the waypoints makes it greater."""
    motion = make(POINTS, TIMES)
    t = np.linspace(0.0, 4.0, 40001)
    best = trapezoid(motion(t, order)[:, 0] ** 2, t)
    bump = make(np.eye(9)[:, 4:5], np.linspace(0.0, 4.0, 9))
    gap = make(bump(TIMES), TIMES)  # takes the bump's values at the waypoints away again
    for size in (0.1, -0.1):
        other = motion(t, order)[:, 0] + size * (bump(t, order) - gap(t, order))[:, 0]
        assert trapezoid(other**2, t) > best * (1.0 + 1e-9)


def test_without_times_the_limits_are_just_met(panda: kd.Robot) -> None:
    q = panda.random(6, seed=1)
    for make in (tr.cubic_spline, tr.quintic_spline):
        for ends in ("clamped", "natural"):
            motion = make(q, ends=ends, acceleration=6.0, robot=panda)  # type: ignore[arg-type]
            report = tr.check(panda, motion, acceleration=6.0, torque=False)
            loads = max(report.peak_ratio["velocity"].max(), report.peak_ratio["acceleration"].max())
            assert abs(loads - 1.0) < 1e-9


def test_without_times_moving_ends_keep_their_velocities_and_the_limits(panda: kd.Robot) -> None:
    q = panda.random(6, seed=1)
    v0 = 0.3 * panda.limits.velocity
    motion = tr.cubic_spline(q, v0=v0, acceleration=6.0, robot=panda)
    np.testing.assert_array_equal(motion(0.0, 1), v0)
    report = tr.check(panda, motion, acceleration=6.0, torque=False)
    assert not [violation for violation in report.violations if violation.kind != "position"]


def test_times_follow_limits_or_distances() -> None:
    points = [[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]]
    np.testing.assert_allclose(tr.waypoint_times(points), [0.0, 5.0, 6.0])
    np.testing.assert_allclose(tr.waypoint_times(points, velocity=[1.0, 2.0]), [0.0, 3.0, 3.5])
    np.testing.assert_allclose(tr.waypoint_times(points, acceleration=4.0), [0.0, 2.0, 3.0])
    assert tr.cubic_spline(points).duration == 6.0


def _continuous(joint: Joint) -> Joint:
    return replace(joint, kind="continuous") if joint.kind == "revolute" else joint


def test_a_periodic_spline_may_wind_a_continuous_joint() -> None:
    arm = kd.load("planar2r").description
    robot = kd.Robot(replace(arm, joints=tuple(_continuous(joint) for joint in arm.joints)))
    q = np.stack([np.linspace(0.0, 2 * np.pi, 6), np.sin(np.linspace(0.0, 2 * np.pi, 6))], axis=1)
    q[-1, 1] = q[0, 1]
    motion = tr.cubic_spline(q, np.arange(6.0), ends="periodic", robot=robot)
    np.testing.assert_allclose(motion(0.0, 1), motion(5.0, 1), atol=1e-12)
    np.testing.assert_allclose(motion(5.0), q[-1], atol=1e-12)
    with pytest.raises(InputError, match="closed path"):
        tr.cubic_spline(q, np.arange(6.0), ends="periodic")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tr.cubic_spline([[0.0], [0.0], [1.0]]), "the same"),
        (lambda: tr.cubic_spline([[0.0]]), "waypoints"),
        (lambda: tr.cubic_spline([[0.0], [1.0]], ends="soft"), "ends"),  # type: ignore[arg-type]
        (lambda: tr.cubic_spline([[0.0], [1.0]], ends="natural", v0=[1.0]), "clamped"),
        (lambda: tr.cubic_spline([[0.0], [1.0], [0.0]], ends="not-a-knot"), "at least 4"),
        (lambda: tr.quintic_spline(POINTS[:5], ends="not-a-knot"), "at least 6"),
        (lambda: tr.cubic_spline(POINTS, TIMES, velocity=1.0), "both"),
        (lambda: tr.cubic_spline(POINTS, TIMES[::-1]), "increase"),
        (lambda: tr.cubic_spline(POINTS, TIMES[:-1]), "shape"),
        (lambda: tr.cubic_spline(POINTS, velocity=-1.0), "velocity must be positive"),
        (lambda: tr.cubic_spline(POINTS, velocity=[1.0, 2.0]), "shape"),
        (lambda: tr.cubic_spline(POINTS, velocity=np.nan), "velocity must be positive numbers"),
        (lambda: tr.cubic_spline(POINTS, velocity="fast"), "numbers"),  # type: ignore[arg-type]
        (lambda: tr.cubic_spline([[0.0], [np.nan]]), "NaN"),
        (lambda: tr.cubic_spline([[0.0], [1.0]], v0=[9.0], velocity=1.0), "violate the limits"),
        (lambda: tr.waypoint_times([[0.0], [1.0]], velocity={"x7": 1.0}), "unknown coordinate"),
    ],
)
def test_invalid_arguments_raise(call: Callable[[], object], words: str) -> None:
    with pytest.raises(kd.KinodynError, match=words):
        call()
