"""A CustomTask takes the same loop as the task that it imitates: same answers, same number of steps, same conflicts."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

ROBOT = kd.load("humanoid")
Q = ROBOT.configuration("standing")
FEET = ("left_sole", "right_sole")


def imitation(task: kd.tasks.Task) -> kd.tasks.CustomTask:
    """Make a CustomTask of another task's rows."""

    def rows(robot: Robot, q: Array) -> tuple[Array, Array]:
        return task.error(robot, q), task.jacobian(robot, q)

    return kd.tasks.CustomTask(
        task.name, rows, rows=task.row_count(ROBOT), priority=task.priority, gain=task.gain, weights=task.weights
    )


def hand_targets(n: int) -> Array:
    """Draw poses of a hand around the robot, some of them out of reach."""
    rng = np.random.default_rng(3)
    return kd.kinematics.pose(ROBOT, Q, "left_palm") @ kd.spatial.exp(
        rng.normal(size=(n, 6)) * [0.25, 0.25, 0.25, 0.6, 0.6, 0.6]
    )


def solver(T: Array, custom: bool) -> kd.ik.WholeBody:
    feet = [kd.tasks.ContactTask(foot, kd.kinematics.pose(ROBOT, Q, foot)) for foot in FEET]
    hand: kd.tasks.Task = kd.tasks.FrameTask("left_palm", T, gain=0.7, weights=(2, 2, 2, 1, 1, 1))
    limit = kd.limits.ComLimit(kd.kinematics.com(ROBOT, Q)[:2] + 0.08 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]))
    limits: list[kd.limits.Limit] = [kd.limits.PositionLimit(), kd.limits.VelocityLimit(), limit]
    tasks = [*feet, imitation(hand) if custom else hand, kd.tasks.PostureTask(Q)]
    return kd.ik.WholeBody(ROBOT, tasks, limits)


def test_solves_agree_with_those_of_the_native_task() -> None:
    statuses, same = set(), 0
    for T in hand_targets(12):
        native, custom = (solver(T, kind).solve(Q) for kind in (False, True))
        statuses.add(str(native.status))
        assert custom.status == native.status
        assert [each.task for each in custom.conflicts] == [each.task for each in native.conflicts]
        errors = [np.linalg.norm(result.errors["left_palm"]) for result in (native, custom)]
        assert errors[1] == pytest.approx(errors[0], rel=0.05, abs=1e-9)
        if native.iterations < 100:  # over hundreds of steps rounding grows, whatever the task
            assert abs(custom.iterations - native.iterations) <= 1
            np.testing.assert_allclose(custom.q, native.q, atol=1e-9)
            same += 1
    assert statuses == {"solved", "conflict"} and same >= 6


def test_steps_agree_with_those_of_the_native_task() -> None:
    for T in hand_targets(4):
        native, custom = (solver(T, kind).step(Q, 0.01) for kind in (False, True))
        np.testing.assert_allclose(custom.v, native.v, atol=1e-9)
        np.testing.assert_allclose(custom.q, native.q, atol=1e-11)


def test_a_batch_agrees_with_single_states() -> None:
    T = hand_targets(6)[0]
    starts = ROBOT.integrate(Q, 0.05 * np.random.default_rng(1).normal(size=(5, ROBOT.nv)))
    together = solver(T, True).solve(starts)
    for k, start in enumerate(starts):
        alone = solver(T, True).solve(start)
        np.testing.assert_allclose(together.q[k], alone.q, atol=1e-9)
        assert together.status[k] == alone.status and abs(together.iterations[k] - alone.iterations) <= 1


def test_errors_of_the_function_reach_the_caller() -> None:
    def broken(robot: Robot, q: Array) -> tuple[Array, Array]:
        raise ZeroDivisionError("as planned")

    task = kd.tasks.CustomTask("broken", broken, rows=1)
    with pytest.raises(ZeroDivisionError, match="as planned"):
        kd.ik.WholeBody(ROBOT, [task]).solve(Q)
    wrong = kd.tasks.CustomTask("wrong", lambda robot, q: (np.zeros(2), np.zeros((1, robot.nv))), rows=1)
    with pytest.raises(kd.InputError, match="wrong"):
        kd.ik.WholeBody(ROBOT, [wrong]).step(Q, 0.01)
    for returned in (3, np.zeros(3), (np.zeros(1),)):
        lacking = kd.tasks.CustomTask("lacking", lambda robot, q, returned=returned: returned, rows=1)
        with pytest.raises(kd.InputError, match="'lacking' must return"):
            lacking.error(ROBOT, Q)
