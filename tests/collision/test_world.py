"""World: what it accepts, how it changes, and snapshots that do not."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.collision import Box, Mesh, World, WorldSnapshot

TETRAHEDRON = (np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
T = np.eye(4)
T[:3, :3], T[:3, 3] = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix(), [1.0, 2.0, 3.0]
REFLECTION = np.diag([1.0, 1.0, -1.0, 1.0])


def table() -> World:
    world = World()
    world.add_box("table", (1.0, 0.6, 0.04), T)
    world.add_sphere("ball", 0.05, (0.5, 0.1, 0.5))
    return world


def fill(world: World) -> None:
    """Add one object of each kind."""
    world.add_box("box", (0.1, 0.2, 0.3), T)
    world.add_sphere("sphere", 0.1, (1, 2, 3))
    world.add_cylinder("cylinder", 0.1, 0.5, T)
    world.add_capsule("capsule", 0.1, 0.5, T)
    world.add_ellipsoid("ellipsoid", [0.1, 0.2, 0.3], T)
    world.add_plane("ground")
    world.add_mesh("mesh", TETRAHEDRON, T, scale=0.1)
    world.add_heightfield("hills", np.zeros((3, 4)), (2.0, 1.0), T)
    world.add_points("cloud", np.zeros((5, 3)), 0.01, T)


def test_objects_keep_their_order_and_their_shapes() -> None:
    world = World()
    fill(world)
    assert world.names == ("box", "sphere", "cylinder", "capsule", "ellipsoid", "ground", "mesh", "hills", "cloud")
    assert [type(thing.shape).__name__ for thing in world][:5] == ["Box", "Sphere", "Cylinder", "Capsule", "Ellipsoid"]
    assert len(world) == 9 and "mesh" in world and "shelf" not in world and 3 not in world
    np.testing.assert_array_equal(world["box"].pose, T)
    np.testing.assert_array_equal(world["sphere"].pose[:3, 3], [1, 2, 3])


@pytest.mark.parametrize(
    "pose",
    [
        T,
        T.tolist(),
        np.asfortranarray(T),
        ((1.0, 2.0, 3.0), Rotation.from_matrix(T[:3, :3])),
        ([1, 2, 3], T[:3, :3]),
        (np.array([1, 2, 3]), Rotation.from_matrix(T[:3, :3]).as_quat()),
    ],
)
def test_a_pose_is_a_matrix_or_a_position_with_a_rotation(pose: object) -> None:
    world = World()
    world.add_box("box", (1, 1, 1), pose)
    np.testing.assert_allclose(world["box"].pose, T, atol=1e-15)


def test_a_pose_is_a_rigid_transform_of_scipy() -> None:
    RigidTransform = pytest.importorskip("scipy.spatial.transform").__dict__.get("RigidTransform")
    if RigidTransform is None:
        pytest.skip("this SciPy has no RigidTransform")
    world = World()
    world.add_box("box", (1, 1, 1), RigidTransform.from_matrix(T))
    world.move("box", RigidTransform.from_matrix(T))
    np.testing.assert_allclose(world["box"].pose, T, atol=1e-15)


def test_the_default_orientation_is_that_of_the_world() -> None:
    world = World()
    world.add_box("box", (1, 1, 1), ((1, 2, 3), None))
    world.add_box("origin", (1, 1, 1))
    np.testing.assert_array_equal(world["box"].pose[:3], np.column_stack([np.eye(3), [1, 2, 3]]))
    np.testing.assert_array_equal(world["origin"].pose, np.eye(4))


def test_a_plane_is_solid_below_and_free_above() -> None:
    world = World()
    world.add_plane("wall", T)
    box, pose = world["wall"].shape, world["wall"].pose
    assert isinstance(box, Box)
    top = pose @ [0.0, 0.0, 0.5 * box.size[2], 1.0]
    np.testing.assert_allclose(top, T[:, 3], atol=1e-12)
    np.testing.assert_allclose(pose[:3, :3], T[:3, :3])


def test_a_mesh_comes_from_a_file_arrays_or_trimesh(tmp_path: Path) -> None:
    trimesh.Trimesh(*TETRAHEDRON).export(tmp_path / "a.stl")
    world = World()
    world.add_mesh("file", tmp_path / "a.stl", scale=(0.1, 0.1, 0.1))
    world.add_mesh("name", str(tmp_path / "a.stl"), scale=0.1)
    world.add_mesh("arrays", TETRAHEDRON, scale=0.1)
    world.add_mesh("trimesh", trimesh.Trimesh(*TETRAHEDRON), scale=0.1)
    world.add_mesh("mirrored", TETRAHEDRON, scale=(-0.1, 0.1, 0.1))
    for thing in world:
        assert isinstance(thing.shape, Mesh) and thing.shape.convex
        volume = trimesh.Trimesh(thing.shape.vertices, thing.shape.faces).volume
        assert volume == pytest.approx(1e-3 / 6, rel=1e-5)


def test_a_mesh_that_is_not_closed_is_added_with_a_warning() -> None:
    world = World()
    with pytest.warns(kd.DescriptionWarning, match="'roof'.*open edges") as caught:
        world.add_mesh("roof", (TETRAHEDRON[0], TETRAHEDRON[1][:3]))
    assert "roof" in world
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda w: w.add_box("a", (1, 0, 1)), "size must be 3 positive numbers"),
        (lambda w: w.add_box("a", (1.0, -0.1, 1.0)), "size must be 3 positive numbers"),
        (lambda w: w.add_box("a", (1.0, np.nan, 1.0)), "NaN"),
        (lambda w: w.add_box("a", (1.0, np.inf, 1.0)), r"size must be finite numbers, at most 1e\+60"),
        (lambda w: w.add_box("a", (1, 1)), "shape"),
        (lambda w: w.add_box("a", "111"), "size"),
        (lambda w: w.add_box("a", 1.0), "size"),
        (lambda w: w.add_sphere("a", 0.0), "radius"),
        (lambda w: w.add_sphere("a", np.nan), "radius"),
        (lambda w: w.add_sphere("a", "1"), "radius"),
        (lambda w: w.add_sphere("a", 1.0, (0.0, np.nan, 0.0)), "position"),
        (lambda w: w.add_sphere("a", 1.0, (0, 1)), "position"),
        (lambda w: w.add_sphere("a", 1.0, np.zeros((2, 3))), "position"),
        (lambda w: w.add_cylinder("a", 0.1, -1), "length"),
        (lambda w: w.add_capsule("a", -0.1, 1), "radius"),
        (lambda w: w.add_ellipsoid("a", (0.1, 0.1, 0.0)), "radii"),
        (lambda w: w.add_points("a", np.zeros((0, 3)), 0.1), "points"),
        (lambda w: w.add_points("a", np.full((3, 3), np.nan), 0.1), "points"),
        (lambda w: w.add_points("a", np.zeros((3, 3)), 0.0), "radius"),
        (lambda w: w.add_heightfield("a", np.zeros((1, 3)), (1, 1)), "heights"),
        (lambda w: w.add_heightfield("a", np.full((3, 3), np.nan), (1, 1)), "heights"),
        (lambda w: w.add_heightfield("a", np.zeros((3, 3)), (1, 0)), "size"),
        (lambda w: w.add_heightfield("a", np.zeros((1001, 1000)), (1, 1)), "heights"),
        (lambda w: w.add_mesh("a", 3), "mesh must be a path"),
        (lambda w: w.add_mesh("a", (np.zeros((3, 3)), [[0, 1, [2, 3]]])), "faces"),
        (lambda w: w.add_mesh("a", (np.zeros((3, 3)), np.zeros((2_000_001, 3), int))), "at most 2000000 triangles"),
        (lambda w: w.add_mesh("a", (np.zeros((3, 3)), [[0, 1, 3]])), "faces"),
        (lambda w: w.add_mesh("a", (np.zeros((3, 3)), [[0, 1, 2]])), "degenerate"),
        (lambda w: w.add_mesh("a", TETRAHEDRON, scale=0), "scale"),
        (lambda w: w.add_mesh("a", TETRAHEDRON, scale=(1, 2)), "scale"),
        (lambda w: w.add_box("a", (1, 1, 1), np.eye(3)), "pose"),
        (lambda w: w.add_box("a", (1, 1, 1), (1.0, 2.0, 3.0)), "pose"),
        (lambda w: w.add_box("a", (1, 1, 1), 2.0 * np.eye(4)), "pose"),
        (lambda w: w.add_box("a", (1, 1, 1), REFLECTION), "left-handed"),
        (lambda w: w.add_box("a", (1, 1, 1), np.full((4, 4), np.nan)), "pose"),
        (lambda w: w.add_box("a", (1, 1, 1), np.eye(4)[None]), "one pose"),
        (lambda w: w.add_box("a", (1, 1, 1), ((0, 0, 0), (0, 0, 0, 2))), "norm"),
        (lambda w: w.add_box("", (1, 1, 1)), "name"),
        (lambda w: w.add_box(3, (1, 1, 1)), "name"),
        (lambda w: w.add_box("table", (1, 1, 1)), "already"),
        (lambda w: w.attach("table", ""), "frame"),
        (lambda w: w.attach("table", "hand", touch_links=(1,)), "touch_links"),
        (lambda w: w.detach("table", T), "not attached"),
        (lambda w: w.detach("table", None), "released"),
    ],
)
def test_invalid_input_raises_and_changes_nothing(add: object, message: str) -> None:
    world = table()
    before = world.snapshot()
    with pytest.raises(kd.InputError, match=message):
        add(world)
    assert world.snapshot() is before


@pytest.mark.parametrize(
    "use",
    [
        lambda w: w.remove("tabel"),
        lambda w: w.move("tabel", T),
        lambda w: w.attach("tabel", "hand"),
        lambda w: w.detach("tabel", T),
        lambda w: w["tabel"],
        lambda w: w.snapshot()["tabel"],
    ],
)
def test_an_unknown_name_suggests_the_nearest(use: object) -> None:
    with pytest.raises(kd.UnknownNameError, match="did you mean 'table'"):
        use(table())


def test_a_missing_mesh_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(kd.DescriptionError, match="cannot be read"):
        World().add_mesh("a", tmp_path / "none.stl")


def test_a_snapshot_does_not_see_later_changes() -> None:
    world = table()
    before = world.snapshot()
    world.move("table", np.eye(4))
    world.remove("ball")
    world.add_box("lid", (1, 1, 1))
    assert before.names == ("table", "ball") and world.names == ("table", "lid")
    np.testing.assert_array_equal(before["table"].pose, T)
    assert world.version > before.version
    assert world.snapshot()["table"].shape is before["table"].shape


def test_a_snapshot_is_shared_until_something_changes() -> None:
    world = table()
    assert world.snapshot() is world.snapshot()


def test_neither_a_snapshot_nor_its_poses_can_be_changed() -> None:
    snapshot = table().snapshot()
    with pytest.raises(AttributeError, match="never changes"):
        snapshot.objects = ()
    with pytest.raises(AttributeError, match="never changes"):
        del snapshot.version
    for thing in snapshot:
        before = thing.pose
        thing.pose[0, 3] += 1.0
        np.testing.assert_array_equal(thing.pose, before)


def test_a_world_keeps_its_own_copy_of_a_pose() -> None:
    pose, world = T.copy(), World()
    world.add_box("box", (1, 1, 1), pose)
    pose[0, 3] = 7.0
    np.testing.assert_array_equal(world["box"].pose, T)


def test_an_attached_object_has_its_pose_in_the_frame() -> None:
    robot = kd.load("panda")
    q = robot.random(seed=3)
    frame = robot.frame_names[-1]
    T_world_frame = kd.kinematics.pose(robot, q, frame)
    world = table()
    world.attach("table", frame, kd.spatial.inverse(T_world_frame) @ T, touch_links=["link7"])
    assert world["table"].attached_to == frame and world["table"].touch_links == ("link7",)
    np.testing.assert_allclose(T_world_frame @ world["table"].pose, T, atol=1e-12)
    world.detach("table", T_world_frame @ world["table"].pose)
    assert world["table"].attached_to is None and world["table"].touch_links == ()
    np.testing.assert_allclose(world["table"].pose, T, atol=1e-12)


def test_an_object_attached_without_a_pose_keeps_its_pose_values() -> None:
    world = table()
    world.attach("table", "hand", touch_links="finger")
    np.testing.assert_array_equal(world["table"].pose, T)
    assert world["table"].touch_links == ("finger",)


def test_a_copy_and_a_pickle_change_independently() -> None:
    world = table()
    world.attach("ball", "hand")
    for other in (world.copy(), pickle.loads(pickle.dumps(world))):
        other.remove("table")
        assert other.names == ("ball",) and other["ball"].attached_to == "hand"
    assert world.names == ("table", "ball")


def test_threads_change_a_world_while_others_take_snapshots() -> None:
    """No snapshot has an object twice, each pose was one of those given, and versions only increase."""
    world = table()
    stop = threading.Event()
    faults: list[str] = []

    def change(k: int) -> None:
        for step in range(300):
            name = f"{k}.{step}"
            world.add_sphere(name, 0.1, (float(step), 0.0, 0.0))
            world.move(name, ((float(step), 1.0, 0.0), None))
            world.move("table", ((float(step), float(step), 0.0), None))
            world.remove(name)

    def watch() -> None:
        last = -1
        while not stop.is_set():
            snapshot = world.snapshot()
            x, y, _ = snapshot["table"].pose[:3, 3]
            moved = (x, y) in ((x, x), (T[0, 3], T[1, 3]))
            if not moved or snapshot.version < last or len(set(snapshot.names)) != len(snapshot):
                faults.append(repr(snapshot))
            last = snapshot.version

    watchers = [threading.Thread(target=watch) for _ in range(2)]
    changers = [threading.Thread(target=change, args=(k,)) for k in range(3)]
    for thread in (*watchers, *changers):
        thread.start()
    for thread in changers:
        thread.join()
    stop.set()
    for thread in watchers:
        thread.join()
    assert not faults
    assert world.names == ("table", "ball")


def test_the_repr_is_short() -> None:
    world = World()
    assert repr(world) == "World(0 objects)"
    for k in range(100):
        world.add_box(f"box{k}", (1, 1, 1))
    world.attach("box0", "hand")
    assert repr(world) == "World(100 objects: box0, box1, box2, box3, box4, box5, ...)"
    assert repr(world["box0"]) == "WorldObject('box0', Box, at 0 0 0, attached_to='hand')"
    assert "version 101" in repr(world.snapshot())
    assert len(WorldSnapshot()) == 0
