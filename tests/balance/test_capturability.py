"""Capture bounds: by brute force over steps, by pendulums that fall just beyond them."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.balance import lipm

W, T, L, R = 3.1, 0.45, 0.6, 0.07


def best_after_a_step(distance: float, radius: float) -> float:
    """Try pressures and times of all kinds, and step as near as the leg reaches: how near can the next ankle be?"""
    p, t = np.meshgrid(np.linspace(-radius, radius, 41), T * np.array([1.0, 1.1, 1.5, 2.0]), indexing="ij")
    xi = lipm.move_dcm(distance, p, W, t)
    return float(np.abs(xi - np.clip(xi, -L, L)).min())


@pytest.mark.parametrize("radius", [0.0, R])
def test_bounds_agree_with_brute_force(radius: float) -> None:
    bound = radius
    for n in range(5):
        assert kd.balance.capture_distance(n, W, T, L, radius) == pytest.approx(bound, abs=1e-6)
        low, high = bound, 5.0
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if best_after_a_step(middle, radius) <= bound + 1e-12 else (low, middle)
        bound = low


def test_bounds_converge_with_the_number_of_steps() -> None:
    unlimited = kd.balance.capture_distance(np.inf, W, T, L, R)
    assert kd.balance.capture_distance(60, W, T, L, R) == pytest.approx(float(unlimited), rel=1e-12)
    assert best_after_a_step(float(unlimited) * 1.001, R) > float(unlimited)


def test_steps_are_counted_up_to_the_bounds() -> None:
    for n in range(6):
        bound = float(kd.balance.capture_distance(n, W, T, L, R))
        assert kd.balance.steps_to_capture(bound * (1 - 1e-6), W, T, L, R) == n
        assert kd.balance.steps_to_capture(-bound * (1 + 1e-6), W, T, L, R) == n + 1
    unlimited = kd.balance.capture_distance(np.inf, W, T, L, R)
    assert kd.balance.steps_to_capture([0.0, unlimited * 1.01], W, T, L, R).tolist() == [0.0, np.inf]


def test_a_distance_on_a_bound_needs_no_further_step() -> None:
    """Whatever the rounding: of all bounds of many pendulums and feet."""
    for omega in np.linspace(2.5, 4.0, 7):
        for step_time in (0.3, 0.45, 0.7):
            n = np.arange(7)  # further bounds are nearer to each other than rounding
            bounds = np.array([float(kd.balance.capture_distance(int(k), omega, step_time, L, R)) for k in n])
            np.testing.assert_array_equal(kd.balance.steps_to_capture(bounds, omega, step_time, L, R), n)


def test_the_strategy_is_the_first_that_has_room_after_the_reserve() -> None:
    below = 2.0**-20
    margins = np.array([0.0625, 0.0625 - below, -0.0625, -0.0625 - below, -0.1875, -0.1875 - below])
    expected = ["ankle", "hip", "hip", "step", "step", "fall"]
    assert kd.balance.strategy(margins, hip=0.125, step=0.25, reserve=0.0625).tolist() == expected
    without = ["ankle", "ankle", "hip", "hip", "step", "step"]
    assert kd.balance.strategy(margins, hip=0.125, step=0.25).tolist() == without


def test_walking_bounds_are_the_largest_set_that_steps_can_stay_in() -> None:
    forward, backward, narrow, wide = 0.4, 0.3, 0.1, 0.35
    found = kd.balance.walking_bounds(W, T, forward=forward, backward=backward, min_width=narrow, max_width=wide)
    grow = np.exp(W * T)
    x, y = [-9.0, 9.0], [-9.0, 9.0]  # offsets from the foot that are thought viable; y inward
    for _ in range(200):
        # viable is what some step brings back into the viable; a step inward turns the sign of y
        x = [(x[0] - backward) / grow, (x[1] + forward) / grow]
        y = [(narrow - y[1]) / grow, (wide - y[0]) / grow]
    np.testing.assert_allclose([found.ahead, found.behind], [x[1], -x[0]], rtol=1e-9)
    np.testing.assert_allclose([found.inward, -found.outward], [y[1], y[0]], rtol=1e-9)


def survives(polygon: Array, dcm: Array) -> bool:
    """Stand as long as possible: the CoP at the point of the polygon nearest to twice the capture point."""
    xi = dcm.copy()
    for _ in range(150):
        xi = lipm.move_dcm(xi, kd.balance.nearest(polygon, xi * 2.0), W, 0.02)
    return bool(np.abs(xi).max() < 1.0)


def test_pushes_up_to_the_bound_are_survived_and_larger_ones_not() -> None:
    polygon = kd.balance.hull([[-0.08, -0.1], [0.15, -0.12], [0.14, 0.1], [-0.05, 0.13]])
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    impulses = kd.balance.push_bound(polygon, [0.0, 0.0], directions, W, 60.0)
    for direction, impulse in zip(directions, impulses, strict=True):
        kick = direction * impulse / 60.0 / W
        assert survives(polygon, 0.995 * kick)
        assert not survives(polygon, 1.005 * kick)
    assert kd.balance.push_bound(polygon, [1.0, 0.0], [1.0, 0.0], W, 60.0) == 0.0


def test_swinging_the_hips_reaches_as_far_as_the_bound_says() -> None:
    torque, inertia, angle, mass = 60.0, 5.0, 1.0, 70.0
    reach = kd.balance.hip_reach(torque, inertia, angle, mass, W)
    half = np.sqrt(inertia * angle / torque)
    shift = torque / (mass * 9.81)
    # speeding up and braking moves the zero moment point by the torque, beyond a foot that is a point at 0
    xi = lipm.move_dcm(lipm.move_dcm(reach, shift, W, half), -shift, W, half)
    assert xi == pytest.approx(0.0, abs=1e-12)
    # what the flywheel turns meanwhile
    assert inertia * angle == pytest.approx(torque * half**2)


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(kd.InputError, match="steps must be nonnegative integers, or infinite"):
        kd.balance.capture_distance(1.5, W, T, L)
    with pytest.raises(kd.InputError, match="step_time must be a positive number"):
        kd.balance.capture_distance(1, W, 0.0, L)
    with pytest.raises(kd.InputError, match="min_width at most max_width"):
        kd.balance.walking_bounds(W, T, forward=1, backward=1, min_width=0.3, max_width=0.2)
    with pytest.raises(kd.InputError, match=r"direction must be nonzero vectors \(..., 2\)"):
        kd.balance.push_bound([[0, 0], [1, 0], [0, 1]], [0.1, 0.1], [0, 0], W, 1.0)
    with pytest.raises(kd.InputError, match="torque must be"):
        kd.balance.hip_reach(0.0, 1, 1, 1, 1)
