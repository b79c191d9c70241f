"""Trajectories of a frame: geometry, rates by finite differences, Cartesian limits, joint motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.spatial import exp3, log3
from kinodyn.trajectory import cartesian
from kinodyn.trajectory.cartesian import CartesianLimits
from kinodyn.trajectory.cartesian.arcs import circle_through

RNG = np.random.default_rng(3)
LIMITS = CartesianLimits(linear_velocity=0.3, linear_acceleration=0.8, angular_velocity=1.0, angular_acceleration=3.0)
UNIT = CartesianLimits(linear_velocity=1.0, linear_acceleration=1.0)
JERK = replace(LIMITS, linear_jerk=5.0, angular_jerk=20.0)
PEAKS = np.array([0.3, 1.0, 0.8, 3.0])


def pose() -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = exp3(RNG.normal(size=3)), 0.3 * RNG.normal(size=3)
    return T


T0, T1 = pose(), pose()
POSES = np.stack([pose() for _ in range(6)])
MOTIONS: dict[str, Callable[[], cartesian.PoseTrajectory]] = {
    "line": lambda: cartesian.line(T0, T1, LIMITS),
    "smooth line": lambda: cartesian.line(T0, T1, LIMITS, law="minimum_jerk"),
    "jerk-limited line": lambda: cartesian.line(T0, T1, JERK, law="jerk_limited"),
    "screw": lambda: cartesian.screw(T0, T1, LIMITS),
    "smooth screw": lambda: cartesian.screw(T0, T1, LIMITS, law="minimum_jerk"),
    "arc": lambda: cartesian.arc(T0, [0.1, 0.2, 0.0], [0.0, 0.3, 1.0], 2.5, LIMITS),
    "small arc": lambda: cartesian.arc(T0, T0[:3, 3] + [0.02, 0, 0], [0, 0, 1], 9.0, LIMITS, orientation="fixed"),
    "arc through": lambda: cartesian.arc_through(T0, [0.1, 0.5, 0.2], T1, LIMITS, law="minimum_jerk"),
    "spline": lambda: cartesian.spline(POSES, limits=LIMITS),
    "quintic": lambda: cartesian.spline(POSES, limits=LIMITS, degree=5, ends="natural"),
    "coupled": lambda: cartesian.spline(POSES, limits=LIMITS, coupled=True),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_rates_match_differences_and_limits_are_kept_and_reached(name: str) -> None:
    motion = MOTIONS[name]()
    h = 1e-5
    t = np.linspace(0.0, motion.duration, 50)[1:-1] + 1e-3
    t = t[(np.abs(t[:, None] - motion.knots) > 3 * h).all(axis=1)]
    before, after = motion(t - h), motion(t + h)
    linear = (after[:, :3, 3] - before[:, :3, 3]) / (2 * h)
    angular = log3(after[:, :3, :3] @ np.swapaxes(before[:, :3, :3], 1, 2)) / (2 * h)
    np.testing.assert_allclose(motion(t, 1), np.concatenate([linear, angular], axis=1), atol=1e-8)
    np.testing.assert_allclose(motion(t, 2), (motion(t + h, 1) - motion(t - h, 1)) / (2 * h), atol=1e-7)
    ratio = motion.peaks() / PEAKS
    assert ratio.max() <= 1.0 + 1e-6
    assert ratio.max() > 1.0 - 1e-6
    np.testing.assert_array_equal(motion([-1.0, 99.0]), motion([0.0, motion.duration]))
    np.testing.assert_array_equal(motion([-1.0, 99.0], 1), np.zeros((2, 6)))


def test_a_line_is_straight_and_rotates_about_one_axis() -> None:
    motion = cartesian.line(T0, T1, LIMITS)
    T = motion(np.linspace(0.0, motion.duration, 40))
    s = (T[:, :3, 3] - T0[:3, 3]) / (T1[:3, 3] - T0[:3, 3])
    np.testing.assert_allclose(s, s[:, :1] * np.ones(3), atol=1e-12)
    rotation = log3(T0[:3, :3].T @ T[:, :3, :3])
    np.testing.assert_allclose(rotation, s[:, :1] * rotation[-1], atol=1e-12)
    np.testing.assert_allclose(T[[0, -1]], [T0, T1], atol=1e-12)


def test_a_screw_is_the_interpolation_of_poses() -> None:
    motion = cartesian.screw(T0, T1, LIMITS)
    t = np.linspace(0.0, motion.duration, 20)
    np.testing.assert_allclose(motion(t), kd.spatial.interpolate(T0, T1, motion.law(t)[:, 0]), atol=1e-12)
    shift = np.eye(4)
    shift[:3, 3] = [0.1, 0.2, 0.3]
    np.testing.assert_allclose(cartesian.screw(np.eye(4), shift, UNIT)(99.0), shift, atol=1e-15)


def test_an_arc_stays_on_its_circle_and_rotates_with_it() -> None:
    centre, axis = np.array([0.1, 0.2, 0.0]), np.array([0.0, 0.3, 1.0])
    motion = cartesian.arc(T0, centre, axis, 2.5, LIMITS)
    T = motion(np.linspace(0.0, motion.duration, 30))
    unit = axis / np.linalg.norm(axis)
    out = T[:, :3, 3] - centre
    height = out @ unit
    np.testing.assert_allclose(height, height[0], atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), np.linalg.norm(out[0]), atol=1e-14)
    np.testing.assert_allclose(T[-1, :3, :3], exp3(2.5 * unit) @ T0[:3, :3], atol=1e-12)
    fixed = cartesian.arc(T0, centre, axis, 2.5, LIMITS, orientation="fixed")
    np.testing.assert_allclose(fixed(99.0)[:3, :3], T0[:3, :3], atol=1e-15)


def test_a_circle_through_three_points_is_found() -> None:
    for _ in range(20):
        centre, (u, w) = RNG.normal(size=3), np.linalg.qr(RNG.normal(size=(3, 3)))[0][:2]
        radius, first, last = RNG.uniform(0.1, 2.0), *np.sort(RNG.uniform(0.2, 6.0, size=2))
        points = [centre + radius * (np.cos(angle) * u + np.sin(angle) * w) for angle in (0.0, first, last)]
        found, axis, angle = circle_through(*points)
        np.testing.assert_allclose(found, centre, atol=1e-6)
        np.testing.assert_allclose(axis, np.cross(u, w), atol=1e-6)
        assert angle == pytest.approx(last, abs=1e-6)
    via = points[1]
    start, end = T0.copy(), T1.copy()
    start[:3, 3], end[:3, 3] = points[0], points[2]
    motion = cartesian.arc_through(start, via, end, LIMITS)
    np.testing.assert_allclose(motion(motion.duration), end, atol=1e-9)
    t = np.linspace(0.0, motion.duration, 20001)
    assert np.linalg.norm(motion(t)[:, :3, 3] - via, axis=1).min() < 1e-3


def test_splines_pass_their_poses_and_a_coupled_one_keeps_a_screw() -> None:
    for coupled in (False, True):
        motion = cartesian.spline(POSES, limits=LIMITS, coupled=coupled)
        np.testing.assert_allclose(motion(motion.knots), POSES, atol=1e-12)
    screws = kd.spatial.interpolate(T0, T1, np.linspace(0.0, 1.0, 5))
    motion = cartesian.spline(screws, np.arange(5.0), ends="natural", coupled=True)
    np.testing.assert_allclose(motion(1.5), kd.spatial.interpolate(T0, T1, 1.5 / 4.0), atol=1e-9)


def test_a_longer_duration_is_accepted_and_a_shorter_one_rejected() -> None:
    least = cartesian.line(T0, T1, LIMITS).duration
    assert cartesian.line(T0, T1, LIMITS, duration=2 * least).duration == pytest.approx(2 * least)
    assert cartesian.line(T0, T1, duration=3.0, law="minimum_jerk").duration == 3.0
    with pytest.raises(InputError, match="at least"):
        cartesian.line(T0, T1, LIMITS, duration=0.5 * least)


Q0 = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])


def reach(panda: kd.Robot, shift: list[float]) -> tuple[Array, Array]:
    start = kd.kinematics.pose(panda, Q0, "panda_link8")
    end = start.copy()
    end[:3, 3] += shift
    return start, end


def test_joints_follow_the_frame_in_position_and_velocity(panda: kd.Robot) -> None:
    motion = cartesian.line(*reach(panda, [0.1, 0.2, -0.2]), LIMITS, law="minimum_jerk")
    found = motion.follow(panda, "panda_link8", Q0)
    assert found and found.trajectory is not None and found.error.max() < 1e-4
    t = np.linspace(0.0, motion.duration, 77)
    q, v = found.trajectory(t), found.trajectory(t, 1)
    T = kd.kinematics.pose(panda, q, "panda_link8")
    assert np.linalg.norm(T[:, :3, 3] - motion(t)[:, :3, 3], axis=1).max() < 1e-4
    np.testing.assert_allclose(kd.kinematics.velocity(panda, q, v, "panda_link8"), motion(t, 1), atol=2e-3)
    np.testing.assert_allclose(found.trajectory(0.0), Q0, atol=1e-6)
    np.testing.assert_allclose(found.trajectory([0.0, motion.duration], 1), 0.0, atol=1e-15)
    finer = motion.follow(panda, "panda_link8", Q0, tolerance=1e-8)
    assert finer and finer.error.max() < 1e-8


def test_an_unreachable_path_reports_where_and_why(panda: kd.Robot) -> None:
    motion = cartesian.line(*reach(panda, [0.7, 0.0, 0.0]), LIMITS)
    found = motion.follow(panda, "panda_link8", Q0)
    assert not found and found.trajectory is None and found.status == "unreachable" and "sample" in found.reason
    assert found.failure_time is not None and 0.0 < found.failure_time < motion.duration
    reached = np.linalg.norm(motion(found.failure_time)[:3, 3] - [0.0, 0.0, 0.333])
    assert 0.75 < reached < 1.0  # where the arm is stretched


def test_options_are_passed_to_tracking(panda: kd.Robot) -> None:
    motion = cartesian.line(
        *reach(panda, [0.05, 0.1, 0.0]), CartesianLimits(linear_velocity=0.2, linear_acceleration=1.0)
    )
    found = motion.follow(panda, "panda_link8", Q0, position_only=True, null_gain=0.0)
    assert found and found.error[0] < 1e-4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cartesian.line(T0, T1), "limits"),
        (lambda: cartesian.line(T0, T0, LIMITS), "no length"),
        (lambda: cartesian.line(T0, T1, CartesianLimits(linear_velocity=1.0)), "acceleration"),
        (lambda: CartesianLimits(linear_velocity=-1.0), "linear_velocity"),
        (lambda: cartesian.line(T0, T1, LIMITS, law="linear"), "law"),
        (lambda: cartesian.line(T0, T1, LIMITS, law="jerk_limited"), "jerk"),
        (lambda: cartesian.line(T0, T1, duration=1.0), "minimum_jerk"),
        (lambda: cartesian.line(POSES, T1, LIMITS), "one pose"),
        (lambda: cartesian.line(2 * T0, T1, LIMITS), "row|orthonormal"),
        (lambda: cartesian.arc(T0, [0, 0, 0], [0, 0, 0], 1.0, LIMITS), "axis"),
        (lambda: cartesian.arc(T0, [0, 0, 0], [0, 0, 1], np.nan, LIMITS), "angle"),
        (lambda: cartesian.arc(T0, [0, 0, 0], [0, 0, 1], 1.0, LIMITS, orientation="free"), "orientation"),
        (lambda: cartesian.arc_through(T0, T0[:3, 3], T1, LIMITS), "collinear"),
        (lambda: cartesian.arc_through(T0, 0.5 * (T0 + T1)[:3, 3], T1, LIMITS), "collinear"),
        (lambda: cartesian.spline(POSES), "either"),
        (lambda: cartesian.spline(POSES, np.arange(6.0), LIMITS), "either"),
        (lambda: cartesian.spline(POSES, np.arange(6.0), degree=4), "degree"),  # type: ignore[arg-type]
        (lambda: cartesian.spline(POSES[:1], [0.0]), r"poses must be two or more poses \(n, 4, 4\)"),
        (lambda: cartesian.line(T0, T1, LIMITS)(0.0, 3), "order"),
        (lambda: cartesian.line(T0, T1, LIMITS)(np.nan), "NaN"),
        (lambda: cartesian.line(T0, T1, LIMITS).follow(kd.load("panda"), "panda_link8", samples=2), "samples"),
        (lambda: cartesian.line(T0, T1, LIMITS).follow(kd.load("panda"), "hand"), "unknown frame"),
    ],
)
def test_invalid_arguments_raise(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(kd.KinodynError, match=words):
        call()
