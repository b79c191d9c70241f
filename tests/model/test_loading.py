"""Loading robots: what is a name, what is a file, and what the errors say."""

from __future__ import annotations

import gc
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from kinodyn.description.bundled import panda
from kinodyn.description.catalogue import BUNDLED
from kinodyn.description.dh import DH
from kinodyn.description.urdf_writer import write_urdf
from kinodyn.errors import DescriptionError, InputError, UnknownNameError
from kinodyn.model.loading import from_dh, load, load_description

URDF = '<robot name="one"><link name="base"/></robot>'
MJCF = '<mujoco model="two"><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
XACRO = (
    '<robot name="three" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="end" default="a"/>'
    '<link name="link_$(arg end)"/></robot>'
)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_name_loads_a_bundled_robot() -> None:
    assert load_description("humanoid", height=1.6).name == "humanoid"


@pytest.mark.parametrize("kind", [str, Path])
def test_a_urdf_file_loads_by_text_or_path(kind: type, tmp_path: Path) -> None:
    path = written(tmp_path, "arm.urdf", write_urdf(panda()))
    assert len(load_description(kind(path)).joints) == 7 + 2


@pytest.mark.parametrize(("text", "name"), [(URDF, "one"), (MJCF, "two")])
def test_an_xml_file_is_recognised_by_its_root_element(text: str, name: str, tmp_path: Path) -> None:
    assert load_description(written(tmp_path, "robot.xml", text)).name == name


def test_suffixes_are_case_insensitive(tmp_path: Path) -> None:
    assert load_description(written(tmp_path, "ROBOT.URDF", URDF)).name == "one"


def test_the_error_for_the_suffix_mjcf_suggests_xml(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"only \.xml files; rename"):
        load_description(written(tmp_path, "robot.mjcf", MJCF))


def test_an_xml_file_that_is_neither_urdf_nor_mjcf_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="sdf"):
        load_description(written(tmp_path, "robot.xml", "<sdf/>"))


def test_entities_of_an_xml_file_are_not_expanded(tmp_path: Path) -> None:
    text = '<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/hostname">]><robot name="&a;"><link name="x"/></robot>'
    with pytest.raises(DescriptionError):
        load_description(written(tmp_path, "robot.xml", text))


def test_xacro_is_evaluated_only_on_request(tmp_path: Path) -> None:
    path = written(tmp_path, "robot.xacro", XACRO)
    with pytest.raises(DescriptionError, match="xacro=True"):
        load_description(path)


def test_xacro_is_expanded_on_request_with_its_arguments(tmp_path: Path) -> None:
    path = written(tmp_path, "robot.urdf.xacro", XACRO)
    assert load_description(path, xacro=True).links[0].name == "link_a"
    assert load_description(path, xacro=True, xacro_arguments={"end": "b"}).links[0].name == "link_b"


def test_xacro_arguments_need_xacro(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="xacro=True"):
        load_description(written(tmp_path, "robot.xacro", XACRO), xacro_arguments={"end": "b"})


def test_xacro_is_rejected_for_a_named_robot() -> None:
    with pytest.raises(InputError, match="'panda' is the name of a robot"):
        load_description("panda", xacro=True)


def test_an_srdf_file_adds_names(tmp_path: Path) -> None:
    srdf = '<robot name="panda"><group name="wrist"><joint name="panda_joint7"/></group></robot>'
    description = load_description("panda", srdf=written(tmp_path, "extra.srdf", srdf))
    assert description.chains["wrist"] == ("panda_joint7",)
    assert len(description.chains["arm"]) == 7


def test_a_file_that_does_not_exist_is_named() -> None:
    with pytest.raises(DescriptionError, match="nowhere.urdf: does not exist"):
        load_description("nowhere.urdf")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="is a folder"):
        load_description(tmp_path)


def test_the_error_for_an_unknown_suffix_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"suffix '\.usd'; .*\.urdf, \.xml, \.xacro, \.sdf"):
        load_description(written(tmp_path, "robot.usd", "#usda 1.0"))


def test_an_unknown_robot_suggests_the_nearest_names() -> None:
    with pytest.raises(UnknownNameError, match="'panda'"):
        load_description("pandas")


@pytest.mark.parametrize("source", [None, 3, b"panda", ["panda"]])
def test_arguments_that_are_neither_name_nor_path_are_rejected(source: object) -> None:
    with pytest.raises(InputError, match=type(source).__name__):
        load_description(source)  # type: ignore[arg-type]


def test_a_size_is_rejected_for_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="height cannot be set for the file"):
        load_description(written(tmp_path, "arm.urdf", URDF), height=1.7)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_robots_load_without_a_warning(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = load(name)
    assert robot.name == name
    assert robot.base == ("floating" if name == "humanoid" else "fixed")


def test_the_humanoid_has_thirty_joints_and_a_free_base() -> None:
    robot = load("humanoid", height=1.75, mass=72.0)
    assert (robot.nq, robot.nv, len(robot.joint_names)) == (37, 36, 30)
    assert robot.mass == pytest.approx(72.0)


def test_the_base_can_be_chosen() -> None:
    assert (load("humanoid", base="fixed").nq, load("panda", base="floating").nq) == (30, 14)
    with pytest.raises(InputError, match="base"):
        load("panda", base="loose")  # type: ignore[arg-type]


def test_a_dh_table_becomes_a_robot() -> None:
    T = np.eye(4)
    T[0, 3] = 0.1
    robot = from_dh([DH(a=0.3), DH(alpha=math.pi, joint="prismatic")], tool=T, name="two")
    assert (robot.name, robot.nq, robot.base) == ("two", 2, "fixed")
    assert "tool" in robot.frame_names


def test_garbage_is_collected_again_after_loading_and_after_an_error() -> None:
    load("ur5")
    assert gc.isenabled()
    with pytest.raises(UnknownNameError):
        load("no such robot")
    assert gc.isenabled()
