"""Tasks are switched off and on, and weights go to zero and back, while solvers run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

ROBOT = kd.load("humanoid")
Q = ROBOT.configuration("standing")


def make_tasks() -> dict[str, Any]:
    T = kd.kinematics.pose(ROBOT, Q, "left_palm").copy()
    T[:3, 3] += [0.004, 0.002, 0.004]
    com = kd.kinematics.com(ROBOT, Q) + [0.002, 0.001, -0.003]
    tasks = [
        kd.tasks.ContactTask("left_sole"),
        kd.tasks.ContactTask("right_sole"),
        kd.tasks.FrameTask("left_palm", T, priority=1),
        kd.tasks.ComTask(com, priority=1),
        kd.tasks.MomentumTask(np.full(6, 0.03), priority=2),
        kd.tasks.GazeTask("head", [5.0, 0.05, 1.5], priority=2),
        kd.tasks.CustomTask("height", height, rows=1, priority=2),
        kd.tasks.PostureTask(ROBOT.integrate(Q, np.r_[np.zeros(6), np.full(ROBOT.nv - 6, 0.01)]), priority=3),
    ]
    return {task.name: task for task in tasks}


def height(robot: Robot, q: Array) -> tuple[Array, Array]:
    T = kd.kinematics.pose(robot, q, "right_palm")
    return 0.8 - T[..., 2:3, 3], kd.kinematics.jacobian(robot, q, "right_palm")[..., 2:3, :]


def stepper(tasks: dict[str, Any]) -> Callable[[], Array]:
    solver = kd.ik.WholeBody(ROBOT, list(tasks.values()))

    def step() -> Array:
        solver.reset()
        return solver.step(Q, 0.01).v

    return step


def weighted(tasks: dict[str, Any]) -> Callable[[], Array]:
    feet = [kd.contact.Contact(foot) for foot in ("left_sole", "right_sole")]
    used = [task for task in tasks.values() if not isinstance(task, kd.tasks.ContactTask)]
    controller = kd.control.InverseDynamicsQP(ROBOT, used, contacts=feet)
    return lambda: controller.solve(kd.State(ROBOT, Q)).a


def strict(tasks: dict[str, Any]) -> Callable[[], Array]:
    feet = [kd.contact.Contact(foot) for foot in ("left_sole", "right_sole")]
    used = [task for task in tasks.values() if not isinstance(task, kd.tasks.ContactTask)]
    controller = kd.control.InverseDynamicsQP(ROBOT, used, contacts=feet, mode="strict")
    return lambda: controller.solve(kd.State(ROBOT, Q)).a


SOLVERS = {"whole body": stepper, "weighted": weighted, "strict": strict}
NAMES = [name for name in make_tasks() if "sole" not in name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_task_without_weight_or_switched_off_has_no_effect(solver: str, name: str) -> None:
    tasks = make_tasks()
    run = SOLVERS[solver](tasks)
    first = run()
    absent = make_tasks()
    del absent[name]
    expected = SOLVERS[solver](absent)()
    assert np.abs(expected - first).max() > 1e-6
    task = tasks[name]
    weights = task.weights
    # the level of the posture is empty then, and is still the last, which has the regularisation
    tolerance = 1e-6 if (solver, name) != ("strict", "posture") else 1e-3 * np.abs(expected).max()
    task.enabled = False
    np.testing.assert_allclose(run(), expected, atol=tolerance)
    task.enabled = True
    np.testing.assert_allclose(run(), first, atol=1e-6)
    task.weights = 0.0
    np.testing.assert_allclose(run(), expected, atol=tolerance)
    task.weights = weights
    np.testing.assert_allclose(run(), first, atol=1e-6)


def test_a_solve_ignores_tasks_that_are_switched_off() -> None:
    far = kd.tasks.FrameTask("left_palm", [5.0, 0.0, 1.0])
    feet = [kd.tasks.ContactTask(foot) for foot in ("left_sole", "right_sole")]
    solver = kd.ik.WholeBody(ROBOT, [*feet, far, kd.tasks.PostureTask(Q)])
    assert solver.solve(Q).status == "conflict"
    far.enabled = False
    result = solver.solve(Q)
    assert result.status == "solved" and result.conflicts == ()
    np.testing.assert_allclose(result.q, Q, atol=1e-6)
    far.enabled = True
    assert [each.task for each in solver.solve(Q).conflicts] == ["left_palm"]


def test_solvers_with_nothing_left_to_do_stay_where_they_are() -> None:
    posture = kd.tasks.PostureTask(Q)
    solver = kd.ik.WholeBody(ROBOT, [posture])
    posture.weights = 0.0
    np.testing.assert_array_equal(solver.step(ROBOT.random(seed=1), 0.01).v, 0.0)
    posture.enabled = False
    np.testing.assert_array_equal(solver.step(ROBOT.random(seed=1), 0.01).v, 0.0)
