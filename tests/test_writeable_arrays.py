"""Arrays that immutable objects hand out can be passed to compiled functions, and writing to them changes nothing."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd

from .read_only_arrays import read_only_arrays


def objects() -> Iterator[tuple[Any, str]]:
    """Return immutable objects and the attributes of theirs that are vectors (..., 3)."""
    robot, humanoid, world = kd.load("panda"), kd.load("humanoid"), kd.collision.World()
    world.add_box("box", (1.0, 2.0, 3.0), np.eye(4))
    yield from ((robot, "gravity"), (robot.limits, "lower"), (world["box"], "pose"), (world["box"].shape, "size"))
    yield from ((world.snapshot().objects[0], "pose"), (kd.collision.Ellipsoid((1.0, 2.0, 3.0)), "radii"))
    points = np.random.default_rng(0).normal(size=(20, 3))
    cloud, mesh = kd.collision.PointCloud(points, 0.01), kd.collision.Mesh(points[:3], np.array([[0, 1, 2]]))
    yield from (
        (cloud, "points"),
        (mesh, "vertices"),
        (kd.collision.HeightField(np.zeros((3, 3)), (1.0, 1.0)), "heights"),
    )
    yield from ((kd.collision.robot_spheres(robot), "fine"), (kd.planning.PoseRegion(np.eye(4)), "pose"))
    task = kd.tasks.FrameTask("panda_hand", np.eye(4), point=(0.1, 0.2, 0.3))
    yield from (
        (task, "target"),
        (task, "point"),
        (task, "weights"),
        (kd.tasks.GazeTask("panda_hand", np.ones(3)), "axis"),
    )
    yield from ((kd.contact.Contact("left_foot", target=np.eye(4)), each) for each in ("point", "normal", "target"))
    yield from ((kd.contact.Loop("left_foot", "right_foot"), each) for each in ("T_frame", "T_other"))
    body = kd.walking.Biped.from_robot(humanoid)
    yield from ((body, "q"), (body, "base"), (humanoid, "inertial_parameters"))
    motion = kd.trajectory.quintic(np.zeros(3), np.ones(3), duration=1.0)
    yield from ((motion, each) for each in ("knots", "base", "coefficients"))


OBJECTS = {f"{type(owner).__name__}.{name}": (owner, name) for owner, name in objects()}


@pytest.mark.parametrize("name", OBJECTS)
def test_attributes_are_copies_that_scipy_accepts(name: str) -> None:
    owner, attribute = OBJECTS[name]
    assert not list(read_only_arrays(owner, name))
    before = getattr(owner, attribute)
    vectors = np.resize(getattr(owner, attribute), 3) if before.size % 3 else getattr(owner, attribute).reshape(-1, 3)
    Rotation.from_rotvec([0.1, 0.2, 0.3]).apply(vectors)
    getattr(owner, attribute)[...] = 7
    np.testing.assert_array_equal(getattr(owner, attribute), before)


@pytest.mark.parametrize("name", OBJECTS)
def test_copies_and_pickles_have_the_same_attributes(name: str) -> None:
    owner, attribute = OBJECTS[name]
    for other in (copy.copy(owner), copy.deepcopy(owner), pickle.loads(pickle.dumps(owner))):
        np.testing.assert_array_equal(getattr(other, attribute), getattr(owner, attribute))
        getattr(other, attribute)[...] = 7
        np.testing.assert_array_equal(getattr(other, attribute), getattr(owner, attribute))


def test_the_arrays_of_a_state_are_accepted_too() -> None:
    robot = kd.load("humanoid")
    state = kd.State(robot, robot.random(4))
    assert not list(read_only_arrays(state, "state"))
    Rotation.identity().apply(state.com)
    Rotation.identity().apply(state.pose("left_foot")[0, :3, 3])
