"""Numeric inverse kinematics: solutions are verified and within limits; failures have the right status."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import DescriptionWarning, InputError, UnknownNameError
from kinodyn.model.robot import Robot

STATUSES = {"solved", "limits", "unreachable", "singular", "budget"}


def load(name: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return kd.load(name, base="fixed")


def assert_honest(robot: Robot, result: kd.ik.IKResult, frame: str, T: Array, tolerance: float) -> None:
    """Verify by matrices alone: no false success, no limit violated, shapes kept."""
    assert np.isfinite(result.q).all()
    assert set(np.unique(result.status)) <= STATUSES
    np.testing.assert_array_equal(result.success, result.status == "solved")
    assert (result.q >= robot.limits.lower - 1e-9).all() and (result.q <= robot.limits.upper + 1e-9).all()
    error = kd.kinematics.pose(robot, result.q, frame) - T
    distance = np.linalg.norm(error[..., :3, 3], axis=-1)
    angle = np.linalg.norm(error[..., :3, :3], axis=(-1, -2)) / np.sqrt(2)
    np.testing.assert_allclose(result.residual[..., 0], distance, atol=1e-12)
    assert (distance[result.success] <= tolerance).all()
    assert (angle[result.success] <= tolerance).all()


def test_hands_and_feet_are_placed_together_by_moving_the_base_too() -> None:
    robot = kd.load("humanoid")
    q0 = robot.configuration("standing")
    frames = ("left_hand", "right_hand", "left_sole", "right_sole")
    nearby = robot.integrate(q0, 0.15 * np.random.default_rng(0).normal(size=(50, robot.nv)))
    q = np.clip(nearby, robot.limits.lower, robot.limits.upper)
    targets = {frame: kd.kinematics.pose(robot, q, frame) for frame in frames}
    result = kd.ik.solve(robot, targets, q0)
    assert result.success.all()
    for frame, T in targets.items():
        np.testing.assert_allclose(kd.kinematics.pose(robot, result.q, frame), T, atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(result.q[:, 3:7], axis=-1), 1.0, atol=1e-12)
    assert np.abs(result.q[:, :3] - q0[:3]).max() > 1e-3


def test_joints_that_do_not_move_a_target_frame_keep_their_position() -> None:
    robot = kd.load("humanoid", base="fixed")
    q0 = robot.random(seed=3)
    T = kd.kinematics.pose(robot, robot.random(seed=4), "left_hand")
    moved = kd.ik.solve(robot, {"left_hand": T}, q0).q != q0
    names = {joint.name for joint in robot.joints if moved[joint.q].any()}
    assert names and names <= {*robot.description.chains["left_arm"], *robot.description.chains["torso"]}


def test_mimic_joints_move_with_their_leader() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        robot = kd.load("romeo", base="fixed")
    followers = [joint for joint in robot.joints if joint.mimic]
    frame = followers[-1].child  # a fingertip that curls with the finger
    T = kd.kinematics.pose(robot, robot.random(40, seed=2), frame)
    result = kd.ik.solve(robot, {frame: T}, tolerance=1e-5)
    assert_honest(robot, result, frame, T, 1e-5)
    assert result.success.mean() > 0.9


def test_position_only_leaves_the_orientation_free() -> None:
    robot = kd.load("planar3r")
    frame = robot.frame_names[-1]
    T = kd.kinematics.pose(robot, robot.random(100, seed=1), frame)
    T[:, :3, :3] = np.eye(3)  # an orientation that most positions do not allow
    result = kd.ik.solve(robot, {frame: T}, position_only=True)
    assert result.success.all()
    np.testing.assert_allclose(kd.kinematics.pose(robot, result.q, frame)[:, :3, 3], T[:, :3, 3], atol=1e-6)
    assert not kd.ik.solve(robot, {frame: T}, restarts=4).success.all()


def test_a_direction_without_weight_is_free() -> None:
    robot = load("panda")
    q = robot.random(50, seed=1)
    T = kd.kinematics.pose(robot, q, "panda_link8")
    T[:, 2, 3] += 5.0  # far above: only x and y are asked for
    result = kd.ik.solve(robot, {"panda_link8": T}, weights=[1, 1, 0, 0, 0, 0])
    assert result.success.all()
    found = kd.kinematics.pose(robot, result.q, "panda_link8")
    np.testing.assert_allclose(found[:, :2, 3], T[:, :2, 3], atol=1e-6)


def test_out_of_reach_the_arm_points_at_the_target() -> None:
    robot = kd.load("planar2r")
    frame = robot.frame_names[-1]
    T = np.tile(np.eye(4), (7, 1, 1))
    angle = np.linspace(-2.5, 2.5, 7)
    T[:, 0, 3], T[:, 1, 3] = 5 * np.cos(angle), 5 * np.sin(angle)
    reach = np.linalg.norm(kd.kinematics.pose(robot, np.zeros(2), frame)[:3, 3])
    result = kd.ik.solve(robot, {frame: T}, position_only=True)
    assert (result.status == "unreachable").all() and not result.success.any()
    np.testing.assert_allclose(result.residual[:, 0], 5 - reach, rtol=1e-3)
    tip = kd.kinematics.pose(robot, result.q, frame)[:, :3, 3]
    np.testing.assert_allclose(np.arctan2(tip[:, 1], tip[:, 0]), angle, atol=0.05)


def test_targets_reachable_only_beyond_limits_have_the_status_limits() -> None:
    rows = [kd.DH(a=0.5, lower=-0.2, upper=0.2), kd.DH(a=0.5, lower=-0.2, upper=0.2)]
    robot = kd.from_dh(rows)
    T = np.eye(4)
    T[:2, 3] = 0.0, 0.8  # straight to the side
    result = kd.ik.solve(robot, {"link2": T}, position_only=True)
    assert result.status == "limits" and not result.success
    assert result.active_limits.all() and (np.abs(result.q) <= 0.2).all()
    free = kd.ik.solve(robot, {"link2": T}, position_only=True, limits=False)
    assert free.success and np.abs(free.q).max() > 0.2


@pytest.mark.parametrize("name", ["puma560", "ur5", "panda", "planar2r"])
def test_singular_and_boundary_targets_are_solved(name: str) -> None:
    robot = load(name)
    frame = robot.frame_names[-1]
    q = np.concatenate([np.zeros((1, robot.nq)), robot.random(40, seed=1)])
    q[1:, 1:] *= np.random.default_rng(0).integers(0, 2, (40, robot.nq - 1))  # many joints at zero, many axes aligned
    q = np.clip(q, robot.limits.lower, robot.limits.upper)
    T = kd.kinematics.pose(robot, q, frame)
    result = kd.ik.solve(robot, {frame: T}, tolerance=1e-5)
    assert_honest(robot, result, frame, T, 1e-5)
    assert result.success.mean() > 0.9


def test_a_start_at_the_solution_stays_there_and_results_repeat() -> None:
    robot = load("panda")
    q = robot.random(20, seed=9)
    T = kd.kinematics.pose(robot, q, "panda_link8")
    np.testing.assert_array_equal(kd.ik.solve(robot, {"panda_link8": T}, q).q, q)
    first, second = (kd.ik.solve(robot, {"panda_link8": T}, seed=3).q for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_batches_keep_their_shape_and_broadcast() -> None:
    robot = load("ur5")
    T = kd.kinematics.pose(robot, robot.random((3, 4), seed=1), "wrist_3_link")
    result = kd.ik.solve(robot, {"wrist_3_link": T})
    assert result.q.shape == (3, 4, 6) and result.status.shape == (3, 4) and result.residual.shape == (3, 4, 2)
    many = kd.ik.solve(robot, {"wrist_3_link": T[0, 0]}, robot.random(5, seed=2))
    assert many.q.shape == (5, 6) and many.success.all()
    assert kd.ik.solve(robot, {"wrist_3_link": T[0, 0]}).q.shape == (6,)
    assert kd.ik.solve(robot, {"wrist_3_link": np.empty((0, 4, 4))}).q.shape == (0, 6)


def test_invalid_arguments_are_rejected() -> None:
    robot, T = load("ur5"), np.eye(4)
    bad = T.copy()
    bad[0, 3] = np.nan
    for targets in ({}, None, [T], {"wrist_3_link": bad}, {"wrist_3_link": np.eye(3)}, {"wrist_3_link": 2 * T}):
        with pytest.raises(InputError):
            kd.ik.solve(robot, targets)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="wrist_3_link"):
        kd.ik.solve(robot, {"wrist_4_link": T})
    for weights in ([1, 2], -1.0, 0.0, np.nan, "heavy"):
        with pytest.raises(InputError, match="weights of 'wrist_3_link'"):
            kd.ik.solve(robot, {"wrist_3_link": T}, weights=weights)
    with pytest.raises(InputError, match=r"q0 must have shape \(\.\.\., 6\)"):
        kd.ik.solve(robot, {"wrist_3_link": T}, np.zeros(5))
    with pytest.raises(InputError, match="not finite"):
        kd.ik.solve(robot, {"wrist_3_link": T}, np.full(6, np.inf))
    with pytest.raises(InputError, match="q0 must be numbers of shape"):
        kd.ik.solve(robot, {"wrist_3_link": T}, "home")
    for name, values in {
        "tolerance": (0.0, np.nan, "tight"),
        "iterations": (0, 2.5, "many"),
        "restarts": (-1, "x"),
        "seed": (-1, None),
    }.items():
        for value in values:
            with pytest.raises(InputError, match=f"{name} must be a"):
                kd.ik.solve(robot, {"wrist_3_link": T}, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"robot must be a kinodyn\.Robot"):
        kd.ik.solve(None, {"wrist_3_link": T})  # type: ignore[arg-type]


def test_within_limits_the_nearest_configuration_is_found() -> None:
    """A joint at its limit must not keep the others from doing what they can: compared with a fine grid."""
    bounds = [(-0.3, 0.4), (-1.2, 0.1), (-0.2, 1.5)]
    robot = kd.from_dh([kd.DH(a=0.5, lower=low, upper=high) for low, high in bounds])
    angles = np.stack(np.meshgrid(*(np.linspace(low, high, 31) for low, high in bounds)), axis=-1).reshape(-1, 3)
    reached = kd.kinematics.pose(robot, angles, "link3")[:, :2, 3]
    T = np.tile(np.eye(4), (60, 1, 1))
    T[:, :2, 3] = np.random.default_rng(1).uniform(-2.0, 2.0, (60, 2))
    nearest = np.linalg.norm(reached[:, None] - T[:, :2, 3], axis=-1).min(axis=0)
    result = kd.ik.solve(robot, {"link3": T}, position_only=True)
    assert (result.residual[:, 0] <= nearest + 1e-6).all()
    assert 0 < result.success.sum() < 60
