"""Polynomials between states: closed forms, conditions, calls with times of any shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.errors import InputError

Check = Callable[..., None]
RNG = np.random.default_rng(0)
Q0, Q1, V0, V1, A0, A1 = RNG.normal(size=(6, 3))


def test_a_cubic_has_the_textbook_coefficients(assert_state: Check) -> None:
    """Craig, equation 7.11: from rest to rest q = q0 + 3 d (t/T)^2 - 2 d (t/T)^3."""
    motion = tr.cubic(Q0, Q1, 2.0)
    t = np.linspace(0.0, 2.0, 11)
    s = t[:, None] / 2.0
    np.testing.assert_allclose(motion(t), Q0 + (Q1 - Q0) * (3 * s**2 - 2 * s**3), atol=1e-14)
    assert_state(motion, 0.0, Q0, a=6 * (Q1 - Q0) / 4.0)
    moving = tr.cubic(Q0, Q1, 2.0, v0=V0, v1=V1)
    assert_state(moving, 2.0, Q1, V1, moving(2.0, 2))


def test_a_quintic_has_position_velocity_and_acceleration_at_both_ends(
    assert_state: Check, assert_rates_match: Check
) -> None:
    motion = tr.quintic(Q0, Q1, 1.7, v0=V0, v1=V1, a0=A0, a1=A1)
    assert_state(motion, 0.0, Q0, V0, A0)
    assert_state(motion, 1.7, Q1, V1, A1)
    assert_rates_match(motion)


def test_minimum_jerk_is_the_curve_of_flash_and_hogan_and_is_optimal() -> None:
    motion = tr.minimum_jerk(Q0, Q1, 2.0)
    t = np.linspace(0.0, 2.0, 2001)
    s = t[:, None] / 2.0
    np.testing.assert_allclose(motion(t), Q0 + (Q1 - Q0) * (10 * s**3 - 15 * s**4 + 6 * s**5), atol=1e-13)
    np.testing.assert_allclose(np.abs(motion(t, 1)).max(axis=0), 15 / 8 * np.abs(Q1 - Q0) / 2.0, rtol=1e-6)
    np.testing.assert_allclose(np.abs(motion(t, 2)).max(axis=0), 10 / np.sqrt(3) * np.abs(Q1 - Q0) / 4.0, rtol=1e-5)
    cost = trapezoid(motion(t, 3)[:, 0] ** 2, t)
    ends = [(0.0, order, [value]) for order, value in enumerate((Q0[0], 0.0, 0.0))]
    ends += [(2.0, order, [value]) for order, value in enumerate((Q1[0], 0.0, 0.0))]
    for bump in (-0.02, 0.02):
        other = tr.polynomial([*ends, (1.0, 0, [motion(1.0)[0] + bump])])
        assert trapezoid(other(t, 3)[:, 0] ** 2, t) > cost


@given(st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6), st.floats(0.2, 20.0))
def test_the_six_conditions_of_a_quintic_give_the_quintic(values: list[float], duration: float) -> None:
    q0, v0, a0, q1, v1, a1 = ([value] for value in values)
    motion = tr.quintic(q0, q1, duration, v0=v0, v1=v1, a0=a0, a1=a1)
    rows: list[Any] = [
        (0.0, 0, q0),
        (0.0, 1, v0),
        (0.0, 2, a0),
        (duration, 2, a1),
        (duration, 0, q1),
        (duration, 1, v1),
    ]
    t = np.linspace(0.0, duration, 7)
    scale = np.abs(motion(t)).max() + 1.0
    np.testing.assert_allclose(tr.polynomial(rows)(t), motion(t), atol=1e-10 * scale * max(1.0, duration**2))


def test_conditions_of_any_order_at_any_time_are_met() -> None:
    rows: list[Any] = [(0.0, 0, Q0), (0.3, 1, V0), (0.8, 0, Q1), (0.8, 2, A0), (1.1, 3, A1), (1.5, 1, V1), (1.5, 0, Q0)]
    motion = tr.polynomial(rows)
    assert motion.duration == 1.5 and len(motion.coefficients) == 7
    for time, order, value in rows:
        np.testing.assert_allclose(motion(time, order), value, atol=1e-9)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(0.0, 0, [1.0]), (0.0, 0, [2.0]), (1.0, 0, [0.0])], "two conditions of order 0"),
        ([(0.0, 1, [1.0]), (1.0, 1, [0.0])], "no configuration"),
        ([(0.0, 0, [0.0]), (1.0, 0, [0.0]), (0.5, 1, [0.0])], "do not determine"),
        ([(0.0, 0, [0.0])], "later time"),
        ([(-1.0, 0, [0.0]), (1.0, 0, [0.0])], "the time of a condition must be a nonnegative number"),
        ([(0.0, 0.5, [0.0]), (1.0, 0, [0.0])], "order"),
        ([(0.0, 0, [0.0]), (1.0, 0, [np.nan])], "NaN"),
        ([(0.0, 0, [0.0]), (1.0, 0, [0.0, 1.0])], "shape"),
        ([(0.1 * i, 0, [0.0]) for i in range(40)], "digits|determine"),
        ([], "empty"),
        ([(0.0, 0)], "list of"),
    ],
)
def test_conditions_that_do_not_determine_a_polynomial_are_rejected(rows: list[Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        tr.polynomial(rows)


def test_times_of_any_shape_are_accepted_and_the_ends_are_held() -> None:
    motion = tr.quintic(Q0, Q1, 2.0, v0=V0, v1=V1)
    t = RNG.uniform(-1.0, 3.0, size=(4, 1, 5))
    for order in range(4):
        value = motion(t, order)
        assert value.shape == (4, 1, 5, 3)
        np.testing.assert_array_equal(value[2, 0, 3], motion(t[2, 0, 3], order))
    assert motion(1).shape == (3,) and motion([]).shape == (0, 3)
    np.testing.assert_array_equal(motion([-5.0, 9.0]), motion([0.0, 2.0]))
    for order in (1, 2, 3):
        np.testing.assert_array_equal(motion([-1e-9, 2.0 + 1e-9], order), np.zeros((2, 3)))
    assert np.abs(motion([0.0, 2.0], 1)).min() > 0.0  # at the ends themselves the motion's own


def test_samples_end_at_the_end() -> None:
    motion = tr.quintic(Q0, Q1, 1.0)
    samples = motion.sample(0.3)
    np.testing.assert_allclose(samples.time, [0.0, 0.3, 0.6, 0.9, 1.0])
    np.testing.assert_array_equal(samples.q, motion(samples.time))
    np.testing.assert_array_equal(samples.a, motion(samples.time, 2))
    assert len(motion.sample(0.1).time) == 11 and len(motion.sample(5.0).time) == 2
    assert isinstance(motion, tr.Trajectory)


def test_hermite_passes_all_states(assert_state: Check, assert_continuous: Check, assert_rates_match: Check) -> None:
    q, v, a = RNG.normal(size=(3, 5, 2))
    times = np.array([0.0, 0.4, 1.0, 1.1, 2.0])
    motion = tr.hermite(times, q, v, a)
    for k in range(5):
        assert_state(motion, times[k], q[k], v[k], a[k])
    assert_continuous(motion, 2)
    assert_rates_match(motion)
    assert_continuous(tr.hermite(times, q, v), 1)


def test_stretching_keeps_the_path_and_scales_the_rates() -> None:
    motion = tr.quintic(Q0, Q1, 2.0, v0=V0, a1=A1)
    slow = motion.stretched(3.0)
    t = np.linspace(0.0, 2.0, 9)
    assert slow.duration == 6.0
    for order in range(4):
        np.testing.assert_allclose(slow(3.0 * t, order), motion(t, order) / 3.0**order, atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tr.cubic([0.0], [1.0], 0.0),
        lambda: tr.cubic([0.0], [1.0], -1.0),
        lambda: tr.cubic([0.0], [1.0], np.nan),
        lambda: tr.cubic([0.0], [1.0, 2.0], 1.0),
        lambda: tr.cubic([], [], 1.0),
        lambda: tr.cubic(0.0, 1.0, 1.0),
        lambda: tr.cubic([np.inf], [1.0], 1.0),
        lambda: tr.quintic([0.0], [1.0], 1.0, a0=[0.0, 1.0]),
        lambda: tr.quintic([0.0], [1.0], 1.0, v1=["fast"]),
        lambda: tr.quintic([0.0], [1.0], 1.0)(np.nan),
        lambda: tr.quintic([0.0], [1.0], 1.0)(0.5, 4),
        lambda: tr.quintic([0.0], [1.0], 1.0)(0.5, -1),
        lambda: tr.quintic([0.0], [1.0], 1.0)(0.5, True),
        lambda: tr.quintic([0.0], [1.0], 1.0).sample(0.0),
        lambda: tr.quintic([0.0], [1.0], 1.0).sample(1e-12),
        lambda: tr.quintic([0.0], [1.0], 1.0).stretched(0.0),
        lambda: tr.quintic([0.0], [1.0], 1.0, robot="panda"),  # type: ignore[arg-type]
        lambda: tr.quintic([0.0], [1.0], 1.0, robot=kd.load("panda")),
        lambda: tr.hermite([0.0, 0.0], [[0.0], [1.0]], [[0.0], [0.0]]),
        lambda: tr.hermite([0.5, 1.0], [[0.0], [1.0]], [[0.0], [0.0]]),
        lambda: tr.hermite([0.0], [[0.0]], [[0.0]]),
    ],
)
def test_invalid_arguments_raise(call: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        call()
