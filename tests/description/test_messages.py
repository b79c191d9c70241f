"""Warnings about descriptions: at the line of the caller, one for a file, with what to do first."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import kinodyn as kd
from kinodyn.description.messages import one_warning, warn

LINK = (
    '<link name="{0}"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="{1}" ixy="0" ixz="0" iyz="0"/></inertial>'
)
MESH = '<visual><geometry><mesh filename="package://gone/{0}.stl"/></geometry></visual></link>'


def questionable(meshes: int = 3) -> str:
    """Return a robot with a joint without limits, an inconsistent inertia and missing meshes."""
    links = "".join(LINK.format(f"l{k}", 5 if k == 1 else 1) + MESH.format(k) for k in range(meshes))
    joints = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
        for k in range(meshes - 1)
    )
    return f'<robot name="r">{links}{joints}</robot>'


def caught_from(call: object) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()  # type: ignore[operator]
    return caught


def test_loading_a_file_gives_one_warning_at_the_line_of_the_caller(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(questionable())
    (caught,) = caught_from(lambda: kd.load(file))
    assert caught.filename == __file__
    assert isinstance(caught.message, kd.DescriptionWarning) and len(caught.message.parts) == 3
    text = str(caught.message)
    assert text.startswith(f"{file}: run 'kinodyn check {file}' for repairs of 3 faults: (1) ")
    assert "give limits to 2 joints" in text and "correct 1 link" in text and "pass the folders of the packages" in text


def test_a_single_fault_says_what_to_do_first(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(questionable(1))
    (caught,) = caught_from(lambda: kd.load(file))
    assert str(caught.message).startswith(f"{file}: pass the folders of the packages in packages=[...]; 1 of 1 mesh")


def test_a_flood_of_missing_collision_meshes_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(questionable(30).replace("visual>", "collision>"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = kd.load(file)
    (caught,) = caught_from(lambda: kd.collision.robot_geometry(robot))
    assert caught.filename == __file__ and len(str(caught.message)) < 1000 and "and 26 more" in str(caught.message)


def test_an_error_is_not_hidden_by_collected_warnings() -> None:
    with pytest.raises(kd.InputError, match="broken"), one_warning("file"):
        warn("a detail", None)
        raise kd.InputError("broken")
    with pytest.warns(kd.DescriptionWarning, match="alone"):
        warn("alone", None)
