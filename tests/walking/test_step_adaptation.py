"""Step adaptation after a push: consistent with the pendulum, within limits of position and time."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.balance import lipm
from kinodyn.walking import AdaptedStep, Footstep, StepLimits, adapt_step

W, LEFT = 3.3, 0.3
STANCE = Footstep("right", 0.0, 0.0, 0.0)
PLANNED = Footstep("left", 0.2, 0.17, 0.0)
OFFSET = np.array([0.06, -0.05])


def change(limits: StepLimits, push: Array, **options: float) -> AdaptedStep:
    settings = {"remaining": LEFT, "shortest": 0.15, "longest": 0.5, "next_shortest": 0.4, **options}
    xi = (PLANNED.position + OFFSET) * np.exp(-W * LEFT)  # with the pressure at 0 it arrives as planned
    return adapt_step(
        xi + push, (0.0, 0.0), STANCE, PLANNED, offset=OFFSET, omega=W, limits=limits, foot=(0.06, 0.03), **settings
    )


def test_without_a_push_nothing_changes(limits: StepLimits) -> None:
    found = change(limits, np.zeros(2))
    assert found.status == "solved"
    np.testing.assert_allclose(found.step.position, PLANNED.position, atol=1e-6)
    assert found.remaining == pytest.approx(LEFT, abs=1e-6)
    np.testing.assert_allclose(found.offset, OFFSET, atol=1e-6)


def test_adapted_steps_are_consistent_with_the_pendulum_and_the_limits(limits: StepLimits) -> None:
    rng = np.random.default_rng(0)
    kept = 0
    for push in 0.05 * rng.normal(size=(500, 2)):
        found = change(limits, push)
        assert found.status in ("solved", "relaxed")
        assert 0.15 - 1e-9 <= found.remaining <= 0.5 + 1e-9
        assert float(limits.excess("left", found.step.relative_to(STANCE))) < 1e-6
        xi = (PLANNED.position + OFFSET) * np.exp(-W * LEFT) + push
        landing = lipm.move_dcm(xi, np.zeros(2), W, found.remaining) - found.step.position
        np.testing.assert_allclose(landing, found.offset, atol=1e-6)
        kept += found.status == "solved"
    assert kept > 250


def test_the_step_moves_in_the_direction_of_the_push(limits: StepLimits) -> None:
    assert change(limits, np.array([0.03, 0.0])).step.x > PLANNED.x + 0.02
    assert change(limits, np.array([0.0, 0.03])).step.y > PLANNED.y + 0.02
    held = change(limits, np.array([0.03, 0.0]), travel=0.01)
    assert held.step.x <= PLANNED.x + 0.01 + 1e-6


def test_a_push_inward_shortens_the_step_time_and_the_feet_do_not_cross(limits: StepLimits) -> None:
    found = change(limits, np.array([0.0, -0.05]))
    assert found.remaining < LEFT - 0.01
    assert found.step.y >= limits.min_width - 1e-6


def test_a_dcm_that_no_step_captures_is_reported(limits: StepLimits) -> None:
    found = change(limits, np.array([1.0, 0.0]))
    assert found.status == "relaxed" and found.missed > 0.1
    assert found.step.x == pytest.approx(limits.forward, abs=1e-4)


def test_invalid_arguments_are_rejected(limits: StepLimits) -> None:
    with pytest.raises(kd.InputError, match="0 < shortest <= longest"):
        change(limits, np.zeros(2), shortest=0.6)
