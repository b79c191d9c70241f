"""Point clouds, meshes and height fields as obstacles: a ball that flies, against distances computed otherwise."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision import World, exact, free, motion_free, obstacles
from kinodyn.collision.exact import Placed
from kinodyn.collision.shapes import PointCloud, Sphere

RADIUS = 0.05  # of the ball [m]
ROUNDING = 1e-4  # [m] of float32
URDF = '<robot name="ball"><link name="ball"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>'

pytestmark = pytest.mark.usefixtures("instruction_set")


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    path = tmp_path_factory.mktemp("ball") / "ball.urdf"
    path.write_text(URDF + "</robot>")
    return kd.load(path, base="floating")


def at(positions: Array) -> Array:
    """Return configurations of the ball at positions (n, 3)."""
    q = np.zeros((len(positions), 7))
    q[:, :3], q[:, 6] = positions, 1.0
    return q


def turned(seed: int, p: tuple[float, float, float]) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.random(random_state=seed).as_matrix(), p
    return T


def assert_agrees(ball: kd.Robot, world: World, positions: Array, distances: Array) -> None:
    found = free(ball, at(positions), world)
    rounding = ROUNDING + 1e-6 * float(np.ptp(positions, axis=0).max())
    assert found[distances > RADIUS + rounding].all()
    assert not found[distances < RADIUS].any()
    assert 0.01 < found.mean() < 0.99


def around(points: Array, n: int, seed: int, spread: float = 0.07) -> Array:
    """Return positions (n, 3) near points and far from them."""
    rng = np.random.default_rng(seed)
    near = points[rng.integers(len(points), size=n // 2)] + rng.normal(0.0, spread, (n // 2, 3))
    low, high = points.min(axis=0) - 0.2, points.max(axis=0) + 0.2
    return np.concatenate([near, rng.uniform(low, high, (n - n // 2, 3))])


def clouds() -> dict[str, Array]:
    rng = np.random.default_rng(0)
    flat = rng.uniform(-1, 1, (5000, 3)) * [1.0, 0.7, 0.0]
    wall = rng.uniform(-1, 1, (20000, 3))
    wall[np.arange(20000), rng.integers(0, 3, 20000)] = 0.8
    return {
        "one": np.array([[0.1, 0.2, 0.3]]),
        "line": np.linspace(0, 1, 100)[:, None] * [[1.0, 0.0, 0.0]],
        "plane": flat,
        "walls": wall,
        "equal": np.repeat(flat[:20], 50, axis=0),
        "volume": rng.uniform(-0.5, 0.5, (300, 3)),
        "dense": rng.uniform(-0.1, 0.1, (60000, 3)),  # more points in a cell than are compared one by one
        "long": rng.uniform(-1.0, 1.0, (4000, 3)) * [3.0, 0.3, 0.1],
        "scan": rng.normal(0, 1, (3000, 3)) * rng.uniform(0, 30, (3000, 1)),  # dense near, sparse far
    }


@pytest.mark.parametrize("name", clouds())
@pytest.mark.parametrize("radius", [0.002, 0.08])
def test_clouds_agree_with_a_kd_tree(ball: kd.Robot, name: str, radius: float) -> None:
    points, T, world = clouds()[name], turned(1, (0.3, -2.0, 0.5)), World()
    world.add_points("cloud", points, radius, T)
    positions = around(points, 3000, 2)
    distances = cKDTree(points).query(positions)[0] - radius
    assert_agrees(ball, world, positions @ T[:3, :3].T + T[:3, 3], distances)


def meshes() -> dict[str, tuple[Array, Array]]:
    torus = trimesh.creation.torus(0.4, 0.12, major_sections=90, minor_sections=40)
    bumps = trimesh.creation.icosphere(subdivisions=4, radius=0.5)
    vertices = bumps.vertices * (1 + 0.3 * np.sin(12 * bumps.vertices[:, :1]))
    slab, block = trimesh.creation.box((4.0, 3.0, 0.3)), trimesh.creation.box((1.0, 1.0, 1.0))
    return {
        "torus": (torus.vertices, torus.faces),
        "bumps": (vertices, bumps.faces),
        "slab": (slab.vertices, slab.faces),
        "inwards": (block.vertices, block.faces[:, ::-1]),
        "two": (np.concatenate([block.vertices, block.vertices + 2.0]), np.concatenate([block.faces, block.faces + 8])),
    }


@pytest.mark.parametrize("name", meshes())
def test_meshes_agree_with_winding_numbers(ball: kd.Robot, name: str) -> None:
    (vertices, faces), T, world = meshes()[name], turned(2, (-0.4, 1.0, 0.2)), World()
    world.add_mesh("mesh", (vertices, faces), T)
    positions = around(vertices, 3000, 3)
    surface = _core.TriangleBvh(np.ascontiguousarray(vertices, float), np.ascontiguousarray(faces, np.int64))
    assert_agrees(ball, world, positions @ T[:3, :3].T + T[:3, 3], surface.signed_distances(positions))


@pytest.mark.parametrize("name", meshes())
def test_distances_of_surfaces_agree_with_winding_numbers(name: str) -> None:
    vertices, faces = (np.ascontiguousarray(a, t) for a, t in zip(meshes()[name], (float, np.int64), strict=True))
    positions = around(vertices, 500, 8)
    expected = _core.TriangleBvh(vertices, faces).signed_distances(positions)
    found = _core.triangle_surface(vertices, faces, True).signed_distances(positions)
    np.testing.assert_allclose(found, expected, atol=2e-6)
    cloud = _core.point_surface(vertices).signed_distances(positions)
    np.testing.assert_allclose(cloud, cKDTree(vertices).query(positions)[0], atol=2e-6)


def test_an_open_mesh_is_its_surface_alone(ball: kd.Robot) -> None:
    vertices, faces = meshes()["bumps"]
    world = World()
    with pytest.warns(kd.DescriptionWarning, match="open edge"):
        world.add_mesh("bowl", (vertices, faces[vertices[faces].mean(axis=1)[:, 2] < 0.0]))
    assert free(ball, at(np.zeros((1, 3))), world)
    assert not free(ball, at(vertices[[vertices[:, 2].argmin()]]), world)


def test_ground_below_a_height_field_is_solid(ball: kd.Robot) -> None:
    x, y = np.linspace(-2, 2, 60), np.linspace(-1.5, 1.5, 45)
    heights = 0.3 * np.add.outer(np.sin(3 * x), np.cos(4 * y))
    world = World()
    world.add_heightfield("hills", heights, (4.0, 3.0))
    mesh = world["hills"].shape.triangles()
    surface = _core.TriangleBvh(np.ascontiguousarray(mesh.vertices), np.ascontiguousarray(mesh.faces))
    positions = around(mesh.vertices, 3000, 4)
    assert_agrees(ball, world, positions, surface.signed_distances(positions))


def test_ellipsoids_are_within_a_millimetre(ball: kd.Robot) -> None:
    world = World()
    world.add_ellipsoid("egg", (0.5, 0.2, 0.3))
    directions = np.random.default_rng(5).normal(size=(2000, 3))
    normals = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    radii = np.array([0.5, 0.2, 0.3])
    surface = radii**2 * normals / np.linalg.norm(radii * normals, axis=1, keepdims=True)  # where the normals are these
    assert free(ball, at(surface + (RADIUS + 1.2e-3) * normals), world).all()
    assert not free(ball, at(surface + (RADIUS - 1e-5) * normals), world).any()
    assert not free(ball, at(0.3 * surface), world).any()


def test_motions_are_checked_between_their_ends(ball: kd.Robot) -> None:
    rng = np.random.default_rng(6)
    points, world = rng.uniform(-1, 1, (40, 3)), World()
    world.add_points("cloud", points, 0.02)
    starts, ends = rng.uniform(-1.2, 1.2, (2, 300, 3))
    found = motion_free(ball, at(starts), at(ends), world)
    along = ends - starts
    nearest = np.full(300, np.inf)
    for point in points:  # distance of the point from each segment
        s = np.clip(np.einsum("ij,ij->i", point - starts, along) / np.einsum("ij,ij->i", along, along), 0, 1)
        nearest = np.minimum(nearest, np.linalg.norm(starts + s[:, None] * along - point, axis=1))
    assert not found[nearest < 0.02 + RADIUS].any()
    assert found[nearest > 0.02 + RADIUS + 1e-3].all()
    assert 0.05 < found.mean() < 0.95


def test_contacts_are_named(ball: kd.Robot) -> None:
    world = World()
    world.add_points("cloud", [[0.0, 0.0, 0.0]], 0.01)
    world.add_mesh("mesh", meshes()["slab"], ((0.0, 0.0, 5.0), None))
    query = kd.collision.query.Query(ball, world.snapshot())
    assert query.touching(at(np.array([[0.0, 0.0, 0.05]]))[0]) == [("ball", "cloud")]
    assert query.touching(at(np.array([[0.0, 0.0, 5.0]]))[0]) == [("ball", "mesh")]
    assert free(ball, at(np.zeros((1, 3))), world, allowed=[("ball", "cloud")])


def test_a_surface_is_built_once() -> None:
    world = World()
    world.add_points("cloud", np.random.default_rng(0).uniform(-1, 1, (100, 3)), 0.01)
    built = obstacles._surface(world["cloud"].shape)
    world.add_box("box", (1.0, 1.0, 1.0))
    world.move("cloud", ((1.0, 0.0, 0.0), None))
    obstacles.obstacles(world.snapshot())
    assert obstacles._surface(world["cloud"].shape) is built


def test_a_grasped_cloud_moves_with_the_robot(ball: kd.Robot) -> None:
    world = World()
    world.add_points("held", [[0.0, 0.0, 0.3]], 0.02)
    world.attach("held", "ball")
    world.add_points("cloud", [[0.0, 0.0, 0.0]], 0.01)
    heights = np.array([-0.29, -0.3, -0.25, 0.4])
    positions = heights[:, None] * [[0.0, 0.0, 1.0]]
    np.testing.assert_array_equal(free(ball, at(positions), world), [False, False, True, True])


def test_exact_distances_to_clouds_agree_with_brute_force() -> None:
    rng = np.random.default_rng(7)
    cloud = PointCloud(rng.uniform(-1, 1, (5000, 3)), 0.01)
    for radius in (0.02, 0.3):
        for T in (turned(3, (0.2, 0.1, 0.0)), turned(4, (2.0, 1.0, 0.5))):
            centres = rng.uniform(-1.5, 1.5, (10, 3))
            for centre in centres:
                place = np.eye(4)
                place[:3, 3] = centre
                found = exact.distance([Placed(Sphere(radius), place)], [Placed(cloud, T)])
                points = cloud.points @ T[:3, :3].T + T[:3, 3]
                expected = np.linalg.norm(points - centre, axis=1).min() - radius - 0.01
                assert abs(found.distance - expected) < 2e-4  # the sphere is a polyhedron
