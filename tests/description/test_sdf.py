"""SDF: the same robots as other files describe, frames of every kind, nested models, worlds, faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description import Joint, parse_sdf
from kinodyn.description.types import Description, Inertia, Link, Mimic
from kinodyn.model.loading import load_description

from .sdf_texts import SdfText, random_pose

MASS = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"


def sdf(body: str, version: str = "1.7", attributes: str = "") -> str:
    return f'<sdf version="{version}"><model name="m"{attributes}>{body}</model></sdf>'


def link(name: str, pose: str = "", more: str = MASS) -> str:
    return f'<link name="{name}">{pose and f"<pose>{pose}</pose>"}{more}</link>'


def hinge(name: str, parent: str, child: str, more: str = "", axis: str = "0 0 1", kind: str = "revolute") -> str:
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="{kind}">{ends}<axis><xyz>{axis}</xyz></axis>{more}</joint>'


def random_tree(seed: int, links: int = 12) -> Description:
    """Return a robot with joints of every kind at random places."""
    rng = np.random.default_rng(seed)
    made, joints = [], []
    for k in range(links):
        A = rng.normal(size=(3, 3))
        matrix = np.trace(A @ A.T) * np.eye(3) - A @ A.T
        made.append(Link(f"l{k}", Inertia(float(rng.uniform(0.5, 2)), rng.normal(size=3), matrix)))
        if k:
            kind = ("revolute", "prismatic", "continuous", "fixed", "ball")[int(rng.integers(5))]
            axis = rng.normal(size=3)
            mimic = None
            leaders = [j for j in joints if j.kind in ("revolute", "prismatic", "continuous") and j.mimic is None]
            if kind == "revolute" and leaders and rng.random() < 0.4:
                mimic = Mimic(leaders[0].name, 0.5, 0.1)
            bounds = {"lower": -1.5, "upper": 2.0} if kind in ("revolute", "prismatic") and mimic is None else {}
            if kind == "revolute" and mimic is not None:
                bounds = {"lower": -50.0, "upper": 50.0}
            moving = {} if kind in ("fixed", "ball") else {"velocity": 3.0, "effort": 40.0, "damping": 0.3, **bounds}
            joints.append(
                Joint(
                    *(f"j{k}", kind, f"l{int(rng.integers(k))}", f"l{k}", random_pose(rng)),
                    axis=axis / np.linalg.norm(axis),
                    mimic=mimic,
                    **moving,
                )
            )
    return Description("tree", tuple(made), tuple(joints), base="floating" if seed % 2 else "fixed")


def same_robot(expected: kd.Robot, found: kd.Robot) -> None:
    """Check that two robots have the same coordinates, limits, kinematics and dynamics."""
    assert found.joint_names == expected.joint_names and (found.nq, found.nv) == (expected.nq, expected.nv)
    assert found.mass == pytest.approx(expected.mass, rel=1e-12)
    for name in ("lower", "upper", "velocity", "effort"):
        np.testing.assert_allclose(getattr(found.limits, name), getattr(expected.limits, name), atol=1e-12)
    q = expected.random(20, seed=3)
    rng = np.random.default_rng(0)
    v, a = rng.normal(size=(2, 20, expected.nv))
    for frame in (each.name for each in expected.description.links):
        np.testing.assert_allclose(
            kd.kinematics.pose(found, q, frame), kd.kinematics.pose(expected, q, frame), atol=1e-9
        )
    tau = kd.dynamics.inverse(expected, q, v, a)
    np.testing.assert_allclose(kd.dynamics.inverse(found, q, v, a), tau, atol=1e-9 * np.abs(tau).max())
    M = kd.dynamics.mass_matrix(expected, q)
    np.testing.assert_allclose(kd.dynamics.mass_matrix(found, q), M, atol=1e-9 * np.abs(M).max())


@pytest.mark.parametrize("seed", range(8))
def test_a_random_tree_with_random_frames_is_the_same_robot(seed: int) -> None:
    given = random_tree(seed)
    same_robot(kd.Robot(given), kd.Robot(parse_sdf(SdfText(given, seed + 100).text)))


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560", "humanoid"])
def test_a_known_robot_written_as_sdf_is_the_same_robot(name: str) -> None:
    given = load_description(name)
    without_armature = replace(given, joints=tuple(replace(joint, armature=0.0) for joint in given.joints))
    same_robot(kd.Robot(without_armature), kd.Robot(parse_sdf(SdfText(given, 5).text)))


def test_a_joint_away_from_the_origin_of_its_child_turns_about_itself() -> None:
    body = link("a") + link("b", "1 0 0 0 0 0")
    robot = kd.Robot(parse_sdf(sdf(body + hinge("j", "a", "b", "<pose>-0.5 0 0 0 0 0</pose>"))), base="fixed")
    T = kd.kinematics.pose(robot, [np.pi / 2], "b")
    np.testing.assert_allclose(T[:3, 3], [0.5, 0.5, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("version", "flag", "expected"),
    [("1.4", "", [1, 0, 0]), ("1.6", "", [0, 1, 0]), ("1.6", "true", [1, 0, 0]), ("1.7", "", [0, 1, 0])],
)
def test_axes_are_in_the_model_or_in_the_joint_as_the_version_says(version: str, flag: str, expected: list) -> None:
    """The child is turned by a quarter about z: its x is the model's y."""
    used = f"<use_parent_model_frame>{flag}</use_parent_model_frame>" if flag else ""
    body = link("a") + link("b", f"0 0 0 0 0 {np.pi / 2}")
    joint = (
        f'<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>{used}</axis></joint>'
    )
    robot = kd.Robot(parse_sdf(sdf(body + joint, version)), base="fixed")
    np.testing.assert_allclose(kd.kinematics.jacobian(robot, [0.3], "b")[3:, 0], expected, atol=1e-12)


def test_universal_joints_are_two_axes_and_screws_advance() -> None:
    two = (
        '<joint name="u" type="universal"><parent>a</parent><child>b</child>'
        "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>"
    )
    robot = kd.Robot(parse_sdf(sdf(link("a") + link("b") + two)), base="fixed")
    assert robot.joint_names == ("u", "u_axis2")
    R = kd.kinematics.pose(robot, [0.3, -0.7], "b")[:3, :3]
    expected = kd.spatial.rot_x(0.3) @ kd.spatial.rot_y(-0.7)
    np.testing.assert_allclose(R, expected, atol=1e-12)
    for pitch in (
        "<screw_thread_pitch>0.02</screw_thread_pitch>",
        f"<thread_pitch>{-2 * np.pi / 0.02!r}</thread_pitch>",
    ):
        screw = kd.Robot(
            parse_sdf(sdf(link("a") + link("b") + hinge("s", "a", "b", pitch, kind="screw"))), base="fixed"
        )
        T = kd.kinematics.pose(screw, [np.pi], "b")
        np.testing.assert_allclose(T[:3, 3], [0, 0, 0.01], atol=1e-12)
        assert screw.nq == 1


def test_limits_of_1e16_and_negative_efforts_mean_none() -> None:
    limit = "<limit><lower>-1e16</lower><upper>1e16</upper><effort>-1</effort><velocity>-1</velocity></limit>"
    axis = f'<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis>{limit}</axis></joint>'
    joint = parse_sdf(sdf(link("a") + link("b") + axis)).joints[0]
    assert joint.kind == "continuous" and joint.effort == joint.velocity == np.inf


def write_model(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "model.sdf").write_text(text)
    (folder / name / "old.sdf").write_text("<sdf/>")
    config = f'<model><name>{name}</name><sdf version="1.4">old.sdf</sdf><sdf version="1.7">model.sdf</sdf></model>'
    (folder / name / "model.config").write_text(config)


def test_included_and_nested_models_are_placed_by_their_placement_frames(tmp_path: Path) -> None:
    inner = link("base", "0 0 1 0 0 0") + link("tip", "0 0 3 0 0 0") + hinge("turn", "base", "tip")
    write_model(
        tmp_path, "gripper", sdf(inner + '<frame name="mount" attached_to="base"><pose>0 0 -0.5 0 0 0</pose></frame>')
    )
    include = (
        "<include><uri>model://gripper</uri><name>{0}</name><placement_frame>mount</placement_frame>"
        '<pose relative_to="arm">{1} 0 0 0 0 0</pose></include>'
    )
    body = link("arm", "0 0 10 0 0 0") + include.format("left", 1) + include.format("right", -1)
    body += '<joint name="fix_left" type="fixed"><parent>arm</parent><child>left::base</child></joint>'
    body += '<joint name="fix_right" type="fixed"><parent>arm</parent><child>right</child></joint>'
    body += '<frame name="between" attached_to="left::tip"><pose relative_to="__model__"/></frame>'
    (tmp_path / "robot.sdf").write_text(sdf(body, "1.8"))
    robot = kd.load(tmp_path / "robot.sdf", base="fixed")
    assert robot.joint_names == ("left::turn", "right::turn")
    q = robot.neutral()
    np.testing.assert_allclose(kd.kinematics.pose(robot, q, "left::base")[:3, 3], [1, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(kd.kinematics.pose(robot, q, "right::tip")[:3, 3], [-1, 0, 2.5], atol=1e-12)
    np.testing.assert_allclose(kd.kinematics.pose(robot, q, "between")[:3, 3], [0, 0, -10], atol=1e-12)


def test_a_world_gives_its_one_robot_or_a_list_to_choose_from(tmp_path: Path) -> None:
    arm = (
        link("a")
        + link("b")
        + hinge("j", "a", "b")
        + '<joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>'
    )
    table = f'<model name="table"><static>true</static>{link("top")}</model>'
    world = '<sdf version="1.7"><world name="w"><gravity>0 0 -1.62</gravity>{0}</world></sdf>'
    file = tmp_path / "moon.world"
    file.write_text(world.format(table + f'<model name="arm"><pose>0 0 2 0 0 0</pose>{arm}</model>'))
    robot = kd.load(file)
    assert robot.name == "arm" and robot.base == "fixed" and robot.gravity[2] == -1.62
    np.testing.assert_allclose(kd.kinematics.pose(robot, [0.0], "a")[:3, 3], [0, 0, 2], atol=1e-12)
    file.write_text(world.format(f'<model name="one">{arm}</model><model name="two">{arm}</model>'))
    with pytest.raises(
        kd.DescriptionError, match="must have one robot, or name it by model=..., got the models one, two"
    ):
        kd.load(file)
    assert kd.load(file, model="two").name == "two"
    with pytest.raises(kd.DescriptionError, match="model must be one of one, two, got 'three'"):
        kd.load(file, model="three")
    with pytest.raises(kd.InputError, match="model names a model of an SDF file"):
        kd.load("panda", model="two")


def test_a_static_model_stands_where_its_pose_says() -> None:
    robot = kd.Robot(parse_sdf(sdf("<static>1</static><pose>0 0 2 0 0 0</pose>" + link("a", "1 0 0 0 0 0"))))
    np.testing.assert_allclose(kd.kinematics.pose(robot, [], "a")[:3, 3], [1, 0, 2], atol=1e-12)


def test_shapes_and_computed_inertias(tmp_path: Path) -> None:
    shape = '<{0} name="s"><pose>0 0 1 0 0 0</pose><geometry>{1}</geometry></{0}>'
    box = "<box><size>1 2 3</size></box>"
    ball = "<geometry><sphere><radius>2</radius></sphere></geometry>"
    red = f'<visual name="v">{ball}<material><diffuse>1 0 0 0.5</diffuse></material></visual>'
    made = link(
        "a", "", '<inertial auto="true"><density>100</density></inertial>' + shape.format("collision", box) + red
    )
    (found,) = parse_sdf(sdf(made)).links
    assert found.inertia is not None and found.inertia.mass == pytest.approx(600.0)
    np.testing.assert_allclose(found.inertia.com, [0, 0, 1])
    np.testing.assert_allclose(np.diag(found.inertia.matrix), [650.0, 500.0, 250.0])
    assert found.collisions[0].size == (1, 2, 3) and found.visuals[0].rgba == (1, 0, 0, 0.5)
    with pytest.warns(kd.DescriptionWarning, match="1 shape not supported and left out: heightmap"):
        parse_sdf(sdf(link("a", "", MASS + shape.format("collision", "<heightmap/>"))))
    with pytest.warns(kd.DescriptionWarning, match="1 of 1 mesh file not found: model://gone/a.stl"):
        parse_sdf(sdf(link("a", "", MASS + shape.format("visual", "<mesh><uri>model://gone/a.stl</uri></mesh>"))))
    with pytest.warns(kd.DescriptionWarning, match="give <inertial> to 1 link, taken as 1 kg"):
        assert parse_sdf(sdf('<link name="a"/>')).links[0].inertia is not None


AB = link("a") + link("b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot/>", "an SDF file has <sdf>"),
        ("<sdf version='1.2'/>", "version must be 1.4 or later"),
        ("<sdf version='x'/>", "version must be a number"),
        ("<sdf version='1.7'/>", "must have one robot.*none"),
        (sdf(AB), "roots"),
        (sdf(AB + hinge("j", "a", "b", kind="gearbox")), "type must be one of revolute.*got 'gearbox'"),
        (sdf(AB + hinge("j", "a", "b", axis="0 0 0")), "xyz must not be zero"),
        (sdf(AB + hinge("j", "a", "b", axis="0 0")), "must be 3 numbers, got 2"),
        (sdf(AB + hinge("j", "a", "c")), "unknown frame 'c'"),
        (sdf(AB + hinge("j", "a", "c::b")), "unknown nested model 'c'"),
        (sdf(AB + hinge("j", "a", "world")), "swap parent and child"),
        (sdf(AB + link("a")), "used twice"),
        (sdf(link("a", "1 2 nan 0 0 0")), "must be numbers"),
        (sdf(link("a", "1 2 inf 0 0 0")), "must be finite"),
        (sdf(link("world")), "name must not be"),
        (
            sdf(
                '<frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="f"/></frame>'
                + AB
                + hinge("j", "b", "f")
            ),
            "in a cycle",
        ),
        (
            sdf('<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>' + AB + hinge("j", "a", "f")),
            "cycle",
        ),
        (sdf("<include><uri>model://nowhere</uri></include>"), "is not found; pass the folder"),
        (sdf("<include><uri>http://example.org/a</uri></include>"), "uri must start with model://"),
        (sdf("<include merge='true'><uri>x</uri></include>"), "merge is not supported"),
        (sdf(AB + hinge("j", "a", "b") + hinge("k", "b", "a")), "root|cycle|loop"),
    ],
)
def test_faults_are_errors_with_their_line(text: str, message: str) -> None:
    with pytest.raises(kd.DescriptionError, match=message):
        parse_sdf(text)


def test_models_that_include_each_other_are_an_error_soon(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        write_model(tmp_path, name, sdf(link("l") + f"<include><uri>model://{other}</uri><name>x</name></include>"))
    with pytest.raises(kd.DescriptionError, match="include each other"):
        kd.load(tmp_path / "a" / "model.sdf")


def test_a_model_config_cannot_lead_out_of_its_folder(tmp_path: Path) -> None:
    write_model(tmp_path, "a", sdf(link("l")))
    (tmp_path / "secret.sdf").write_text(sdf(link("l")))
    (tmp_path / "a" / "model.config").write_text('<model><sdf version="1.7">../secret.sdf</sdf></model>')
    (tmp_path / "r.sdf").write_text(sdf(link("base") + "<include><uri>model://a</uri></include>"))
    with pytest.raises(kd.DescriptionError, match="names no SDF file that is in its folder"):
        kd.load(tmp_path / "r.sdf")
