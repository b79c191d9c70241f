"""A lower task never disturbs a higher one: what higher tasks get is the same with it and without, limits included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.tasks import Task

STATES = 40


def left(task: Task, body: Any, q: Array, x: Array) -> Array:
    """Return what the weighted rows of a task still want after the step x."""
    J = task.row_weights(body.robot)[:, None] * task.jacobian(body.robot, q)
    e = task.row_weights(body.robot) * task.gain * task.error(body.robot, q)
    return np.asarray(e - (J @ x[..., None])[..., 0])


def levels(body: Any, goal: Array) -> list[list[Task]]:
    """Make tasks of four priorities that contradict each other: all want the hands, the base and the mass elsewhere."""
    robot = body.robot
    hand, other = body.hands
    far = body.pose(hand, (1.5, 0.0, 1.0))
    pose = kd.kinematics.pose(robot, goal, hand)
    return [
        body.stance(),
        [
            kd.tasks.FrameTask(hand, pose, name="reach"),
            kd.tasks.ComTask(kd.kinematics.com(robot, goal), weights=(1, 1, 0)),
        ],
        [
            kd.tasks.FrameTask(hand, far, priority=2, name="pull"),
            kd.tasks.GazeTask(body.head, [3.0, 1.0, 1.0], priority=2),
            kd.tasks.FrameTask(other, [0.4, -0.3, 1.2], priority=2, name="other hand"),
        ],
        [
            kd.tasks.PostureTask(robot.neutral(), priority=3),
            kd.tasks.MomentumTask([9.0, 9.0, 9.0, 5.0, 5.0, 5.0], priority=3),
        ],
    ]


@pytest.mark.parametrize("fastest", [None, 1.0, 0.2])
def test_a_conflicting_lower_task_does_not_degrade_higher_ones(body: Any, fastest: float | None) -> None:
    robot, dt = body.robot, 0.1
    rng = np.random.default_rng(0)
    q, goals = body.draw(STATES, 0.3, rng), body.draw(STATES, 0.5, rng)
    limits = [] if fastest is None else [kd.limits.PositionLimit(), kd.limits.VelocityLimit(fastest)]
    changed = 0.0
    for state, goal in zip(q, goals, strict=True):
        groups = levels(body, goal)
        answers = [
            kd.ik.WholeBody(robot, sum(groups[:k], []), limits).step(state, dt).v * dt
            for k in range(1, len(groups) + 1)
        ]
        for k, group in enumerate(groups[:-1]):
            for task in group:
                alone, scale = (
                    left(task, body, state, answers[k]),
                    np.linalg.norm(left(task, body, state, 0 * state[1:])),
                )
                for lower in answers[k + 1 :]:
                    np.testing.assert_allclose(left(task, body, state, lower), alone, rtol=0, atol=1e-9 * scale)
            changed = max(changed, float(np.abs(answers[k + 1] - answers[k]).max()))
    assert changed > 1e-3  # the lower tasks did something


def test_limits_come_before_the_first_task(body: Any) -> None:
    robot, dt = body.robot, 0.05
    rng = np.random.default_rng(1)
    for q in body.draw(STATES, 0.6, rng):
        groups = levels(body, q)
        step = kd.ik.WholeBody(robot, sum(groups, [])).step(q, dt)
        assert (np.abs(step.v) <= robot.limits.velocity * (1 + 1e-12)).all()
        assert (step.q >= robot.limits.lower - 1e-12).all() and (step.q <= robot.limits.upper + 1e-12).all()


def test_within_one_priority_weights_decide(person: Any) -> None:
    robot, q = person.robot, person.q
    here = person.pose("left_palm")[:3, 3]
    for weight in (0.1, 1.0, 10.0):
        forward = kd.tasks.FrameTask("left_palm", here + [0.1, 0, 0], weights=weight, name="forward")
        back = kd.tasks.FrameTask("left_palm", here - [0.1, 0, 0], name="back")
        J = forward.jacobian(robot, q)
        moved = J @ kd.ik.WholeBody(robot, [forward, back], [], damping=0.0).step(q, 1.0).v
        np.testing.assert_allclose(moved, [0.1 * (weight**2 - 1) / (weight**2 + 1), 0, 0], rtol=0, atol=1e-9)
