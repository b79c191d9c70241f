"""MJCF: meshes, what a description cannot express, and errors."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kinodyn.description.mjcf import parse_mjcf, read_mjcf
from kinodyn.errors import DescriptionError, DescriptionWarning

from .mjcf_models import EVERYTHING, ONE_HINGE, joint, wrap

TETRAHEDRON = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 3.0], [1.0, 4.0, 3.0], [1.0, 2.0, 6.0]])


def write_mesh_model(folder: Path, mesh: str) -> Path:
    (folder / "meshes").mkdir()
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in TETRAHEDRON)
    (folder / "meshes" / "part.obj").write_text(vertices + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    path = folder / "robot.xml"
    path.write_text(
        f"""<mujoco><compiler meshdir="meshes"/><asset><mesh name="m" file="part.obj" {mesh}/></asset><worldbody>
        <body name="a"><geom type="mesh" mesh="m" pos="1 2 3" euler="10 20 30"/></body></worldbody></mujoco>"""
    )
    return path


@pytest.mark.parametrize(
    "mesh",
    ["", 'scale="1 -2 0.5"', 'refpos="1 2 3" scale="1 2 3"', 'refpos="1 2 3" refquat="0.6 0 0.8 0" scale="2 2 2"'],
)
def test_a_mesh_keeps_the_placement_of_its_file(tmp_path, mesh):
    path = write_mesh_model(tmp_path, mesh)
    (shape,) = read_mjcf(path).links[1].visuals
    assert shape.mesh == tmp_path / "meshes" / "part.obj"
    assert shape.uri == "part.obj"
    model = mujoco.MjModel.from_xml_path(str(path))
    R_link_geom = Rotation.from_quat(model.geom_quat[0][[1, 2, 3, 0]])
    theirs = R_link_geom.apply(model.mesh_vert) + model.geom_pos[0]
    ours = TETRAHEDRON * shape.size @ shape.T_link_shape[:3, :3].T + shape.T_link_shape[:3, 3]
    # MuJoCo keeps vertices in single precision and in an order of its own.
    distances = np.linalg.norm(ours[:, None] - theirs[None], axis=-1)
    assert distances.min(axis=1).max() < 1e-5


def test_meshes_keep_their_files_when_mujoco_drops_and_fuses_parts(tmp_path):
    write_mesh_model(tmp_path, "")
    path = tmp_path / "fused.xml"
    path.write_text(
        """<mujoco><compiler meshdir="meshes" fusestatic="true" discardvisual="true"/><asset>
        <mesh name="unseen" file="part.obj" scale="2 2 2"/><mesh name="kept" file="part.obj"/></asset><worldbody>
        <body name="a"><joint name="h"/><geom type="mesh" mesh="unseen" contype="0" conaffinity="0" mass="0"/>
        <body name="b" pos="1 2 3"><geom type="mesh" mesh="kept"/><site name="s" pos="0 0 1"/></body></body>
        </worldbody></mujoco>"""
    )
    description = read_mjcf(path)
    assert [link.name for link in description.links] == ["world", "a"]
    (shape,) = description.links[1].collisions
    assert (shape.mesh, shape.size) == (tmp_path / "meshes" / "part.obj", (1, 1, 1))
    np.testing.assert_allclose(shape.T_link_shape[:3, 3], [1, 2, 3], atol=1e-6)
    np.testing.assert_allclose(description.frames[0].T_link_frame[:3, 3], [1, 2, 4])


def test_a_rotated_and_non_uniformly_scaled_mesh_is_skipped_with_a_warning(tmp_path):
    path = write_mesh_model(tmp_path, 'refquat="0.6 0 0.8 0" scale="1 2 2"')
    with pytest.warns(DescriptionWarning, match="scaled unevenly"):
        assert read_mjcf(path).links[1].visuals == ()


@pytest.mark.parametrize(
    ("body", "rest", "what"),
    [
        ('<joint name="h" stiffness="3"/>', "", "springs.* h"),
        ('<joint type="ball" range="0 30" name="h"/>', "", "angle.* h"),
        ('<joint name="h" damping="1 2"/>', "", "damping.* h"),
        ("<joint/>", '<option density="1.2"/>', "drag"),
        (
            '<joint name="h"/>',
            '<tendon><fixed stiffness="2"><joint joint="h" coef="1"/></fixed></tendon>',
            "tendons",
        ),
    ],
)
def test_forces_that_a_description_cannot_represent_are_skipped_with_one_warning(body, rest, what):
    with pytest.warns(DescriptionWarning, match=what) as caught:
        parse_mjcf(wrap(f'<body>{body}<geom size="0.1"/></body>', rest))
    assert len(caught) == 1


def test_gravity_compensation_is_skipped_with_a_warning():
    with pytest.warns(DescriptionWarning, match="gravity compensation.* arm"):
        parse_mjcf(wrap('<body name="arm" gravcomp="1"><joint/><geom size="0.1"/></body>'))


def test_a_plain_model_gives_no_warning():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        parse_mjcf(EVERYTHING)
    assert said == []


def test_a_file_with_an_include_loads_and_is_named_after_itself(tmp_path):
    (tmp_path / "part.xml").write_text(f"<mujocoinclude>{ONE_HINGE}</mujocoinclude>")
    path = tmp_path / "robot.xml"
    path.write_text(wrap('<include file="part.xml"/>'))
    description = read_mjcf(str(path))
    assert (description.name, description.source) == ("robot", path)
    assert joint(description, "h").line is None


@pytest.mark.parametrize(
    ("text", "line", "element", "message"),
    [
        ("<mujoco>\n<worldbody>", 2, None, "not XML"),
        ("", None, None, "is empty"),
        ('<robot name="r"/>', None, None, "URDF"),
        ("<!-- <mujoco> -->\n<sdf/>", None, None, "<sdf>"),
        ('<mujoco>\n<worldbody>\n<body><joint foo="1"/></body></worldbody></mujoco>', 3, "joint", "foo"),
        ('<mujoco>\n<worldbody><body name="a"/>\n<body name="a"/></worldbody></mujoco>', 3, "body", "repeated name"),
        (wrap('\n<body><joint axis="0 0 0"/><geom size="1"/></body>'), 2, None, "axis too small"),
        (wrap("\n<body><joint/></body>"), 2, None, "mass and inertia"),
    ],
)
def test_errors_name_the_line_and_the_element(text, line, element, message):
    with pytest.raises(DescriptionError, match=message) as caught:
        parse_mjcf(text)
    assert (caught.value.line, caught.value.element) == (line, element)


def test_nan_that_mujoco_accepts_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log of its own into the working folder here
    with pytest.raises(DescriptionError, match="axis") as caught:
        parse_mjcf(wrap('\n<body><joint name="h" axis="nan 0 0"/><geom size="1"/></body>'))
    assert caught.value.line == 2


def test_an_error_in_a_file_names_the_file_and_keeps_the_cause(tmp_path):
    path = tmp_path / "bad.xml"
    path.write_text("<mujoco>\n<wordbody/></mujoco>")
    with pytest.raises(DescriptionError, match="bad.xml:2: <wordbody>") as caught:
        read_mjcf(path)
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("name", ["nothing.xml", "."])
def test_a_file_that_cannot_be_opened_is_a_description_error(tmp_path, name):
    with pytest.raises(DescriptionError, match="does not exist|cannot be read"):
        read_mjcf(tmp_path / name)
