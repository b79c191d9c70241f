"""Faults of MJCF files are found and repaired; MuJoCo judges."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import pytest

import kinodyn as kd

from .stepping import stays_finite

SOUND = """<mujoco model="legs">
  <compiler angle="radian" autolimits="true"/>
  <!-- a comment -->
  <asset>
    <mesh name="shin" file="meshes/Shin.obj"/>
  </asset>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint name="root"/>
      <inertial pos="0 0 0" mass="8" diaginertia="0.1 0.1 0.05"/>
      <body name="left_shin" pos="0 0.1 -0.3">
        <joint name="left_knee" axis="0 1 0" range="0 2" damping="0.5"/>
        <inertial pos="0 0 -0.1" mass="1.5" fullinertia="0.02 0.02 0.004 0 0 0"/>
        <geom type="mesh" mesh="shin" mass="0"/>
      </body>
      <body name="right_shin" pos="0 -0.1 -0.3">
        <joint name="right_knee" axis="0 1 0" range="0 2"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3"/>
        <site name="tip" pos="0 0 -0.3"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="left" joint="left_knee" ctrlrange="-20 20"/>
    <motor name="right" joint="right_knee"/>
  </actuator>
  <keyframe> <key name="home" ctrl="0 0"/> </keyframe>
</mujoco>
"""
SHIN = '        <inertial pos="0 0 -0.1" mass="1.5" fullinertia="0.02 0.02 0.004 0 0 0"/>\n'

FAULTS = {
    "inverted range": ('"0 2" damping', '"2 0" damping', 12, "swapped"),
    "zero axis": ('left_knee" axis="0 1 0"', 'left_knee" axis="0 0 0"', 12, "as joint 'right_knee' has"),
    "no inertia": (SHIN, "", 11, "its geoms at 1000 kg/m^3"),
    "no inertia and no geom": (SHIN + '        <geom type="mesh" mesh="shin" mass="0"/>\n', "", 11, "a ball of 1 g"),
    "impossible moments": ('diaginertia="0.1 0.1 0.05"', 'diaginertia="0.1 0.1 0.5"', 10, "the nearest possible"),
    "negative moments": ("0.02 0.02 0.004", "0.02 -0.02 0.004", 13, "the nearest possible"),
    "huge moments": ("0.02 0.02 0.004", "0.02 1e308 0.004", 13, "fullinertia removed"),
    "negative mass": ('mass="8"', 'mass="-8"', 10, 'mass="8"'),
    "decimal comma": ('mass="1.5"', 'mass="1,5"', 13, 'mass="1.5"'),
    "nan position": ('name="left_shin" pos="0 0.1 -0.3"', 'name="left_shin" pos="0 nan 0"', 11, "pos removed"),
    "repeated joint": ('name="right_knee" axis', 'name="left_knee" axis', 17, 'name="right_knee"'),
    "repeated body": ('body name="right_shin"', 'body name="left_shin"', 16, 'name="left_shin_2"'),
    "case of a file": ("meshes/Shin.obj", "Meshes/shin.OBJ", 5, 'file="meshes/Shin.obj"'),
    "suffix of a file": ("meshes/Shin.obj", "Shin.stl", 5, 'file="meshes/Shin.obj"'),
    "unknown joint": ('joint="right_knee"', 'joint="rigth_knee"', 25, 'joint="right_knee"'),
    "no such joint": ('joint="right_knee"', 'joint="wing"', 25, "<motor> removed"),
    "unknown mesh": ('mesh="shin"', 'mesh="shinn"', 14, 'mesh="shin"'),
    "zero quaternion": ('left_shin" pos', 'left_shin" quat="0 0 0 0" pos', 11, "quat removed"),
    "unknown attribute": ('damping="0.5"', 'dampening="0.5"', 12, "dampening removed"),
    "no size": ('size="0.03"', 'size="0"', 18, "<geom> removed"),
}


def _file(folder: Path, text: str) -> Path:
    (folder / "meshes").mkdir(exist_ok=True)
    mesh = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (folder / "meshes" / "Shin.obj").write_text(mesh)
    path = folder / "legs.xml"
    path.write_text(text)
    return path


def test_a_sound_file_stays_the_same(tmp_path: Path):
    report = kd.check(_file(tmp_path, SOUND))
    assert report.findings == ()
    assert report.repaired == SOUND


def test_flags_named_like_quantities_are_words(tmp_path: Path):
    text = SOUND.replace("<asset>", '<option><flag frictionloss="disable"/></option>\n  <asset>', 1)
    assert kd.check(_file(tmp_path, text)).findings == ()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_with_its_line_and_repaired(tmp_path: Path, fault: str):
    old, new, line, repair = FAULTS[fault]
    text = SOUND.replace(old, new, 1)
    path = _file(tmp_path, text)
    if fault not in ("negative mass", "inverted range", "nan position"):
        with pytest.raises(ValueError, match=r"\S"):
            mujoco.MjModel.from_xml_path(str(path))
    report = kd.check(path)
    assert not report.valid
    assert any(finding.line == line and repair in finding.repair for finding in report.findings), report.findings
    assert report.repairable
    written = report.write(tmp_path / "repaired.xml")
    assert stays_finite(mujoco.MjModel.from_xml_path(str(written)), 200)
    assert kd.check(written).repairs == ()
    assert "<!-- a comment -->" in written.read_text()


def test_a_body_gets_the_inertia_of_its_geoms(tmp_path: Path):
    report = kd.check(_file(tmp_path, SOUND.replace(SHIN, "")), density=1000.0)
    model = mujoco.MjModel.from_xml_path(str(report.write(tmp_path / "repaired.xml")))
    shin = model.body("left_shin")
    assert shin.mass[0] == pytest.approx(1000.0 * 0.1**3 / 6.0, rel=1e-6)
    assert shin.ipos == pytest.approx([0.025] * 3, abs=1e-6)


def test_files_are_found_from_another_folder(tmp_path: Path):
    (tmp_path / "out").mkdir()
    destination = tmp_path / "out" / "legs.xml"
    kd.check(_file(tmp_path, SOUND), destination=destination).write(destination)
    assert kd.load(destination).nv == 8


def test_a_file_with_includes_is_checked_with_them_and_written_beside_them(tmp_path: Path):
    _file(tmp_path, SOUND)
    scene = tmp_path / "scene.xml"
    scene.write_text(
        '<mujoco><include file="legs.xml"/><worldbody><geom name="f" type="plane" size="1 1 1"/></worldbody></mujoco>'
    )
    assert kd.check(scene).findings == ()
    (tmp_path / "out").mkdir()
    with pytest.raises(kd.InputError, match="includes other files"):
        kd.check(scene, destination=tmp_path / "out" / "scene.xml")


def test_what_mujoco_refuses_without_a_repair_is_reported_in_its_words(tmp_path: Path):
    report = kd.check(_file(tmp_path, SOUND.replace("<worldbody>", "<worldbody><unheard/>")))
    assert not report.repairable
    assert any("unheard" in finding.message for finding in report.findings)


def test_the_model_of_a_humanoid_without_inertias_simulates_after_its_repair(tmp_path: Path):
    text = re.sub(r"<inertial\b[^>]*/>", "", kd.sim.to_mjcf(kd.load("humanoid"), contacts=True))
    path = tmp_path / "humanoid.xml"
    path.write_text(text)
    report = kd.check(path)
    assert not report.valid
    written = report.write(tmp_path / "repaired.xml")
    assert stays_finite(mujoco.MjModel.from_xml_path(str(written)), 200)
