"""Retiming: exact factors, torques whose gravity part does not scale, and the fastest motion along a path."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Inertia, Joint, Link
from kinodyn.errors import InputError


@pytest.fixture(scope="module")
def waypoints(panda: kd.Robot) -> Array:
    q: Array = panda.random(5, seed=2) * 0.6 + np.array([0, 0, 0, -0.8, 0, 0.7, 0])
    return q


@pytest.fixture(scope="module")
def fast(panda: kd.Robot, waypoints: Array) -> tr.PiecewisePolynomial:
    return tr.cubic_spline(waypoints, 0.5 * np.arange(5), robot=panda)


def test_a_trajectory_within_limits_is_kept(panda: kd.Robot, fast: tr.PiecewisePolynomial) -> None:
    slow = fast.stretched(10.0)
    found = tr.retime(panda, slow)
    assert found and found.status == "kept" and found.trajectory is slow and found.factor == 1.0


def test_the_factor_is_exact_for_rates(panda: kd.Robot, fast: tr.PiecewisePolynomial) -> None:
    before = tr.check(panda, fast, acceleration=3.0, jerk=20.0, torque=False)
    expected = max(
        before.peak_ratio["velocity"].max(),
        np.sqrt(before.peak_ratio["acceleration"].max()),
        np.cbrt(before.peak_ratio["jerk"].max()),
    )
    found = tr.retime(panda, fast, acceleration=3.0, jerk=20.0, torque=False)
    assert found.status == "slowed" and found.factor == pytest.approx(expected, rel=1e-9) and found.check.ok
    assert found.trajectory is not None
    t = np.linspace(0.0, fast.duration, 20)
    np.testing.assert_allclose(found.trajectory(found.factor * t), fast(t), atol=1e-10)


def test_the_factor_is_the_least_for_torques(panda: kd.Robot, fast: tr.PiecewisePolynomial) -> None:
    """Slightly faster violates the limit, and so does every speed in between."""
    torque = np.array([40.0, 45.0, 40.0, 40.0, 12.0, 12.0, 12.0])
    found = tr.retime(panda, fast, velocity=np.inf, torque=torque)
    assert found.status == "slowed" and found.check.peak_ratio["torque"].max() == pytest.approx(1.0, abs=1e-6)
    for fraction in np.linspace(1.0 / found.factor, 1.0, 12)[:-1] * (1.0 + 1e-6):
        assert not tr.check(panda, fast.stretched(1.0 / fraction), velocity=np.inf, torque=torque)


def test_damping_scales_linearly_with_the_speed() -> None:
    robot = kd.load("puma560")
    assert robot.damping.all()
    q = robot.random(3, seed=2) * 0.5 + np.array([0, 0.5, -0.5, 0, 0, 0])
    found = tr.retime(robot, tr.cubic_spline(q, [0.0, 0.15, 0.3], robot=robot), velocity=np.inf)
    assert found.status == "slowed" and found.check.peak_ratio["torque"].max() == pytest.approx(1.0, abs=1e-6)


def test_gravity_beyond_the_torque_limit_is_reported(panda: kd.Robot, fast: tr.PiecewisePolynomial) -> None:
    found = tr.retime(panda, fast, torque={"panda_joint2": 25.0})
    assert not found and found.trajectory is None and found.status == "gravity"
    assert "'panda_joint2'" in found.reason and "25" in found.reason and not found.check.ok


def pendulum(effort: float) -> kd.Robot:
    """A point of 2 kg, half a metre from a horizontal axis; at 0 it is level, at pi / 2 it hangs."""
    links = (Link("base"), Link("rod", Inertia(2.0, np.array([0.5, 0.0, 0.0]), np.zeros((3, 3)))))
    joint = Joint("pivot", "revolute", "base", "rod", axis=np.array([0.0, 1.0, 0.0]), effort=effort)
    return kd.Robot(Description("pendulum", links, (joint,)))


def test_some_motions_are_feasible_only_when_fast() -> None:
    """Falling freely from level takes no torque at first; slowly, it takes as much as compensating gravity."""
    weight = 2.0 * 9.81 * 0.5
    robot = pendulum(0.6 * weight)
    fall = tr.polynomial([(0.0, 0, [0.0]), (0.0, 1, [0.0]), (0.0, 2, [9.81 / 0.5]), (0.3, 0, [0.8])], robot=robot)
    assert tr.retime(robot, fall).status == "kept"
    top = float(tr.check(robot, fall, velocity=1.0).peak_ratio["velocity"][0])
    little = tr.retime(robot, fall, velocity=0.9 * top)
    assert little.status == "slowed" and little.factor == pytest.approx(1.0 / 0.9, rel=1e-6)
    assert little.check.peak_ratio["torque"][0] >= (1.0 - 0.9**2) / 0.6 - 1e-6
    much = tr.retime(robot, fall, velocity=0.3 * top)
    assert much.status == "gravity" and "gravity at" in much.reason


def test_slowing_down_does_not_remove_position_violations(panda: kd.Robot) -> None:
    q0 = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
    q1 = q0 + np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    found = tr.retime(panda, tr.minimum_jerk(q0, q1, 0.5, robot=panda))
    assert found.status == "position" and "'panda_joint1'" in found.reason


def test_retiming_along_the_path_is_faster_than_stretching_and_keeps_the_path(
    panda: kd.Robot, fast: tr.PiecewisePolynomial
) -> None:
    uniform = tr.retime(panda, fast, acceleration=8.0)
    found = tr.retime(panda, fast, acceleration=8.0, method="path")
    assert found.status == "slowed" and found.check.ok and found.factor < uniform.factor
    assert found.trajectory is not None
    t = np.linspace(0.0, fast.duration, 4001)
    path, tangent = fast(t), fast(t, 1)
    for q in found.trajectory(np.linspace(0.0, found.trajectory.duration, 23)[1:-1]):
        nearest = np.linalg.norm(path - q, axis=1).argmin()
        off, along = q - path[nearest], tangent[nearest] / np.linalg.norm(tangent[nearest])
        assert np.linalg.norm(off - along * (along @ off)) < 1e-5  # what is left beside the path


def test_invalid_arguments_raise(panda: kd.Robot, fast: tr.PiecewisePolynomial) -> None:
    with pytest.raises(InputError, match="method"):
        tr.retime(panda, fast, method="fast")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="jerk"):
        tr.retime(panda, fast, jerk=1.0, method="path")
    with pytest.raises(InputError, match="JointTrajectory"):
        tr.retime(panda, 3.0)  # type: ignore[arg-type]
