"""Conflicts: cases with a known answer; only the tasks and limits that conflict are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Frame, Joint, Link
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot


def arm(lower: float, upper: float) -> Robot:
    """Make two links of one metre in the plane; the elbow has limits, the shoulder has none."""
    T = np.eye(4)
    T[0, 3] = 1.0
    z = np.array([0.0, 0.0, 1.0])
    joints = (
        Joint("shoulder", "revolute", "base", "upper", np.eye(4), z),
        Joint("elbow", "revolute", "upper", "fore", T, z, lower=lower, upper=upper),
    )
    return Robot(Description("arm", (Link("base"), Link("upper"), Link("fore")), joints, (Frame("hand", "fore", T),)))


def blamed(result: Any) -> dict[str, set[str]]:
    return {conflict.task: set(conflict.against) for conflict in result.conflicts}


def hand(target: tuple[float, float]) -> kd.tasks.FrameTask:
    return kd.tasks.FrameTask("hand", [*target, 0.0], weights=(1, 1, 0))


@pytest.mark.parametrize(
    ("limits", "target", "side"),
    [((0.5, 2.5), (2.5, 0.0), "lower"), ((-2.5, -0.5), (2.5, 0.0), "upper"), ((0.5, 2.5), (0.1, 0.0), "upper")],
)
def test_the_elbow_at_its_limit_is_named(limits: tuple[float, float], target: tuple[float, float], side: str) -> None:
    result = kd.ik.WholeBody(arm(*limits), [hand(target)]).solve([0.1, float(np.mean(limits))])
    assert result.status == "conflict"
    assert blamed(result) == {"hand": {f"elbow at its {side} position limit"}}
    (conflict,) = result.conflicts
    reach = np.hypot(1 + np.cos(result.q[1]), np.sin(result.q[1]))
    assert conflict.missing == pytest.approx(abs(target[0] - reach), abs=1e-6)
    assert "elbow" in str(conflict) and "short" in str(conflict)


def test_a_stretched_arm_conflicts_with_no_other_task() -> None:
    result = kd.ik.WholeBody(arm(-np.inf, np.inf), [hand((3.0, 0.0))]).solve([0.3, 0.4], iterations=3000)
    assert result.status == "conflict"
    assert blamed(result) == {"hand": set()}
    assert "no motion" in str(result.conflicts[0])


def test_satisfied_tasks_have_no_conflict() -> None:
    result = kd.ik.WholeBody(arm(0.5, 2.5), [hand((1.0, 1.0))]).solve([0.1, 1.0])
    assert result.success and result.conflicts == ()


def test_two_tasks_that_pull_one_hand_apart_name_each_other(body: Any) -> None:
    hand, other = body.hands
    tasks = [
        kd.tasks.FrameTask(hand, body.pose(hand, (0.1, 0.0, 0.0)), name="forward"),
        kd.tasks.FrameTask(hand, body.pose(hand, (-0.1, 0.0, 0.0)), name="back"),
        kd.tasks.FrameTask(other, body.pose(other)),
    ]
    result = kd.ik.WholeBody(body.robot, [*body.stance(), *tasks, kd.tasks.PostureTask(body.q)]).solve(body.q)
    assert blamed(result) == {"forward": {"back"}, "back": {"forward"}}


def test_a_foot_that_must_stay_is_named_as_the_conflict(body: Any) -> None:
    foot, hand = body.feet[0], body.hands[0]
    tasks = [
        kd.tasks.FrameTask(foot, body.pose(foot, (0.1, 0.0, 0.0)), name="go"),
        kd.tasks.FrameTask(hand, body.pose(hand)),
    ]
    result = kd.ik.WholeBody(body.robot, [*body.stance(), *tasks, kd.tasks.PostureTask(body.q)]).solve(body.q)
    assert result.status == "conflict"
    assert blamed(result) == {"go": {foot}}
    assert result.conflicts[0].missing == pytest.approx(0.1, abs=1e-6)


def test_balance_is_named_as_the_conflict_of_the_com(body: Any) -> None:
    robot = body.robot
    target = kd.kinematics.com(robot, body.q) + [0.5, 0.0, 0.0]
    limits = [kd.limits.PositionLimit(), kd.limits.ComLimit(body.polygon())]
    tasks = [*body.stance(), kd.tasks.ComTask(target, weights=(1, 1, 0)), kd.tasks.PostureTask(body.q)]
    result = kd.ik.WholeBody(robot, tasks, limits).solve(body.q)
    assert blamed(result) == {"com": {"balance"}}


def test_a_polygon_out_of_reach_is_a_conflict_with_the_feet(person: Any) -> None:
    robot = person.robot
    limit = kd.limits.ComLimit(person.polygon() + [5.0, 0.0])
    result = kd.ik.WholeBody(robot, [*person.stance(), kd.tasks.PostureTask(person.q)], [limit]).solve(person.q)
    assert not result.success
    found = blamed(result)
    assert set(found) == {"balance"} and found["balance"] <= set(person.feet)
    assert result.conflicts[0].missing == pytest.approx(limit.excess(kd.kinematics.com(robot, result.q)), rel=1e-6)


def test_a_limit_of_lower_priority_is_not_named_as_a_conflict(person: Any) -> None:
    robot = person.robot
    limit = kd.limits.ComLimit(
        kd.kinematics.com(robot, person.q)[:2] + [[-1, -1], [0, -1], [0, 1], [-1, 1]], priority=2
    )
    tasks = [
        kd.tasks.FrameTask("left_palm", person.pose("left_palm", (0.1, 0.0, 0.0)), name="forward"),
        kd.tasks.FrameTask("left_palm", person.pose("left_palm", (-0.1, 0.0, 0.0)), name="back"),
    ]
    result = kd.ik.WholeBody(robot, [*person.stance(), *tasks], [kd.limits.PositionLimit(), limit]).solve(person.q)
    assert blamed(result) == {"forward": {"back"}, "back": {"forward"}}


def one_row(n: int, wanted: float) -> kd.tasks.CustomTask:
    def function(robot: Robot, q: Array) -> tuple[Array, Array]:
        return np.array([wanted]), np.eye(1, n)

    return kd.tasks.CustomTask("push", function, rows=1)


def test_steps_tell_positions_velocities_and_accelerations_apart(sliders: Callable[..., Robot]) -> None:
    robot = sliders(3, -1.0, 1.0)
    fast, slow, heavy = kd.limits.PositionLimit(), kd.limits.VelocityLimit(0.5), kd.limits.AccelerationLimit(0.5)
    q, near = np.zeros(3), np.array([0.98, 0.0, 0.0])
    cases = [
        ([fast], near, "j0 at its upper position limit"),
        ([fast, slow], near, "j0 at its upper position limit"),
        ([fast, slow], q, "j0 at its upper velocity limit"),
        ([fast, slow, heavy], q, "j0 at its upper acceleration limit"),
    ]
    for limits, start, name in cases:
        step = kd.ik.WholeBody(robot, [one_row(3, 0.5)], limits).step(start, 0.1)
        assert blamed(step) == {"push": {name}}
    down = kd.ik.WholeBody(robot, [one_row(3, -0.5)], [slow]).step(q, 0.1)
    assert blamed(down) == {"push": {"j0 at its lower velocity limit"}}


def test_damping_alone_is_not_a_conflict(person: Any) -> None:
    hand = kd.tasks.FrameTask("left_palm", person.pose("left_palm", (1.0, 0.0, 0.0)))
    step = kd.ik.WholeBody(person.robot, [hand], []).step(person.q, 0.01)
    assert step.conflicts == ()


def test_conflicts_are_reported_for_single_states_only(person: Any) -> None:
    q = np.stack([person.q, person.q])
    solver = kd.ik.WholeBody(person.robot, person.stance())
    for result in (solver.step(q, 0.01), solver.solve(q)):
        with pytest.raises(InputError, match="one state"):
            _ = result.conflicts
