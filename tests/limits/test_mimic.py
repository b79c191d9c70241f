"""Limits of joints that follow others bind the joint that they follow, in inverse kinematics and inverse dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Inertia, Joint, Link, Mimic
from kinodyn.model.robot import Robot

REACH, SPEED = 1.0, 0.5  # position [m] and velocity [m/s] limits of the follower
RULES = [(2.0, 0.0), (2.0, 0.3), (0.8, -0.4), (-1.5, 0.0), (-1.5, 0.25), (-0.7, -0.5)]  # ratio, offset [m]


def sliders(ratio: float, offset: float) -> Robot:
    """Make two sliders in a row; the second is at `ratio` times the position of the first, plus `offset`."""
    solid, x = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3)), np.array([1.0, 0.0, 0.0])
    links = tuple(Link(f"link{k}", solid) for k in range(3))
    lead = Joint("lead", "prismatic", "link0", "link1", np.eye(4), x, lower=-5, upper=5, velocity=5, effort=100)
    follower = Joint(
        "follower", "prismatic", "link1", "link2", np.eye(4), x, lower=-REACH, upper=REACH, velocity=SPEED, effort=100,
        mimic=Mimic("lead", ratio, offset),
    )  # fmt: skip
    return Robot(Description("sliders", links, (lead, follower)))


def ends(ratio: float, offset: float) -> Array:
    """Return where the first slider is with the follower at its lower and at its upper limit, in ascending order."""
    return np.sort((np.array([-REACH, REACH]) - offset) / ratio)


@pytest.mark.parametrize(("ratio", "offset"), RULES)
def test_inverse_kinematics_comes_to_rest_at_the_limit_of_the_follower(ratio: float, offset: float) -> None:
    robot = sliders(ratio, offset)
    for end, target in zip(ends(ratio, offset), (-4.0, 4.0), strict=True):
        result = kd.ik.WholeBody(robot, [kd.tasks.PostureTask([target], required=True)]).solve([0.0])
        assert result.status == "conflict" and result.q[0] == pytest.approx(end, abs=1e-9)
        follower = kd.kinematics.pose(robot, result.q, "link2") - kd.kinematics.pose(robot, result.q, "link1")
        assert abs(follower[0, 3]) == pytest.approx(REACH, abs=1e-9)
        assert "lead" in str(result.conflicts[0])


@pytest.mark.parametrize(("ratio", "offset"), RULES)
def test_inverse_kinematics_moves_as_fast_as_the_follower_allows(ratio: float, offset: float) -> None:
    robot = sliders(ratio, offset)
    for target in (-4.0, 4.0):
        solver, q = kd.ik.WholeBody(robot, [kd.tasks.PostureTask([target])]), np.zeros(1)
        assert abs(solver.step(q, 0.1).v[0]) == pytest.approx(SPEED / abs(ratio))
        for _ in range(200):
            q = solver.step(q, 0.1).q
        assert q[0] == pytest.approx(ends(ratio, offset)[int(target > 0)], abs=1e-9)


@pytest.mark.parametrize(("ratio", "offset"), RULES)
def test_inverse_dynamics_stops_before_the_limits_of_the_follower(ratio: float, offset: float) -> None:
    robot, dt = sliders(ratio, offset), 2e-3
    lower, upper = ends(ratio, offset)
    for end, target in ((lower, -4.0), (upper, 4.0)):
        controller = kd.control.InverseDynamicsQP(robot, [kd.tasks.PostureTask([target])], dt=dt)
        q, v, fastest = np.zeros(1), np.zeros(1), 0.0
        for _ in range(3000):
            result = controller.solve(kd.State(robot, q, v))
            assert result.status == "solved"
            v = v + dt * kd.dynamics.forward(robot, q, v, result.tau)
            q = q + dt * v
            assert lower - 1e-9 <= q[0] <= upper + 1e-9
            fastest = max(fastest, abs(v[0]))
        assert q[0] == pytest.approx(end, abs=1e-3)
        assert fastest == pytest.approx(SPEED / abs(ratio), abs=1e-6)
