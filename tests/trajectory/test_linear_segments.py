"""Straight segments with blends: within limits exactly, smooth, on the segments but for the blends."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.arrays import Array
from kinodyn.errors import InputError

LIMITS = {"velocity": 1.5, "acceleration": 4.0, "jerk": 30.0}


def polyline(seed: int, n: int = 8, dim: int = 5) -> Array:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(size=(n, dim)) * rng.choice([0.02, 0.3, 1.0], size=(n, 1)), axis=0)


def distance_to_segments(points: Array, path: Array) -> Array:
    """Return the distance of each point to the nearest segment."""
    found = np.full(len(points), np.inf)
    for a, b in zip(path, path[1:], strict=False):
        s = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        found = np.minimum(found, np.linalg.norm(points - a - s[:, None] * (b - a), axis=1))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_random_paths_keep_all_limits_and_are_smooth(seed: int) -> None:
    path = polyline(seed)
    rng = np.random.default_rng(seed)
    limits = {name: value * rng.uniform(0.5, 2.0, path.shape[1]) for name, value in LIMITS.items()}
    motion = tr.linear_segments(path, **limits)
    report = tr.check(None, motion, **limits)
    assert report.ok, str(report)
    assert report.exact["jerk"]
    inner = motion.knots[1:-1]
    for order in (0, 1, 2):
        before = tr.PiecewisePolynomial.__call__(motion, np.nextafter(inner, 0.0), order)
        np.testing.assert_allclose(before, motion(inner, order), atol=1e-7)
    np.testing.assert_allclose(motion(0.0), path[0], atol=1e-12)
    np.testing.assert_allclose(motion(motion.duration), path[-1], atol=1e-12)
    for order in (1, 2):
        np.testing.assert_allclose(motion([0.0, motion.duration], order), 0.0, atol=1e-6)


@pytest.mark.parametrize("blend", [0.05, 0.3])
def test_the_motion_leaves_the_segments_only_within_the_blends(blend: float) -> None:
    path = polyline(3)
    motion = tr.linear_segments(path, **LIMITS, blend=blend)
    points = motion(np.linspace(0.0, motion.duration, 3000))
    away = np.linalg.norm(points[:, None] - path[1:-1], axis=2).min(axis=1) > blend
    off = distance_to_segments(points, path)
    np.testing.assert_allclose(off[away], 0.0, atol=1e-9)
    assert off.max() > 1e-3  # there are blends
    assert off.max() < 0.5 * blend


def test_the_rates_match() -> None:
    motion = tr.linear_segments(polyline(1), **LIMITS)
    t = np.linspace(0.0, motion.duration, 400)[1:-1]
    h = 1e-6
    np.testing.assert_allclose((motion(t + h) - motion(t - h)) / (2 * h), motion(t, 1), atol=1e-4)
    np.testing.assert_allclose((motion(t + h, 1) - motion(t - h, 1)) / (2 * h), motion(t, 2), atol=1e-3)


@pytest.mark.parametrize("distance", [0.01, 0.2, 1.0, 5.0])
def test_one_segment_takes_the_least_time_as_by_ruckig(distance: float) -> None:
    limits = {"velocity": [1.0, 2.0], "acceleration": [2.0, 3.0], "jerk": [10.0, 50.0]}
    goal = [distance, -0.5 * distance]
    motion = tr.linear_segments([[0.0, 0.0], goal], **limits)
    fastest = tr.jerk_limited([0.0, 0.0], goal, **limits, synchronise="phase")
    assert motion.duration == pytest.approx(fastest.duration, rel=1e-9)


def test_without_blends_it_stops_at_each_waypoint() -> None:
    path = polyline(2)
    motion = tr.linear_segments(path, **LIMITS, blend=0.0)
    parts = [tr.linear_segments(pair, **LIMITS).duration for pair in zip(path, path[1:], strict=False)]
    assert motion.duration == pytest.approx(sum(parts))
    for t, q in zip(np.cumsum(parts)[:-1], path[1:-1], strict=True):
        np.testing.assert_allclose(motion(t), q, atol=1e-9)
        np.testing.assert_allclose(motion(t, 1), 0.0, atol=1e-7)


def test_larger_blends_are_faster() -> None:
    path = polyline(5)
    durations = [tr.linear_segments(path, **LIMITS, blend=blend).duration for blend in (0.0, 0.02, 0.1, np.inf)]
    assert durations == sorted(durations, reverse=True)
    assert durations[-1] < 0.9 * durations[0]


def test_waypoints_on_a_line_and_repeated_ones_change_nothing() -> None:
    path = np.array([[0.0, 0.0], [2.0, 1.0]])
    more = np.array([[0.0, 0.0], [0.0, 0.0], [0.5, 0.25], [1.5, 0.75], [2.0, 1.0], [2.0, 1.0]])
    assert tr.linear_segments(more, **LIMITS).duration == pytest.approx(tr.linear_segments(path, **LIMITS).duration)
    still = tr.linear_segments([[1.0, 2.0], [1.0, 2.0]], **LIMITS)
    assert still.duration == 0.0 and still(0.0).tolist() == [1.0, 2.0]


def test_a_reversal_keeps_the_limits() -> None:
    motion = tr.linear_segments([[0.0], [1.0], [0.2]], **LIMITS)
    assert tr.check(None, motion, **LIMITS).ok
    assert motion(motion.duration)[0] == pytest.approx(0.2)


def test_a_floating_robot_moves_along_geodesics_and_stops_at_waypoints() -> None:
    robot = kd.load("humanoid")
    q = robot.random(4, seed=0)
    limits = {name: np.full(robot.nv, value) for name, value in LIMITS.items()}
    motion = tr.linear_segments(q, **limits, robot=robot)
    stops = [t for t in motion.knots if np.abs(motion(t, 1)).max() < 1e-7]
    assert len(stops) == len(q)
    for t, row in zip(stops, q, strict=True):
        np.testing.assert_allclose(robot.difference(motion(t), row), 0.0, atol=1e-7)
    middle = 0.5 * (stops[0] + stops[1])  # the law is symmetric
    np.testing.assert_allclose(robot.difference(motion(middle), robot.interpolate(q[0], q[1], 0.5)), 0.0, atol=1e-7)


def test_invalid_input_is_rejected() -> None:
    path = polyline(0)
    with pytest.raises(InputError, match="at least two"):
        tr.linear_segments(path[:1], **LIMITS)
    with pytest.raises(InputError, match="no jerk limit"):
        tr.linear_segments(path, acceleration=1.0, jerk=np.inf)
    with pytest.raises(InputError, match="blend"):
        tr.linear_segments(path, **LIMITS, blend=-1.0)
    with pytest.raises(InputError, match="blend"):
        tr.linear_segments(path, **LIMITS, blend=[1.0, 2.0])
    with pytest.raises(InputError):
        tr.linear_segments(np.full((3, 2), np.nan), **LIMITS)
