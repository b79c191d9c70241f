"""Projections onto path constraints: on every kind of joint, with every instruction set, verified by kinematics."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.planning.constraint_set import ConstraintSet
from kinodyn.planning.constraints import Constraint, InBox, OnPlane, Upright, pose_record
from kinodyn.planning.groups import group_joints

from .constrained_paths import turned


class AtPose(Constraint):
    """A frame at a pose, and everything moves, as far as the base can."""

    moves_base = True

    def __init__(self, frame: str, T: Array) -> None:
        self.frame, self.T = frame, T

    def records(self, robot: Robot, start: Array) -> np.ndarray:
        tolerances = 1e-5, 1e-5
        return pose_record(robot, self.frame, region=self.T, bounds=(0.0, 0.0), angle=0.0, tolerances=tolerances)


def has_planned_joints(robot: Robot) -> bool:
    return any(joint.mimic is None and joint.kind not in ("ball", "floating") for joint in robot.joints)


def near(robot: Robot, q: Array, n: int, spread: float) -> Array:
    """Return configurations (n, nq) near q, within the limits of joints with one coordinate."""
    v = np.random.default_rng(1).normal(0.0, spread, (n, robot.nv))
    result = robot.integrate(q, v)
    for joint in robot.joints:
        if joint.mimic is None and joint.q.stop - joint.q.start == 1:
            result[:, joint.q] = np.clip(result[:, joint.q], robot.limits.lower[joint.q], robot.limits.upper[joint.q])
    return result


def test_configurations_next_to_a_constraint_are_projected_onto_it(robot: Robot, instruction_set: str) -> None:
    if not has_planned_joints(robot):
        with pytest.raises(kd.errors.InputError, match="no joints that move"):
            group_joints(robot, None)
        return
    frame = robot.frame_names[-1]
    joints = group_joints(robot, None)
    moving = [joint.name for joint in joints] + ([robot.joints[0].name] if robot.base == "floating" else [])
    for seed in range(3):
        q0 = robot.random(seed=seed)
        T = kd.kinematics.pose(robot, q0, frame)
        constraints = ConstraintSet(robot, q0, joints, [AtPose(frame, T)])
        around = np.tile(q0, (20, 1))
        columns = np.concatenate([np.arange(robot.nq)[joint.q] for joint in robot.joints if joint.name in moving])
        around[:, columns] = near(robot, q0, 20, 0.02)[:, columns]
        everything, reached = constraints.project(around, 50)
        # singular postures, or a limit next to the start, may stop a few
        assert len(reached) >= 18
        measured = kd.kinematics.pose(robot, reached, frame)
        assert np.abs(measured[:, :3, 3] - T[:3, 3]).max() < 1.1e-6 * np.sqrt(3)
        assert turned(measured[:, :3, :3], T[:3, :3]).max() < 1.1e-6
        others = np.setdiff1d(np.arange(robot.nq), columns)
        np.testing.assert_array_equal(everything[:, others], around[:, others])


@pytest.mark.parametrize("name", ["panda", "ur5", "humanoid"])
def test_the_distance_outside_of_a_constraint_is_that_of_kinematics(name: str, instruction_set: str) -> None:
    robot = kd.load(name)
    frame = robot.frame_names[-1]
    q0 = robot.random(seed=0)
    T0 = kd.kinematics.pose(robot, q0, frame)
    normal = np.array([1.0, 2.0, 2.0]) / 3.0
    size = np.array([0.1, 0.2, 0.3])
    given = [Upright(frame), OnPlane(frame, normal), InBox(frame, size, T0)]
    constraints = ConstraintSet(robot, q0, group_joints(robot, None), given)
    q = robot.random(200, seed=1)
    T = kd.kinematics.pose(robot, q, frame)
    outside = constraints.outside(q)
    tilt = np.arccos(np.clip(T[:, 2, :3] @ T0[2, :3], -1.0, 1.0))
    np.testing.assert_allclose(outside[:, 0, 1], np.maximum(tilt - 0.05, 0.0), atol=1e-6)
    np.testing.assert_allclose(outside[:, 1, 0], np.abs((T[:, :3, 3] - T0[:3, 3]) @ normal), atol=1e-12)
    local = (T[:, :3, 3] - T0[:3, 3]) @ T0[:3, :3]
    tolerance = constraints.rows.tolerances[2, 0]
    gap = np.maximum(np.abs(local) - (0.5 * size - tolerance), 0.0)
    np.testing.assert_allclose(outside[:, 2, 0], np.linalg.norm(gap, axis=1), atol=1e-12)
