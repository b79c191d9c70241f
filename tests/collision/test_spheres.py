"""Spheres cover the collision shapes of robots, surface and interior, with a bounded overshoot."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import trimesh

import kinodyn as kd
from kinodyn import _core
from kinodyn.collision import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere, robot_geometry, robot_spheres
from kinodyn.collision.cache import cache_folder
from kinodyn.description.types import Description, Joint, Link, Shape

from .installed_robots import load

BUNDLED = ("humanoid", "panda", "planar2r", "puma560", "scara", "ur5")
INSTALLED = ("talos_left_arm", "ur5_robot", "kinova", "panda_description", "solo12", "xarm7", "z1", "romeo")
RESOLUTION = 0.03


def surface_points(part: kd.collision.LinkGeometry, count: int, seed: int) -> np.ndarray:
    """Points on the surface of a shape, in the link frame."""
    mesh = part.shape.triangles(1e-9)
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    points = trimesh.sample.sample_surface(solid, count, seed=seed)[0]
    if not isinstance(part.shape, Mesh):
        points = points * (1.0 - 1e-3)  # the polyhedron of a round shape encloses it
    T = part.T_link_shape
    return points @ T[:3, :3].T + T[:3, 3]


def depth(points: np.ndarray, spheres: np.ndarray) -> np.ndarray:
    """How deep points are in the union of spheres, negative outside."""
    found = np.full(len(points), -np.inf)
    for x, y, z, radius in spheres:
        np.maximum(found, radius - np.linalg.norm(points - (x, y, z), axis=1), out=found)
    return found


def single(*shapes: Shape) -> kd.Robot:
    link = Link("body", collisions=shapes)
    joint = Joint("joint", "continuous", "base", "body")
    return kd.Robot(Description("one", (Link("base"), link), (joint,)))


def triangulated(shape: object) -> tuple[np.ndarray, np.ndarray]:
    mesh = shape.triangles(1e-4)
    return np.ascontiguousarray(mesh.vertices), np.ascontiguousarray(mesh.faces)


@pytest.mark.parametrize("name", [*BUNDLED, *INSTALLED])
def test_every_point_of_the_surface_is_covered_and_the_overshoot_is_bounded(name: str) -> None:
    robot = load(name)
    spheres = robot_spheres(robot, RESOLUTION)
    for k, part in enumerate(robot_geometry(robot)):
        points = surface_points(part, 4000, k)
        assert depth(points, spheres.of_link(part.link)).min() > 0.0, part.link
    for link, overshoot in zip(spheres.links, spheres.overshoot, strict=True):
        assert overshoot.median <= overshoot.p95 <= overshoot.max <= 1.05 * RESOLUTION, link


@pytest.mark.parametrize("name", ["panda", "ur5", "panda_description", "kinova", "xarm7"])
def test_the_median_overshoot_of_arms_is_below_15_mm_by_default(name: str) -> None:
    spheres = robot_spheres(load(name))
    assert max(overshoot.median for overshoot in spheres.overshoot) < 0.015


@pytest.mark.parametrize("name", ["humanoid", "ur5_robot"])
def test_each_level_contains_the_next(name: str) -> None:
    spheres = robot_spheres(load(name), RESOLUTION)
    of_link = np.repeat(np.arange(len(spheres.links)), np.diff(spheres.coarse_start))
    of_coarse = np.repeat(np.arange(len(spheres.coarse)), np.diff(spheres.fine_start))
    pairs = ((spheres.bounding[of_link], spheres.coarse), (spheres.coarse[of_coarse], spheres.fine))
    for outer, inner in pairs:
        assert len(outer) == len(inner)
        reach = np.linalg.norm(outer[:, :3] - inner[:, :3], axis=1) + inner[:, 3]
        assert (reach <= outer[:, 3] + 1e-12).all()


@pytest.mark.parametrize(
    "shape",
    [
        Box([0.2, 0.1, 0.05]),
        Cylinder(0.05, 0.3),
        Capsule(0.04, 0.2),
        Ellipsoid([0.05, 0.1, 0.15]),
        Box([0.3, 0.3, 2e-3]),
    ],
    ids=lambda shape: type(shape).__name__,
)
@pytest.mark.parametrize("resolution", [0.01, 0.03])
def test_the_interior_is_covered_too(shape: object, resolution: float) -> None:
    vertices, faces = triangulated(shape)
    spheres = _core.fit_spheres(vertices, faces, np.zeros(len(faces)), resolution)
    points = np.random.default_rng(0).uniform(vertices.min(axis=0), vertices.max(axis=0), (20_000, 3))
    distances = _core.TriangleBvh(vertices, faces).signed_distances(points)
    inside, outside = distances <= 0.0, distances > resolution
    assert inside.sum() > 1000
    assert depth(points[inside], spheres).min() > 0.0
    assert not outside.any() or depth(points[outside], spheres).max() <= 1e-12


def test_the_interior_of_a_concave_solid_is_covered(tmp_path: Path) -> None:
    """A star-shaped body with deep grooves."""
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.1)
    unit = ball.vertices / 0.1
    body = trimesh.Trimesh(
        ball.vertices * (0.7 + 0.3 * np.cos(5 * np.arctan2(unit[:, 1], unit[:, 0])))[:, None], ball.faces
    )
    path = tmp_path / "star.stl"
    body.export(path)
    robot = single(Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), mesh=path))
    (part,) = robot_geometry(robot)
    points = np.random.default_rng(1).uniform(-0.1, 0.1, (50_000, 3))
    surface = _core.TriangleBvh(np.ascontiguousarray(part.shape.vertices), np.ascontiguousarray(part.shape.faces))
    distances = surface.signed_distances(points)
    spheres = robot_spheres(robot, 0.02).fine
    assert depth(points[distances <= 0.0], spheres).min() > 0.0
    assert depth(points[distances > 0.02], spheres).max() <= 1e-12


def test_spheres_given_in_the_description_are_used_unchanged() -> None:
    poses = [np.eye(4), kd.spatial.exp([0.3, 0.1, 0.2, 0.0, 0.0, 0.0])]
    spheres = robot_spheres(single(*(Shape("sphere", (0.1,), T) for T in poses)))
    assert sorted(spheres.fine.tolist()) == [[0.0, 0.0, 0.0, 0.1], [0.3, 0.1, 0.2, 0.1]]
    assert spheres.overshoot == ((0.0, 0.0, 0.0),)


def test_a_robot_without_shapes_has_no_spheres() -> None:
    with pytest.warns(kd.DescriptionWarning, match="no link has a shape"):
        spheres = robot_spheres(single())
    assert spheres.links == () and spheres.fine.shape == (0, 4) and spheres.fine_start.tolist() == [0]


def test_a_finer_resolution_gives_more_spheres_and_less_overshoot() -> None:
    robot = single(Shape("box", (0.1, 0.2, 0.3), np.eye(4)))
    coarse, fine = robot_spheres(robot, 0.03), robot_spheres(robot, 0.01)
    assert len(fine.fine) > len(coarse.fine)
    assert fine.overshoot[0].max < coarse.overshoot[0].median * 2


@pytest.mark.parametrize("resolution", [10.0, 1e6, 1e60])
def test_a_resolution_beyond_the_size_of_the_shape_gives_one_sphere_that_contains_it(resolution: float) -> None:
    (sphere,) = robot_spheres(single(Shape("box", (0.1, 0.2, 0.3), np.eye(4))), resolution).fine
    corners = np.array(list(itertools.product((-0.05, 0.05), (-0.1, 0.1), (-0.15, 0.15))))
    assert np.linalg.norm(corners - sphere[:3], axis=-1).max() <= sphere[3] < 2.0


@pytest.mark.parametrize("resolution", [0.0, -1.0, float("nan"), "fine"])
def test_a_resolution_that_is_not_positive_is_rejected(resolution: object) -> None:
    with pytest.raises(kd.InputError, match="resolution"):
        robot_spheres(single(), resolution)


def test_fitting_a_large_shape_takes_bounded_work() -> None:
    spheres = robot_spheres(single(Shape("box", (40.0, 30.0, 10.0), np.eye(4))), 1e-3)
    assert len(spheres.fine) < 20_000


SHEETS = {
    "triangle": (np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[0, 1, 2]])),
    "needle": (np.array([[0.0, 0.0, 0.0], [100.0, 0.0, 0.0], [0.0, 1e-3, 0.0]]), np.array([[0, 1, 2]])),
    "needles": (
        np.random.default_rng(0).uniform(-5.0, 5.0, (100, 3)).repeat(3, axis=0)
        + np.tile([[0.0, 0.0, 0.0], [3.0, 4.0, 5.0], [1e-5, 0.0, 0.0]], (100, 1)),
        np.arange(300).reshape(-1, 3),
    ),
    "fan": (
        np.vstack([[[0.0, 0.0, 0.0]], [[np.cos(a), np.sin(a), 0.0] for a in np.linspace(0.0, 6.0, 2001)]]),
        np.array([[0, k, k + 1] for k in range(1, 2001)]),
    ),
}


@pytest.mark.parametrize("name", SHEETS)
def test_sheets_and_needles_are_covered_by_few_spheres(name: str) -> None:
    vertices, faces = SHEETS[name]
    spheres = _core.fit_spheres(vertices, faces, np.zeros(len(faces)), RESOLUTION)
    assert len(spheres) < 20_000
    solid = trimesh.Trimesh(vertices, faces, process=False)
    points = trimesh.sample.sample_surface(solid, 5000, seed=0)[0]
    assert depth(points, spheres).min() > 0.0


def cached_files() -> list[Path]:
    return sorted((cache_folder() / "collision").glob("*.bin"))


@pytest.mark.parametrize("damage", ["truncated", "flipped", "foreign", "huge", "folder"])
def test_damaged_and_malicious_cache_files_are_ignored_and_replaced(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINODYN_CACHE", str(tmp_path))
    shape = Shape("box", (0.1, 0.2, 0.3), np.eye(4))
    expected = robot_spheres(single(shape), RESOLUTION).fine
    (path,) = cached_files()
    data = path.read_bytes()
    if damage == "folder":
        path.unlink()
        path.mkdir()
    elif damage == "huge":
        with open(path, "wb") as file:
            file.truncate(10**12)  # sparse
    else:
        changed = {
            "truncated": data[:-7],
            "flipped": data[:-9] + bytes([data[-9] ^ 64]) + data[-8:],
            "foreign": b"x" * 99,
        }
        path.write_bytes(changed[damage])
    np.testing.assert_array_equal(robot_spheres(single(shape), RESOLUTION).fine, expected)
    if damage != "folder":
        assert path.read_bytes() == data


def test_a_cache_that_cannot_be_written_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("KINODYN_CACHE", str(blocked))
    assert len(robot_spheres(single(Shape("capsule", (0.05, 0.2), np.eye(4))), RESOLUTION).fine) > 0


def test_the_cache_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KINODYN_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "kinodyn"


def test_equal_shapes_share_the_cache_and_other_poses_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINODYN_CACHE", str(tmp_path))
    for x in (0.0, 0.0, 0.1):
        robot_spheres(single(Shape("box", (0.1, 0.1, 0.1), kd.spatial.exp([x, 0, 0, 0, 0, 0]))), RESOLUTION)
    assert len(cached_files()) == 2
    assert isinstance(robot_geometry(single(Shape("sphere", (0.1,), np.eye(4))))[0].shape, Sphere)
