"""Solutions free of collision: free ones first, exact shapes decide where spheres touch, pairs are named."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World, exact
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.geometry import robot_geometry
from kinodyn.collision.query import Query
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

PANDA, UR5, HUMANOID = kd.load("panda"), kd.load("ur5"), kd.load("humanoid")
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
needs_coal = pytest.mark.skipif(not exact.is_available(), reason="coal is not installed")


def cluttered(seed: int, count: int = 6) -> World:
    """Return a world with boxes and balls around the base."""
    rng, world = np.random.default_rng(seed), World()
    for k in range(count):
        angle = rng.uniform(-np.pi, np.pi)  # around the base, which is not to touch them
        position = np.array([*(rng.uniform(0.45, 0.8) * np.array([np.cos(angle), np.sin(angle)])), rng.uniform(0, 0.8)])
        if k % 2:
            world.add_sphere(f"ball{k}", rng.uniform(0.05, 0.12), position)
        else:
            world.add_box(f"box{k}", rng.uniform(0.1, 0.25, 3), (position, None))
    return world


def collides(robot: Robot, q: Array, world: World | None) -> bool:
    """Tell whether the exact shapes collide at a configuration (nq,)."""
    return bool(ExactChecks(Query(robot, world.snapshot() if world else World().snapshot()), frozenset()).colliding(q))


@needs_coal
@pytest.mark.parametrize(("robot", "frame"), [(PANDA, "panda_link8"), (UR5, "wrist_3_link")])
def test_solutions_in_random_worlds_are_free_by_exact_shapes(robot: Robot, frame: str) -> None:
    for seed in range(3):
        world = cluttered(seed)
        T = kd.kinematics.pose(robot, robot.random(60, seed=seed), frame)
        plain = kd.ik.solve(robot, {frame: T})
        found = kd.ik.solve(robot, {frame: T}, world=world)
        np.testing.assert_array_equal(found.success, found.status == "solved")
        assert found.success.sum() > (plain.success & kd.collision.free(robot, plain.q, world)).sum()
        for q, target in zip(found.q[found.success], T[found.success], strict=True):
            assert not collides(robot, q, world)
            np.testing.assert_allclose(kd.kinematics.pose(robot, q, frame), target, atol=1e-5)
        blocked = found.status == "collision"
        for q, pair, depth in zip(found.q[blocked], found.colliding[blocked], found.depth[blocked], strict=True):
            depths = ExactChecks(Query(robot, world.snapshot()), frozenset()).colliding(q)
            assert depths[tuple(pair)] == pytest.approx(depth)
        np.testing.assert_array_equal((found.colliding != "").any(axis=-1), blocked)


def test_a_target_inside_an_obstacle_names_the_obstacle() -> None:
    T, world = kd.kinematics.pose(PANDA, HOME, "panda_link8"), World()
    world.add_sphere("ball", 0.12, T[:3, 3])
    found = kd.ik.solve(PANDA, {"panda_link8": T}, HOME, world=world)
    assert not found.success and found.status == "collision" and "ball" in found.colliding
    assert (found.residual < 1e-6).all()
    if exact.is_available():
        assert 0.02 < found.depth < 0.3


@needs_coal
def test_exact_shapes_decide_where_spheres_touch_at_every_solution() -> None:
    """A plate a millimetre before the hand, which is a box: the spheres that cover it reach farther."""
    stand, world = HUMANOID.configuration("standing"), World()
    stand[[joint.q.start for joint in HUMANOID.joints if joint.name == "left_elbow"]] = -1.2
    hand = next(part for part in robot_geometry(HUMANOID) if part.link == "left_hand")
    T_world_hand = kd.kinematics.pose(HUMANOID, stand, "left_hand")
    T_hand_plate = hand.T_link_shape.copy()
    T_hand_plate[:3, 3] -= T_hand_plate[:3, 2] * (0.5 * hand.shape.size[2] + 0.001 + 0.005)
    world.add_box("plate", (0.02, 0.02, 0.01), T_world_hand @ T_hand_plate)
    reached = kd.ik.solve(HUMANOID, {"left_hand": T_world_hand}, np.tile(stand, (50, 1)), joints="left_arm")
    assert reached.success.any() and not kd.collision.free(HUMANOID, reached.q[reached.success], world).any()
    found = kd.ik.solve(HUMANOID, {"left_hand": T_world_hand}, stand, joints="left_arm", world=world)
    assert found.success and not collides(HUMANOID, found.q, world)


def test_self_collisions_are_checked_without_a_world() -> None:
    T = kd.kinematics.pose(PANDA, PANDA.random(300, seed=3), "panda_link8")
    plain = kd.ik.solve(PANDA, {"panda_link8": T})
    assert not kd.collision.free(PANDA, plain.q).all()
    found = kd.ik.solve(PANDA, {"panda_link8": T}, collision=True)
    assert kd.collision.free(PANDA, found.q).sum() > kd.collision.free(PANDA, plain.q).sum()
    np.testing.assert_array_equal(kd.ik.solve(PANDA, {"panda_link8": T}, world=World(), collision=False).q, plain.q)


@pytest.mark.parametrize("prefer", ["nearest", "manipulability"])
def test_preferred_solutions_are_free_too(prefer: str) -> None:
    world = cluttered(1)
    T = kd.kinematics.pose(PANDA, PANDA.random(8, seed=5), "panda_link8")
    found = kd.ik.solve(PANDA, {"panda_link8": T}, HOME, world=world, prefer=prefer, restarts=16)
    assert found.success.any()
    if exact.is_available():
        assert not any(collides(PANDA, q, world) for q in found.q[found.success])


def test_two_hands_and_a_floating_base_far_from_the_origin() -> None:
    stand = HUMANOID.configuration("standing")
    stand[:2] = 30.0, -20.0
    world = World()
    targets = {}
    for hand, side in (("left_palm", 1), ("right_palm", -1)):
        targets[hand] = kd.kinematics.pose(HUMANOID, stand, hand).copy()
        targets[hand][:3, 3] += 0.15, 0.05 * side, 0.15
    joints = ("left_arm", "right_arm")
    first = kd.ik.solve(HUMANOID, targets, stand, joints=joints, world=world)
    assert first.success
    elbow = kd.kinematics.pose(HUMANOID, first.q, "left_palm")[:3, 3]
    world.add_sphere("ball", 0.05, elbow)
    assert kd.ik.solve(HUMANOID, targets, stand, joints=joints, world=world).status == "collision"


def test_allowed_pairs_and_shapes_of_batches() -> None:
    T, world = kd.kinematics.pose(PANDA, HOME, "panda_link8"), World()
    world.add_sphere("ball", 0.12, T[:3, 3])
    targets = {"panda_link8": np.broadcast_to(T, (2, 3, 4, 4))}
    found = kd.ik.solve(PANDA, targets, HOME, world=world)
    assert found.status.shape == (2, 3) and found.colliding.shape == (2, 3, 2) and found.depth.shape == (2, 3)
    assert (found.status == "collision").all()
    allowed = [(link, "ball") for link in PANDA.frame_names if link.startswith("panda_")]
    assert kd.ik.solve(PANDA, targets, HOME, world=world, allowed=allowed).success.all()
    assert kd.ik.solve(PANDA, targets, HOME).colliding is None


def test_invalid_worlds_are_rejected() -> None:
    T = kd.kinematics.pose(PANDA, HOME, "panda_link8")
    with pytest.raises(InputError, match="world"):
        kd.ik.solve(PANDA, {"panda_link8": T}, world=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="pairs"):
        kd.ik.solve(PANDA, {"panda_link8": T}, world=World(), allowed=[("a", "b", "c")])
