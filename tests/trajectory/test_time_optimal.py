"""Time-optimal motion along a path: known durations, limits between grid points, reported failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.trajectory.corners import find_corners
from kinodyn.trajectory.piecewise import PiecewisePolynomial, hermite_pieces
from kinodyn.trajectory.space import Space


def assert_within(robot: kd.Robot | None, found: tr.TimeOptimalResult, **limits: Any) -> None:
    """Look at 20,000 times, each limit on its own."""
    assert found and found.trajectory is not None and found.status == "solved" and found.check is not None
    motion = found.trajectory
    t = np.linspace(0.0, motion.duration, 20_001)
    for order, name in ((1, "velocity"), (2, "acceleration")):
        if name in limits:
            assert (np.abs(motion(t, order)) <= np.asarray(limits[name]) * (1.0 + 1e-8)).all()
    if robot is not None:
        tau = kd.dynamics.inverse(robot, motion(t), motion(t, 1), motion(t, 2))
        assert (np.abs(tau) <= limits.get("torque", robot.limits.effort) * (1.0 + 1e-8)).all()


def test_straight_paths_take_the_known_time() -> None:
    found = tr.time_optimal([[0.0], [1.0]], velocity=1.0, acceleration=2.0)
    assert_within(None, found, velocity=1.0, acceleration=2.0)
    assert found.trajectory is not None and found.trajectory.duration == pytest.approx(1.5, rel=1e-4)
    bang = tr.time_optimal([[0.0, 0.0], [4.0, 2.0]], acceleration=1.0)
    assert bang.trajectory is not None and bang.trajectory.duration == pytest.approx(4.0, rel=1e-4)


def test_the_speed_on_a_circle_is_bounded_by_the_centripetal_acceleration() -> None:
    """Components of the acceleration on a circle of radius 1 reach speed^2, so that the speed is at most 1."""
    angle = np.linspace(0.0, 4 * np.pi, 100)
    found = tr.time_optimal(np.stack([np.cos(angle), np.sin(angle)], axis=1), acceleration=1.0)
    assert_within(None, found, acceleration=1.0)
    assert found.trajectory is not None
    middle = np.linspace(0.3, 0.7, 200) * found.trajectory.duration
    speed = np.linalg.norm(found.trajectory(middle, 1), axis=1)
    assert speed.min() > 0.97 and speed.max() < 1.2  # between the axes the pull is shared, and it may be faster


@pytest.mark.parametrize("name", ["panda", "puma560"])
def test_torque_limits_are_kept_and_one_is_active_everywhere(name: str) -> None:
    robot = kd.load(name)
    middle = 0.5 * (robot.limits.lower + robot.limits.upper)
    q = middle + 0.3 * (robot.random(4, seed=2) - middle)
    found = tr.time_optimal(q, velocity=np.inf, robot=robot)
    assert_within(robot, found)
    motion = found.trajectory
    assert motion is not None
    t = np.linspace(0.02, 0.98, 400) * motion.duration
    load = np.abs(kd.dynamics.inverse(robot, motion(t), motion(t, 1), motion(t, 2))) / robot.limits.effort
    assert np.median(load.max(axis=1)) > 0.9  # bang-bang, but for what was tightened


def test_it_is_faster_than_stretching_the_same_path(panda: kd.Robot) -> None:
    q: Array = panda.random(5, seed=2) * 0.6 + np.array([0, 0, 0, -0.8, 0, 0.7, 0])
    found = tr.time_optimal(q, acceleration=8.0, robot=panda)
    assert_within(panda, found, velocity=panda.limits.velocity, acceleration=8.0)
    uniform = tr.cubic_spline(q, acceleration=8.0, robot=panda)
    assert found.trajectory is not None and found.trajectory.duration < uniform.duration
    np.testing.assert_allclose(found.trajectory([0.0, 99.0]), q[[0, -1]], atol=1e-9)
    np.testing.assert_allclose(found.trajectory([0.0, found.trajectory.duration], 1), 0.0, atol=1e-9)


def test_a_path_of_a_floating_base_is_timed_in_its_own_axes(humanoid: kd.Robot) -> None:
    stand = humanoid.configuration("standing")
    steps = np.zeros((3, humanoid.nv))
    steps[1, :6], steps[2, :6] = [0.5, 0, 0, 0, 0, 0.8], [0.8, 0.6, 0, 0.1, 0, 1.5]
    q = humanoid.integrate(stand, steps)
    most = np.ones(humanoid.nv)
    found = tr.time_optimal(q, velocity=most, acceleration=2 * most, robot=humanoid)
    assert_within(None, found, velocity=most, acceleration=2 * most)


def test_the_path_of_a_trajectory_from_rest_is_kept(panda: kd.Robot) -> None:
    q0, q1 = panda.random(2, seed=5)
    motion = tr.minimum_jerk(q0, q1, 3.0, robot=panda)
    found = tr.time_optimal(motion, acceleration=10.0, torque=False, robot=panda)
    assert found.trajectory is not None and found.deviation < 1e-6
    straight = tr.trapezoid(q0, q1, acceleration=10.0, robot=panda)
    assert found.trajectory.duration == pytest.approx(straight.duration, rel=1e-3)


def test_infeasibility_is_reported_with_joint_and_location(panda: kd.Robot) -> None:
    q: Array = panda.random(5, seed=2) * 0.6 + np.array([0, 0, 0, -0.8, 0, 0.7, 0])
    weak = tr.time_optimal(q, torque={"panda_joint2": 20.0}, robot=panda)
    assert not weak and weak.trajectory is None and weak.status == "gravity" and "'panda_joint2'" in weak.reason
    q[2, 0] = 2.89
    q[3, 0] = 2.89
    outside = tr.time_optimal(q, acceleration=8.0, robot=panda)
    assert outside.status == "position" and "'panda_joint1'" in outside.reason


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ([[0.0], [1.0]], {}, "no limit"),
        ([[0.0]], {"velocity": 1.0}, "at least two"),
        ([[0.0], [0.0]], {"velocity": 1.0}, "the same"),
        ([[0.0], [np.nan]], {"velocity": 1.0}, "NaN"),
        ([[0.0], [1.0]], {"velocity": 1.0, "grid": 3}, "grid"),
        (tr.minimum_jerk([0.0], [1.0], 1.0), {"velocity": 1.0, "robot": kd.load("planar2r")}, "robot"),
        (tr.minimum_jerk([0.0], [0.0], 1.0), {"velocity": 1.0}, "does not move"),
    ],
)
def test_invalid_arguments_raise(path: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        tr.time_optimal(path, **options)


@pytest.mark.parametrize("grid", [50, 200, 1000])
@pytest.mark.parametrize("ratio", [(1.0,), (1.0, 0.5), (0.2, -1.0, 0.3)])
def test_a_path_that_reverses_takes_as_long_as_its_two_halves(grid: int, ratio: tuple[float, ...]) -> None:
    """From rest to rest over a distance d with acceleration a: 2 sqrt(d / a)."""
    path = tr.cubic_spline(np.outer([0.0, 1.0, 0.0], ratio), [0.0, 0.5, 1.0])
    found = tr.time_optimal(path, velocity=100.0, acceleration=100.0, grid=grid)
    assert found.trajectory is not None and found.trajectory.duration == pytest.approx(0.4, rel=1e-5)
    np.testing.assert_allclose(found.trajectory(0.5 * found.trajectory.duration), ratio, atol=1e-5)


def test_retiming_along_a_path_that_reverses_is_as_fast() -> None:
    path = tr.cubic_spline([[0.0], [1.0], [0.0]], [0.0, 0.01, 0.02])
    found = tr.retime(None, path, velocity=100.0, acceleration=100.0, method="path")
    assert found.trajectory is not None and found.trajectory.duration == pytest.approx(0.4, rel=1e-5)


def test_corners_are_found_where_the_direction_changes_and_nowhere_else() -> None:
    assert find_corners(tr.cubic_spline([[0.0], [1.0], [0.0]], [0.0, 0.5, 1.0])) == pytest.approx([0.5])
    assert find_corners(tr.cubic_spline([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]], [0.0, 0.5, 1.0])) == []
    cubic = np.array([0.0, 3.0, -3.0, 1.0]).reshape(-1, 1, 1)
    straight = PiecewisePolynomial(Space(None, 1), np.array([0.0, 2.0]), np.zeros((1, 1)), cubic)
    assert find_corners(straight) == []  # 1 - (1 - t)^3 stops at t = 1 and goes on
    turn = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    times, v = np.array([0.0, 1.0, 2.0]), np.zeros((3, 2))
    assert find_corners(hermite_pieces(Space(None, 2), times, np.array(turn), v, None)) == pytest.approx(
        [1.0], abs=1e-6
    )
