"""Balance as a limit: the centre of mass stays above the polygon while hands pull away, and comes back to it."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

SQUARE = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return kd.load("humanoid")


@pytest.fixture(scope="module")
def q(robot: Robot) -> Array:
    return robot.configuration("standing")


def soles(robot: Robot, q: Array) -> list[kd.tasks.Task]:
    return [kd.tasks.ContactTask(f, kd.kinematics.pose(robot, q, f)) for f in ("left_sole", "right_sole")]


def assert_feet_stay(robot: Robot, q0: Array, q: Array, tolerance: float = 1e-4) -> None:
    for foot in ("left_sole", "right_sole"):
        there = np.broadcast_to(kd.kinematics.pose(robot, q0, foot), (*q.shape[:-1], 4, 4))
        np.testing.assert_allclose(kd.kinematics.pose(robot, q, foot), there, rtol=0, atol=tolerance)


def test_the_com_stays_above_the_polygon_while_hands_pull_away(robot: Robot, q: Array) -> None:
    rng = np.random.default_rng(0)
    n = 24
    around = np.linspace(0, 2 * np.pi, n)
    targets = np.stack([3 * np.cos(around), 3 * np.sin(around), rng.uniform(0.2, 2.0, n)], axis=-1)
    com = kd.kinematics.com(robot, q)
    limit = kd.limits.ComLimit(com[:2] + 0.4 * SQUARE, margin=0.01)
    hands = [kd.tasks.FrameTask(f"{side}_palm", targets) for side in ("left", "right")]
    slow = [kd.limits.PositionLimit(), kd.limits.VelocityLimit(scale=0.2)]
    solver = kd.ik.WholeBody(robot, [*soles(robot, q), *hands], [*slow, limit])
    without = kd.ik.WholeBody(robot, [*soles(robot, q), *hands], slow)
    x = y = np.broadcast_to(q, (n, robot.nq))
    for _ in range(600):
        x, y = solver.step(x, 0.005).q, without.step(y, 0.005).q
        # linear in one step: what curvature spoils is made good by the next
        assert (limit.excess(kd.kinematics.com(robot, x)) <= 2e-4).all()
        assert_feet_stay(robot, q, x, 1e-3)
    assert (limit.excess(kd.kinematics.com(robot, x)) <= 5e-5).all()
    assert limit.excess(kd.kinematics.com(robot, x)).max() > -1e-5  # some lean on an edge
    assert limit.excess(kd.kinematics.com(robot, y)).max() > 0.02  # and would go on


def test_the_com_returns_from_outside_the_polygon(robot: Robot, q: Array) -> None:
    com = kd.kinematics.com(robot, q)
    limit = kd.limits.ComLimit(com[:2] + [0.08, 0.02] + 0.2 * SQUARE)
    tasks = [*soles(robot, q), kd.tasks.PostureTask(q)]
    solver = kd.ik.WholeBody(robot, tasks, [kd.limits.PositionLimit(), kd.limits.VelocityLimit(), limit])
    x, excess = q, [float(limit.excess(com))]
    for _ in range(60):
        x = solver.step(x, 0.01).q
        excess.append(float(limit.excess(kd.kinematics.com(robot, x))))
    assert excess[0] > 0.05 and excess[-1] <= 1e-6
    assert (np.diff(excess) <= 1e-4).all()
    assert_feet_stay(robot, q, x)
    result = solver.solve(q)
    assert result.success and limit.excess(kd.kinematics.com(robot, result.q)) <= 1e-6


def test_a_limit_that_feet_forbid_is_approached_and_the_feet_stay(robot: Robot, q: Array) -> None:
    com = kd.kinematics.com(robot, q)
    limit = kd.limits.ComLimit(com[:2] + [5.0, 0.0] + SQUARE)
    result = kd.ik.WholeBody(
        robot, [*soles(robot, q), kd.tasks.PostureTask(q)], [kd.limits.PositionLimit(), limit]
    ).solve(q)
    assert not result.success and result.status in ("conflict", "budget")
    assert_feet_stay(robot, q, result.q, 1e-5)
    assert kd.kinematics.com(robot, result.q)[0] > com[0] + 0.1


def test_a_limit_of_lower_priority_than_a_task_is_relaxed(robot: Robot, q: Array) -> None:
    com = kd.kinematics.com(robot, q)
    task = kd.tasks.ComTask(com + [0.1, 0.0, 0.0], weights=(1, 1, 0))
    for priority, there in ((0, 0.04), (1, 0.04), (2, 0.1)):
        limit = kd.limits.ComLimit(com[:2] + 0.4 * SQUARE, priority=priority)
        result = kd.ik.WholeBody(robot, [*soles(robot, q), task], [kd.limits.PositionLimit(), limit]).solve(q)
        assert kd.kinematics.com(robot, result.q)[0] - com[0] == pytest.approx(there, abs=1e-5)


def test_excess_is_the_distance_to_the_worst_edge() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(12, 2))
    limit = kd.limits.ComLimit(points, margin=0.05)
    centre = points.mean(axis=0)
    assert limit.excess([*centre, 1.0]) < 0
    assert limit.excess(np.c_[limit.corners, np.zeros(len(limit.corners))]) == pytest.approx(0.05)
    middles = 0.5 * (limit.corners + np.roll(limit.corners, 1, axis=0))
    assert limit.excess(np.c_[middles, np.ones(len(middles))]) == pytest.approx(0.05)
    assert limit.excess([100.0, 0.0, 0.0]) > 50
