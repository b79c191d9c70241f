"""Paths seen independently of the planner: dense samples, and collisions of the exact shapes by coal."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World, exact
from kinodyn.planning import Plan
from kinodyn.spatial import log3

PER_MOTION = 32


def dense(found: Plan, per_motion: int = PER_MOTION) -> Array:
    """Return configurations along a path: straight motions of the joints, geodesics of the base."""
    s = np.linspace(0.0, 1.0, per_motion + 1)
    motions = zip(found.path[:-1], found.path[1:], strict=True)
    return np.concatenate([found.robot.interpolate(a, b, s) for a, b in motions])


def assert_a_path(found: Plan, start: Array, moving: Iterable[str] = ()) -> None:
    """Check ends, limits, and that joints outside of the group stay."""
    robot = found.robot
    assert found.success and found.status == "solved" and not found.message, found.message
    np.testing.assert_array_equal(found.path[0], start)
    joints = [joint for joint in robot.joints if joint.mimic is None and joint.q.stop - joint.q.start == 1]
    columns = [joint.q.start for joint in joints]
    path = found.path[:, columns]
    assert (path >= robot.limits.lower[columns] - 1e-9).all() and (path <= robot.limits.upper[columns] + 1e-9).all()
    for joint in robot.joints:
        if joint.mimic is None and joint.name not in found.group:
            np.testing.assert_array_equal(found.path[:, joint.q], np.tile(start[joint.q], (len(found.path), 1)))


def assert_exactly_free(
    found: Plan, world: World, touching: Iterable[frozenset[str]] = (), per_motion: int = 4
) -> None:
    """Check with coal on the exact shapes, all pairs but those that may touch."""
    robot = found.robot
    allowed = kd.collision.allowed_pairs(robot).pairs | set(touching)
    objects = {thing.name: (exact.Placed(thing.shape, thing.pose),) for thing in world.snapshot().objects}
    for q in dense(found, per_motion):
        links = exact.placed_links(robot, q)
        names = list(links)
        for i, a in enumerate(names):
            for name, shapes in objects.items():
                assert frozenset((a, name)) in allowed or not exact.collide(links[a], shapes), (a, name)
            for b in names[:i]:
                assert frozenset((a, b)) in allowed or not exact.collide(links[a], links[b]), (a, b)


def turned(R: Array, R0: Array) -> Array:
    """Return the angles (...) between rotations (..., 3, 3) [rad]."""
    return np.asarray(np.linalg.norm(log3(np.swapaxes(R0, -1, -2) @ R), axis=-1))
