"""Steps on the configuration manifold: laws of integrate, difference and interpolate; neutral and random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import expm

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Joint, Link
from kinodyn.model.robot import Robot

Close = Callable[..., None]
N = 9


def quaternions(robot: Robot) -> list[slice]:
    return [slice(j.q.stop - 4, j.q.stop) for j in robot.joints if j.kind in ("ball", "floating")]


def assert_same_place(robot: Robot, found: Array, expected: Array, tolerance: float = 1e-13) -> None:
    """Compare configurations, for which a quaternion and its negative are the same."""
    found = found.copy()
    for part in quaternions(robot):
        found[..., part] *= np.sign((found[..., part] * expected[..., part]).sum(-1, keepdims=True))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def tangents(robot: Robot, size: float, seed: int = 3) -> Array:
    """Draw tangents whose rotations are by at most `size`."""
    v = np.random.default_rng(seed).uniform(-1.0, 1.0, (N, robot.nv))
    return np.asarray(size * v / np.sqrt(3))


SIZES = [0.0, 1e-12, 1e-8, 1e-6, 1e-4, 9.9e-3, 1.01e-2, 0.3, 2.0, 3.1]


@pytest.mark.parametrize("size", SIZES)
def test_difference_undoes_integrate(robot: Robot, assert_close: Close, size: float) -> None:
    q, v = robot.random(N, seed=1), tangents(robot, size)
    np.testing.assert_allclose(robot.difference(q, robot.integrate(q, v)), v, rtol=1e-12, atol=2e-14)


def test_integrate_undoes_difference(robot: Robot) -> None:
    q0, q1 = robot.random(N, seed=1), robot.random(N, seed=2)
    assert_same_place(robot, robot.integrate(q0, robot.difference(q0, q1)), q1)


def test_the_difference_of_a_configuration_from_itself_is_zero(robot: Robot) -> None:
    q = robot.random(N, seed=1)
    np.testing.assert_allclose(robot.difference(q, q), 0.0, atol=1e-15)
    assert_same_place(robot, robot.integrate(q, np.zeros(robot.nv)), q, 1e-15)


def test_both_signs_of_a_quaternion_are_the_same_configuration(robot: Robot) -> None:
    q0, q1 = robot.random(N, seed=1), robot.random(N, seed=2)
    flipped = q1.copy()
    for part in quaternions(robot):
        flipped[..., part] *= -1
    np.testing.assert_allclose(robot.difference(q0, flipped), robot.difference(q0, q1), atol=1e-13)


def test_two_half_steps_equal_one_step(robot: Robot) -> None:
    q, v = robot.random(N, seed=1), tangents(robot, 2.5)
    assert_same_place(robot, robot.integrate(robot.integrate(q, 0.3 * v), 0.7 * v), robot.integrate(q, v))


def test_interpolation_has_its_ends_and_a_constant_velocity(robot: Robot) -> None:
    q0, q1 = robot.random(N, seed=1), robot.random(N, seed=2)
    assert_same_place(robot, robot.interpolate(q0, q1, 0.0), q0)
    assert_same_place(robot, robot.interpolate(q0, q1, 1.0), q1)
    s = np.linspace(-0.5, 1.5, N)
    assert_same_place(robot, robot.interpolate(q0, q1, s), robot.integrate(q0, s[:, None] * robot.difference(q0, q1)))


def test_the_fraction_of_an_interpolation_broadcasts(robot: Robot) -> None:
    q0, q1, s = robot.random(seed=1), robot.random((4, 1), seed=2), np.linspace(0, 1, 5)
    found = robot.interpolate(q0, q1, s)
    assert found.shape == (4, 5, robot.nq)
    np.testing.assert_array_equal(found[2, 3], robot.interpolate(q0, q1[2, 0], s[3]))


def test_quaternions_keep_unit_norm_over_many_steps(robot: Robot) -> None:
    q, v = robot.random(seed=1), tangents(robot, 1.0)[0]
    for _ in range(1000):
        q = robot.integrate(q, v)
    for part in quaternions(robot):
        assert np.linalg.norm(q[part]) == pytest.approx(1.0, abs=1e-15)


def test_a_free_body_moves_along_the_screw_of_its_twist() -> None:
    """The matrix exponential of the twist, in the body's own frame."""
    robot = kd.load("humanoid")
    base = robot.joints[0].child
    for seed in range(5):
        q, v = robot.random(seed=seed), np.zeros(robot.nv)
        v[:6] = x, y, z, a, b, c = np.random.default_rng(seed).normal(size=6)
        twist = np.array([[0, -c, b, x], [c, 0, -a, y], [-b, a, 0, z], [0, 0, 0, 0]])
        expected = kd.kinematics.pose(robot, q, base) @ expm(twist)
        np.testing.assert_allclose(kd.kinematics.pose(robot, robot.integrate(q, v), base), expected, atol=1e-13)


def test_single_coordinate_joints_interpolate_linearly(robot: Robot) -> None:
    q0, q1 = robot.random(N, seed=1), robot.random(N, seed=2)
    v = robot.difference(q0, q1)
    for joint in robot.joints:
        if joint.kind in ("revolute", "continuous", "prismatic", "planar"):
            np.testing.assert_array_equal(v[:, joint.v], (q1 - q0)[:, joint.q])


def test_a_difference_is_at_most_half_a_turn(robot: Robot) -> None:
    v = robot.difference(robot.random(200, seed=1), robot.random(200, seed=2))
    for joint in robot.joints:
        if joint.kind in ("ball", "floating"):
            assert np.linalg.norm(v[:, joint.v.stop - 3 : joint.v.stop], axis=-1).max() <= np.pi + 1e-12


def test_half_a_turn_is_interpolated() -> None:
    robot = kd.load("humanoid")
    q0, q1 = robot.neutral(), robot.neutral()
    for axis in range(3):
        q1[3:7] = np.eye(4)[axis]
        v = robot.difference(q0, q1)
        assert np.linalg.norm(v[3:6]) == pytest.approx(np.pi, abs=1e-14)
        assert_same_place(robot, robot.integrate(q0, v), q1, 1e-14)


def test_neutral_is_zeros_and_unit_quaternions(robot: Robot) -> None:
    q = robot.neutral()
    for part in quaternions(robot):
        np.testing.assert_array_equal(q[part], [0, 0, 0, 1])
        q[part] = 0
    np.testing.assert_array_equal(q, 0.0)
    robot.neutral()[:] = 7.0
    assert robot.neutral().max(initial=0.0) <= 1.0


def test_random_configurations_fill_the_limits(robot: Robot) -> None:
    q = robot.random(2000, seed=5)
    assert (q >= robot.limits.lower).all() and (q <= robot.limits.upper).all()
    for joint in robot.joints:
        if joint.mimic is None and joint.kind in ("revolute", "prismatic", "continuous"):
            x, low, high = q[:, joint.q], robot.limits.lower[joint.q], robot.limits.upper[joint.q]
            if np.isfinite(high - low).all():
                assert x.min() < low + 0.01 * (high - low) and x.max() > high - 0.01 * (high - low)
            else:
                assert np.isfinite(x).all() and x.std() > 0.1
    for part in quaternions(robot):
        np.testing.assert_allclose(np.linalg.norm(q[:, part], axis=-1), 1.0, atol=1e-15)
        np.testing.assert_allclose(q[:, part].mean(axis=0), 0.0, atol=0.05)


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        ({}, (-np.pi, np.pi)),
        ({"lower": 1.0}, (1.0, 1.0 + 2 * np.pi)),
        ({"upper": -1.0}, (-1.0 - 2 * np.pi, -1.0)),
        ({"lower": -1e3, "upper": 1e3}, (-np.pi, np.pi)),
        ({"lower": 100.0, "upper": 200.0}, (100.0, 100.0 + 2 * np.pi)),
        ({"lower": 0.5, "upper": 0.5}, (0.5, 0.5)),
    ],
)
def test_unlimited_joints_are_sampled_over_one_turn(limits: dict[str, float], allowed: tuple[float, float]) -> None:
    joint = Joint("j", "revolute", "a", "b", **limits)  # type: ignore[arg-type]
    q = Robot(Description("r", (Link("a"), Link("b")), (joint,))).random(500)
    assert allowed[0] <= q.min() and q.max() <= allowed[1]
    assert q.max() - q.min() >= 0.95 * (allowed[1] - allowed[0])


def test_random_is_the_same_for_the_same_seed(robot: Robot) -> None:
    np.testing.assert_array_equal(robot.random(5, seed=7), robot.random(5, seed=7))
    generator = np.random.default_rng(7)
    np.testing.assert_array_equal(robot.random(5, seed=generator), robot.random(5, seed=7))
    assert not np.array_equal(robot.random(5, seed=generator), robot.random(5, seed=7))
    assert robot.random().shape == (robot.nq,)
    assert robot.random((2, 3)).shape == (2, 3, robot.nq)
    assert robot.random(0).shape == (0, robot.nq)
