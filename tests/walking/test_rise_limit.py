"""After a push the CoM does not rise beyond its reference, as far as a limit of the normal force can prevent it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import balance, kinematics
from kinodyn.walking import Biped, GaitSettings
from kinodyn.walking.rise_limit import LEAST_LOAD, RISE, RiseLimit

DT = 1e-3


@pytest.fixture
def settings(body: Biped) -> GaitSettings:
    return GaitSettings.from_robot(body)


@pytest.fixture
def limit(body: Biped, settings: GaitSettings) -> RiseLimit:
    return RiseLimit(body, settings)


def rise(limit: RiseLimit, body: Biped, below: float, velocity: float) -> np.ndarray:
    """Return the heights above the reference of a body that is accelerated upwards as far as the limit allows."""
    height, gravity, heights = -below, body.weight / body.robot.mass, []
    for _ in range(3000):
        acceleration = gravity * (limit(-height, velocity) - 1.0)
        height += DT * (velocity + 0.5 * DT * acceleration)
        velocity += DT * acceleration
        heights.append(height)
    return np.array(heights)


@pytest.mark.parametrize(("below", "velocity"), [(0.02, 0.0), (0.05, 0.1), (0.0, 0.05), (0.0, -0.3), (0.05, -0.2)])
def test_a_body_that_rises_as_far_as_allowed_stops_at_the_limit(
    limit: RiseLimit, body: Biped, below: float, velocity: float
) -> None:
    heights = rise(limit, body, below, velocity)
    allowed = RISE * body.leg
    assert heights[-1] == pytest.approx(allowed, abs=1e-4)
    assert heights.max() < allowed + 0.1 * (allowed + below)


def test_a_body_beyond_the_limit_sinks_but_does_not_fall(limit: RiseLimit, body: Biped) -> None:
    heights = rise(limit, body, -0.1, 0.3)
    assert np.diff(heights, 2).min() >= -(1.0 - LEAST_LOAD) * body.weight / body.robot.mass * DT**2 * (1.0 + 1e-6)
    assert heights[-1] == pytest.approx(RISE * body.leg, abs=1e-3)


def test_a_body_far_below_its_reference_may_use_the_largest_load(limit: RiseLimit, settings: GaitSettings) -> None:
    assert limit(0.2, 0.0) == settings.max_load
    assert limit(0.0, -1.0) == settings.max_load


@pytest.mark.slow
def test_g1_survives_lateral_pushes_beyond_what_it_bears_without_a_step() -> None:
    """Its trunk leans after such a push; turning it back upright must not lift the hips from the foot that lands."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load("g1", base="floating")
        body = Biped.from_robot(robot)
        polygon = balance.support_polygon(robot, body.q, list(body.feet.values()))
        com = kinematics.com(robot, body.q)[:2]
        bound = float(balance.push_bound(polygon, com, [0.0, 1.0], body.omega, robot.mass))
        for ratio in (1.0, 1.5, 2.0):
            assert kd.walking.survives_push(robot, 0.5 * np.pi, ratio * bound, stepping=True)
