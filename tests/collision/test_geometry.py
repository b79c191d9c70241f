"""Collision shapes of a robot: what is read, what is left out, and what is said about it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import trimesh

import kinodyn as kd
from kinodyn.collision import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere, robot_geometry, robot_spheres

URDF = """<robot name="r">
<link name="base"/>
<link name="arm"><collision><geometry><mesh filename="{mesh}"/></geometry></collision>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
MJCF = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="arm"><joint/>
<geom type="box" size="0.1 0.2 0.3"/><geom type="sphere" size="0.1"/><geom type="capsule" size="0.1 0.2"/>
<geom type="cylinder" size="0.1 0.2"/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body></worldbody></mujoco>"""


def robot_with(mesh: Path, folder: Path) -> kd.Robot:
    path = folder / "robot.urdf"
    path.write_text(URDF.format(mesh=mesh))
    return kd.load(path)


def shapes_of(robot: kd.Robot, link: str) -> list[object]:
    return [part.shape for part in robot_geometry(robot) if part.link == link]


def test_shapes_of_mjcf_are_read_and_a_plane_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(MJCF)
    with pytest.warns(kd.DescriptionWarning, match="plane is left out"):
        shapes = shapes_of(kd.load(path), "arm")
    assert [type(shape) for shape in shapes] == [Box, Sphere, Capsule, Cylinder, Ellipsoid]
    assert shapes[0].size.tolist() == pytest.approx([0.2, 0.4, 0.6])
    assert (shapes[2].radius, shapes[2].length) == pytest.approx((0.1, 0.4))


def test_a_sound_mesh_gives_no_warning_and_convex_ones_are_known(tmp_path: Path) -> None:
    for made, convex in ((trimesh.creation.box(extents=[0.1] * 3), True), (trimesh.creation.torus(0.1, 0.02), False)):
        made.export(tmp_path / "mesh.stl")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mesh, ball = shapes_of(robot_with(tmp_path / "mesh.stl", tmp_path), "arm")
        assert isinstance(mesh, Mesh) and mesh.convex == convex and isinstance(ball, Sphere)


def test_a_broken_mesh_is_read_with_a_warning_that_names_file_and_link(tmp_path: Path) -> None:
    solid = trimesh.creation.box(extents=[0.1] * 3)
    trimesh.Trimesh(solid.vertices, solid.faces[2:], process=False).export(tmp_path / "open.stl")
    robot = robot_with(tmp_path / "open.stl", tmp_path)
    with pytest.warns(kd.DescriptionWarning, match=r"link 'arm': .*open\.stl: the mesh is broken: .* open edges"):
        assert len(shapes_of(robot, "arm")) == 2
    robot_geometry(robot)  # once is enough
    assert len(robot_spheres(robot).fine) > 1


@pytest.mark.parametrize("content", [b"", b"solid nothing\nendsolid\n", b"\0" * 200])
def test_a_mesh_that_cannot_be_read_leaves_the_link_without_it(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.stl").write_bytes(content)
    with pytest.warns(kd.DescriptionWarning, match=r"link 'arm': .*bad\.stl: .* the link is checked without it"):
        assert [type(shape) for shape in shapes_of(robot_with(tmp_path / "bad.stl", tmp_path), "arm")] == [Sphere]


@pytest.mark.filterwarnings("ignore:.*not found:kinodyn.errors.DescriptionWarning")
def test_a_missing_mesh_leaves_the_link_without_it(tmp_path: Path) -> None:
    robot = robot_with(Path("missing.stl"), tmp_path)
    with pytest.warns(kd.DescriptionWarning, match=r"link 'arm': the mesh 'missing.stl' was not found"):
        assert [type(shape) for shape in shapes_of(robot, "arm")] == [Sphere]


def test_a_mesh_of_points_on_a_line_is_left_out(tmp_path: Path) -> None:
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]], process=False).export(tmp_path / "line.stl")
    with pytest.warns(kd.DescriptionWarning, match="degenerate"):
        assert len(shapes_of(robot_with(tmp_path / "line.stl", tmp_path), "arm")) == 1


@pytest.mark.parametrize("damage", ["holes", "inverted", "doubled", "flipped faces"])
def test_spheres_cover_broken_meshes(damage: str, tmp_path: Path) -> None:
    solid = trimesh.creation.capsule(height=0.2, radius=0.05, count=[16, 16])
    faces = np.array(solid.faces)
    rng = np.random.default_rng(0)
    if damage == "holes":
        faces = faces[rng.random(len(faces)) > 0.05]
    elif damage == "inverted":
        faces = faces[:, ::-1]
    elif damage == "doubled":
        faces = np.concatenate([faces, faces[:50, ::-1], faces[:50]])
    else:
        faces = np.where((rng.random(len(faces)) < 0.1)[:, None], faces[:, ::-1], faces)
    trimesh.Trimesh(solid.vertices, faces, process=False).export(tmp_path / "mesh.ply")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = robot_with(tmp_path / "mesh.ply", tmp_path)
        spheres = robot_spheres(robot, 0.02)
    (mesh, _) = shapes_of(robot, "arm")
    points, _ = trimesh.sample.sample_surface(trimesh.Trimesh(mesh.vertices, mesh.faces, process=False), 5000, seed=0)
    distances = np.linalg.norm(points[:, None] - spheres.fine[None, :, :3], axis=-1) - spheres.fine[:, 3]
    assert distances.min(axis=1).max() < 0.0


VISUAL_ONLY = """<robot name="r"><link name="base"/>
<link name="arm"><visual><origin xyz="0.2 0 0"/><geometry><box size="0.3 0.1 0.1"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""


def test_without_any_collision_shape_the_visual_shapes_are_checked_and_a_warning_says_so(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(VISUAL_ONLY)
    robot = kd.load(path)
    world = kd.collision.World()
    world.add_box("wall", (0.1, 0.1, 0.1), ((0.3, 0.0, 0.0), None))
    with pytest.warns(kd.DescriptionWarning, match="collisions are checked with the visual shapes"):
        assert not kd.collision.free(robot, [0.0], world)
    assert kd.collision.free(robot, [1.57], world)
    assert not kd.collision.free(robot, [0.0], world, exact=True)


def test_a_robot_without_shapes_is_not_checked_in_silence() -> None:
    arm = kd.from_dh([kd.DH(a=0.5), kd.DH(a=0.4)])
    with pytest.warns(kd.DescriptionWarning, match="no link has a shape: collisions of the robot are not seen"):
        assert kd.collision.free(arm, arm.random(3, seed=0), kd.collision.World()).all()
