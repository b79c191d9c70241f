"""Scenes of MoveIt: objects, frames, allowed pairs and states."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
import yaml

import kinodyn as kd
from kinodyn.collision import Box, Cylinder, Mesh, Sphere
from kinodyn.interop import moveit

FOLDER = Path(__file__).parent
ROBOT = kd.load("panda")
Q = [0.1, 0.2, 0.3, -1.5, 0.5, 1.2, 0.7]
BALL: dict[str, Any] = {"id": "ball", "primitives": [{"type": "sphere", "dimensions": [0.1]}]}


def with_object(packages: Sequence[Path] = (), **fields: Any) -> moveit.Scene:
    """Read a scene with one object."""
    return moveit.read_scene({"world": {"collision_objects": [{"id": "a", **fields}]}}, ROBOT, package_dirs=packages)


def kitchen() -> moveit.Scene:
    return moveit.read_scene(FOLDER / "kitchen_scene.yaml", ROBOT)


def test_shapes_and_poses_are_those_of_the_file() -> None:
    scene = kitchen()
    assert scene.world.names == ("top", "bottle/0", "bottle/1", "orange")
    assert scene.objects == {"top": ("top",), "bottle": ("bottle/0", "bottle/1"), "orange": ("orange",)}
    top, cylinder, cone, orange = scene.world
    assert isinstance(top.shape, Box) and top.shape.size.tolist() == [1.0, 0.6, 0.04]
    assert cylinder.shape == Cylinder(radius=0.04, length=0.2)
    assert orange.shape == Sphere(0.04)
    # the counter is turned by a quarter about z: its x axis is y of the world
    np.testing.assert_allclose(top.pose[:3, 3], [0.5, 0.1, 0.4], atol=1e-12)
    np.testing.assert_allclose(top.pose[:3, 0], [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(cone.pose[:3, 3], [0.4, 0.3, 0.65])
    np.testing.assert_allclose(scene.robot_state, Q)
    assert scene.link_padding == {"panda_link7": 0.01} and scene.link_scale == {"panda_link7": 1.1}
    assert "kitchen" in repr(scene) and "4 objects" in repr(scene)


def test_padding_and_scale_of_links_are_those_of_the_world() -> None:
    scene = kitchen()
    assert scene.world.snapshot().padding.of("panda_link7") == (0.01, 1.1)
    assert scene.world.snapshot().padding.of("panda_link6") == (0.0, 1.0)
    padding = [{"link_name": "panda_link6", "padding": 0.02}, {"link_name": "camera", "padding": 0.1}]
    with pytest.warns(kd.DescriptionWarning, match="link_padding names camera, which the robot does not have"):
        scene = moveit.read_scene({"link_padding": padding}, ROBOT)
    assert scene.link_padding == {"panda_link6": 0.02}


def test_names_of_frames_may_begin_with_a_slash() -> None:
    place = {"position": [0.1, 0.2, 0.3]}
    shapes = {"primitives": [{"type": "sphere", "dimensions": [0.1]}], "primitive_poses": [place]}
    with_slash, without = (with_object(header={"frame_id": name}, **shapes) for name in ("/panda_link2", "panda_link2"))
    np.testing.assert_array_equal(with_slash.world["a"].pose, without.world["a"].pose)


def test_both_spellings_of_messages_give_the_same_scene() -> None:
    lists, fields = kitchen(), moveit.read_scene(FOLDER / "kitchen_scene_fields.yaml", ROBOT)
    assert lists.world.names == fields.world.names and lists.objects == fields.objects
    assert lists.allowed_pairs == fields.allowed_pairs
    np.testing.assert_allclose(lists.robot_state, fields.robot_state)
    for one, other in zip(lists.world, fields.world, strict=True):
        np.testing.assert_allclose(one.pose, other.pose, atol=1e-12)
        assert type(one.shape) is type(other.shape)


def test_paths_strings_and_dictionaries_give_the_same_scene() -> None:
    path = FOLDER / "kitchen_scene.yaml"
    text = path.read_text(encoding="utf-8")
    scenes = [moveit.read_scene(source, ROBOT) for source in (path, str(path), text, yaml.safe_load(text))]
    assert len({scene.allowed_pairs for scene in scenes}) == 1
    assert len({scene.world.names for scene in scenes}) == 1


def test_a_cone_is_enclosed_by_its_polyhedron() -> None:
    cone = kitchen().world["bottle/1"].shape
    assert isinstance(cone, Mesh)
    solid = trimesh.Trimesh(cone.vertices, cone.faces)
    exact = np.pi * 0.04**2 * 0.1 / 3
    assert solid.is_watertight and exact < solid.volume < 1.02 * exact
    assert cone.vertices[:, 2].min() == pytest.approx(-0.05) and cone.vertices[:, 2].max() == pytest.approx(0.05)


def test_allowed_pairs_have_names_in_order_and_parts_of_objects() -> None:
    pairs = kitchen().allowed_pairs
    assert all(a < b for a, b in pairs)
    assert {("bottle/0", "top"), ("bottle/1", "top"), ("panda_link0", "top")} <= pairs
    assert ("bottle/0", "panda_link0") not in pairs


def test_a_default_entry_allows_a_name_to_touch_everything() -> None:
    pairs = kitchen().allowed_pairs
    links = {("orange", link.name) for link in ROBOT.description.links}
    assert links | {("orange", "top"), ("bottle/0", "orange"), ("bottle/1", "orange")} <= pairs
    assert len(pairs) == 3 + len(links) + 3


@pytest.mark.parametrize(
    ("first", "second", "entry", "allowed"),
    [
        (None, None, None, False),
        (None, None, True, True),
        (True, None, None, True),
        (None, True, None, True),
        (True, True, None, True),
        (True, False, None, False),
        (False, True, None, False),
        (True, True, False, False),
        (False, False, True, True),
    ],
)
def test_entries_precede_defaults_and_both_defaults_must_allow(
    first: bool | None, second: bool | None, entry: bool | None, allowed: bool
) -> None:
    defaults = {name: flag for name, flag in (("a", first), ("b", second)) if flag is not None}
    matrix: dict[str, Any] = {
        "default_entry_names": list(defaults),
        "default_entry_values": list(defaults.values()),
    }
    if entry is not None:
        matrix |= {"entry_names": ["a", "b"], "entry_values": [[False, entry], [entry, False]]}
    objects = [{**BALL, "id": name} for name in "ab"]
    scene = moveit.read_scene({"allowed_collision_matrix": matrix, "world": {"collision_objects": objects}}, ROBOT)
    assert (("a", "b") in scene.allowed_pairs) == allowed


def test_an_object_in_a_frame_of_the_robot_is_where_the_state_puts_it() -> None:
    state = {"joint_state": {"name": list(ROBOT.joint_names), "position": Q}}
    thing = {**BALL, "header": {"frame_id": "panda_hand_tcp"}, "pose": {"position": [0, 0, 0.1]}}
    scene = moveit.read_scene({"robot_state": state, "world": {"collision_objects": [thing]}}, ROBOT)
    expected = kd.kinematics.pose(ROBOT, Q, "panda_hand_tcp") @ [0, 0, 0.1, 1]
    np.testing.assert_allclose(scene.world["ball"].pose[:, 3], expected, atol=1e-12)


@pytest.mark.parametrize("frame", ["", "panda_link7"])
def test_an_attached_object_moves_with_its_link(frame: str) -> None:
    thing = {**BALL, "header": {"frame_id": frame}, "pose": {"position": [0.1, 0.2, 0.3]}}
    held = {"link_name": "panda_link7", "object": thing, "touch_links": ["panda_link6"]}
    state = {"joint_state": {"name": list(ROBOT.joint_names), "position": Q}, "attached_collision_objects": [held]}
    scene = moveit.read_scene({"robot_state": state}, ROBOT)
    ball = scene.world["ball"]
    assert scene.attached == ("ball",) and ball.attached_to == "panda_link7" and ball.touch_links == ("panda_link6",)
    T_world_link = kd.kinematics.pose(ROBOT, Q, "panda_link7")
    T_world_frame = T_world_link if frame else np.eye(4)
    np.testing.assert_allclose(T_world_link @ ball.pose, T_world_frame @ ball_pose(), atol=1e-12)


def ball_pose() -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = [0.1, 0.2, 0.3]
    return T


def test_an_attached_object_without_shapes_is_one_of_the_world() -> None:
    state = {"attached_collision_objects": [{"link_name": "panda_link7", "object": {"id": "ball"}}]}
    scene = moveit.read_scene({"robot_state": state, "world": {"collision_objects": [BALL]}}, ROBOT)
    assert scene.world.names == scene.attached == ("ball",)


def test_an_attached_object_with_shapes_replaces_the_one_of_its_name() -> None:
    def held(radius: float) -> dict[str, Any]:
        ball = {**BALL, "primitives": [{"type": "sphere", "dimensions": [radius]}]}
        return {"attached_collision_objects": [{"link_name": "panda_link7", "object": ball}]}

    goal = {"joint_constraints": [{"joint_name": "panda_joint1", "position": 0.1}]}
    request = {"start_state": held(0.03), "goal_constraints": [goal]}
    scene, _ = moveit.read({"robot_state": held(0.02), "world": {"collision_objects": [BALL]}}, request, ROBOT)
    assert scene.world.names == scene.attached == ("ball",)
    assert scene.world["ball"].shape.radius == 0.03


def test_a_plane_is_a_thin_slab_on_the_plane() -> None:
    slab = with_object(planes=[{"coef": [0, 0, 2, -1]}]).world["a"]
    np.testing.assert_allclose(slab.pose[:3, 3], [0, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(slab.pose[:3, 2], [0, 0, 1], atol=1e-12)
    assert isinstance(slab.shape, Box) and slab.shape.size[2] < 0.01 < 10 < slab.shape.size[0]


TETRAHEDRON = trimesh.Trimesh(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
)


def test_a_mesh_is_given_by_lists_fields_or_a_file(tmp_path: Path) -> None:
    TETRAHEDRON.export(tmp_path / "t.stl")
    vertices, faces = TETRAHEDRON.vertices.tolist(), TETRAHEDRON.faces.tolist()
    fields = {
        "vertices": [dict(zip("xyz", vertex, strict=True)) for vertex in vertices],
        "triangles": [{"vertex_indices": face} for face in faces],
    }
    (tmp_path / "scene.yaml").write_text(
        "world: {collision_objects: [{id: a, meshes: [{resource: t.stl, dimensions: [1, 1, 1]}]}]}"
    )
    scenes = [
        with_object(meshes=[{"vertices": vertices, "triangles": faces}]),
        with_object(meshes=[fields]),
        with_object([tmp_path], meshes=[{"resource": str(tmp_path / "t.stl")}]),
        with_object([tmp_path], meshes=[{"resource": f"file://{tmp_path / 't.stl'}"}]),
        moveit.read_scene(tmp_path / "scene.yaml", ROBOT),
    ]
    for scene in scenes:
        shape = scene.world["a"].shape
        assert trimesh.Trimesh(shape.vertices, shape.faces).volume == pytest.approx(1 / 6)


def test_appended_shapes_belong_to_the_object() -> None:
    parts = [BALL, {**copy.deepcopy(BALL), "operation": 2}]
    scene = moveit.read_scene({"world": {"collision_objects": parts}}, ROBOT)
    assert scene.objects["ball"] == scene.world.names and len(scene.world) == 2


def test_the_pose_of_a_floating_base_is_that_of_the_virtual_joint() -> None:
    robot = kd.load("humanoid")
    state = {
        "multi_dof_joint_state": {
            "joint_names": ["virtual_joint"],
            "transforms": [{"translation": [1, 2, 3], "rotation": [0, 0, 1, 0]}],
        }
    }
    q = moveit.read_scene({"robot_state": state}, robot).robot_state
    np.testing.assert_allclose(kd.kinematics.pose(robot, q, "pelvis")[:3, 3], [1, 2, 3])
    np.testing.assert_allclose(np.abs(q[3:7]), [0, 0, 1, 0], atol=1e-12)


@pytest.mark.parametrize("frame", ["", "world"])
def test_a_fixed_base_that_the_virtual_joint_moves_keeps_its_distance_to_the_scene(frame: str) -> None:
    placed = {"translation": [1.0, 2.0, 0.0], "rotation": [0, 0, np.sqrt(0.5), np.sqrt(0.5)]}
    state = {"multi_dof_joint_state": {"joint_names": ["world_joint"], "transforms": [placed]}}
    seen = {**BALL, "header": {"frame_id": frame}, "pose": {"position": [1.0, 2.5, 0.3]}}
    held = {**BALL, "id": "tool", "header": {"frame_id": "panda_link0"}, "pose": {"position": [0.5, 0.0, 0.3]}}
    with pytest.warns(kd.DescriptionWarning, match="relative to it"):
        scene = moveit.read_scene({"robot_state": state, "world": {"collision_objects": [seen, held]}}, ROBOT)
    for name in ("ball", "tool"):
        np.testing.assert_allclose(scene.world[name].pose[:3, 3], [0.5, 0.0, 0.3], atol=1e-12)


def test_fixed_frames_are_poses_in_the_frame_of_the_scene_as_moveit_writes_them() -> None:
    seen = {**BALL, "header": {"frame_id": "camera"}, "pose": {"position": [0.0, 0.0, 0.2]}}
    camera = {
        "header": {"frame_id": "camera"},
        "child_frame_id": "panda_link0",
        "transform": {"translation": [0.4, 0.1, 0.5], "rotation": [1.0, 0.0, 0.0, 0.0]},
    }
    same = {
        "header": {"frame_id": "panda_link0"},
        "child_frame_id": "panda_link0",
        "transform": {"rotation": [0, 0, 0, 1]},
    }
    scene = moveit.read_scene({"fixed_frame_transforms": [same, camera], "world": {"collision_objects": [seen]}}, ROBOT)
    np.testing.assert_allclose(scene.world["ball"].pose[:3, 3], [0.4, 0.1, 0.3], atol=1e-12)


def test_objects_and_their_subframes_are_frames_of_others() -> None:
    table = {
        **BALL,
        "pose": {"position": [1.0, 0.0, 0.0]},
        "subframe_names": ["corner"],
        "subframe_poses": [{"position": [0.0, 0.5, 0.0]}],
    }
    on_it = {**BALL, "id": "cup", "header": {"frame_id": "ball/corner"}, "pose": {"position": [0.0, 0.0, 0.1]}}
    scene = moveit.read_scene({"world": {"collision_objects": [table, on_it]}}, ROBOT)
    np.testing.assert_allclose(scene.world["cup"].pose[:3, 3], [1.0, 0.5, 0.1], atol=1e-12)


def test_an_empty_scene_gives_an_empty_world() -> None:
    for source in ({}, "\n"):
        scene = moveit.read_scene(source, ROBOT)
        assert len(scene.world) == 0 and not scene.allowed_pairs and not scene.objects
        np.testing.assert_array_equal(scene.robot_state, ROBOT.neutral())


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"object_colors": [{"id": "top", "color": {"r": 1.0}}]}, "object_colors"),
        ({"world": {"collision_objects": [{**BALL, "type": {"db": "x"}}]}}, r"collision_objects\[\]\.type"),
        ({"robot_state": {"joint_state": {"name": ["gripper"], "position": [0.1]}}}, "does not have: gripper"),
        ({"robot_model_name": "ur5"}, "made for the robot 'ur5'"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_has_no_effect_is_named_in_one_warning_at_the_caller(data: dict[str, Any], text: str) -> None:
    with pytest.warns(kd.DescriptionWarning, match=text) as caught:
        moveit.read_scene(data, ROBOT)
    assert len(caught) == 1 and caught[0].filename == __file__


def test_positions_of_mimic_joints_that_contradict_their_leader_are_reported(mimic_robot: kd.Robot) -> None:
    def state(follower: float) -> dict[str, Any]:
        return {"robot_state": {"joint_state": {"name": ["leader", "follower"], "position": [0.2, follower]}}}

    assert moveit.read_scene(state(0.4), mimic_robot).robot_state.tolist() == [0.2]
    with pytest.warns(kd.DescriptionWarning, match="follows leader"):
        moveit.read_scene(state(0.5), mimic_robot)


@pytest.fixture
def mimic_robot(tmp_path: Path) -> kd.Robot:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="{}" type="prismatic"><parent link="base"/><child link="{}"/><axis xyz="1 0 0"/>{}{}</joint>'
    limit = '<limit lower="0" upper="1" effort="1" velocity="1"/>'
    path = tmp_path / "gripper.urdf"
    path.write_text(
        '<robot name="gripper"><link name="base"/>'
        + "".join(f'<link name="{name}">{inertial}</link>' for name in ("left", "right"))
        + joint.format("leader", "left", limit, "")
        + joint.format("follower", "right", limit, '<mimic joint="leader" multiplier="2"/>')
        + "</robot>"
    )
    return kd.load(path)
