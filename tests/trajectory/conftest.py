"""Checks that the tests of trajectories share: rates against finite differences, states at the ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.trajectory import JointTrajectory

STEP = 1e-5  # [s]


def _difference(motion: JointTrajectory, q0: Array, q1: Array) -> Array:
    return q1 - q0 if motion.robot is None else motion.robot.difference(q0, q1)


def assert_rates_match(motion: JointTrajectory, count: int = 60, tolerance: float = 1e-6) -> None:
    """Compare v with differences of q, and a with differences of v, away from knots, to `tolerance` of the largest."""
    t = np.linspace(0.0, motion.duration, count + 2)[1:-1] + 0.0123 * motion.duration / count
    t = t[(np.abs(t[:, None] - motion.knots) > 3 * STEP).all(axis=1)]
    assert len(t) > count // 2
    before, after = motion(t - STEP), motion(t + STEP)
    v = (_difference(motion, motion(t), after) - _difference(motion, motion(t), before)) / (2 * STEP)
    a = (motion(t + STEP, 1) - motion(t - STEP, 1)) / (2 * STEP)
    np.testing.assert_allclose(motion(t, 1), v, atol=tolerance * max(1.0, np.abs(v).max()))
    np.testing.assert_allclose(motion(t, 2), a, atol=tolerance * max(1.0, np.abs(a).max()))


def assert_state(motion: JointTrajectory, t: float, q: Array, v: Array | None = None, a: Array | None = None) -> None:
    """Compare the state at a time; v and a are zero if not given."""
    np.testing.assert_allclose(_difference(motion, motion(t), np.asarray(q, dtype=float)), 0.0, atol=1e-8)
    for order, expected in ((1, v), (2, a)):
        found = motion(t, order)
        np.testing.assert_allclose(found, np.zeros_like(found) if expected is None else expected, atol=1e-8)


def assert_continuous(motion: JointTrajectory, order: int) -> None:
    """Compare derivatives up to `order` on both sides of each inner knot."""
    knots = motion.knots[1:-1]
    before = np.nextafter(knots, 0.0)
    np.testing.assert_allclose(_difference(motion, motion(before), motion(knots)), 0.0, atol=1e-8)
    for k in range(1, order + 1):
        size = max(1.0, float(np.abs(motion(knots, k)).max()))
        np.testing.assert_allclose(motion(before, k), motion(knots, k), atol=1e-8 * size)


@pytest.fixture(name="assert_rates_match")
def _rates() -> Callable[..., None]:
    return assert_rates_match


@pytest.fixture(name="assert_state")
def _state() -> Callable[..., None]:
    return assert_state


@pytest.fixture(name="assert_continuous")
def _continuous() -> Callable[..., None]:
    return assert_continuous


@pytest.fixture(scope="session")
def panda() -> kd.Robot:
    return kd.load("panda")


@pytest.fixture(scope="session")
def humanoid() -> kd.Robot:
    return kd.load("humanoid")
