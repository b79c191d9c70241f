"""Smooth curves along paths: free everywhere, twice differentiable, within the path's hull, from start to goal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import World
from kinodyn.errors import InputError
from kinodyn.planning import Plan, plan
from kinodyn.trajectory import PiecewisePolynomial

from .machines import machine
from .panda_scene import HOME, LEFT, PANDA, RIGHT, wall

UR5 = kd.load("ur5")


def assert_smooth(found: Plan, curve: PiecewisePolynomial, world: World) -> None:
    robot = found.robot
    np.testing.assert_allclose(curve([0.0, curve.duration]), found.path[[0, -1]], atol=1e-12)
    q = curve(np.linspace(0.0, curve.duration, 5000))
    assert kd.collision.free(robot, q, world).all()
    assert (q >= found.path.min(axis=0) - 1e-9).all() and (q <= found.path.max(axis=0) + 1e-9).all()
    assert np.linalg.norm(np.diff(q, axis=0), axis=1).sum() <= found.length + 1e-9
    end = np.diff(curve.knots)  # derivatives at the end of each piece are those at the start of the next
    for order in range(3):
        c = curve.derivative(order)
        last = sum(c[k] * end[:, None] ** k for k in range(len(c)))
        np.testing.assert_allclose(last[:-1], c[0, 1:], atol=1e-6 * max(1.0, np.abs(c).max()))


@pytest.mark.parametrize("seed", range(4))
def test_curves_along_plans_are_free_and_smooth(seed: int) -> None:
    rng, robot, world = np.random.default_rng(seed), (PANDA, UR5)[seed % 2], World()
    for k in range(6):
        direction = rng.normal(size=3)
        world.add_box(f"box{k}", rng.uniform(0.05, 0.2, 3), (0.7 * direction / np.linalg.norm(direction), None))
    q = rng.uniform(np.maximum(robot.limits.lower, -2.2), np.minimum(robot.limits.upper, 2.2), (4000, robot.nq))
    ends = q[kd.collision.free(robot, q, world)]
    found = plan(robot, ends[0], ends[1], world, time_budget=5.0)
    assert_smooth(found, found.smoothed(), world)
    assert_smooth(found, found.smoothed(reach=0.05), world)


def test_corners_are_rounded_and_a_smaller_reach_stays_nearer() -> None:
    world = wall()
    found = plan(PANDA, LEFT, RIGHT, world, seed=1)
    corner = found.path[1:-1]

    def deviation(curve: PiecewisePolynomial) -> float:
        q = curve(np.linspace(0.0, curve.duration, 5000))
        return float(np.linalg.norm(corner[:, None] - q[None], axis=-1).min(axis=1).max())

    wide, narrow = deviation(found.smoothed()), deviation(found.smoothed(reach=0.01))
    assert narrow < wide and 0.0 < narrow < 0.01
    assert deviation(found.smoothed(reach=0.0)) < 1e-3  # the path itself


def test_a_corner_that_must_be_kept_is_kept(tmp_path: Path) -> None:
    """A cart in a corridor as wide as itself that turns by a right angle."""
    robot, world = machine(tmp_path), World()
    half, edge = 0.215, 0.02  # the cart has a radius of 0.2 m; spheres that cover it are a little larger
    width = 2 * half
    while True:
        world = World()
        world.add_box("inner", (2.0, 2.0, 0.2), ((-1.0 - width / 2, 1.0 + width / 2, 0.1), None))
        world.add_box("outer_south", (4.0, 0.1, 0.2), ((0.0, -width / 2 - 0.05, 0.1), None))
        world.add_box("outer_east", (0.1, 4.0, 0.2), ((width / 2 + 0.05, 0.0, 0.1), None))
        q = np.tile(robot.neutral(), (3, 1))
        q[0, 0], q[2, 1] = -1.5, 1.5
        if kd.collision.motion_free(robot, q[:-1], q[1:], world).all():
            break
        width += edge
    found = plan(robot, q[0], q[2], world, group="base", time_budget=10.0)
    path = Plan(robot, "solved", "", q, found.group, world.snapshot())
    curve = path.smoothed()
    assert_smooth(path, curve, world)
    x = curve(np.linspace(0.0, curve.duration, 2000))
    assert np.linalg.norm(x - q[1], axis=1).min() < 0.1


def test_a_straight_path_stays_straight_and_a_failed_plan_has_no_curve() -> None:
    found = plan(PANDA, HOME, HOME + 0.2)
    curve = found.smoothed()
    q = curve(np.linspace(0.0, curve.duration, 100))
    along = (q - HOME) @ np.full(7, 1.0 / np.sqrt(7.0))
    np.testing.assert_allclose(q, HOME + np.outer(along, np.full(7, 1.0 / np.sqrt(7.0))), atol=1e-12)
    world = World()
    world.add_sphere("ball", 0.1, kd.kinematics.pose(PANDA, HOME, "panda_link8")[:3, 3])
    with pytest.raises(InputError, match="start_in_collision"):
        plan(PANDA, HOME, LEFT, world).smoothed()
    with pytest.raises(InputError, match="no length"):
        plan(PANDA, HOME, HOME).smoothed()
    with pytest.raises(InputError, match="reach"):
        found.smoothed(reach=-1.0)


def test_joints_that_do_not_move_stay_under_a_floating_base() -> None:
    robot = kd.load("humanoid")
    stand, world = robot.configuration("standing"), World()
    stand[:2] = 3.0, -2.0
    goal = {"left_palm": kd.kinematics.pose(robot, stand, "left_palm")}
    goal["left_palm"][:3, 3] += 0.15, 0.0, 0.15
    found = plan(robot, stand, goal, world, group="left_arm", time_budget=5.0)
    assert found.success, found
    curve = found.smoothed()
    assert_smooth(found, curve, world)
    assert np.ptp(curve(np.linspace(0, curve.duration, 50)), axis=0)[:7].max() == 0.0
