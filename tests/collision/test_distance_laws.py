"""Laws of distances for many robots, every shape of a world and attached objects: witness points, gradients, bounds."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import Box, Cylinder, Ellipsoid, PointCloud, Shape, World, exact, robot_spheres
from kinodyn.collision.exact_geometry import exact_geometry
from kinodyn.collision.exact_shapes import ExactShapes
from kinodyn.collision.point_distances import signed_distances
from kinodyn.collision.shapes import Capsule, Sphere
from kinodyn.description.meshes import TriangleMesh
from kinodyn.spatial import from_euler, pose

from .installed_robots import load
from .test_distance import every_joint

# mimic joints: tiago, pr2, so101; prismatic: scara, tiago, pr2; floating base: humanoid, g1; ball joints: every_joint
FAST = ("panda", "humanoid", "scara", "every joint")
MANY = ("ur5", "puma560", "tiago", "pr2", "g1", "so101", "kinova", "xarm7", "talos_left_arm", "z1")
TURNED = from_euler([0.4, -0.7, 1.1])


def torus(radius: float, thickness: float) -> TriangleMesh:
    """Return a closed mesh that is not convex."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 13)[:-1], np.linspace(0, 2 * np.pi, 9)[:-1], indexing="ij")
    ring = radius + thickness * np.cos(v)
    vertices = np.stack([ring * np.cos(u), ring * np.sin(u), thickness * np.sin(v)], axis=-1).reshape(-1, 3)
    i, k = np.meshgrid(np.arange(12), np.arange(8), indexing="ij")
    a, b = 8 * i + k, 8 * ((i + 1) % 12) + k
    c, d = 8 * ((i + 1) % 12) + (k + 1) % 8, 8 * i + (k + 1) % 8
    faces = np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
    return TriangleMesh(vertices, faces)


def scene(robot: kd.Robot) -> World:
    """Return every kind of obstacle around a robot, and objects of several kinds attached to it."""
    world, rng = World(), np.random.default_rng(3)
    reach = float(np.abs(kd.kinematics.poses(robot, robot.random(30, seed=1))[..., :3, 3]).max())

    def place() -> Array:
        direction = rng.normal(size=3)
        return pose(rng.uniform(0.3, 1.1) * reach * direction / np.linalg.norm(direction), TURNED)

    mesh = torus(0.15, 0.05)
    world.add_box("box", (0.2, 0.3, 0.1), place())
    world.add_sphere("sphere", 0.1, place()[:3, 3])
    world.add_cylinder("cylinder", 0.1, 0.3, place())
    world.add_capsule("capsule", 0.05, 0.4, place())
    world.add("ellipsoid", Ellipsoid((0.1, 0.2, 0.05)), place())
    world.add_points("cloud", rng.uniform(-0.2, 0.2, (40, 3)), 0.01, place())
    world.add_mesh("mesh", (mesh.vertices, mesh.faces), place())
    world.add_heightfield("field", 0.1 * rng.random((6, 7)), (0.5, 0.6), pose([0, 0, -1.2 * reach]))
    held: dict[str, Shape] = {
        "held box": Box((0.1, 0.05, 0.2)),
        "held rod": Cylinder(0.02, 0.3),
        "held cloud": PointCloud(rng.uniform(-0.1, 0.1, (20, 3)), 0.01),
    }
    links = list(robot_spheres(robot).links)
    for k, (name, shape) in enumerate(held.items()):
        world.add(name, shape, np.eye(4))
        world.attach(name, links[-1], pose([0.1 * k, 0.0, 0.2]), touch_links=[*links, *held])
    return world


def robot_named(name: str) -> kd.Robot:
    return every_joint() if name == "every joint" else load(name)


def assert_witnesses_and_gradients(robot: kd.Robot, world: World, count: int) -> None:
    """Witness points are as far apart as the distance, and the gradient is its rate."""
    q, step = robot.random(count, seed=5), 1e-6
    v = np.random.default_rng(2).normal(size=(count, robot.nv))
    near = kd.collision.distance(robot, q, world)
    apart = np.linalg.norm(near.points[:, 0] - near.points[:, 1], axis=-1)
    np.testing.assert_allclose(apart, np.abs(near.distance), atol=1e-7)
    ahead, behind = (kd.collision.distance(robot, robot.integrate(q, s * v), world) for s in (step, -step))
    # where other spheres take over, there is no gradient
    moved = np.abs(ahead.points - behind.points).max(axis=(-1, -2))
    same = (ahead.names == behind.names).all(axis=-1) & (moved < 1e-3)
    assert same.mean() > 0.8
    rate = (ahead.distance - behind.distance) / (2 * step)
    np.testing.assert_allclose(rate[same], (near.gradient * v).sum(axis=-1)[same], atol=1e-5)


def assert_exact_distances(robot: kd.Robot, world: World, states: int) -> None:
    """Exact witness points are on both shapes, and the spheres are within their bound of the exact distance."""
    fixed = [name for name in world.names if world[name].attached_to is None]
    parts = [*robot_spheres(robot).links[-2:], *(name for name in world.names if name not in fixed)]
    apart = 0
    for q in robot.random(states, seed=6):
        for pair in ((part, thing) for part in parts for thing in fixed):
            found = kd.collision.distance(robot, q, world, exact=True, pairs=[pair])
            near = kd.collision.distance(robot, q, world, pairs=[pair])
            assert found.names.tolist() == list(pair)
            assert np.linalg.norm(found.points[0] - found.points[1]) == pytest.approx(abs(found.distance), abs=1e-6)
            if found.distance <= 0.0:
                continue
            apart += 1
            assert near.distance <= found.distance + 1e-5
            assert found.distance <= max(near.distance, 0.0) + near.error_bound + 1e-5
            for placed, point in zip(ExactShapes(robot, world.snapshot(), q).of_pair(pair), found.points, strict=True):
                assert min(abs(from_surface(part, point)) for part in placed) < 1e-5
    assert apart > 10


def from_surface(placed: exact.Placed, point: Array) -> float:
    """Return the signed distance of a point (3,) from a shape."""
    local = (np.linalg.inv(placed.pose) @ np.append(point, 1.0))[None, :3]
    if isinstance(placed.shape, PointCloud):
        return float(np.linalg.norm(placed.shape.points - local, axis=1).min() - placed.shape.radius)
    return float(exact_geometry(placed.shape).signed_distances(local)[0])


@pytest.mark.parametrize("name", FAST)
def test_witness_points_and_gradients(name: str) -> None:
    robot = robot_named(name)
    assert_witnesses_and_gradients(robot, scene(robot), 40)


@pytest.mark.parametrize("name", FAST)
def test_exact_witness_points_are_on_both_shapes(name: str) -> None:
    pytest.importorskip("coal")
    robot = robot_named(name)
    assert_exact_distances(robot, scene(robot), 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_distances_of_many_robots(name: str) -> None:
    pytest.importorskip("coal")
    robot = load(name)
    assert_witnesses_and_gradients(robot, scene(robot), 200)
    assert_exact_distances(robot, scene(robot), 3)


def test_a_surface_beyond_the_nearest_pair_is_not_taken_for_it() -> None:
    """The square root of a bound may round below the bound: a cloud is the nearest, a mesh is farther."""
    robot = load("panda")
    world = scene(robot)
    q = robot.random(200, seed=5)
    near = kd.collision.distance(robot, q, world)
    for k in np.flatnonzero(np.isin(near.names[:, 1], ("mesh", "cloud", "field", "ellipsoid"))):
        alone = kd.collision.distance(robot, q[k], world, pairs=[near.names[k]])
        assert alone.distance == pytest.approx(near.distance[k], abs=1e-12)


@pytest.mark.parametrize(
    "shape", [Box((0.2, 0.3, 0.1)), Sphere(0.1), Cylinder(0.1, 0.3), Capsule(0.05, 0.4), Ellipsoid((0.1, 0.2, 0.05))]
)
def test_distances_of_points_in_closed_form_agree_with_triangles(shape: Shape) -> None:
    points = np.random.default_rng(0).uniform(-0.3, 0.3, (200, 3))
    triangles = exact_geometry(shape).surface.signed_distances(points)
    np.testing.assert_allclose(signed_distances(shape, points), triangles, atol=2e-4)


def test_the_distance_between_two_clouds_is_that_of_their_nearest_points() -> None:
    pytest.importorskip("coal")
    rng = np.random.default_rng(1)
    first, second = (PointCloud(rng.uniform(-0.2, 0.2, (30, 3)), radius) for radius in (0.01, 0.02))
    T, U = pose([0.0, 0.1, 0.0], TURNED), pose([0.9, 0.0, 0.3])
    found = exact.distance([exact.Placed(first, T)], [exact.Placed(second, U)])
    a, b = (cloud.points @ A[:3, :3].T + A[:3, 3] for cloud, A in ((first, T), (second, U)))
    assert found.distance == pytest.approx(np.linalg.norm(a[:, None] - b, axis=-1).min() - 0.03, abs=1e-12)
    assert np.linalg.norm(found.points[0] - found.points[1]) == pytest.approx(found.distance, abs=1e-12)


def test_pairs_may_be_arrays_of_names_and_need_two_of_them() -> None:
    robot, world = load("panda"), World()
    world.add_sphere("ball", 0.1, [0.6, 0.0, 0.9])
    q = robot.configuration("ready")
    near = kd.collision.distance(robot, np.stack([q, q]), world)
    others = kd.collision.distance(robot, q, world, allowed=near.names)
    assert others.distance > near.distance[0]
    with pytest.raises(kd.InputError, match="pairs of names"):
        kd.collision.free(robot, q, world, allowed=[("panda_link1",)])
    for count in ((0,), (2, 0), (2, 1, 3)):
        shaped = kd.collision.distance(robot, np.broadcast_to(q, (*count, 7)), world)
        assert shaped.distance.shape == count and shaped.gradient.shape == (*count, 7)
