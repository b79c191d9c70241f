"""Projected Newton-Euler and cutting: the torques of the recursion, for every robot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.derivation import cut, link_forces, projected_newton_euler
from kinodyn.description.types import Mimic
from kinodyn.errors import InputError, KinodynError, UnknownNameError
from kinodyn.model.robot import Robot

Check = Callable[[Array, Array], None]
States = Callable[[Robot], tuple[Array, Array, Array]]


def test_torques_agree_with_rnea(robot: Robot, states: States, assert_equal: Check) -> None:
    q, v, a = states(robot)
    assert_equal(projected_newton_euler(robot, q, v, a), kd.dynamics.inverse(robot, q, v, a))


@pytest.mark.parametrize("name", ["humanoid", "panda", "puma560"])
def test_torques_of_whole_robots_with_wrenches_agree_with_rnea(name: str, states: States, assert_equal: Check) -> None:
    robot = kd.load(name)
    q, v, a = states(robot)
    rng = np.random.default_rng(3)
    wrenches = {frame: rng.normal(size=(60, 6)) for frame in robot.frame_names[-3:]}
    expected = kd.dynamics.inverse(robot, q, v, a, wrenches)
    assert_equal(projected_newton_euler(robot, q, v, a, wrenches), expected)


def test_ball_joints_are_supported(make_tree: Callable[..., Robot], states: States, assert_equal: Check) -> None:
    robot = make_tree([("ball", "l0", None), ("revolute", "l1", None)], armature=0.2, damping=0.1)
    q, v, a = states(robot)
    assert_equal(projected_newton_euler(robot, q, v, a), kd.dynamics.inverse(robot, q, v, a))


def test_link_contributions_add_up_and_a_hanging_link_contributes_its_weight() -> None:
    robot = kd.load("planar2r")
    parts = link_forces(robot, [0.0, np.pi / 2], [0.0, 0.0], [0.0, 0.0])
    np.testing.assert_allclose(parts["link1"], [9.81 * 0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(parts["link2"], [9.81 * 1.0, 0.0], atol=1e-12)  # straight above the elbow


def test_batch_axes_broadcast(assert_equal: Check) -> None:
    robot = kd.load("humanoid")
    rng = np.random.default_rng(0)
    q, v, a = robot.random((3, 1)), rng.normal(size=(4, robot.nv)), rng.normal(size=robot.nv)
    wrench = {"left_hand": rng.normal(size=(2, 1, 1, 6))}
    tau = projected_newton_euler(robot, q, v, a, wrench)
    assert_equal(tau, kd.dynamics.inverse(robot, q, v, a, wrench))
    assert tau.shape == (2, 3, 4, robot.nv)


def test_invalid_input_is_rejected() -> None:
    robot, zero = kd.load("planar2r"), np.zeros(2)
    with pytest.raises(InputError, match=r"v must have shape \(..., 2\), got \(3,\)"):
        projected_newton_euler(robot, zero, np.zeros(3), zero)
    with pytest.raises(InputError, match="a must be finite numbers"):
        projected_newton_euler(robot, zero, zero, [np.nan, 0.0])
    with pytest.raises(InputError):
        projected_newton_euler(robot, [np.nan, 0.0], zero, zero)
    with pytest.raises(UnknownNameError, match="'link9'"):
        projected_newton_euler(robot, zero, zero, zero, {"link9": np.zeros(6)})
    with pytest.raises(InputError, match=r"the wrench on 'link2' must have shape \(..., 6\), got \(3,\)"):
        projected_newton_euler(robot, zero, zero, zero, {"link2": np.zeros(3)})
    with pytest.raises(InputError, match="wrenches must be a mapping"):
        projected_newton_euler(robot, zero, zero, zero, [1.0])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"robot must be a kinodyn.Robot"):
        projected_newton_euler("planar2r", zero, zero, zero)  # type: ignore[arg-type]


def test_cutting_a_massless_tip_changes_nothing_and_a_heavy_one_its_weight(assert_equal: Check) -> None:
    """The torques of the part are those of the whole less what the links that went add."""
    whole = kd.load("puma560").replace(gravity=[0.0, 1.0, -5.0], armature=0.4)
    part = cut(whole, "joint3")
    q, v, a = np.random.default_rng(1).normal(size=(3, 6))
    q[3:] = v[3:] = a[3:] = 0.0
    gone = sum(force for link, force in link_forces(whole, q, v, a).items() if link in ("link4", "link5", "link6"))
    expected = (kd.dynamics.inverse(whole, q, v, a) - gone)[:3]
    assert_equal(kd.dynamics.inverse(part, q[:3], v[:3], a[:3]), expected)
    assert part.configurations == whole.configurations
    assert part.mass == pytest.approx(13.0 + 17.4 + 4.8)


def test_cutting_one_branch_leaves_the_other(make_tree: Callable[..., Robot]) -> None:
    whole = make_tree([("revolute", "l0", None), ("revolute", "l1", None), ("prismatic", "l1", None)])
    assert cut(whole, "j2").joint_names == ("j1", "j2", "j3")
    assert cut(whole, "j1").joint_names == ("j1",)


def test_cutting_an_unknown_link_or_a_mimic_leader_is_rejected(make_tree: Callable[..., Robot]) -> None:
    with pytest.raises(UnknownNameError, match="unknown joint 'joint9'"):
        cut(kd.load("puma560"), "joint9")
    whole = make_tree([("revolute", "l0", None), ("revolute", "l1", None), ("revolute", "l0", Mimic("j2"))])
    with pytest.raises(KinodynError, match="j2"):
        cut(whole, "j1")
