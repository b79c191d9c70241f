"""Public collision checks: never free where exact shapes collide, and free wherever spheres have room."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World, exact
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.model.robot import Robot

ROBOTS = ("panda", "ur5", "puma560", "scara", "planar3r", "humanoid")


def world() -> World:
    made = World()
    made.add_box("box", (0.2, 0.3, 0.2), ((0.4, 0.1, 0.3), kd.spatial.exp3((0.3, 0.4, 0.6))))
    made.add_cylinder("pipe", 0.06, 0.5, ((-0.3, 0.3, 0.4), kd.spatial.exp3((1.0, 0.2, 0.0))))
    made.add_capsule("rod", 0.05, 0.3, ((0.2, -0.4, 0.5), None))
    made.add_sphere("ball", 0.1, (-0.2, -0.3, 0.6))
    return made


def collides(robot: Robot, q: Array, around: World) -> bool:
    allowed = kd.collision.allowed_pairs(robot).pairs
    links = exact.placed_links(robot, q)
    names = list(links)
    objects = [exact.Placed(thing.shape, thing.pose) for thing in around.snapshot().objects]
    if any(exact.collide(links[name], objects) for name in names):
        return True
    pairs = ((a, b) for i, a in enumerate(names) for b in names[:i] if frozenset((a, b)) not in allowed)
    return any(exact.collide(links[a], links[b]) for a, b in pairs)


@pytest.mark.parametrize("name", ROBOTS)
def test_configurations_reported_free_are_free_on_the_original_shapes(name: str) -> None:
    robot, around = kd.load(name), world()
    q = robot.random(150, seed=1)
    if robot.base == "floating":
        q[:, :3] = np.random.default_rng(2).uniform(-0.6, 0.6, (len(q), 3))
    free = kd.collision.free(robot, q, around)
    truth = np.array([not collides(robot, row, around) for row in q])
    assert not (free & ~truth).any()
    assert truth.any() and (free | ~truth).mean() > 0.8  # spheres are a little larger than the shapes


def test_checks_keep_the_leading_axes() -> None:
    robot, around = kd.load("panda"), world()
    q = robot.random(24, seed=3)
    free = kd.collision.free(robot, q, around)
    np.testing.assert_array_equal(kd.collision.free(robot, q.reshape(2, 3, 4, 7), around), free.reshape(2, 3, 4))
    assert kd.collision.free(robot, q[0], around).shape == ()
    motions = kd.collision.motion_free(robot, q[0], q.reshape(4, 6, 7), around)
    assert motions.shape == (4, 6)


def test_allowed_pairs_may_touch() -> None:
    robot = kd.load("panda")
    around = World()
    q = robot.configuration("ready")
    around.add_sphere("ball", 0.1, kd.kinematics.pose(robot, q, "panda_link8")[:3, 3])
    assert not kd.collision.free(robot, q, around)
    links = [link.name for link in robot.description.links]
    assert kd.collision.free(robot, q, around, allowed=[("ball", link) for link in links])


def test_configurations_beyond_the_limits_are_checked_too() -> None:
    robot = kd.load("scara")
    q = robot.neutral()
    slide = next(joint.q.start for joint in robot.joints if joint.kind == "prismatic")
    q[slide] = robot.limits.upper[slide] + 5.0
    tool = kd.kinematics.poses(robot, q)[:, :3, 3]
    lowest = tool[np.argmax(np.linalg.norm(tool, axis=1))]
    around = World()
    around.add_sphere("ball", 0.2, lowest)
    assert not kd.collision.free(robot, q, around)


def test_invalid_input_is_rejected() -> None:
    robot = kd.load("panda")
    with pytest.raises(InputError, match="q"):
        kd.collision.free(robot, np.zeros(3))
    with pytest.raises(InputError, match="NaN"):
        kd.collision.free(robot, np.full(7, np.nan))
    with pytest.raises(InputError, match="world"):
        kd.collision.free(robot, np.zeros(7), "table")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="resolution"):
        kd.collision.motion_free(robot, np.zeros(7), np.zeros(7), resolution=0.0)
    around = World()
    around.add_box("tool", (0.1, 0.1, 0.1))
    around.attach("tool", "tail")
    with pytest.raises(UnknownNameError, match="tail"):
        kd.collision.free(robot, robot.neutral(), around)


@pytest.mark.parametrize("allowed", [["ab"], [("a", "b", "c")], [(1, 2)], [()], 3, [4]])
def test_allowed_pairs_that_are_not_pairs_of_names_are_rejected(allowed: list) -> None:
    robot = kd.load("planar2r")
    with pytest.raises(kd.InputError, match="pairs of names"):
        kd.collision.free(robot, robot.neutral(), allowed=allowed)
