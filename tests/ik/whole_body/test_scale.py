"""What does not matter does not change the answer: a factor on all weights of one priority, and how far is far."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd


@pytest.mark.parametrize("factor", [1e3, 0.1, 0.01, 1e-3])
def test_a_factor_on_all_weights_of_one_priority_does_not_matter(body: Any, factor: float) -> None:
    robot = body.robot
    rng = np.random.default_rng(0)
    size = np.r_[np.zeros(6), np.full(robot.nv - 6, 0.4)]
    desired = np.clip(
        robot.integrate(body.q, size * rng.normal(size=(50, robot.nv))), robot.limits.lower, robot.limits.upper
    )
    goal = kd.ik.WholeBody(robot, [*body.stance(), kd.tasks.PostureTask(desired)]).solve(body.q).q
    hands = [kd.tasks.FrameTask(hand, kd.kinematics.pose(robot, goal, hand), weights=factor) for hand in body.hands]
    result = kd.ik.WholeBody(robot, [*body.stance(), *hands, kd.tasks.PostureTask(body.q)]).solve(body.q)
    assert result.success.mean() >= 0.98


@pytest.mark.parametrize("far", [100.0, 1e4, 1e6, 1e9])
def test_a_hand_stretches_to_its_maximum_reach_for_any_distant_target(person: Any, far: float) -> None:
    reach = []
    for distance in (3.0, far):
        hand = kd.tasks.FrameTask("left_palm", person.pose("left_palm", (distance, 0.0, 0.0))[:3, 3])
        q = kd.ik.WholeBody(person.robot, [*person.stance(), hand]).solve(person.q).q
        reach.append(kd.kinematics.pose(person.robot, q, "left_palm")[0, 3])
    assert reach[1] == pytest.approx(reach[0], abs=0.01)
