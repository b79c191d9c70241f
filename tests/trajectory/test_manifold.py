"""Ball and floating joints: velocity and acceleration are those of the configuration, exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.errors import InputError
from kinodyn.spatial import right_jacobian
from kinodyn.trajectory import tangent

Check = Callable[..., None]
RNG = np.random.default_rng(1)


@given(st.integers(0, 10_000), st.sampled_from([3, 6]), st.floats(1e-9, 12.0))
def test_rates_agree_with_the_right_jacobian_and_its_finite_difference(seed: int, size: int, angle: float) -> None:
    """At all angles, around the place too where series and closed form meet."""
    x, dx, ddx = np.random.default_rng(seed).normal(size=(3, size))
    x[-3:] *= angle / np.linalg.norm(x[-3:])
    np.testing.assert_allclose(tangent.velocity(x, dx), right_jacobian(x) @ dx, atol=1e-12 * max(1.0, angle**2))
    h = 1e-5
    rate = (right_jacobian(x + h * dx) @ (dx + h * ddx) - right_jacobian(x - h * dx) @ (dx - h * ddx)) / (2 * h)
    np.testing.assert_allclose(tangent.acceleration(x, dx, ddx), rate, atol=1e-7 * max(1.0, np.abs(rate).max()))


def test_series_and_closed_form_agree_where_they_switch() -> None:
    turn = np.array([[0.0, 0.0, 2.0 - 1e-9], [0.0, 0.0, 2.0 + 1e-9]])
    dx = np.array([0.3, -0.2, 0.5])
    below, above = tangent.acceleration(turn, np.stack([dx, dx]), np.zeros((2, 3)))
    np.testing.assert_allclose(below, above, atol=1e-8)


def test_a_quintic_of_every_kind_of_joint_meets_its_ends_and_its_rates(
    every_kind: kd.Robot, assert_state: Check, assert_rates_match: Check
) -> None:
    q = every_kind.random(2, seed=3)
    v0, v1, a0, a1 = RNG.normal(size=(4, every_kind.nv))
    motion = tr.quintic(q[0], q[1], 1.3, v0=v0, v1=v1, a0=a0, a1=a1, robot=every_kind)
    assert_state(motion, 0.0, q[0], v0, a0)
    assert_state(motion, 1.3, q[1], v1, a1)
    assert_rates_match(motion)


def test_integrating_the_velocity_gives_the_configuration(humanoid: kd.Robot) -> None:
    """The midpoint rule in the base's own axes, which knows nothing of charts."""
    q = humanoid.random(2, seed=4)
    motion = tr.quintic(q[0], q[1], 1.0, v0=RNG.normal(size=humanoid.nv), robot=humanoid)
    steps = 4000
    middle = (np.arange(steps) + 0.5) / steps
    found = q[0]
    for v in motion(middle, 1) / steps:
        found = humanoid.integrate(found, v)
    np.testing.assert_allclose(humanoid.difference(found, q[1]), 0.0, atol=1e-5)


@pytest.mark.parametrize("make", [tr.cubic_spline, tr.quintic_spline])
@pytest.mark.parametrize("ends", ["clamped", "natural", "not-a-knot", "periodic"])
def test_splines_of_a_floating_base_are_twice_continuous(
    make: Callable[..., tr.PiecewisePolynomial],
    ends: str,
    humanoid: kd.Robot,
    assert_continuous: Check,
    assert_rates_match: Check,
) -> None:
    q = humanoid.random(7, seed=5)
    q[-1] = q[0] if ends == "periodic" else q[-1]
    motion = make(q, 0.6 * np.arange(7), ends=ends, robot=humanoid)
    np.testing.assert_allclose(humanoid.difference(motion(motion.knots), q), 0.0, atol=1e-12)
    assert_continuous(motion, 2)
    assert_rates_match(motion)
    if ends == "periodic":
        for order in (1, 2):
            np.testing.assert_allclose(motion(0.0, order), motion(motion.duration, order), atol=1e-10)


@pytest.mark.parametrize("make", [tr.cubic_spline, tr.quintic_spline])
def test_a_body_rotating_about_one_axis_follows_the_spline_of_its_angle_for_several_turns(
    make: Callable[..., tr.PiecewisePolynomial], humanoid: kd.Robot
) -> None:
    angles = np.array([0.0, 2.0, 4.5, 7.0, 6.0, 9.0, 12.0])
    times = np.array([0.0, 1.0, 1.8, 3.0, 3.5, 5.0, 6.0])
    q = np.tile(humanoid.neutral(), (len(angles), 1))
    q[:, 5], q[:, 6] = np.sin(angles / 2), np.cos(angles / 2)
    body, angle = make(q, times, robot=humanoid), make(angles[:, None], times)
    t = np.linspace(0.0, 6.0, 101)
    np.testing.assert_allclose(body(t, 1)[:, 5], angle(t, 1)[:, 0], atol=1e-10)
    np.testing.assert_allclose(body(t, 2)[:, 5], angle(t, 2)[:, 0], atol=1e-9)
    half = np.stack([np.sin(angle(t)[:, 0] / 2), np.cos(angle(t)[:, 0] / 2)])
    np.testing.assert_allclose(np.abs((body(t)[:, 5:7].T * half).sum(axis=0)), 1.0, atol=1e-12)


def test_conditions_on_a_floating_base_give_the_quintic_and_need_lower_orders(humanoid: kd.Robot) -> None:
    q = humanoid.random(2, seed=6)
    v0, v1, a0, a1 = RNG.normal(size=(4, humanoid.nv))
    rows = [(0.0, 0, q[0]), (0.0, 1, v0), (0.0, 2, a0), (1.2, 0, q[1]), (1.2, 1, v1), (1.2, 2, a1)]
    other = tr.quintic(q[0], q[1], 1.2, v0=v0, v1=v1, a0=a0, a1=a1, robot=humanoid)
    t = np.linspace(0.0, 1.2, 9)
    found = tr.polynomial(rows, robot=humanoid)
    np.testing.assert_allclose(humanoid.difference(found(t), other(t)), 0.0, atol=1e-10)
    with pytest.raises(InputError, match="lower orders"):
        tr.polynomial([(0.0, 0, q[0]), (0.5, 1, v0), (1.0, 0, q[1])], robot=humanoid)


def test_straight_motions_of_a_floating_base_keep_limits_on_every_coordinate(humanoid: kd.Robot) -> None:
    """Along one screw velocity is the step times a rate, so that limits hold exactly and are reached."""
    q = humanoid.random(2, seed=7)
    most = np.linspace(1.0, 2.0, humanoid.nv)
    for motion in (
        tr.trapezoid(q[0], q[1], velocity=most, acceleration=most, robot=humanoid),
        tr.jerk_limited(q[0], q[1], velocity=most, acceleration=most, jerk=9 * most, robot=humanoid),
    ):
        np.testing.assert_allclose(humanoid.difference(motion(motion.duration), q[1]), 0.0, atol=1e-9)
        report = tr.check(humanoid, motion, velocity=most, acceleration=most)
        assert report.ok
        assert max(load.max() for load in report.peak_ratio.values()) > 1.0 - 1e-6


def test_what_a_floating_base_does_not_support_is_rejected(humanoid: kd.Robot) -> None:
    q = humanoid.random(2, seed=7)
    moving = np.zeros(humanoid.nv)
    moving[0] = 0.5
    limits = {"velocity": np.ones(humanoid.nv), "acceleration": np.ones(humanoid.nv)}
    with pytest.raises(InputError, match="at rest"):
        tr.trapezoid(q[0], q[1], v0=moving, robot=humanoid, **limits)
    with pytest.raises(InputError, match="no jerk limit"):
        tr.jerk_limited(q[0], q[1], acceleration=1.0, jerk=1.0, robot=humanoid)
    with pytest.raises(InputError, match="order 3"):
        tr.quintic(q[0], q[1], 1.0, robot=humanoid)(0.5, 3)
    wrong = q.copy()
    wrong[1, 6] += 0.1
    with pytest.raises(InputError):
        tr.cubic_spline(wrong, robot=humanoid)
