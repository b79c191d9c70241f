"""Padding and scale of links: robots that keep away from the objects of a world, checked by coal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import Box, Capsule, Cylinder, Ellipsoid, Mesh, PointCloud, Sphere, World
from kinodyn.collision.padding import _PADDED, MAX_FORMS, Padding, padded_shape

coal = pytest.importorskip("coal")

JOINT = (
    '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 0.3"/>'
    '<axis xyz="{3}"/><limit lower="-2.5" upper="2.5" effort="10" velocity="2"/></joint>'
)
LINK = '<link name="{}"><collision><origin xyz="0 0 0.15" rpy="0.3 0 0"/><geometry>{}</geometry></collision></link>'
SHAPES = {
    "boxed": '<box size="0.08 0.05 0.2"/>',
    "round": '<cylinder radius="0.04" length="0.2"/>',
    "ball": '<sphere radius="0.06"/>',
    "meshed": '<mesh filename="cone.stl"/>',
}
PADDING = {"boxed": 0.03, "round": 0.02, "ball": 0.04, "meshed": 0.025}
SCALE = {"boxed": 1.2, "ball": 0.8, "meshed": 1.3}
T_LINK_SHAPE = np.eye(4)
T_LINK_SHAPE[:3, :3], T_LINK_SHAPE[:3, 3] = Rotation.from_euler("x", 0.3).as_matrix(), [0.0, 0.0, 0.15]


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    folder = tmp_path_factory.mktemp("robot")
    cone().export(folder / "cone.stl")
    names = ["base", *SHAPES]
    joints = [JOINT.format(f"j{k}", names[k], names[k + 1], "1 0 0" if k % 2 else "0 1 0") for k in range(4)]
    links = ['<link name="base"/>', *(LINK.format(*each) for each in SHAPES.items())]
    (folder / "arm.urdf").write_text(f'<robot name="arm">{"".join(links + joints)}</robot>')
    return kd.load(folder / "arm.urdf")


def cone() -> trimesh.Trimesh:
    return trimesh.creation.cone(radius=0.05, height=0.12, sections=24)


def scene() -> World:
    world = World()
    world.add_box("box", (0.3, 0.2, 0.1), ((0.35, 0.2, 0.7), Rotation.from_euler("xyz", [0.3, 0.4, 0.5])))
    world.add_sphere("sphere", 0.1, (-0.3, 0.3, 0.6))
    world.add_cylinder("cylinder", 0.08, 0.4, ((-0.2, -0.4, 0.8), None))
    return world


OBSTACLES = {
    "box": coal.Box(0.3, 0.2, 0.1),
    "sphere": coal.Sphere(0.1),
    "cylinder": coal.Cylinder(0.08, 0.4),
}


def padded_geometries() -> dict[str, tuple[object, float]]:
    """Return the padded shape of each link for coal, and how far its surface is beyond that shape [m]."""
    mesh = cone()
    centre = mesh.vertices.mean(axis=0)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(mesh.faces), len(mesh.vertices))
    model.addVertices(np.asarray(centre + 1.3 * (mesh.vertices - centre)))
    model.addTriangles(np.asarray(mesh.faces, dtype=np.int64))
    model.endModel()
    return {
        "boxed": (coal.Box(*(1.2 * np.array([0.08, 0.05, 0.2]) + 0.06)), 0.0),
        "round": (coal.Cylinder(0.06, 0.24), 0.0),
        "ball": (coal.Sphere(0.8 * 0.06 + 0.04), 0.0),
        "meshed": (model, 0.025),
    }


def by_coal(robot: kd.Robot, q: Array, world: World) -> float:
    """Return the smallest distance of the padded links from the objects."""
    found = []
    for link, (shape, margin) in padded_geometries().items():
        T = kd.kinematics.pose(robot, q, link) @ T_LINK_SHAPE
        for thing in world:
            poses = [coal.Transform3s(pose[:3, :3], pose[:3, 3]) for pose in (T, np.array(thing.pose))]
            request, result = coal.DistanceRequest(True), coal.DistanceResult()
            found.append(coal.distance(shape, poses[0], OBSTACLES[thing.name], poses[1], request, result) - margin)
    return min(found)


def configurations(robot: kd.Robot, world: World, count: int = 60) -> Array:
    """Return random configurations in which the links do not collide with each other."""
    q = robot.random(400, seed=3)
    return q[kd.collision.free(robot, q)][:count]


def padded() -> World:
    world = scene()
    world.pad_links(PADDING, SCALE)
    return world


def test_exact_distances_of_padded_links_are_those_of_coal(robot: kd.Robot) -> None:
    world = padded()
    pairs = [(link, thing.name) for link in SHAPES for thing in world]
    q = configurations(robot, world)
    expected = np.array([by_coal(robot, state, world) for state in q])
    found = kd.collision.distance(robot, q, world, exact=True, pairs=pairs).distance
    apart = expected > 0.0
    assert 10 < apart.sum() < len(q) - 5
    np.testing.assert_allclose(found[apart], expected[apart], atol=1e-6)
    assert (found[~apart] <= 0.0).all()


def test_checks_of_padded_links_are_those_of_coal(robot: kd.Robot) -> None:
    world = padded()
    q = configurations(robot, world)
    expected = np.array([by_coal(robot, state, world) > 0.0 for state in q])
    np.testing.assert_array_equal(kd.collision.free(robot, q, world, exact=True), expected)
    assert (kd.collision.free(robot, q, world) <= expected).all(), "spheres are conservative"
    touching = [not kd.collision.contacts(robot, state, world) for state in q]
    np.testing.assert_array_equal(touching, expected)


def test_spheres_of_padded_links_bound_the_distance(robot: kd.Robot) -> None:
    world = padded()
    q = configurations(robot, world, 200)
    near = kd.collision.distance(robot, q, world)
    exact = kd.collision.distance(robot, q, world, exact=True).distance
    apart = near.distance > 0.0
    assert apart.sum() > 20
    assert (near.distance[apart] <= exact[apart] + 1e-6).all()
    assert (near.distance[apart] >= exact[apart] - near.error_bound[apart] - 1e-6).all()


def test_gradients_of_distances_of_padded_links_are_rates(robot: kd.Robot) -> None:
    world = padded()
    pairs = [("meshed", "sphere")]
    q, rng = configurations(robot, world, 5), np.random.default_rng(0)
    for exact in (False, True):
        for state in q:
            v = rng.normal(size=robot.nv)
            found = kd.collision.distance(robot, state, world, pairs=pairs, exact=exact)
            ends = [kd.collision.distance(robot, state + s * v, world, pairs=pairs, exact=exact) for s in (-1e-4, 1e-4)]
            rate = (ends[1].distance - ends[0].distance) / 2e-4
            assert found.gradient @ v == pytest.approx(rate, abs=2e-2 if exact else 5e-2)


def test_links_are_not_padded_against_each_other(robot: kd.Robot) -> None:
    q = robot.random(300, seed=5)
    world = World()
    world.pad_links(0.2)
    np.testing.assert_array_equal(kd.collision.free(robot, q, world), kd.collision.free(robot, q))
    np.testing.assert_array_equal(
        kd.collision.distance(robot, q, world).distance, kd.collision.distance(robot, q).distance
    )


def test_an_attached_object_is_padded_like_its_link(robot: kd.Robot) -> None:
    world = scene()
    world.add_box("tool", (0.05, 0.05, 0.05), ((0.0, 0.0, 0.3), None))
    world.attach("tool", "meshed")
    q, pairs = robot.neutral(), [("tool", "box")]
    bare = kd.collision.distance(robot, q, world, exact=True, pairs=pairs)
    world.pad_links({"ball": 0.1})
    assert kd.collision.distance(robot, q, world, exact=True, pairs=pairs).distance == bare.distance
    world.pad_links({"meshed": 0.02})
    larger = scene()
    larger.add_box("tool", (0.09, 0.09, 0.09), ((0.0, 0.0, 0.3), None))
    larger.attach("tool", "meshed")
    for exact in (True, False):
        expected = kd.collision.distance(robot, q, larger, exact=exact, pairs=pairs)
        assert kd.collision.distance(robot, q, world, exact=exact, pairs=pairs).distance == expected.distance


def test_plans_keep_the_padding(robot: kd.Robot) -> None:
    world = scene()
    start, goal = np.array([0.2, 1.2, 0.3, 0.2]), np.array([1.2, -1.0, 0.2, 0.1])
    assert kd.collision.free(robot, np.array([start, goal]), world, exact=True).all()
    world.pad_links(0.04)
    plan = kd.planning.plan(robot, start, goal, world)
    assert plan.success
    path = np.concatenate([np.linspace(a, b, 50) for a, b in zip(plan.path[:-1], plan.path[1:], strict=True)])
    pairs = [(link, thing.name) for link in SHAPES for thing in world]
    assert (kd.collision.distance(robot, path, scene(), exact=True, pairs=pairs).distance > 0.04 - 1e-6).all()


def test_a_goal_within_the_padding_is_in_collision(robot: kd.Robot) -> None:
    world = World()
    goal = np.array([0.5, 0.3, 0.2, 0.1])
    centre = (kd.kinematics.pose(robot, goal, "ball") @ T_LINK_SHAPE)[:3, 3]
    world.add_sphere("near", 0.05, centre + [0.14, 0.0, 0.0])
    assert kd.planning.plan(robot, robot.neutral(), goal, world).success
    world.pad_links({"ball": 0.06})
    plan = kd.planning.plan(robot, robot.neutral(), goal, world)
    assert plan.status == "goal_in_collision" and "ball with near, 30 mm deep" in plan.message


def test_padding_is_part_of_copies_and_versions() -> None:
    world = scene()
    before = world.snapshot()
    world.pad_links(0.01, {"ball": 2.0})
    assert world.snapshot() is not before and world.version == before.version + 1
    assert not before.padding
    for copied in (world.copy(), pickle.loads(pickle.dumps(world))):
        assert copied.snapshot().padding == world.snapshot().padding
    assert world.snapshot().padding.of("ball") == (0.01, 2.0) and world.snapshot().padding.of("round") == (0.01, 1.0)


@pytest.mark.parametrize(
    ("padding", "scale", "message"),
    [
        (-0.1, 1.0, "padding must be a nonnegative number"),
        (np.nan, 1.0, "padding must be"),
        ({"ball": -0.1}, 1.0, "padding of 'ball' must be"),
        (0.0, 0.0, "scale must be a positive number"),
        (0.0, {"ball": np.inf}, "scale of 'ball' must be"),
        ({3: 0.1}, 1.0, "the name 3"),
        ("much", 1.0, "padding must be"),
    ],
)
def test_impossible_paddings_are_refused(padding: object, scale: object, message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        World().pad_links(padding, scale)  # type: ignore[arg-type]


def test_unknown_links_are_named(robot: kd.Robot) -> None:
    world = World()
    world.pad_links({"bal": 0.1})
    with pytest.raises(kd.errors.UnknownNameError, match="ball"):
        kd.collision.free(robot, robot.neutral(), world)


def cube(size: float) -> tuple[Array, Array]:
    """Return vertices and faces of a cube that is off the origin."""
    mesh = trimesh.creation.box([size, size, size])
    return np.asarray(mesh.vertices + [0.1, 0.2, 0.3]), np.asarray(mesh.faces)


SOLIDS = {
    "box": Box([0.2, 0.3, 0.5]),
    "sphere": Sphere(0.2),
    "cylinder": Cylinder(0.1, 0.6),
    "capsule": Capsule(0.1, 0.6),
    "ellipsoid": Ellipsoid([0.1, 0.2, 0.3]),
    "mesh": Mesh(*cube(0.2)),
    "convex mesh": Mesh(*cube(0.2), convex=True),
}


@pytest.mark.parametrize("distance", [0.0, 0.03])
@pytest.mark.parametrize("scale", [1.0, 1.5])
@pytest.mark.parametrize("kind", SOLIDS)
def test_a_padded_shape_is_scaled_and_then_wider_by_the_distance_on_each_side(
    kind: str, scale: float, distance: float
) -> None:
    shape = SOLIDS[kind]
    padded = padded_shape(shape, Padding(distance, scale))
    extents = np.ptp(padded.shape.triangles(1e-5).vertices, axis=0) + 2.0 * padded.margin
    expected = scale * np.ptp(shape.triangles(1e-5).vertices, axis=0) + 2.0 * distance
    np.testing.assert_allclose(extents, expected, rtol=0, atol=1e-4)
    assert isinstance(padded.shape, type(shape)) and getattr(padded.shape, "convex", None) == getattr(
        shape, "convex", None
    )


def test_a_padded_cloud_is_scaled_about_its_mean_and_its_points_grow() -> None:
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [3.0, 2.0, 4.0]])
    shape, margin = padded_shape(PointCloud(points, 0.1), Padding(0.03, 1.5))
    assert isinstance(shape, PointCloud) and margin == 0.0 and shape.radius == pytest.approx(0.1 * 1.5 + 0.03)
    np.testing.assert_allclose(shape.points, points.mean(axis=0) + 1.5 * (points - points.mean(axis=0)))


def test_few_padded_forms_of_a_shape_are_kept_and_the_last_one_is_used_again() -> None:
    shape = Box([0.2, 0.3, 0.5])
    for k in range(5 * MAX_FORMS):
        padding = Padding(0.001 * (k + 1))
        assert padded_shape(shape, padding) is padded_shape(shape, padding)
        assert len(_PADDED[shape]) <= MAX_FORMS
    assert padded_shape(shape, Padding()).shape is shape
