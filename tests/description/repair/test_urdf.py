"""Every fault of a URDF file that has a repair is found with its line, repaired, and nothing else changes."""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description import Report

SOUND = """<?xml version="1.0"?>
<!-- a comment -->
<robot name="arm">
  <link name="base"/>
  <link name="left_upper">
    <inertial>
      <origin xyz="0.1 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision> <geometry> <box size="0.3 0.1 0.1"/> </geometry> </collision>
  </link>
  <link name="right_upper">
    <inertial>
      <mass value="2"/>
      <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="left_shoulder" type="revolute">
    <parent link="base"/> <child link="left_upper"/> <axis xyz="0 1 0"/>
    <limit lower="-2" upper="1" velocity="3" effort="40"/>
  </joint>
  <joint name="right_shoulder" type="revolute">
    <parent link="base"/> <child link="right_upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2" upper="1" velocity="3" effort="40"/>
  </joint>
</robot>
"""

LEFT_INERTIAL = SOUND[SOUND.index("    <inertial>\n      <origin") : SOUND.index("    <collision>")]
LAST_LIMIT = '    <limit lower="-2" upper="1" velocity="3" effort="40"/>\n  </joint>\n</robot>'

# what is written, by what, the level, the line, a part of the repair
FAULTS = {
    "robot without a name": (' name="arm"', "", "error", 3, 'name="broken"'),
    "inverted limits": ('lower="-2" upper="1"', 'lower="1" upper="-2"', "error", 21, 'lower="-2" upper="1", swapped'),
    "zero axis": ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', "error", 20, "as joint 'right_shoulder' has"),
    "long axis": ('left_upper"/> <axis xyz="0 1 0"/>', 'left_upper"/> <axis xyz="0 3 4"/>', "note", 20, "0 0.6 0.8"),
    "nan axis": ('left_upper"/> <axis xyz="0 1 0"/>', 'left_upper"/> <axis xyz="0 nan 1"/>', "error", 20, "0 1 0"),
    "no limit": (LAST_LIMIT, "  </joint>\n</robot>", "warning", 23, "as joint 'left_shoulder' has"),
    "no effort": (LAST_LIMIT, LAST_LIMIT.replace(' effort="40"', ""), "warning", 26, 'effort="40"'),
    "no drive": (LAST_LIMIT, LAST_LIMIT.replace('"40"', '"0"'), "warning", 26, 'effort="40"'),
    "negative velocity": (LAST_LIMIT, LAST_LIMIT.replace('"3"', '"-3"'), "error", 26, 'velocity="3"'),
    "decimal comma": ('<mass value="2"/>', '<mass value="2,5"/>', "error", 8, 'value="2.5"'),
    "negative mass": ('<mass value="2"/>', '<mass value="-2"/>', "error", 8, 'value="2"'),
    "nan mass": ('<mass value="2"/>', '<mass value="nan"/>', "error", 6, "3 kg, its shapes at 1000"),
    "no inertial": (LEFT_INERTIAL, "", "warning", 5, "3 kg, its shapes at 1000"),
    "no moments": ('ixx="0.01"', 'ixx="nan"', "error", 6, "that of its shapes with its mass"),
    "huge moment": ('ixx="0.01"', 'ixx="1e308"', "error", 6, "that of its shapes with its mass"),
    "huge mass": ('<mass value="2"/>', '<mass value="1e200"/>', "error", 6, "3 kg, its shapes at 1000"),
    "huge origin": ('xyz="0.1 0 0"', 'xyz="0.1 0 1e200"', "error", 7, 'xyz="0 0 0"'),
    "negative moment": ('ixx="0.01"', 'ixx="-0.2"', "error", 9, "the nearest possible inertia"),
    "impossible moments": ('izz="0.05"', 'izz="0.5"', "warning", 9, "the nearest possible inertia"),
    "repeated link": ('name="right_upper"', 'name="left_upper"', "error", 13, 'name="right_upper"'),
    "repeated joint": ('name="right_shoulder"', 'name="left_shoulder"', "error", 23, 'name="left_shoulder_2"'),
    "misspelt child": ('<child link="left_upper"/>', '<child link="left_uper"/>', "error", 19, 'link="left_upper"'),
    "no child": ('<child link="left_upper"/>', "", "error", 19, '<child link="left_upper"/>'),
    "two parents": ('<child link="left_upper"/>', '<child link="right_upper"/>', "error", 23, 'link="left_upper"'),
    "itself": ('"base"/> <child link="left', '"left_upper"/> <child link="left', "error", 19, "it closes the loop"),
    "kind": ('name="left_shoulder" type="revolute"', 'name="left_shoulder" type="hinge"', "error", 19, "revolute"),
    "repeated axis": ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><axis xyz="1 0 0"/>', "error", 20, "the first one"),
    "nan origin": ('xyz="0.1 0 0"', 'xyz="0.1 0 x"', "error", 7, 'xyz="0 0 0"'),
    "negative size": ("0.3 0.1 0.1", "0.3 -0.1 0.1", "error", 11, "without the sign"),
    "no geometry": ('<box size="0.3 0.1 0.1"/>', "", "error", 11, "<collision> removed"),
    "mimics nothing": (LAST_LIMIT, '    <mimic joint="knee"/>\n' + LAST_LIMIT, "error", 26, "<mimic> removed"),
    "mimics itself": (LAST_LIMIT, '    <mimic joint="right_shoulder"/>\n' + LAST_LIMIT, "error", 26, "<mimic> removed"),
    "second root": ('"base"/>', '"base"/>\n  <link name="cup"/>', "error", 5, "fixed joint 'cup_joint'"),
    "missing mesh": ('<box size="0.3 0.1 0.1"/>', '<mesh filename="lost.stl"/>', "warning", 11, ""),
}  # fmt: skip


def _check(folder: Path, text: str, **options: object) -> Report:
    path = folder / "broken.urdf"
    path.write_text(text)
    return kd.check(path, **options)


def test_a_sound_file_has_no_findings_and_stays_the_same(tmp_path: Path):
    report = _check(tmp_path, SOUND)
    assert report.findings == ()
    assert report.repaired == SOUND


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_with_its_line_and_repaired(tmp_path: Path, fault: str):
    old, new, level, line, repair = FAULTS[fault]
    text = SOUND.replace(old, new, 1)
    assert text != SOUND
    report = _check(tmp_path, text)
    found = [finding for finding in report.findings if (finding.level, finding.line) == (level, line)]
    assert found, report.findings
    assert any(repair in finding.repair for finding in found), found
    assert report.repairable
    assert kd.check(report.write(tmp_path / "repaired.urdf")).repairs == ()
    if repair:
        changed = [
            part for part in difflib.ndiff(text.splitlines(), (report.repaired or "").splitlines()) if part[0] in "+-"
        ]
        assert 0 < len(changed) <= 10


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if FAULTS[fault][2] == "error"])
def test_errors_are_those_that_loading_refuses(tmp_path: Path, fault: str):
    old, new, *_ = FAULTS[fault]
    path = tmp_path / "broken.urdf"
    path.write_text(SOUND.replace(old, new, 1))
    with pytest.raises(kd.DescriptionError):
        kd.load(path)
    assert not kd.check(path).valid


def test_inertia_of_shapes_scales_with_the_density(tmp_path: Path):
    light, heavy = (
        _check(tmp_path, SOUND.replace(LEFT_INERTIAL, ""), density=rho).description for rho in (500.0, 1500.0)
    )
    assert light is not None
    assert heavy is not None
    np.testing.assert_allclose(heavy.links[1].inertia.matrix, 3.0 * light.links[1].inertia.matrix, rtol=1e-7)


def test_the_root_needs_an_inertia_only_if_it_moves(tmp_path: Path):
    assert _check(tmp_path, SOUND, base="fixed").findings == ()
    (finding,) = _check(tmp_path, SOUND, base="floating").findings
    assert finding.element == 'link name="base"'


def test_meshes_are_found_in_another_case_folder_or_format(tmp_path: Path):
    (tmp_path / "meshes" / "visual").mkdir(parents=True)
    file = tmp_path / "meshes" / "visual" / "Upper_Arm.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    for written in (
        "meshes/visual/upper_arm.obj",
        "package://gone/upper_arm.OBJ",
        "Upper_Arm.stl",
        "..\\upper_arm.dae",
    ):
        text = SOUND.replace('<box size="0.3 0.1 0.1"/>', f'<mesh filename="{written}"/>')
        report = _check(tmp_path, text)
        assert report.description is not None
        assert report.description.links[1].collisions[0].mesh == file
        assert report.repairs[0].repair.startswith('filename="meshes/visual/Upper_Arm.obj"')


def test_relative_paths_follow_a_file_that_is_written_elsewhere(tmp_path: Path):
    (tmp_path / "arm.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "out").mkdir()
    destination = tmp_path / "out" / "arm.urdf"
    text = SOUND.replace('<box size="0.3 0.1 0.1"/>', '<mesh filename="arm.obj"/>')
    _check(tmp_path, text, destination=destination).write(destination)
    robot = kd.load(destination, packages=[tmp_path])
    assert robot.description.links[1].collisions[0].mesh == tmp_path / "arm.obj"


def test_followers_get_the_range_that_their_leader_needs(tmp_path: Path):
    mimic = '    <mimic joint="left_shoulder" multiplier="-2" offset="5"/>\n'
    report = _check(tmp_path, SOUND.replace(LAST_LIMIT, mimic + LAST_LIMIT))
    assert not report.valid
    (finding,) = report.findings
    assert finding.repair.startswith('lower="3" upper="9"')


def test_mimics_in_a_loop_are_opened(tmp_path: Path):
    text = SOUND.replace(LAST_LIMIT, '    <mimic joint="left_shoulder"/>\n' + LAST_LIMIT)
    text = text.replace('left_upper"/> <axis', 'left_upper"/> <mimic joint="right_shoulder"/> <axis')
    report = _check(tmp_path, text)
    assert report.repairable
    assert sum("loop" in finding.message for finding in report.findings) == 1


def test_what_is_not_a_robot_has_no_repair(tmp_path: Path):
    for text in ("", "<robot", "<html/>", '<robot name="r"/>', "\x00\xff"):
        report = _check(tmp_path, text)
        assert not report.valid
        assert not report.repairable


def test_the_checked_file_is_not_replaced_unasked(tmp_path: Path):
    report = _check(tmp_path, SOUND.replace('lower="-2" upper="1"', 'lower="1" upper="-2"'))
    with pytest.raises(kd.InputError, match="checked file"):
        report.write(tmp_path / "broken.urdf")
    report.write(tmp_path / "broken.urdf", overwrite=True)
    assert kd.check(tmp_path / "broken.urdf").valid


def test_arguments_are_checked(tmp_path: Path):
    with pytest.raises(kd.InputError, match="does not exist"):
        kd.check(tmp_path / "none.urdf")
    with pytest.raises(kd.InputError, match="density"):
        _check(tmp_path, SOUND, density=-1.0)
    with pytest.raises(kd.InputError, match="base"):
        _check(tmp_path, SOUND, base="loose")


def test_a_long_chain_with_many_faults_is_repaired(tmp_path: Path):
    parts = ['<robot name="chain">', '<link name="l0"/>']
    for k in range(1, 1000):
        parts.append(f'<link name="l{k}"/><joint name="j{k}" type="revolute"><parent link="l{k - 1}"/>')
        parts.append(
            f'<child link="l{k}"/><mimic joint="j{k - 1}"/></joint>' if k > 1 else f'<child link="l{k}"/></joint>'
        )
    report = _check(tmp_path, "\n".join([*parts, "</robot>"]))
    assert report.repairable
    assert len(report.findings) == 2 * 999
