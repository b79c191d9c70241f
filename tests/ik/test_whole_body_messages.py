"""What whole-body inverse kinematics says: of conflicts, of itself, and of lists that are none."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinodyn as kd

ROBOT = kd.load("humanoid")
STAND = ROBOT.configuration("standing")
FEET = ("left_sole", "right_sole")
GROUND = [[-0.05, -0.12], [0.17, -0.12], [0.17, 0.12], [-0.05, 0.12]]


def reach(ahead: float, pitch: float = -1.0) -> kd.ik.WholeBody:
    """Make a solver that stands, balances, looks, and reaches so far [m] with both hands, turned by so much [rad]."""
    hands = []
    for hand in ("left_palm", "right_palm"):
        T = kd.kinematics.pose(ROBOT, STAND, hand).copy()
        T[:3, 3] += [ahead, 0.0, 0.3]
        T[:3, :3] = kd.spatial.rot_y(pitch) @ T[:3, :3]
        hands.append(kd.tasks.FrameTask(hand, T))
    gaze = kd.tasks.GazeTask("head", hands[0].target[:3, 3], priority=2)
    feet = [kd.tasks.ContactTask(foot) for foot in FEET]
    limits = [kd.limits.PositionLimit(), kd.limits.ComLimit(GROUND, margin=0.02)]
    return kd.ik.WholeBody(ROBOT, [*feet, *hands, gaze, kd.tasks.PostureTask(STAND, priority=3)], limits)


def assert_stands_at_limit(sentence: str, q: np.ndarray) -> None:
    found = re.fullmatch(r"(\w+) at its (lower|upper) position limit", sentence)
    assert found, sentence
    place = ROBOT.joint(found[1]).q
    bound = ROBOT.limits.lower[place] if found[2] == "lower" else ROBOT.limits.upper[place]
    np.testing.assert_allclose(q[place], bound, atol=1e-6)


@pytest.mark.parametrize(("ahead", "pitch"), [(1.2, 0.0), (1.2, -1.0), (2.0, -1.0)])
def test_conflicts_of_a_posture_name_tasks_and_joints_that_stand_at_position_limits(ahead: float, pitch: float) -> None:
    solver = reach(ahead, pitch)
    result = solver.solve(STAND, iterations=4000)
    assert result.status == "conflict"
    names = {task.name for task in solver.tasks} | {"balance"}
    said = [other for conflict in result.conflicts for other in conflict.against]
    assert "balance" in said and set(FEET) <= set(said)
    for other in said:
        if other not in names:
            assert_stands_at_limit(other, result.q)


def test_a_posture_that_meets_all_has_no_conflicts() -> None:
    result = reach(0.2).solve(STAND)
    assert result.success and not result.conflicts


def test_the_reprs_describe_solver_step_and_result() -> None:
    solver = reach(0.2)
    assert repr(solver) == "WholeBody(humanoid, 6 tasks, 2 limits)"
    assert repr(solver.step(STAND, 0.01)).startswith("Step(0.01 s from q (37,), largest velocity ")
    result = solver.solve(STAND)
    assert repr(result) == f"WholeBodyResult(solved after {result.iterations} iterations)"
    assert repr(solver.solve(np.stack([STAND, STAND]))) == "WholeBodyResult(2 of 2 solved)"


def test_a_task_or_a_limit_must_be_in_a_list() -> None:
    task = kd.tasks.ContactTask("left_sole")
    with pytest.raises(kd.InputError, match="must be a list of kinodyn.tasks.Task objects"):
        kd.ik.WholeBody(ROBOT, task)  # type: ignore[arg-type]
    with pytest.raises(
        kd.InputError, match="limits must be a list of kinodyn.limits.Limit objects or None, got PositionLimit"
    ):
        kd.ik.WholeBody(ROBOT, [task], kd.limits.PositionLimit())  # type: ignore[arg-type]
    for wrong in (5, None, ["left_sole"]):
        with pytest.raises(kd.InputError, match="tasks must be a list of kinodyn.tasks.Task objects, got"):
            kd.ik.WholeBody(ROBOT, wrong)  # type: ignore[arg-type]
