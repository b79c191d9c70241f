"""What makes no sense is rejected with an error that says why, before anything moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.model.robot import Robot

ik, tasks, limits = kd.ik, kd.tasks, kd.limits
POSE = np.eye(4)
SQUARE = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
SKEWED = np.diag([1.0, 2.0, 1.0, 1.0])
HOLED = np.where(np.eye(4) > 0, np.nan, 0.0)

WRONG_TASKS: dict[str, Callable[[], Any]] = {
    "priority -1": lambda: tasks.FrameTask("left_palm", POSE, priority=-1),
    "priority 1.5": lambda: tasks.ComTask([0, 0, 1], priority=1.5),  # type: ignore[arg-type]
    "priority True": lambda: tasks.PostureTask(priority=True),
    "priority by name": lambda: tasks.ContactTask("left_sole", priority="high"),  # type: ignore[arg-type]
    "gain 0": lambda: tasks.FrameTask("left_palm", POSE, gain=0.0),
    "gain 2": lambda: tasks.GazeTask("head", [1, 0, 0], gain=2.0),
    "gain NaN": lambda: tasks.PostureTask(gain=float("nan")),
    "negative weight": lambda: tasks.FrameTask("left_palm", POSE, weights=[1, 1, 1, 1, 1, -1]),
    "NaN weight": lambda: tasks.ComTask([0, 0, 1], weights=[1, np.nan, 1]),
    "weights of a pose for a position": lambda: tasks.FrameTask("left_palm", [0, 0, 1], weights=np.ones(6)),
    "weights of a position for a pose": lambda: tasks.FrameTask("left_palm", POSE, weights=np.ones(3)),
    "two weights of a gaze": lambda: tasks.GazeTask("head", [1, 0, 0], weights=[1.0, 1.0]),  # type: ignore[arg-type]
    "no joint with a weight": lambda: tasks.PostureTask(weights={}),
    "negative weight of a joint": lambda: tasks.PostureTask(weights={"left_elbow": -1.0}),
    "pose of NaN": lambda: tasks.FrameTask("left_palm", HOLED),
    "pose that is none": lambda: tasks.FrameTask("left_palm", SKEWED),
    "pose of another shape": lambda: tasks.FrameTask("left_palm", np.eye(2)),
    "number for a pose": lambda: tasks.FrameTask("left_palm", 1.0),
    "infinite position": lambda: tasks.FrameTask("left_palm", [0, np.inf, 0]),
    "com of two numbers": lambda: tasks.ComTask([0, 0]),
    "com of NaN": lambda: tasks.ComTask([0, 0, np.nan]),
    "momentum of three numbers": lambda: tasks.MomentumTask([0, 0, 0]),
    "gaze at nothing": lambda: tasks.GazeTask("head", [1, 0]),
    "gaze without axis": lambda: tasks.GazeTask("head", [1, 0, 0], axis=(0, 0, 0)),
    "axis of NaN": lambda: tasks.GazeTask("head", [1, 0, 0], axis=(np.nan, 0, 0)),
    "point of two numbers": lambda: tasks.FrameTask("left_palm", POSE, point=(0, 0)),
    "posture of NaN": lambda: tasks.PostureTask([0.0, np.nan]),
    "own task without function": lambda: tasks.CustomTask("own", None, rows=1),  # type: ignore[arg-type]
    "own task without rows": lambda: tasks.CustomTask("own", lambda r, q: (0, 0), rows=0),
    "own task with a target": lambda: setattr(tasks.CustomTask("own", lambda r, q: (0, 0), rows=1), "target", [1.0]),
}
WRONG_LIMITS: dict[str, Callable[[], Any]] = {
    "negative margin": lambda: limits.PositionLimit(-0.1),
    "NaN margin": lambda: limits.PositionLimit(float("nan")),
    "scale 0": lambda: limits.VelocityLimit(scale=0.0),
    "infinite scale": lambda: limits.VelocityLimit(scale=float("inf")),
    "polygon of two points": lambda: limits.ComLimit([[0, 0], [1, 0]]),
    "polygon in one line": lambda: limits.ComLimit([[0, 0], [1, 1], [2, 2]]),
    "polygon in space": lambda: limits.ComLimit(np.eye(3)),
    "polygon of NaN": lambda: limits.ComLimit([[0, 0], [1, 0], [np.nan, 1]]),
    "one point": lambda: limits.ComLimit([0.0, 1.0]),
    "margin that leaves nothing": lambda: limits.ComLimit(SQUARE, margin=0.6),
    "negative margin of balance": lambda: limits.ComLimit(SQUARE, margin=-0.1),
    "priority of balance": lambda: limits.ComLimit(SQUARE, priority=-1),
}


@pytest.mark.parametrize("case", WRONG_TASKS)
def test_invalid_tasks_are_rejected(case: str) -> None:
    with pytest.raises(InputError) as caught:
        WRONG_TASKS[case]()
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize("case", WRONG_LIMITS)
def test_invalid_limits_are_rejected(case: str) -> None:
    with pytest.raises(InputError):
        WRONG_LIMITS[case]()


def test_tasks_that_do_not_fit_the_robot_are_rejected_at_construction(person: Any) -> None:
    robot = person.robot
    com = tasks.ComTask([0, 0, 1])
    wrong: list[tuple[list[Any], list[Any] | None]] = [
        ([], None),
        ([com, tasks.ComTask([0, 0, 2])], None),
        ([com, "com"], None),
        ([tasks.PostureTask(np.zeros(5))], None),
        ([tasks.PostureTask(weights=np.ones(5))], None),
        ([com], ["position"]),
        ([com], [limits.PositionLimit(10.0)]),
        ([com], [limits.VelocityLimit(np.ones(3))]),
        ([com], [limits.VelocityLimit(-1.0)]),
        ([com], [limits.AccelerationLimit(0.0)]),
        ([com], [limits.AccelerationLimit({"left_elbow": float("nan")})]),
    ]
    for wrong_tasks, wrong_limits in wrong:
        with pytest.raises(InputError):
            ik.WholeBody(robot, wrong_tasks, wrong_limits)
    for damping in (-1.0, float("nan"), float("inf"), "much"):
        with pytest.raises(InputError):
            ik.WholeBody(robot, [com], damping=damping)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        ik.WholeBody("humanoid", [com])  # type: ignore[arg-type]


def test_unknown_names_are_rejected_with_the_known_ones(person: Any) -> None:
    unknown: list[tuple[Any, list[Any]]] = [
        (tasks.FrameTask("left_plam", POSE), []),
        (tasks.FrameTask("left_palm", POSE, relative_to="hat"), []),
        (tasks.ContactTask("left_soul"), []),
        (tasks.GazeTask("haed", [1, 0, 0]), []),
        (tasks.PostureTask(weights={"left_elbwo": 1.0}), []),
        (tasks.ComTask(), [limits.VelocityLimit({"left_elbwo": 1.0})]),
        (tasks.ComTask(), [limits.AccelerationLimit({"left_elbwo": 1.0})]),
    ]
    for task, unknown_limits in unknown:
        with pytest.raises(UnknownNameError):
            ik.WholeBody(person.robot, [task], unknown_limits)


def test_two_tasks_of_one_frame_need_names(person: Any) -> None:
    with pytest.raises(InputError, match="name="):
        ik.WholeBody(person.robot, [tasks.FrameTask("left_palm", POSE), tasks.FrameTask("left_palm", POSE)])
    ik.WholeBody(person.robot, [tasks.FrameTask("left_palm", POSE), tasks.FrameTask("left_palm", POSE, name="again")])


def test_invalid_states_are_rejected(person: Any) -> None:
    robot, q = person.robot, person.q
    solver = ik.WholeBody(robot, [tasks.ComTask()])
    for wrong in (q[:-1], 1.0, np.full(robot.nq, np.nan), np.full(robot.nq, np.inf), "standing", [q, [1.0]]):
        with pytest.raises(InputError):
            solver.step(wrong, 0.01)
        with pytest.raises(InputError):
            solver.solve(wrong)
    for dt in (0.0, -0.01, float("nan"), float("inf"), "fast", None, np.array([0.01, 0.02]), np.array([0.01])):
        with pytest.raises(InputError):
            solver.step(q, dt)  # type: ignore[arg-type]
    for v in (np.zeros(3), np.full(robot.nv, np.nan)):
        with pytest.raises(InputError):
            solver.step(q, 0.01, v)
    for options in ({"iterations": 0}, {"iterations": 1.5}, {"tolerance": 0.0}, {"tolerance": float("nan")}):
        with pytest.raises(InputError):
            solver.solve(q, **options)
    assert np.isfinite(solver.step(q, 0.01).v).all()  # none of it has left a trace


def test_custom_tasks_with_invalid_output_are_named(person: Any) -> None:
    nv = person.robot.nv
    for error, J in ((np.zeros(2), np.zeros((1, nv))), ([np.nan], np.zeros((1, nv))), (np.zeros(1), np.zeros((1, 3)))):
        task = tasks.CustomTask("odd one", lambda r, q, e=error, J=J: (e, J), rows=1)
        with pytest.raises(InputError, match="odd one"):
            ik.WholeBody(person.robot, [task]).step(person.q, 0.01)


def test_without_mass_there_is_no_com(sliders: Callable[..., Robot]) -> None:
    for task in (tasks.ComTask([0, 0, 1]), tasks.MomentumTask()):
        with pytest.raises(InputError, match="mass"):
            ik.WholeBody(sliders(3), [task])
    with pytest.raises(InputError, match="mass"):
        ik.WholeBody(sliders(3), [tasks.PostureTask()], [limits.ComLimit(SQUARE)])


def test_the_inputs_of_a_solver_are_immutable() -> None:
    task = tasks.FrameTask("left_palm", POSE)
    for name, value in (("priority", 2), ("frame", "right_palm"), ("relative_to", "head"), ("required", False)):
        with pytest.raises(AttributeError, match="fixed"):
            setattr(task, name, value)
    with pytest.raises(InputError):
        task.target = np.zeros(3)  # it was made for poses
    with pytest.raises(InputError):
        task.gain = 0.0
    with pytest.raises(InputError):
        task.weights = np.ones(3)


def test_targets_and_weights_are_copies() -> None:
    T = np.eye(4)
    task = tasks.FrameTask("left_palm", T, weights=np.ones(6))
    T[0, 3] = 5.0
    assert task.target is not None and task.target[0, 3] == 0.0
    for name in ("target", "weights", "point"):
        before = getattr(task, name)
        getattr(task, name)[0] += 1.0
        np.testing.assert_array_equal(getattr(task, name), before)


def test_batches_that_do_not_broadcast_are_rejected(person: Any) -> None:
    solver = ik.WholeBody(person.robot, [tasks.ComTask(np.zeros((4, 3)))])
    with pytest.raises(InputError):
        solver.step(np.repeat(person.q[None], 3, axis=0), 0.01)
