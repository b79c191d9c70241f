"""Collision kernels on random spheres and obstacles, against NumPy, for robots with joints of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

from .sphere_scenes import Scene, random_scene

ROUNDING = 2e-4  # [m] float32 at distances of several metres, and the radii that account for it
RESOLUTION = 1e-3


def least_clearance(scene: Scene, q: Array) -> Array:
    to_obstacles, to_groups = scene.clearance(q)
    to_groups = to_groups[:, scene.checked()]
    return np.minimum(to_obstacles.min(axis=(1, 2)), to_groups.min(axis=1, initial=np.inf))


def short_motions(robot: Robot, n: int, seed: int, step: float = 0.3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    q0 = robot.random(n, seed=seed)
    return q0, robot.integrate(q0, step * rng.uniform(-1, 1, (n, robot.nv)))


@pytest.mark.usefixtures("instruction_set")
def test_free_agrees_with_numpy(robot: Robot) -> None:
    scene = random_scene(robot, 1)
    q = robot.random(103, seed=2)
    clearance = least_clearance(scene, q)
    free = _core.collision_free(robot, scene.query(q), q) != 0
    assert free[clearance > ROUNDING].all()
    assert not free[clearance < 0].any()
    assert (clearance < 0).any() or robot.nv == 1


def test_touching_agrees_with_numpy(robot: Robot) -> None:
    scene = random_scene(robot, 3)
    q = robot.random(40, seed=4)
    query = scene.query(q)
    to_obstacles, to_groups = scene.clearance(q)
    found = _core.touching(robot, query, q)
    order = {pair: k for k, pair in enumerate(scene.pairs)}
    columns = [order[pair] for pair in query.pairs]
    for flags, gaps in ((found.obstacles, to_obstacles), (found.pairs, to_groups[:, columns])):
        assert (flags != 0)[gaps < 0].all()
        assert not (flags != 0)[gaps > ROUNDING].any()


@pytest.mark.usefixtures("instruction_set")
def test_motions_reported_free_are_free_between_samples_and_those_with_clearance_are_reported_free(
    robot: Robot,
) -> None:
    scene = random_scene(robot, 5)
    q0, q1 = short_motions(robot, 16, 6)
    free = _core.motion_free(robot, scene.query(np.vstack([q0, q1])), q0, q1, RESOLUTION) != 0
    parts = np.linspace(0, 1, 61)
    for a, b, called_free in zip(q0, q1, free, strict=True):
        clearance = least_clearance(scene, robot.interpolate(a, b, parts)).min()
        if called_free:
            assert clearance > -1e-6
        else:
            assert clearance < 2 * RESOLUTION + 0.02  # samples of the reference are up to 2 cm apart


def test_joints_that_do_not_move_stay_where_they_are(robot: Robot) -> None:
    scene = random_scene(robot, 7)
    rng = np.random.default_rng(8)
    q = robot.random(50, seed=9)
    singles = [joint for joint in robot.joints if joint.mimic is None and joint.q.stop - joint.q.start == 1]
    moves = np.zeros(robot.nv, bool)
    for joint in singles:
        moves[joint.v] = rng.random() < 0.5
    for joint in robot.joints:
        if not moves[joint.v].any():
            q[:, joint.q] = q[0, joint.q]
    part = _core.touching(robot, scene.query(q, moves), q)
    full = _core.touching(robot, scene.query(q), q)
    assert (part.obstacles <= full.obstacles).all()
    changing = np.ptp(full.obstacles, axis=0) > 0
    np.testing.assert_array_equal(part.obstacles[:, changing], full.obstacles[:, changing])


def test_large_angles_are_reduced() -> None:
    import kinodyn as kd

    robot = kd.load("planar3r")
    scene = random_scene(robot, 10, extent=0.5)
    q = robot.random(300, seed=11)
    turns = 2 * np.pi * np.random.default_rng(12).integers(-100_000, 100_000, q.shape)
    sure = np.abs(least_clearance(scene, q)) > ROUNDING
    query = scene.query(q)
    near, far = _core.collision_free(robot, query, q), _core.collision_free(robot, query, q + turns)
    np.testing.assert_array_equal(near[sure], far[sure])


def test_inconsistent_tables_are_rejected() -> None:
    one = np.zeros(1, np.int32)
    pairs = np.zeros((0, 2), np.int32)
    with pytest.raises(InputError, match="rows x, y, z, r"):
        _core.Spheres(one, np.array([0, 1], np.int32), np.zeros((1, 3)), pairs, [])
    with pytest.raises(InputError, match="do not match"):
        _core.Spheres(one, np.array([0, 2], np.int32), np.ones((1, 4)), pairs, [])
    with pytest.raises(InputError, match="out of range"):
        _core.Spheres(one, np.array([0, 1], np.int32), np.ones((1, 4)), np.array([[0, 1, -1]], np.int32), [])
