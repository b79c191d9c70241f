"""Closed-form inverse kinematics: all solutions reach the target, and the generating joints are among them."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.ik import AnalyticSolutions, analytic

from .branches import assert_among, assert_every_branch_reaches

N = 10_000
BUNDLED = ["planar2r", "planar3r", "puma560", "ur5", "ur5_robot", "ur10_robot"]


def tool(robot: kd.Robot) -> str:
    return "tool0" if "tool0" in robot.frame_names else robot.frame_names[-1]


def assert_distinct(found: AnalyticSolutions) -> None:
    for q, valid in zip(found.q[:500], found.valid[:500], strict=True):
        gap = q[valid][:, None] - q[valid]
        gap -= 2 * np.pi * np.rint(gap / (2 * np.pi))
        assert (np.abs(gap).max(axis=-1) + 10 * np.eye(len(gap)) > 1e-7).all()


@pytest.mark.parametrize("name", BUNDLED)
def test_the_joints_that_made_the_target_are_among_the_solutions(name: str) -> None:
    robot = kd.load(name)
    frame, q = tool(robot), robot.random(N, seed=1)
    T = kd.kinematics.pose(robot, q, frame)
    found = analytic(robot, T, frame)
    assert (found.status == "solved").all() and (found.reasons == "").all()
    assert_every_branch_reaches(robot, found, T, frame)
    assert_among(robot, frame, found, q)
    assert_distinct(found)


def nearly_singular(robot: kd.Robot, n: int) -> np.ndarray:
    """Return configurations of which a third each has a nearly straight elbow or wrist."""
    q, rng = robot.random(n, seed=3), np.random.default_rng(4)
    small = 10.0 ** rng.uniform(-8.0, -2.0, n) * rng.choice([-1.0, 1.0], n)
    q[1::3, 2], q[2::3, 4] = small[1::3], small[2::3]
    return q


@pytest.mark.parametrize("name", ["puma560", "ur5"])
def test_the_core_finds_the_solutions_of_the_subproblems(name: str) -> None:
    robot = kd.load(name)
    frame, q = tool(robot), nearly_singular(robot, 1500)
    T = kd.kinematics.pose(robot, q, frame)
    T[::5, :3, 3] *= 1.2  # some out of reach
    found = analytic(robot, T, frame)
    # chains with named joints are solved by the subproblems, without the core
    other = analytic(robot, T, frame, joints=robot.joint_names)
    np.testing.assert_array_equal(found.valid, other.valid)
    np.testing.assert_array_equal(found.status, other.status)
    np.testing.assert_array_equal(found.singular, other.singular)
    np.testing.assert_allclose(found.q[found.valid], other.q[found.valid], atol=1e-6)  # joints are loose there
    assert_every_branch_reaches(robot, found, T, frame)


@pytest.mark.parametrize("given", [False, True])
def test_a_batch_has_the_solutions_of_single_calls(given: bool) -> None:
    robot = kd.load("puma560")
    frame, q = tool(robot), nearly_singular(robot, 60)
    T = kd.kinematics.pose(robot, q, frame)
    start = {"q0": robot.random(seed=9) + 2 * np.pi} if given else {}
    found = analytic(robot, T, frame, limits=False, **start)
    for k, each in enumerate(T):
        one = analytic(robot, each, frame, limits=False, **start)
        np.testing.assert_array_equal(one.valid, found.valid[k])
        np.testing.assert_allclose(one.q, found.q[k], atol=1e-9)


def test_the_solutions_agree_with_a_numeric_search() -> None:
    robot = kd.load("puma560")
    frame, q = tool(robot), robot.random(seed=5)
    T = kd.kinematics.pose(robot, q, frame)
    found = analytic(robot, T, frame, limits=False)
    start = robot.random(400, seed=6)
    for _ in range(60):
        here = kd.kinematics.pose(robot, start, frame)
        error = kd.spatial.log(kd.spatial.inverse(here) @ T)
        J = kd.kinematics.jacobian(robot, start, frame, reference="local")
        damped = J.transpose(0, 2, 1) @ J + 1e-6 * np.eye(6)
        step = np.linalg.solve(damped, J.transpose(0, 2, 1) @ error[..., None])[..., 0]
        start = start + np.clip(step, -0.3, 0.3)
    good = np.abs(kd.kinematics.pose(robot, start, frame) - T).max(axis=(1, 2)) < 1e-9
    assert good.sum() > 50
    gap = found.q[found.valid] - start[good][:, None]
    gap -= 2 * np.pi * np.rint(gap / (2 * np.pi))
    assert np.abs(gap).max(axis=-1).min(axis=-1).max() < 1e-6  # none that the closed form does not know
    assert (np.abs(gap).max(axis=-1).min(axis=0) < 1e-6).all()  # and all of its own are found


def test_the_panda_is_solved_with_its_last_joint_given() -> None:
    robot = kd.load("panda")
    frame, q = "panda_hand_tcp", robot.random(N, seed=1)
    T = kd.kinematics.pose(robot, q, frame)
    found = analytic(robot, T, frame, redundancy=q[:, 6:])
    assert_every_branch_reaches(robot, found, T, frame)
    assert_among(robot, frame, found, q, "panda_joint7")
    assert (found.q[found.valid][:, 6] == np.repeat(q[:, 6], found.count)).all()


def test_a_swept_redundancy_gives_the_solutions_of_each_value() -> None:
    robot = kd.load("panda")
    frame, q = "panda_hand_tcp", robot.random((2, 3), seed=3)
    T, sweep = kd.kinematics.pose(robot, q, frame), np.linspace(-2, 2, 5)
    found = analytic(robot, T, frame, redundancy=sweep)
    assert found.q.shape == (2, 3, 40, 7)
    for i, value in enumerate(sweep):
        one = analytic(robot, T, frame, redundancy=value)
        np.testing.assert_array_equal(one.q, found.q[..., 8 * i : 8 * i + 8, :])
        np.testing.assert_array_equal(one.valid, found.valid[..., 8 * i : 8 * i + 8])


def test_an_arm_and_a_leg_of_a_floating_humanoid_are_solved_with_the_rest_fixed() -> None:
    robot = kd.load("humanoid")
    q = np.tile(robot.random(seed=3), (200, 1))
    moved = robot.random(200, seed=8)
    left = [name for name in robot.joint_names if name.startswith("left_")]
    legs, hands = left[:6], left[6:]
    for frame, names in (("left_foot", legs), ("left_palm", hands)):
        places = [robot.joint(name).q.start for name in names]
        there = q.copy()
        there[:, places] = moved[:, places]
        T = kd.kinematics.pose(robot, there, frame)
        more = {} if len(names) == 6 else {"redundancy": there[:, places[6:]], "redundant_joint": names[6]}
        found = analytic(robot, T, frame, joints=names, q0=q, **more)
        assert_every_branch_reaches(robot, found, T, frame)
        assert_among(robot, frame, found, there, names[6] if len(names) == 7 else None)
