"""What is drawn: meshes of shapes and files, poses of links, layers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh
import viser

import kinodyn as kd
from kinodyn.description.meshes import read_mesh
from kinodyn.description.types import Description, Joint, Link, Shape
from kinodyn.viewer.meshes import mesh_of
from kinodyn.viewer.overlays import Layers, Overlays
from kinodyn.viewer.playback import make_tracks
from kinodyn.viewer.robot_visual import RobotVisual
from kinodyn.viewer.snapshot import Snapshot

VOLUMES = {
    "box": ((0.1, 0.2, 0.3), 0.1 * 0.2 * 0.3),
    "sphere": ((0.2,), 4 / 3 * np.pi * 0.2**3),
    "cylinder": ((0.1, 0.5), np.pi * 0.1**2 * 0.5),
    "capsule": ((0.1, 0.5), np.pi * 0.1**2 * 0.5 + 4 / 3 * np.pi * 0.1**3),
    "ellipsoid": ((0.1, 0.2, 0.3), 4 / 3 * np.pi * 0.1 * 0.2 * 0.3),
}
PLACE = kd.spatial.exp([0.3, -0.2, 0.1, 0.4, 0.5, -0.6])
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
 <library_geometries><geometry id="g"><mesh>
  <source id="s"><float_array id="a" count="15">0 0 0  10 0 0  10 10 0  0 10 0  5 5 20</float_array></source>
  <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
  <polylist count="5"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/>
   <vcount>4 3 3 3 3</vcount>
   <p>0 0 3 0 2 0 1 0  0 0 1 0 4 0  1 0 2 0 4 0  2 0 3 0 4 0  3 0 0 0 4 0</p></polylist>
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="all"><node>
  <translate>0 0 100</translate><rotate>0 0 1 90</rotate><scale>2 2 2</scale>
  <instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
</COLLADA>"""


@pytest.fixture(scope="module")
def scene() -> viser.SceneApi:
    from kinodyn.viewer.server import LOCALHOST, close_server, open_server

    server = open_server(LOCALHOST, None, "drawing")
    yield server.scene
    close_server(server)


@pytest.mark.parametrize("kind", VOLUMES)
def test_a_mesh_has_the_volume_and_the_centre_of_its_shape(kind: str) -> None:
    size, volume = VOLUMES[kind]
    triangles = mesh_of(Shape(kind, size, PLACE))
    mesh = trimesh.Trimesh(triangles.vertices, triangles.faces)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(volume, rel=0.02)  # polyhedra are slightly smaller than round shapes
    np.testing.assert_allclose(mesh.center_mass, PLACE[:3, 3], atol=1e-3)


def test_a_mesh_is_scaled_and_a_mirrored_one_still_faces_outwards(tmp_path: Path) -> None:
    path = tmp_path / "box.stl"
    trimesh.creation.box(extents=[1, 2, 3]).export(path)
    for scale in ((0.1, 0.1, 0.1), (0.1, -0.1, 0.1)):
        triangles = mesh_of(Shape("mesh", scale, np.eye(4), mesh=path))
        assert trimesh.Trimesh(triangles.vertices, triangles.faces).volume == pytest.approx(6e-3, rel=1e-5)


def test_a_collada_file_is_read_in_metres_with_its_node_transforms(tmp_path: Path) -> None:
    path = tmp_path / "pyramid.dae"
    path.write_text(DAE)
    read = read_mesh(path)
    mesh = trimesh.Trimesh(read.vertices, read.faces)
    # a base of 0.1 m and a height of 0.2 m, doubled, turned by 90 degrees about z, and lifted by 1 m
    assert mesh.is_watertight and mesh.volume == pytest.approx(0.2**2 * 0.4 / 3, rel=1e-9)
    np.testing.assert_allclose(mesh.bounds, [[-0.2, 0.0, 1.0], [0.0, 0.2, 1.4]], atol=1e-12)


def test_an_unsafe_or_invalid_collada_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "bad.dae"
    for text, message in (
        ('<!DOCTYPE x [<!ENTITY a "b">]><COLLADA/>', "document type"),
        ("<COLLADA>", "not valid XML"),
        ("<COLLADA/>", "no triangles"),
        (DAE.replace('url="#g"', 'url="#h"'), "invalid"),
    ):
        path.write_text(text)
        with pytest.raises(kd.DescriptionError, match=message):
            read_mesh(path)


def test_links_are_drawn_at_the_poses_of_forward_kinematics(scene: viser.SceneApi) -> None:
    robot = kd.load("humanoid")
    visual = RobotVisual(scene, robot, "/humanoid")
    q = robot.random(seed=3)
    visual.pose(q)
    for body in visual.bodies:
        node = next(
            handle
            for name in [f"/humanoid/{k} {body}" for k in range(len(visual.bodies))]
            if (handle := scene.get_handle_by_name(name)) is not None
        )
        T = kd.kinematics.pose(robot, q, body)
        np.testing.assert_allclose(node.position, T[:3, 3], atol=1e-7)
        w, x, y, z = node.wxyz
        np.testing.assert_allclose(kd.spatial.from_quaternion([x, y, z, w]), T[:3, :3], atol=1e-4)


def test_a_robot_without_shapes_is_drawn_as_cylinders_between_joints(scene: viser.SceneApi) -> None:
    robot = kd.from_dh([kd.DH(a=1.0), kd.DH(a=0.5)])
    bare = kd.Robot(
        Description(
            "bare",
            tuple(Link(link.name, link.inertia) for link in robot.description.links),
            robot.description.joints,
            robot.description.frames,
        )
    )
    low, high = RobotVisual(scene, bare, "/bare").bounding_box(np.zeros(2))
    assert high[0] - low[0] == pytest.approx(1.5, abs=0.15)


def test_a_missing_mesh_gives_a_warning_and_the_collision_shape(scene: viser.SceneApi) -> None:
    visual = Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), uri="package://nowhere/arm.stl")
    arm = Link("arm", visuals=(visual,), collisions=(Shape("box", (0.2, 0.4, 0.6), np.eye(4)),))
    robot = kd.Robot(Description("half", (Link("base"), arm), (Joint("turn", "revolute", "base", "arm"),)))
    with pytest.warns(kd.DescriptionWarning, match="nowhere/arm.stl"):
        drawn = RobotVisual(scene, robot, "/half")
    np.testing.assert_allclose(drawn.bounding_box(np.zeros(1)), [[-0.1, -0.2, -0.3], [0.1, 0.2, 0.3]], atol=1e-6)


def test_the_support_polygon_is_that_of_the_loaded_feet(scene: viser.SceneApi) -> None:
    robot = kd.load("humanoid")
    q = robot.configuration("standing")
    overlays = Overlays(scene, robot, "/support test", 1.7)
    left, right = overlays.feet()
    lift = np.array([0.0, 0.0, 700.0, 0.0, 0.0, 0.0])
    for forces, feet in (({}, (left, right)), ({left.frame: lift, right.frame: 0 * lift}, (left,))):
        overlays.draw(Snapshot(q, forces=forces), Layers({"support"}, left.frame))
        node = scene.get_handle_by_name("/support test/support")
        assert isinstance(node, viser.MeshHandle) and node.visible
        corners = kd.balance.support_polygon(robot, q, feet)
        np.testing.assert_allclose(node.vertices[:, :2], corners, atol=1e-6)


def test_the_zmp_is_that_of_the_forces_or_the_motion_and_none_in_the_air(scene: viser.SceneApi) -> None:
    robot = kd.load("humanoid")
    q = robot.configuration("standing")
    overlays = Overlays(scene, robot, "/zmp test", 1.7)
    point = overlays.zmp(Snapshot(q))
    assert point is not None
    np.testing.assert_allclose(point[:2], kd.kinematics.com(robot, q)[:2], atol=1e-9)
    wrench = {"left_sole": np.array([0.0, 0.0, 500.0, 0.0, 0.0, 0.0])}
    point = overlays.zmp(Snapshot(q, forces=wrench))
    assert point is not None
    np.testing.assert_allclose(point[:2], kd.kinematics.pose(robot, q, "left_sole")[:2, 3], atol=1e-9)
    assert overlays.zmp(Snapshot(q, forces={"left_sole": np.zeros(6)})) is None


def test_the_ellipsoid_is_that_of_the_jacobian(scene: viser.SceneApi) -> None:
    robot = kd.load("panda")
    q = robot.configuration("ready")
    overlays = Overlays(scene, robot, "/ellipsoid test", 1.0)
    overlays.draw(Snapshot(q), Layers({"ellipsoid"}, "panda_hand_tcp"))
    node = scene.get_handle_by_name("/ellipsoid test/ellipsoid")
    assert isinstance(node, viser.MeshHandle)
    w, x, y, z = node.wxyz
    axes = kd.spatial.from_quaternion([x, y, z, w]) * np.array(node.scale)
    J = kd.kinematics.jacobian(robot, q, "panda_hand_tcp")[:3]
    np.testing.assert_allclose(axes @ axes.T, 0.25**2 * J @ J.T, atol=1e-6)


def test_layers_are_hidden_when_they_are_switched_off(scene: viser.SceneApi) -> None:
    robot = kd.load("humanoid")
    q = robot.configuration("standing")
    overlays = Overlays(scene, robot, "/layer test", 1.7)
    force = {"left_sole": np.array([0.0, 10.0, 500.0, 0.0, 0.0, 0.0])}
    names = ("frames", "com", "projection", "support", "zmp", "forces", "ellipsoid")
    overlays.draw(Snapshot(q, forces=force), Layers(set(names), "left_palm"))
    nodes = {name: scene.get_handle_by_name(f"/layer test/{name}") for name in names}
    assert all(node is not None and node.visible for node in nodes.values())
    overlays.draw(Snapshot(q), Layers({"com"}, "left_palm"))
    assert {name for name, node in nodes.items() if node is not None and node.visible} == {"com"}


def test_the_workspace_cloud_is_within_reach_and_moves_with_the_base(scene: viser.SceneApi) -> None:
    robot = kd.load("humanoid")
    q = robot.configuration("standing")
    overlays = Overlays(scene, robot, "/cloud test", 1.7)
    layers = Layers({"workspace"}, "left_palm")
    overlays.draw(Snapshot(q), layers)
    overlays.cloud.wait()
    q[:3] += [1.0, 2.0, 0.0]
    overlays.draw(Snapshot(q), layers)
    node = scene.get_handle_by_name("/cloud test/workspace")
    assert isinstance(node, viser.PointCloudHandle) and node.visible and len(node.points) > 100
    base = kd.kinematics.pose(robot, q, robot.joints[0].child)
    np.testing.assert_allclose(node.position, base[:3, 3], atol=1e-7)
    assert np.linalg.norm(node.points, axis=1).max() < 1.7


def test_an_unknown_layer_is_an_error() -> None:
    with pytest.raises(kd.UnknownNameError, match="support"):
        Layers(set(), "x").set("suport", True)


def test_a_retargeted_motion_has_its_human_beside_the_robot(scene: viser.SceneApi) -> None:
    robot = kd.load("humanoid")
    result = kd.retarget.retarget(kd.retarget.example_motion(2), robot)
    (track,) = make_tracks(robot, result.recording())
    snapshot = track.at(0.5)
    overlays = Overlays(scene, robot, "/robot", 1.7)
    overlays.draw(snapshot, Layers({"human"}, "head"))
    points = overlays.human(snapshot)
    row = int(np.searchsorted(result.time, 0.5, "right")) - 1
    hips = 0.5 * (points["left_hip"] + points["right_hip"])
    np.testing.assert_allclose(hips[:2] - snapshot.q[:2], [0.0, 0.9 * 1.7], atol=1e-12)
    for name, point in points.items():  # moved as a whole, not scaled
        given = result.human.points[name][row] - result.human.middle("hip")[row]
        np.testing.assert_allclose(point - hips, given, atol=1e-12)
    shank = scene.get_handle_by_name("/robot/human left_knee left_ankle")
    np.testing.assert_allclose(shank.position, 0.5 * (points["left_knee"] + points["left_ankle"]), atol=1e-12)
    np.testing.assert_allclose(shank.scale[2], np.linalg.norm(points["left_knee"] - points["left_ankle"]))
    overlays.draw(snapshot, Layers(set(), "head"))
    assert not shank.visible
    assert not overlays.human(Snapshot(robot.neutral()))


def test_signals_that_are_no_key_points_are_not_drawn() -> None:
    robot = kd.load("humanoid")
    recording = kd.retarget.retarget(kd.retarget.example_motion(2), robot).recording()
    n = len(recording.time)
    broken = {"human.left_hip": np.full((n, 3), np.nan), "human.right_hip": np.zeros(n), "human.head": np.zeros((n, 2))}
    (track,) = make_tracks(robot, replace(recording, signals={**recording.signals, **broken}))
    assert not {"left_hip", "right_hip", "head"} & set(track.at(0.0).human)
    assert "left_knee" in track.at(0.0).human
