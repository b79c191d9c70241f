"""Exact collision and distance: known answers, solids inside meshes, and spheres that miss no contact."""

from __future__ import annotations

import builtins
import warnings

import numpy as np
import pytest
import trimesh

import kinodyn as kd
from kinodyn import _core
from kinodyn.collision import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    PointCloud,
    Sphere,
    exact,
    robot_geometry,
    robot_spheres,
)
from kinodyn.collision.exact import Placed

EYE = np.eye(4)
RESOLUTION = 0.03


def at(x: float, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    return kd.spatial.exp([x, y, z, 0.0, 0.0, 0.0])


def mesh(shape: object, convex: bool = False) -> Mesh:
    triangles = shape.triangles(1e-4)
    return Mesh(triangles.vertices, triangles.faces, convex)


SHAPES = {
    "box": Box([0.2, 0.2, 0.2]),
    "sphere": Sphere(0.1),
    "cylinder": Cylinder(0.1, 0.2),
    "capsule": Capsule(0.1, 0.2),
    "ellipsoid": Ellipsoid([0.1, 0.2, 0.3]),
    "mesh": mesh(Box([0.2, 0.2, 0.2])),
    "convex mesh": mesh(Box([0.2, 0.2, 0.2]), convex=True),
    "height field": HeightField(np.zeros((3, 3)), [0.2, 0.2], 0.2),
    "points": PointCloud([[0.05, 0.0, 0.0], [-0.1, 0.0, 0.0]], 0.05),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_distance_to_every_shape_is_exact(name: str) -> None:
    ball = Placed(Sphere(0.05), at(0.4))
    shape = Placed(SHAPES[name], at(0.0, 0.0, 0.1 if name == "height field" else 0.0))
    found = exact.distance([shape], [ball])
    assert found.distance == pytest.approx(0.4 - 0.1 - 0.05, abs=2e-4)
    assert not exact.collide([shape], [ball])
    assert exact.collide([shape], [Placed(Sphere(0.05), at(0.149))])
    assert exact.collide([shape], [ball], margin=0.2505) and not exact.collide([shape], [ball], margin=0.2495)
    assert exact.distance([ball], [shape]).distance == pytest.approx(found.distance, abs=1e-6)


@pytest.mark.parametrize("outer", ["mesh", "height field", "box", "convex mesh"])
def test_what_is_inside_a_solid_collides(outer: str) -> None:
    place = at(0.0, 0.0, 0.1) if outer == "height field" else EYE
    for inner in (Sphere(0.01), Box([0.01, 0.01, 0.01]), mesh(Box([0.01, 0.02, 0.01])), PointCloud([[0, 0, 0]], 1e-3)):
        first, second = [Placed(SHAPES[outer], place)], [Placed(inner, EYE)]
        assert exact.collide(first, second) and exact.collide(second, first)
        assert exact.distance(first, second).distance < 0.0
        assert exact.distance(second, first).distance < 0.0


def test_the_nearest_of_several_shapes_is_named_with_its_points() -> None:
    first = [Placed(Box([0.2, 0.2, 0.2]), at(-5.0)), Placed(Box([0.2, 0.2, 0.2]), EYE)]
    found = exact.distance(first, [Placed(Sphere(0.1), at(9.0)), Placed(Sphere(0.1), at(0.5))])
    assert found.indices == (1, 1) and found.distance == pytest.approx(0.3)
    np.testing.assert_allclose(found.points, [[0.1, 0.0, 0.0], [0.4, 0.0, 0.0]], atol=1e-6)


def test_a_contact_has_the_depth_and_the_normal_of_two_spheres() -> None:
    (contact,) = exact.contacts([Placed(Sphere(0.1), EYE)], [Placed(Sphere(0.1), at(0.17))])
    assert contact.depth == pytest.approx(0.03, abs=1e-6)
    np.testing.assert_allclose(contact.normal, [1.0, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(contact.point, [0.085, 0.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("depth", [0.02, 0.3, 0.45])
def test_the_depth_inside_a_mesh_is_that_of_the_deepest_vertex(depth: float) -> None:
    box = kd.collision.Box(np.ones(3)).triangles()
    block = Placed(kd.collision.Mesh(box.vertices, box.faces), np.eye(4))
    pin = kd.collision.Box(np.array([0.1, 0.1, 2.0])).triangles()
    T = np.eye(4)
    T[2, 3] = 1.5 - depth
    inside = Placed(kd.collision.Mesh(pin.vertices, pin.faces), T)
    expected = depth  # the sides of the block are 0.45 m away
    for first, second in ((block, inside), (inside, block)):
        found = exact.distance([first], [second])
        assert -found.distance == pytest.approx(expected, abs=1e-9)
        (contact,) = exact.contacts([first], [second])
        assert contact.depth == pytest.approx(expected, abs=1e-9)
        assert np.linalg.norm(found.points[0] - found.points[1]) == pytest.approx(expected, abs=1e-6)
        if depth < 0.4:  # to separate, the pin moves up
            assert contact.normal == pytest.approx([0, 0, 1 if first is block else -1], abs=1e-6)


def test_an_error_says_how_to_install_coal(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_coal(name: str, *args: object, **others: object) -> object:
        if name == "coal":
            raise ImportError(name)
        return real(name, *args, **others)

    monkeypatch.setattr(builtins, "__import__", without_coal)
    assert not exact.is_available()
    with pytest.raises(kd.KinodynError, match=r"pip install kinodyn\[planning\]"):
        exact.collide([Placed(Sphere(0.1), EYE)], [Placed(Sphere(0.1), EYE)])


ROBOTS = (
    "humanoid",
    "panda",
    "puma560",
    "scara",
    "ur5",
    "ur5_robot",
    "kinova",
    "panda_description",
    "xarm7",
    "solo12",
    "talos_left_arm",
)


@pytest.mark.parametrize("name", ROBOTS)
def test_spheres_miss_no_contact_with_an_obstacle_or_between_links(name: str) -> None:
    if name not in kd.robots():
        pytest.skip(f"{name} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name)
        robot_geometry(robot)
    spheres = robot_spheres(robot, RESOLUTION)
    rng = np.random.default_rng(0)
    contacts = 0
    for q in robot.random(40, seed=rng):
        links = exact.placed_links(robot, q)
        balls = world_spheres(robot, spheres, q)
        obstacle = [Placed(Sphere(0.05), at(*(links[spheres.links[-1]][0].pose[:3, 3] + rng.uniform(-0.1, 0.1, 3))))]
        ball = np.array([[*obstacle[0].pose[:3, 3], 0.05]])
        for k, link in enumerate(spheres.links):
            hit = exact.distance(links[link], obstacle).distance
            contacts += hit <= 0.0
            assert gap(balls[link], ball) <= max(hit, 0.0) + 1e-9
            if hit > 0.0:  # spheres are nearer than the shapes, but by no more than their overshoot
                assert gap(balls[link], ball) >= hit - 1.05 * RESOLUTION
            for other in spheres.links[k + 1 :]:
                if exact.collide(links[link], links[other]):
                    contacts += 1
                    assert gap(balls[link], balls[other]) <= 0.0, (link, other)
    assert contacts > 0


def world_spheres(robot: kd.Robot, spheres: kd.collision.SphereSet, q: np.ndarray) -> dict[str, np.ndarray]:
    found = {}
    for link in spheres.links:
        T, local = kd.kinematics.pose(robot, q, link), spheres.of_link(link)
        found[link] = np.column_stack([local[:, :3] @ T[:3, :3].T + T[:3, 3], local[:, 3]])
    return found


def gap(first: np.ndarray, second: np.ndarray) -> float:
    distances = np.linalg.norm(first[:, None, :3] - second[None, :, :3], axis=-1)
    return float((distances - first[:, None, 3] - second[None, :, 3]).min())


def test_meshes_are_compared_as_trimesh_places_them() -> None:
    torus = trimesh.creation.torus(0.3, 0.05)
    ring = Placed(Mesh(np.array(torus.vertices), np.array(torus.faces)), EYE)
    assert not exact.collide([ring], [Placed(Sphere(0.2), EYE)])  # a ball in the hole of a ring
    assert exact.distance([ring], [Placed(Sphere(0.2), EYE)]).distance == pytest.approx(0.05, abs=3e-3)
    assert exact.collide([ring], [Placed(Sphere(0.26), EYE)])


@pytest.mark.parametrize("removed", [0, 40])  # triangles: the surface is closed, or has holes
@pytest.mark.parametrize(("smallest", "largest"), [(0.0, 0.3), (0.0, 1.4), (0.8, 1.2), (1.3, 2.0)])
def test_the_lowest_distance_is_that_of_every_point_by_itself(removed, smallest, largest):
    """A rough surface: far inside, many triangles are nearly as near as the nearest."""
    rng = np.random.default_rng(removed)
    sphere = trimesh.creation.icosphere(subdivisions=4)
    vertices = np.ascontiguousarray(sphere.vertices * rng.uniform(0.9, 1.1, (len(sphere.vertices), 1)))
    surface = _core.TriangleBvh(vertices, np.ascontiguousarray(sphere.faces[removed:], dtype=np.int64))
    for n in (1, 7, 300):
        directions = rng.normal(size=(n, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        points = np.ascontiguousarray(directions * rng.uniform(smallest, largest, (n, 1)))
        every = surface.signed_distances(points)
        lowest, index = surface.lowest_distance(points)
        assert lowest == every.min() == every[index]
