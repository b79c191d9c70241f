"""Gains from a frequency or given, and constant and moving references."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.control.references import FrameReference, JointReference, pose_difference

Gains = kd.control.Gains


def test_gains_by_frequency_are_those_of_a_second_order_system() -> None:
    gains = Gains.from_frequency([2.0, 3.0], damping_ratio=0.5)
    np.testing.assert_allclose(gains.stiffness, [4.0, 9.0])
    np.testing.assert_allclose(gains.damping, [2.0, 3.0])


def test_gains_by_frequency_are_multiplied_by_inertia_where_torques_are_commanded(load: Callable) -> None:
    robot, q = load("panda")
    inertia = np.diag(kd.dynamics.mass_matrix(robot, q))
    controller = kd.control.PDGravity(robot, q, Gains.from_frequency(3.0))
    np.testing.assert_allclose(controller.stiffness, 9.0 * inertia)
    np.testing.assert_allclose(controller.damping, 6.0 * inertia)
    given = kd.control.PDGravity(robot, q, Gains(50.0, np.full(7, 5.0)))
    np.testing.assert_allclose(given.stiffness, 50.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda load: Gains(-1.0, 1.0), "stiffness"),
        (lambda load: Gains(1.0, [1.0, np.nan]), "damping"),
        (lambda load: Gains(np.eye(2), 1.0), "stiffness"),
        (lambda load: Gains.from_frequency(0.0), "frequency"),
        (lambda load: Gains.from_frequency(1.0, damping_ratio=-0.1), "damping_ratio"),
        (lambda load: Gains("stiff", 1.0), "stiffness"),
        (lambda load: kd.control.PDGravity(*load("ur5"), Gains([1.0, 2.0], 1.0)), "stiffness of the joints"),
        (lambda load: kd.control.PDGravity(*load("ur5"), 5.0), "must be a kinodyn.control.Gains"),
    ],
)
def test_invalid_gains_raise(make: Callable, words: str, load: Callable) -> None:
    with pytest.raises(kd.InputError, match=words):
        make(load)


def test_a_moving_reference_is_evaluated_at_all_three_orders(load: Callable, sine: type) -> None:
    robot, q = load("ur5")
    motion = sine(q, 0.2, 3.0)
    for got, order in zip(JointReference(robot, motion).at(0.7), (0, 1, 2), strict=True):
        np.testing.assert_array_equal(got, motion(0.7, order))


def test_a_reference_of_the_wrong_size_or_with_nan_raises(load: Callable, sine: type) -> None:
    robot, q = load("ur5")
    with pytest.raises(kd.InputError, match="shape"):
        JointReference(robot, q[:-1])
    with pytest.raises(kd.InputError, match="shapes"):
        JointReference(robot, sine(q[:-1], 0.2, 3.0)).at(0.0)
    with pytest.raises(kd.InputError, match="not finite"):
        JointReference(robot, sine(q, np.nan, 3.0)).at(1.0)
    with pytest.raises(kd.InputError, match="orientation"):
        FrameReference([0.0, 0.0, 1.0], needs_orientation=True)
    with pytest.raises(kd.InputError, match="orthonormal"):
        FrameReference(np.diag([2.0, 2.0, 2.0, 1.0]), needs_orientation=True)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-5, 0.3, 2.0, 3.1, np.pi - 1e-9, np.pi])
def test_the_rotation_error_is_the_logarithm(angle: float) -> None:
    axis = np.array([0.48, -0.6, 0.64])
    T = kd.spatial.pose([1.0, 2.0, 3.0], kd.spatial.rot_x(0.7))
    R = kd.spatial.exp3(angle * axis)
    target = kd.spatial.pose([1.5, 2.0, 2.0], R @ T[:3, :3])
    found = pose_difference(T, target)
    np.testing.assert_allclose(found[:3], [0.5, 0.0, -1.0])
    np.testing.assert_allclose(kd.spatial.exp3(found[3:]), R, atol=1e-14)
    assert abs(np.linalg.norm(found[3:]) - angle) < 1e-9
    np.testing.assert_allclose(pose_difference(np.stack([T, T]), target)[1], found, atol=1e-9)
