"""Distances of spheres and of exact shapes: bounds, witness points, gradients."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    PointCloud,
    Sphere,
    World,
    robot_spheres,
)
from kinodyn.description.types import Description, Joint, Link, Mimic, Shape
from kinodyn.spatial import from_euler, pose

from .installed_robots import load

FAST = ("humanoid", "panda", "scara", "ur5")
ROBOTS = (*FAST, "puma560", "ur5_robot", "kinova", "panda_description", "xarm7", "talos_left_arm", "z1")
COARSE = 0.03  # [m] larger spheres, which are fitted much faster
TURNED = from_euler([0.4, -0.7, 1.1])
KINDS = {
    "upright box": (Box((0.2, 0.3, 0.1)), np.eye(3)),
    "box": (Box((0.2, 0.3, 0.1)), TURNED),
    "sphere": (Sphere(0.1), np.eye(3)),
    "cylinder": (Cylinder(0.1, 0.3), TURNED),
    "capsule": (Capsule(0.05, 0.4), TURNED),
    "ellipsoid": (Ellipsoid((0.1, 0.2, 0.05)), TURNED),
    "point cloud": (PointCloud(np.random.default_rng(3).uniform(-0.2, 0.2, (40, 3)), 0.01), TURNED),
}


def scene(robot: kd.Robot) -> World:
    """Obstacles of all kinds around the last link, and a bar in its grasp."""
    world, rng = World(), np.random.default_rng(5)
    reach = np.abs(kd.kinematics.poses(robot, robot.random(50, seed=1))[..., :3, 3]).max()
    for name, (shape, R) in KINDS.items():
        direction = rng.normal(size=3)
        world.add(name, shape, pose(rng.uniform(0.5, 1.2) * reach * direction / np.linalg.norm(direction), R))
    links = list(dict.fromkeys(part.link for part in kd.collision.robot_geometry(robot)))
    world.add("bar", Cylinder(0.02, 0.3), np.eye(4))
    world.attach("bar", links[-1], touch_links=links)
    return world


def states(robot: kd.Robot, count: int) -> np.ndarray:
    """Random configurations; a floating base stays within a metre of the origin."""
    return robot.random(count, seed=7)


@pytest.mark.parametrize("name", ROBOTS)
def test_sphere_distances_underestimate_by_at_most_the_reported_bound(name: str) -> None:
    pytest.importorskip("coal")
    robot = load(name)
    world, rng = scene(robot), np.random.default_rng(1)
    parts = [*robot_spheres(robot, COARSE).links, "bar"]
    chosen = [*combinations(parts[:-1], 2), *product(parts, KINDS)]
    chosen = [chosen[k] for k in rng.permutation(len(chosen))[:12]]
    apart = 0
    for q in states(robot, 8):
        for pair in chosen:
            near = kd.collision.distance(robot, q, world, pairs=[pair], resolution=COARSE)
            exact = kd.collision.distance(robot, q, world, pairs=[pair], exact=True)
            assert exact.distance <= max(near.distance, 0) + near.error_bound
            if near.distance > 0:
                apart += 1
                assert near.distance <= exact.distance + 1e-9
            assert near.error_bound < 0.08 and exact.error_bound == 0
    assert apart > 20


@pytest.mark.parametrize("kind", KINDS)
def test_distance_to_each_kind_of_obstacle_agrees_with_coal(kind: str) -> None:
    pytest.importorskip("coal")
    robot = load("ur5")  # of spheres and few
    shape, R = KINDS[kind]
    rng, world = np.random.default_rng(0), World()
    world.add("thing", shape, pose([0.0, 0.0, 0.0], R))
    compared = 0
    for q in robot.random(12, seed=rng):
        world.move("thing", pose(rng.uniform(-1.0, 1.0, 3), R))
        for pair in [(link, "thing") for link in robot_spheres(robot).links]:
            near = kd.collision.distance(robot, q, world, pairs=[pair])
            exact = kd.collision.distance(robot, q, world, pairs=[pair], exact=True)
            if near.distance > 0:
                compared += 1
                assert 0 <= exact.distance - near.distance + 1e-9 <= near.error_bound
                apart = np.linalg.norm(near.points[0] - near.points[1])
                np.testing.assert_allclose(apart, near.distance, atol=1e-9)
    assert compared > 20


@pytest.mark.parametrize("kind", KINDS)
def test_sphere_to_obstacle_distances_agree_with_coal(kind: str) -> None:
    coal = pytest.importorskip("coal")
    assert coal
    robot = free_ball(0.1)
    shape, R = KINDS[kind]
    world = World()
    world.add("thing", shape, pose([0.3, 0.2, -0.1], R))
    q = robot.random(60, seed=1)
    q[:, :3] *= 0.6
    near = kd.collision.distance(robot, q, world)
    exact = kd.collision.distance(robot, q, world, exact=True)
    covered = 0.0 if kind in ("upright box", "box", "sphere", "cylinder", "capsule", "point cloud") else 0.02
    apart = exact.distance > 0.001
    assert apart.sum() > 10
    assert (np.abs(exact.distance - near.distance)[apart] <= covered + 2e-4).all()
    if covered == 0.0:
        np.testing.assert_allclose(near.gradient[apart], exact.gradient[apart], atol=2e-2)


@pytest.mark.parametrize("name", [*FAST, "every joint"])
def test_gradients_are_the_rates_of_the_distance(name: str) -> None:
    robot = every_joint() if name == "every joint" else load(name)
    world, q = scene(robot), states(robot, 60)
    v = np.random.default_rng(2).normal(size=(len(q), robot.nv))
    near = kd.collision.distance(robot, q, world)
    step = 1e-6
    ahead, behind = (kd.collision.distance(robot, robot.integrate(q, s * v), world) for s in (step, -step))
    same = (ahead.names == behind.names).all(axis=-1)  # where another pair takes over, there is no gradient
    rate = (ahead.distance - behind.distance) / (2 * step)
    error = np.abs(rate - (near.gradient * v).sum(axis=-1))[same]
    assert same.sum() > 50
    assert np.quantile(error, 0.95) < 1e-6  # two spheres of a link can take over from each other too


def test_exact_gradients_are_the_rates_of_the_exact_distance() -> None:
    pytest.importorskip("coal")
    robot = load("ur5")
    world, q = scene(robot), states(robot, 12)
    v = np.random.default_rng(2).normal(size=(len(q), robot.nv))
    near = kd.collision.distance(robot, q, world, exact=True)
    step = 1e-5
    ahead, behind = (kd.collision.distance(robot, robot.integrate(q, s * v), world, exact=True) for s in (step, -step))
    rate = (ahead.distance - behind.distance) / (2 * step)
    apart = (near.distance > 0.005) & (ahead.names == behind.names).all(axis=-1)
    error = np.abs(rate - (near.gradient * v).sum(axis=-1))[apart]
    assert apart.sum() > 3
    assert np.median(error) < 1e-3  # where faces are parallel, witness points jump


def test_batches_names_and_witness_points_belong_together() -> None:
    robot = load("humanoid")
    world, q = scene(robot), states(robot, 12).reshape(3, 4, -1)
    near = kd.collision.distance(robot, q, world)
    assert near.distance.shape == near.error_bound.shape == (3, 4)
    assert (
        near.names.shape == (3, 4, 2) and near.points.shape == (3, 4, 2, 3) and near.gradient.shape == (3, 4, robot.nv)
    )
    for index in np.ndindex(3, 4):
        one = kd.collision.distance(robot, q[index], world, pairs=[near.names[index]])
        np.testing.assert_array_equal(one.distance, near.distance[index])
        np.testing.assert_array_equal(one.points, near.points[index])
        apart = np.linalg.norm(near.points[index][0] - near.points[index][1])
        np.testing.assert_allclose(apart, abs(near.distance[index]), atol=1e-9)


def test_the_sign_agrees_with_the_check_of_configurations() -> None:
    robot = load("panda")
    world, q = scene(robot), states(robot, 2000)
    near = kd.collision.distance(robot, q, world).distance
    apart = near > 2e-5  # the check is in single precision
    assert 0.1 < apart.mean() < 0.99
    assert kd.collision.free(robot, q, world)[apart].all()  # it knows some pairs of links better than by spheres


def test_allowed_pairs_are_ignored_and_selected_pairs_are_measured() -> None:
    robot, world = load("panda"), World()
    q = robot.configuration("ready")
    world.add_sphere("ball", 0.1, [0.47, 0.0, 0.75])
    near = kd.collision.distance(robot, q, world)
    assert near.names.tolist() == ["panda_link6", "ball"]
    others = kd.collision.distance(robot, q, world, allowed=[near.names])
    assert others.distance > near.distance and others.names.tolist() != near.names.tolist()
    neighbours = kd.collision.distance(robot, q, pairs=[("panda_link3", "panda_link4")])
    assert neighbours.distance < 0  # although they may touch


def test_the_absence_of_near_pairs_is_reported() -> None:
    robot, world = load("panda"), World()
    q = robot.configuration("ready")
    alone = kd.collision.distance(robot, q, world, pairs=[])
    assert alone.distance == np.inf and alone.names.tolist() == ["", ""] and not alone.gradient.any()
    assert np.isnan(alone.points).all()
    world.add_sphere("ball", 0.1, [3.0, 0.0, 0.9])
    pair = [("panda_hand", "ball")] if "panda_hand" in robot_spheres(robot).links else [("panda_link6", "ball")]
    far = kd.collision.distance(robot, q, world, pairs=pair, max_distance=0.5)
    assert far.distance == 0.5 and far.names.tolist() == ["", ""]
    near = kd.collision.distance(robot, q, world, pairs=pair, max_distance=5.0)
    assert 1.0 < near.distance < 3.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pairs": [("panda_link6", "nobody")]}, "nobody"),
        ({"pairs": [("panda_link6",)]}, "two names"),
        ({"pairs": [("ball", "box")]}, "neither"),
        ({"max_distance": float("nan")}, "max_distance"),
        ({"max_distance": "far"}, "max_distance"),
        ({"allowed": [("a", "b", "c")]}, "pairs of names"),
    ],
)
def test_errors_name_the_invalid_argument(arguments: dict[str, object], message: str) -> None:
    robot, world = load("panda"), World()
    world.add_sphere("ball", 0.1, [0.6, 0.0, 0.9])
    world.add_box("box", (0.1, 0.1, 0.1), pose([1.0, 0.0, 0.0]))
    with pytest.raises(kd.KinodynError, match=message):
        kd.collision.distance(robot, robot.neutral(), world, **arguments)  # type: ignore[arg-type]


def test_configurations_must_be_finite_and_of_the_right_shape() -> None:
    robot = load("panda")
    with pytest.raises(kd.KinodynError, match="q"):
        kd.collision.distance(robot, np.full(robot.nq, np.nan))
    with pytest.raises(kd.KinodynError, match="q"):
        kd.collision.distance(robot, np.zeros(3))


def test_contacts_list_each_pair_once_with_depth_and_normal() -> None:
    pytest.importorskip("coal")
    robot, world = load("panda"), World()
    q = robot.configuration("ready")
    centre = kd.kinematics.pose(robot, q, "panda_link6")[:3, 3]
    world.add_sphere("ball", 0.12, centre + [0.0, 0.0, 0.15])
    world.add_sphere("far", 0.1, [3.0, 0.0, 0.0])
    for exact in (True, False):
        found = kd.collision.contacts(robot, q, world, exact=exact)
        names = [contact.names for contact in found]
        assert len(set(names)) == len(names) and ("panda_link6", "ball") in names
        assert not any("far" in pair for pair in names)
        deepest = found[0]
        assert [c.depth for c in found] == sorted((c.depth for c in found), reverse=True)
        np.testing.assert_allclose(np.linalg.norm(deepest.normal), 1.0)
        # moving the ball along the normal by the depth ends the contact
        world.move("ball", pose(centre + [0.0, 0.0, 0.15] + (deepest.depth + 0.002) * deepest.normal))
        allowed = [pair for pair in names if pair != deepest.names]
        after = kd.collision.contacts(robot, q, world, allowed=allowed, exact=exact)
        assert deepest.names not in [contact.names for contact in after] or after[0].depth < 0.2 * deepest.depth
        world.move("ball", pose(centre + [0.0, 0.0, 0.15]))


def test_contacts_are_those_of_one_configuration() -> None:
    with pytest.raises(kd.KinodynError, match="q must have shape"):
        kd.collision.contacts(load("panda"), np.zeros((2, 7)))


def ball_shape(radius: float) -> Shape:
    return Shape("sphere", (radius,), np.eye(4))


def free_ball(radius: float) -> kd.Robot:
    """A ball that floats."""
    links = (Link("base"), Link("ball", collisions=(ball_shape(radius),)))
    return kd.Robot(Description("ball", links, (Joint("free", "floating", "base", "ball"),)))


def every_joint() -> kd.Robot:
    """A robot with every kind of joint, a mimic one among them, with a ball at each link."""
    kinds = ("floating", "revolute", "prismatic", "ball", "continuous", "planar", "revolute", "revolute")
    links, joints, axis = [Link("l0")], [], np.array([0.0, 0.6, 0.8])
    for k, kind in enumerate(kinds, start=1):
        links.append(Link(f"l{k}", collisions=(ball_shape(0.05),)))
        mimic = Mimic("j2", 0.5, 0.1) if k == len(kinds) else None
        place = pose([0.2, 0.05, 0.1])
        joints.append(Joint(f"j{k}", kind, f"l{k - 1}", f"l{k}", T_parent_child=place, axis=axis, mimic=mimic))
    return kd.Robot(Description("every joint", tuple(links), tuple(joints)))
