"""Redundancy resolution against a sweep of the closed form over the redundant joint of a 7R arm."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.model.robot import Robot

FRAME = "panda_link8"
COUNT, VALUES = 60, 300


@pytest.fixture(scope="module")
def robot() -> Robot:
    return kd.load("panda", base="fixed")


@pytest.fixture(scope="module")
def targets(robot: Robot) -> Array:
    return kd.kinematics.pose(robot, robot.random(COUNT, seed=3), FRAME)


@pytest.fixture(scope="module")
def sweep(robot: Robot, targets: Array) -> tuple[Array, Array]:
    """Every branch of every target for many values of the last joint: configurations, and which are within limits."""
    values = np.linspace(robot.limits.lower[6], robot.limits.upper[6], VALUES)
    found = kd.ik.analytic(robot, targets, FRAME, redundancy=np.tile(values, (COUNT, 1)))
    return np.where(found.valid[..., None], found.q, robot.neutral()), found.valid


def assert_solved(robot: Robot, result: kd.ik.IKResult, T: Array) -> None:
    assert result.success.all() and (result.residual <= 1e-6).all()
    np.testing.assert_allclose(kd.kinematics.pose(robot, result.q, FRAME), T, atol=2e-6)
    assert (result.q >= robot.limits.lower - 1e-9).all() and (result.q <= robot.limits.upper + 1e-9).all()


def test_the_largest_manipulability_is_that_of_the_sweep(
    robot: Robot, targets: Array, sweep: tuple[Array, Array]
) -> None:
    q, valid = sweep
    greatest = np.where(valid, kd.kinematics.manipulability(robot, q, FRAME), 0.0).max(axis=-1)
    result = kd.ik.solve(robot, {FRAME: targets}, prefer="manipulability")
    assert_solved(robot, result, targets)
    ratio = kd.kinematics.manipulability(robot, result.q, FRAME) / greatest
    assert (ratio > 0.999).mean() >= 0.95 and ratio.min() > 0.8
    first = kd.ik.solve(robot, {FRAME: targets})
    assert np.median(kd.kinematics.manipulability(robot, first.q, FRAME) / greatest) < 0.9


@pytest.mark.parametrize("seed", [7, 8])
def test_the_solution_nearest_to_a_posture_is_that_of_the_sweep(
    robot: Robot, targets: Array, sweep: tuple[Array, Array], seed: int
) -> None:
    q, valid = sweep
    posture = robot.random(seed=seed)
    least = np.where(valid, np.linalg.norm(q - posture, axis=-1), np.inf).min(axis=-1)
    result = kd.ik.solve(robot, {FRAME: targets}, prefer="posture", posture=posture)
    assert_solved(robot, result, targets)
    excess = np.linalg.norm(result.q - posture, axis=-1) - least
    assert (excess < 1e-3).mean() >= 0.95


def test_nearest_means_nearest_to_the_start(robot: Robot, targets: Array) -> None:
    q0 = robot.random(COUNT, seed=20)
    nearest = kd.ik.solve(robot, {FRAME: targets}, q0, prefer="nearest")
    assert_solved(robot, nearest, targets)
    away = np.linalg.norm(nearest.q - q0, axis=-1)
    first = np.linalg.norm(kd.ik.solve(robot, {FRAME: targets}, q0).q - q0, axis=-1)
    assert (away <= first + 1e-9).all() and (away < first - 1e-3).mean() > 0.5
    by_posture = kd.ik.solve(robot, {FRAME: targets}, q0, prefer="posture", posture=q0)
    np.testing.assert_array_equal(nearest.q, by_posture.q)


def test_a_custom_cost_is_minimised(robot: Robot, targets: Array) -> None:
    def height_of_the_elbow(q: Array) -> Array:
        return kd.kinematics.pose(robot, q, "panda_link4")[:, 2, 3]

    low = kd.ik.solve(robot, {FRAME: targets[:10]}, prefer=height_of_the_elbow)
    high = kd.ik.solve(robot, {FRAME: targets[:10]}, prefer=lambda q: -height_of_the_elbow(q))
    for result in (low, high):
        assert_solved(robot, result, targets[:10])
    assert (height_of_the_elbow(low.q) < height_of_the_elbow(high.q) - 1e-3).mean() > 0.9


def test_two_hands_of_a_floating_humanoid_keep_their_targets_near_the_posture() -> None:
    robot = kd.load("humanoid")
    standing = robot.configuration("standing")
    moved = robot.integrate(standing, 0.1 * np.random.default_rng(0).normal(size=robot.nv))
    q = np.clip(moved, robot.limits.lower, robot.limits.upper)
    targets = {frame: kd.kinematics.pose(robot, q, frame) for frame in ("left_hand", "right_hand")}
    first = kd.ik.solve(robot, targets, q)
    chosen = kd.ik.solve(robot, targets, q, prefer="posture", posture=standing, restarts=2)
    assert first.success and chosen.success
    for frame, T in targets.items():
        np.testing.assert_allclose(chosen.T_reached[frame], T, atol=2e-6)
    before, after = (np.linalg.norm(robot.difference(standing, result.q)) for result in (first, chosen))
    assert after < 0.8 * before


def test_unreachable_targets_keep_the_nearest_configuration(robot: Robot, targets: Array) -> None:
    T = targets[:4].copy()
    T[::2, :3, 3] *= 10.0
    result = kd.ik.solve(robot, {FRAME: T}, prefer="manipulability")
    assert list(result.success) == [False, True, False, True]
    np.testing.assert_array_equal(result.q[::2], kd.ik.solve(robot, {FRAME: T}).q[::2])


def test_invalid_preferences_are_rejected(robot: Robot) -> None:
    T, q = np.eye(4), robot.neutral()
    with pytest.raises(UnknownNameError, match="known: nearest, posture, manipulability"):
        kd.ik.solve(robot, {FRAME: T}, prefer="elbow up")
    for options in ({"posture": q}, {"prefer": "posture"}, {"prefer": "nearest", "posture": q}):
        with pytest.raises(InputError, match="must be given together"):
            kd.ik.solve(robot, {FRAME: T}, **options)
    for posture in (q[:3], q + np.nan, "home", np.zeros((2, 7))):
        with pytest.raises(InputError, match="posture"):
            kd.ik.solve(robot, {FRAME: T}, prefer="posture", posture=posture)
    reachable = kd.kinematics.pose(robot, robot.random(3, seed=1), FRAME)
    with pytest.raises(InputError, match="the result of prefer .* must"):
        kd.ik.solve(robot, {FRAME: reachable}, prefer=lambda q: q)
