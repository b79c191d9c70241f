"""Continuous checks of polynomial motions: what is called free is free at dense samples, still or moving obstacles."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World, robot_spheres
from kinodyn.collision.query import Query, snapshot_of
from kinodyn.errors import InputError
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot
from kinodyn.planning.curves import pieces_free
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import Space

ROBOTS = ["panda", "ur5", "humanoid"]
DT = 1e-3


def pieces(robot: Robot, seed: int, degree: int, count: int = 60) -> PiecewisePolynomial:
    """Return unconnected pieces of random polynomials; a floating base stays."""
    rng = np.random.default_rng(seed)
    space = Space(robot)
    shape = (degree + 1, count, robot.nv)
    coefficients = rng.normal(size=shape) * rng.choice([0.03, 0.3, 1.0], size=(1, count, 1))
    coefficients[0] = 0.0
    coefficients[..., space.on_manifold] = 0.0
    knots = np.concatenate([[0.0], np.cumsum(rng.uniform(0.1, 0.6, count))])
    return PiecewisePolynomial(space, knots, robot.random(count, seed=seed), coefficients)


def sampled(motion: PiecewisePolynomial, piece: int) -> tuple[Array, Array]:
    """Return times and configurations of a piece."""
    t = np.arange(motion.knots[piece], motion.knots[piece + 1], DT)
    return t, motion(t)


def boxes(seed: int) -> World:
    rng = np.random.default_rng(seed)
    world = World()
    for k in range(6):
        world.add_box(f"box{k}", rng.uniform(0.05, 0.3, 3), (rng.uniform(-0.7, 0.7, 3), None))
    return world


def balls(seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = np.zeros(count, dtype=layout("moving_sphere"))
    found["p"], found["v"] = rng.uniform(-0.7, 0.7, (count, 3)), rng.uniform(-0.1, 0.1, (count, 3))
    found["a"], found["radius"] = rng.uniform(-0.01, 0.01, (count, 3)), 0.08
    return found


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("degree", [1, 3, 5])
def test_what_is_free_is_free_at_samples_and_what_has_room_is_found_free(name: str, degree: int) -> None:
    robot, world = kd.load(name), boxes(4)
    motion = pieces(robot, degree, degree)
    query = Query(robot, snapshot_of(world))
    free = pieces_free(query, motion, resolution=2e-4)
    dense = np.array([kd.collision.free(robot, sampled(motion, k)[1], world).all() for k in range(len(motion.base))])
    assert not (free & ~dense).any()
    assert (free == dense).mean() > 0.9  # those that graze differ
    assert 0 < dense.sum() < len(dense)


def test_straight_pieces_agree_with_the_check_of_straight_motions() -> None:
    robot, world = kd.load("panda"), boxes(7)
    motion = pieces(robot, 0, 1, 200)
    ends = motion.base + motion.coefficients[1] * np.diff(motion.knots)[:, None]
    expected = kd.collision.motion_free(robot, motion.base, ends, world)
    found = pieces_free(Query(robot, snapshot_of(world)), motion, resolution=2e-4)
    assert (found == expected).mean() > 0.98
    assert 0 < expected.sum() < 200


def touched(robot: Robot, motion: PiecewisePolynomial, piece: int, spheres: np.ndarray) -> bool:
    """Tell whether a sphere of the robot touches a moving one, at samples, by forward kinematics."""
    t, q = sampled(motion, piece)
    own = robot_spheres(robot)
    at = spheres["p"][:, None] + spheres["v"][:, None] * t[:, None] + 0.5 * spheres["a"][:, None] * (t**2)[:, None]
    for link in own.links:
        T = kd.kinematics.pose(robot, q, link)
        rows = own.of_link(link)
        centres = np.einsum("tij,sj->tsi", T[:, :3, :3], rows[:, :3]) + T[:, None, :3, 3]
        gaps = np.linalg.norm(centres[None] - at[:, :, None], axis=-1) - rows[:, 3] - spheres["radius"][:, None, None]
        if gaps.min() < 0.0:
            return True
    return False


@pytest.mark.parametrize("name", ["panda", "humanoid"])
def test_moving_obstacles_are_met_at_their_time(name: str) -> None:
    robot = kd.load(name)
    motion, spheres = pieces(robot, 5, 3, 30), balls(5, 8)
    query = Query(robot, snapshot_of(None))
    alone = pieces_free(query, motion, resolution=2e-4)
    free = pieces_free(query, motion, resolution=2e-4, spheres=spheres)
    hit = np.array([touched(robot, motion, k, spheres) for k in range(30)])
    assert not (free & hit).any()
    assert (free == (alone & ~hit)).mean() > 0.85
    assert (free & alone).any() and (hit & alone).any()


def test_the_start_time_shifts_the_obstacles() -> None:
    robot = kd.load("panda")
    q = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
    still = PiecewisePolynomial(Space(robot), np.array([0.0, 1.0]), q[None], np.zeros((4, 1, 7)))
    hand = kd.kinematics.pose(robot, q, "panda_link7")[:3, 3]
    ball = np.zeros(1, dtype=layout("moving_sphere"))
    ball["p"], ball["v"], ball["radius"] = hand + [3.0, 0.0, 0.0], [-1.0, 0.0, 0.0], 0.05
    query = Query(robot, snapshot_of(None))
    found = [bool(pieces_free(query, still, resolution=1e-3, spheres=ball, start=t)[0]) for t in (0.0, 1.0, 2.5, 8.0)]
    assert found == [True, True, False, True]


def test_a_floating_base_that_moves_is_checked_along_its_geodesic() -> None:
    robot = kd.load("humanoid")
    q = robot.random(2, seed=1)
    motion = kd.trajectory.linear_segments(
        q, velocity=np.ones(robot.nv), acceleration=np.ones(robot.nv), jerk=np.ones(robot.nv), robot=robot
    )
    query = Query(robot, snapshot_of(boxes(1)), bounds=kd.collision.query.range_of(robot, q))
    expected = bool(kd.collision.motion_free(robot, q[0], q[1], boxes(1)))
    assert pieces_free(query, motion, resolution=2e-4).all() == expected
    with pytest.raises(InputError, match="moving obstacles"):
        pieces_free(query, motion, resolution=2e-4, spheres=balls(0, 1))
