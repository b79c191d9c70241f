"""The pendulum in closed form: against numerical integration, by its invariants."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinodyn as kd
from kinodyn.balance import lipm

RNG = np.random.default_rng(0)
W = 3.2


def test_the_motion_satisfies_the_differential_equation() -> None:
    for c, v, p, r in RNG.normal(size=(10, 4)):
        found = solve_ivp(
            lambda t, x, p=p, r=r: [x[1], W**2 * (x[0] - p - r * t)], (0, 0.9), [c, v], rtol=1e-11, atol=1e-12
        )
        np.testing.assert_allclose(lipm.move(c, v, p, W, 0.9, zmp_rate=r), found.y[:, -1], rtol=1e-8)
        xi = lipm.dcm(c, v, W)
        ended = lipm.dcm(*lipm.move(c, v, p, W, 0.9, zmp_rate=r), W)
        assert lipm.move_dcm(xi, p, W, 0.9, zmp_rate=r) == pytest.approx(float(ended), rel=1e-9)


def test_consecutive_intervals_add_up() -> None:
    c, v, p, r = RNG.normal(size=(4, 50))
    once = lipm.move(c, v, p, W, 0.7, zmp_rate=r)
    twice = lipm.move(*lipm.move(c, v, p, W, 0.3, zmp_rate=r), p + 0.3 * r, W, 0.4, zmp_rate=r)
    np.testing.assert_allclose(twice, once, rtol=1e-10, atol=1e-12)


def test_orbital_energy_is_constant_for_a_constant_zmp() -> None:
    c, v, p = RNG.normal(size=(3, 50))
    later = lipm.move(c, v, p, W, 0.5)
    np.testing.assert_allclose(lipm.orbital_energy(*later, p, W), lipm.orbital_energy(c, v, p, W), rtol=1e-9, atol=1e-9)


def test_with_the_zmp_at_the_capture_point_the_com_comes_to_rest() -> None:
    c, v = RNG.normal(size=(2, 50))
    p = lipm.capture_point(c, v, W)
    np.testing.assert_allclose(lipm.orbital_energy(c, v, p, W), 0.0, atol=1e-12)
    ended, speed = lipm.move(c, v, p, W, 5.0)
    np.testing.assert_allclose(ended, p, atol=1e-6)
    np.testing.assert_allclose(speed, 0.0, atol=1e-6)


def test_dcm_fractions_split_the_dcm_exactly() -> None:
    times = np.concatenate([[1e-12, 1e-8, 1e-6], RNG.uniform(0.01, 3, 50)])
    first, last, rest = lipm.dcm_fractions(W, times)
    np.testing.assert_allclose(first + last + rest, 1.0, rtol=1e-14)
    assert (first > 0).all() and (last > 0).all()
    first, last, rest, times = first[3:], last[3:], rest[3:], times[3:]
    xi, p, end = RNG.normal(size=(3, len(times)))
    later = lipm.move_dcm(xi, p, W, times, zmp_rate=(end - p) / times)
    np.testing.assert_allclose(first * p + last * end + rest * later, xi, atol=1e-8)


def test_acceleration_and_frequency_are_as_defined() -> None:
    assert lipm.natural_frequency(0.9, 9.0) == pytest.approx(10**0.5)
    assert lipm.acceleration(0.3, 0.1, 2.0) == pytest.approx(0.8)


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(kd.InputError, match="height must be a positive number"):
        lipm.natural_frequency(-1.0)
    with pytest.raises(kd.InputError, match="omega must be"):
        lipm.dcm(0.0, 0.0, 0.0)
    with pytest.raises(kd.InputError, match=r"time must be nonnegative \[s\]"):
        lipm.dcm_fractions(3.0, -0.1)
    with pytest.raises(kd.InputError, match="NaN"):
        lipm.move(np.nan, 0.0, 0.0, 3.0, 1.0)


def test_shapes_that_do_not_broadcast_and_overflows_are_refused() -> None:
    three, two = np.zeros(3), np.ones(2)
    for call in (
        lambda: lipm.orbital_energy(three, three, two, 3.0),
        lambda: lipm.acceleration(three, two, 3.0),
        lambda: lipm.dcm(three, two, 3.0),
        lambda: lipm.move_dcm(three, two, 3.0, 0.1),
    ):
        with pytest.raises(kd.InputError, match="not compatible"):
            call()
    with pytest.raises(kd.errors.SingularError, match="the DCM is not finite"):
        lipm.move_dcm(three, 0.0, 1e20, 1.0)
