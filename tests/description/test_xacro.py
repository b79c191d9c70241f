"""xacro: expanded when asked, rejected with the way to ask otherwise."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kinodyn.description.urdf import parse_urdf, read_urdf
from kinodyn.description.xacro import expand_xacro
from kinodyn.errors import DescriptionError

XMLNS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
ARM = f"""<robot name="arm" {XMLNS}>
  <xacro:arg name="legs" default="2"/>
  <xacro:property name="half" value="${{1 / 4 * 2}}"/>
  <link name="base"/>
  <link name="legs_$(arg legs)"/>
  <joint name="j" type="fixed">
    <parent link="base"/><child link="legs_$(arg legs)"/><origin xyz="${{half}} 0 0"/>
  </joint>
</robot>"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def included(name: str) -> str:
    return f'<robot {XMLNS}><link name="{name}"/></robot>'


def including(where: str) -> str:
    return f'<robot name="r" {XMLNS}><xacro:include filename="{where}"/></robot>'


def test_expressions_and_arguments_are_expanded(tmp_path: Path) -> None:
    path = write(tmp_path / "arm.urdf.xacro", ARM)
    description = parse_urdf(expand_xacro(path), file=path)
    assert description.name == "arm"
    assert [link.name for link in description.links] == ["base", "legs_2"]
    assert description.joints[0].T_parent_child[0, 3] == 0.5
    assert "legs_6" in expand_xacro(str(path), arguments={"legs": 6})


def test_includes_are_relative_to_the_file_that_includes(tmp_path: Path) -> None:
    path = write(tmp_path / "top & [1].xacro", including("parts/leg.xacro"))
    write(tmp_path / "parts" / "leg.xacro", f'<robot {XMLNS}><xacro:include filename="foot.xacro"/></robot>')
    write(tmp_path / "parts" / "foot.xacro", included("foot"))
    assert parse_urdf(expand_xacro(path)).links[0].name == "foot"


def test_packages_are_found_in_given_folders_and_by_walking_up(tmp_path: Path) -> None:
    path = write(tmp_path / "src" / "arm" / "arm.xacro", including("$(find hand_description)/hand.xacro"))
    write(tmp_path / "src" / "hand_description" / "hand.xacro", included("walked"))
    write(tmp_path / "given" / "hand_description" / "hand.xacro", included("given"))
    assert parse_urdf(expand_xacro(path)).links[0].name == "walked"
    assert parse_urdf(expand_xacro(path, packages=[tmp_path / "given"])).links[0].name == "given"
    assert parse_urdf(expand_xacro(path)).links[0].name == "walked", "the folders given once are forgotten"


def test_a_missing_package_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = write(tmp_path / "arm.xacro", including("$(find lost)/hand.xacro"))
    with pytest.raises(DescriptionError, match=r"pass the folder of package 'lost' in packages=\[\.\.\.\]") as caught:
        expand_xacro(path)
    assert caught.value.file == path


@pytest.mark.parametrize("expression", ["${1 / 0}", "${nowhere}", "$(arg unknown)"])
def test_an_expression_that_fails_is_a_description_error_with_its_cause(tmp_path: Path, expression: str) -> None:
    path = write(tmp_path / "arm.xacro", f'<robot name="r" {XMLNS}><link name="{expression}"/></robot>')
    with pytest.raises(DescriptionError, match="xacro could not be expanded") as caught:
        expand_xacro(path)
    assert caught.value.__cause__ is not None


def test_a_file_that_is_missing_or_not_xml_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="does not exist"):
        expand_xacro(tmp_path / "absent.xacro")
    with pytest.raises(DescriptionError, match="is not XML"):
        expand_xacro(write(tmp_path / "broken.xacro", "<robot>"))


def test_a_xacro_file_is_read_only_on_request(tmp_path: Path) -> None:
    path = write(tmp_path / "arm.urdf.XACRO", '<robot name="r"><link name="a"/></robot>')
    with pytest.raises(DescriptionError, match=r"kd\.load\(path, xacro=True\)") as caught:
        read_urdf(path)
    assert caught.value.file == path


@pytest.mark.parametrize(
    ("prefix", "declaration"),
    [("xacro", XMLNS), ("xacro", ""), ("x", 'xmlns:x="http://wiki.ros.org/xacro"')],
)
def test_xacro_inside_a_urdf_is_rejected_and_not_evaluated(tmp_path: Path, prefix: str, declaration: str) -> None:
    text = f'<robot name="r" {declaration}>\n<link name="a"/>\n<{prefix}:property name="p" value="${{1}}"/></robot>'
    with pytest.raises(DescriptionError, match=r"kd\.load\(path, xacro=True\)") as caught:
        read_urdf(write(tmp_path / "arm.urdf", text))
    assert caught.value.line == 3
    assert caught.value.element == f'{prefix}:property name="p"'


def test_a_urdf_that_only_mentions_xacro_is_read() -> None:
    text = f'<robot name="r" {XMLNS}><!-- <xacro:if value="0"/> --><link name="a"/></robot>'
    assert parse_urdf(text).links[0].name == "a"


def test_without_xacrodoc_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(DescriptionError, match=r"kinodyn\[xacro\]"):
        expand_xacro(write(tmp_path / "arm.xacro", ARM))
