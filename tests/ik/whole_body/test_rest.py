"""Rest: where a task cannot be met the solve ends where no small motion would bring it nearer, and says so."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import kinodyn as kd
from kinodyn.arrays import Array

ROBOT = kd.load("humanoid")
STAND = ROBOT.configuration("standing")
FEET = ("left_sole", "right_sole")


def hand_targets(ahead: float, pitch: float) -> list[kd.tasks.FrameTask]:
    """Make tasks for both hands, so far [m] ahead and turned by so much [rad]."""
    made = []
    for hand in ("left_palm", "right_palm"):
        T = kd.kinematics.pose(ROBOT, STAND, hand).copy()
        T[:3, 3] += [ahead, 0.0, 0.2]
        T[:3, :3] = kd.spatial.rot_y(pitch) @ T[:3, :3]
        made.append(kd.tasks.FrameTask(hand, T))
    return made


def custom(task: kd.tasks.FrameTask) -> kd.tasks.CustomTask:
    return kd.tasks.CustomTask(task.name, lambda r, q: (task.error(r, q), task.jacobian(r, q)), rows=6)


def relative_gain(tasks: list[kd.tasks.FrameTask], q: Array) -> float:
    """Compute by a linear program how much of the error a motion of the joints, the feet fixed, takes away per rad."""
    e = np.concatenate([task.error(ROBOT, q) for task in tasks])
    J = np.concatenate([task.jacobian(ROBOT, q) for task in tasks])
    feet = np.concatenate([kd.kinematics.jacobian(ROBOT, q, foot) for foot in FEET])
    lower, upper = np.full(ROBOT.nv, -1.0), np.ones(ROBOT.nv)
    lower[6:][q[7:] <= ROBOT.limits.lower[7:] + 1e-5] = 0.0
    upper[6:][q[7:] >= ROBOT.limits.upper[7:] - 1e-5] = 0.0
    best = linprog(-(e @ J), A_eq=feet, b_eq=np.zeros(len(feet)), bounds=np.column_stack([lower, upper]))
    assert best.status == 0
    return -best.fun / (e @ e)


@pytest.mark.parametrize(("ahead", "pitch"), [(0.9, 0.5), (1.5, -0.4), (4.0, 0.0)])
@pytest.mark.parametrize("own", [False, True])
def test_a_conflict_is_where_no_motion_brings_the_hands_nearer(ahead: float, pitch: float, own: bool) -> None:
    hands = hand_targets(ahead, pitch)
    used = [custom(task) for task in hands] if own else hands
    gaze = kd.tasks.GazeTask("head", hands[0].target[:3, 3], priority=2)
    feet = [kd.tasks.ContactTask(foot, kd.kinematics.pose(ROBOT, STAND, foot)) for foot in FEET]
    tasks = [*feet, *used, gaze, kd.tasks.PostureTask(STAND, priority=3)]
    result = kd.ik.WholeBody(ROBOT, tasks, [kd.limits.PositionLimit()]).solve(STAND, iterations=4000)
    assert result.status == "conflict"
    assert relative_gain(hands, STAND) > 0.1
    assert relative_gain(hands, result.q) < 1e-3
