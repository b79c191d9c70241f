"""Limits with rows: margins, their Jacobians and drifts, kept by inverse kinematics and by inverse dynamics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.limits import ComLimit, CustomLimit, Limit, PositionLimit, TorqueLimit, VelocityLimit
from kinodyn.model.robot import Robot

ROBOT = kd.load("humanoid")
Q = ROBOT.configuration("standing")
FEET = ("left_sole", "right_sole")
WALL = 0.35
H = 1e-3


def polygon(half: float) -> Array:
    return kd.kinematics.com(ROBOT, Q)[:2] + half * np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]])


def behind_wall(robot: Robot, q: Array) -> tuple[Array, Array]:
    """Return the distance of the left palm to a wall, and its gradient."""
    x = kd.kinematics.pose(robot, q, "left_palm")[..., 0, 3]
    return (WALL - x)[..., None], -kd.kinematics.jacobian(robot, q, "left_palm")[..., 0:1, :]


def com_by_hand(robot: Robot, q: Array) -> tuple[Array, Array]:
    """Return the rows of `ComLimit(polygon(0.05))` by public functions."""
    margins = SQUARE.offsets - kd.kinematics.com(robot, q) @ SQUARE.normals.T
    return margins, -SQUARE.normals @ kd.kinematics.com_jacobian(robot, q)


SQUARE = ComLimit(polygon(0.05))
LIMITS: dict[str, Callable[[], kd.limits.limit.RowLimit]] = {
    "com": lambda: ComLimit(polygon(0.05)),
    "custom": lambda: CustomLimit("wall", behind_wall, rows=1),
}


def rate(f: Callable[[float], Array]) -> Array:
    return np.asarray((8 * (f(H) - f(-H)) - (f(2 * H) - f(-2 * H))) / (12 * H))


@pytest.mark.parametrize("kind", LIMITS)
def test_jacobians_and_drifts_are_derivatives_of_the_margins(kind: str) -> None:
    limit = LIMITS[kind]()
    q, v = ROBOT.random(10, seed=1), np.random.default_rng(1).normal(size=(10, ROBOT.nv))

    def times_v(h: float) -> Array:
        return (limit.jacobian(ROBOT, ROBOT.integrate(q, h * v)) @ v[..., None])[..., 0]

    np.testing.assert_allclose(
        times_v(0.0), -rate(lambda h: limit.margins(ROBOT, ROBOT.integrate(q, h * v))), atol=1e-8
    )
    np.testing.assert_allclose(limit.drift(ROBOT, q, v), rate(times_v), atol=1e-5)


def reaching_solver(limit: Limit) -> kd.ik.WholeBody:
    feet = [kd.tasks.ContactTask(foot) for foot in FEET]
    reach = kd.tasks.FrameTask("left_palm", [1.5, 0.25, 1.0])
    return kd.ik.WholeBody(ROBOT, [*feet, reach, kd.tasks.PostureTask(Q)], [PositionLimit(), VelocityLimit(), limit])


@pytest.mark.parametrize("kind", LIMITS)
def test_inverse_kinematics_keeps_limits_and_conflicts_name_them(kind: str) -> None:
    limit = LIMITS[kind]()
    solver = reaching_solver(limit)
    result = solver.solve(Q)
    assert result.status == "conflict" and limit.margins(ROBOT, result.q).min() > -1e-6
    assert limit.margins(ROBOT, result.q).min() < 1e-4
    assert any(limit.name in conflict.against for conflict in result.conflicts)
    q = Q
    for _ in range(100):
        q = solver.step(q, 0.01).q
        assert limit.margins(ROBOT, q).min() > -5e-3  # each step is linear
    limit.enabled = False
    freed = solver.solve(Q)
    assert limit.margins(ROBOT, freed.q).min() < -0.01
    assert not any(limit.name in conflict.against for conflict in freed.conflicts)


def test_a_custom_limit_is_as_good_as_the_native_one() -> None:
    native, custom = (
        reaching_solver(limit).solve(Q)
        for limit in (ComLimit(polygon(0.05)), CustomLimit("balance", com_by_hand, rows=4))
    )
    assert native.status == custom.status
    np.testing.assert_allclose(native.errors["left_palm"], custom.errors["left_palm"], rtol=0.02)


@pytest.mark.parametrize("kind", LIMITS)
def test_inverse_dynamics_stops_before_limits(kind: str) -> None:
    limit, dt = LIMITS[kind](), 2e-3
    sole = [[0.12, 0.045, 0.0], [0.12, -0.045, 0.0], [-0.12, -0.045, 0.0], [-0.12, 0.045, 0.0]]
    feet = [kd.contact.Contact(foot, corners=sole) for foot in FEET]
    com = kd.tasks.ComTask(kd.kinematics.com(ROBOT, Q) + [0.3, 0.0, 0.0], weights=(1, 1, 0))
    hand = kd.tasks.FrameTask("left_palm", [0.6, 0.25, 1.2], weights=5.0)
    tasks = [com if kind == "com" else hand, kd.tasks.PostureTask(Q, weights=0.3)]
    limits: list[Limit] = [PositionLimit(), VelocityLimit(), TorqueLimit()]
    smallest = {}
    for limited in (False, True):
        controller = kd.control.InverseDynamicsQP(
            ROBOT, tasks, contacts=feet, dt=dt, limits=[*limits, limit] if limited else limits
        )
        q, v, margins, named = Q, np.zeros(ROBOT.nv), [], False
        for _ in range(300):
            result = controller.solve(kd.State(ROBOT, q, v))
            v = v + dt * result.a
            q = ROBOT.integrate(q, dt * v)
            margins.append(float(limit.margins(ROBOT, q).min()))
            named |= limit.name in result.at_limits
        smallest[limited] = min(margins)
        assert named == limited
    assert smallest[False] < -0.005 and smallest[True] > -1e-3


def com_height(robot: Robot, q: Array) -> tuple[Array, Array]:
    return kd.kinematics.com(robot, q)[..., 2:] - 0.5, kd.kinematics.com_jacobian(robot, q)[..., 2:, :]


def test_inverse_dynamics_relaxes_a_limit_that_cannot_be_kept_and_names_it() -> None:
    limit = CustomLimit("height", com_height, rows=1, braking=1e-3)
    # nothing holds the robot: its CoM falls, whatever the joints do
    controller = kd.control.InverseDynamicsQP(ROBOT, [kd.tasks.PostureTask(Q)], limits=[limit])
    v = np.zeros(ROBOT.nv)
    v[2] = -1.0
    result = controller.solve(kd.State(ROBOT, Q, v))
    violations = {each.name: each.amount for each in result.violations}
    assert result.status == "relaxed" and violations["height"] == pytest.approx(9.81, abs=0.01)
    limit.enabled = False
    assert controller.solve(kd.State(ROBOT, Q, v)).status == "solved"


def test_limits_undefined_at_a_level_raise() -> None:
    with pytest.raises(kd.InputError, match="TorqueLimit does not apply to inverse kinematics"):
        kd.ik.WholeBody(ROBOT, [kd.tasks.PostureTask(Q)], [TorqueLimit()])
    with pytest.raises(kd.InputError, match="braking of 'wall'"):
        CustomLimit("wall", behind_wall, rows=1, braking=0.0)
    with pytest.raises(kd.InputError, match="rows of 'wall'"):
        CustomLimit("wall", behind_wall, rows=0)
