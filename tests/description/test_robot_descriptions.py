"""Robots of the package robot_descriptions: its own modules on a cache that the test lays out as the package does."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

import kinodyn as kd
from kinodyn.description.example_robot_data import robot_files
from kinodyn.description.robot_descriptions import installed

pytest.importorskip("robot_descriptions", reason="the package robot_descriptions is not installed")

MJCF = '<mujoco><worldbody><body name="pelvis"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty cache, and the network an error."""

    def refuse(*_: Any) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv(installed.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.delenv(installed.COMMIT_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "")  # no git either
    return tmp_path


def _put(cache: Path, repository: str, path: str, text: str) -> Path:
    import robot_descriptions._repositories as repositories

    file = cache / repositories.REPOSITORIES[repository].cache_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_nothing_is_listed_without_a_cache(cache: Path) -> None:
    assert not any(name.startswith("robot_descriptions.") or name == "g1_mj_description" for name in kd.robots())
    shutil.rmtree(cache)
    assert "humanoid" in kd.robots()


def test_a_urdf_with_its_srdf_is_loaded_by_name(cache: Path) -> None:
    reduced = robot_files().find("talos_reduced")
    if reduced is None:
        pytest.skip("example-robot-data is not installed")
    _put(cache, "talos-data", "urdf/talos_full.urdf", reduced.read_text())
    _put(cache, "talos-data", "srdf/talos.srdf", (reduced.parents[1] / "srdf" / "talos.srdf").read_text())
    with pytest.warns(kd.DescriptionWarning):  # meshes are not there
        robot = kd.load("robot_descriptions.talos_description")
    assert robot.base == "floating"
    assert robot.nv == 38
    assert "half_sitting" in robot.configurations
    assert any(name.endswith("talos_description") for name in kd.robots())


def test_an_mjcf_is_loaded_by_its_short_name(cache: Path) -> None:
    _put(cache, "mujoco_menagerie", "unitree_g1/g1.xml", MJCF)
    assert "g1_mj_description" in kd.robots()
    assert kd.load("g1_mj_description").nv == 6


def test_meshes_are_found_in_the_repository(cache: Path) -> None:
    text = (
        '<robot name="c"><link name="a"><visual><geometry><mesh filename="package://cassie_description/m/a.obj"/>'
        "</geometry></visual></link></robot>"
    )
    _put(cache, "cassie_description", "urdf/cassie_v4.urdf", text)
    mesh = _put(cache, "cassie_description", "m/a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    robot = kd.load("cassie_description")
    assert robot.description.links[-1].visuals[0].mesh == mesh


@pytest.mark.parametrize("name", ["g1_mj_description", "robot_descriptions.g1_mj_description"])
def test_a_robot_that_is_not_in_the_cache_says_how_to_get_it(cache: Path, name: str) -> None:
    with pytest.raises(kd.UnknownNameError, match="python -m robot_descriptions pull g1_mj_description"):
        kd.load(name)


def test_an_unknown_name_suggests_similar_ones_of_the_cache(cache: Path) -> None:
    _put(cache, "mujoco_menagerie", "unitree_g1/g1.xml", MJCF)
    with pytest.raises(kd.UnknownNameError, match="g1_mj_description"):
        kd.load("g1_mj_descriptio")


def test_a_xacro_file_is_not_evaluated_unasked(cache: Path) -> None:
    _put(cache, "franka_description", "robots/fr3/fr3.urdf.xacro", '<robot name="${1/0}"/>')
    with pytest.raises(kd.DescriptionError, match="xacro=True"):
        kd.load("fr3_description")


def test_a_commit_has_its_own_folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(installed.COMMIT_VARIABLE, "abc")
    import robot_descriptions._repositories as repositories

    place = repositories.REPOSITORIES["mujoco_menagerie"].cache_path
    _put(cache, "mujoco_menagerie", "unitree_g1/g1.xml", MJCF)
    os.rename(cache / place, cache / "temporary")
    (cache / f"{place}-abc").mkdir()
    os.rename(cache / "temporary", cache / f"{place}-abc" / place)
    assert kd.load("g1_mj_description").nv == 6


def test_without_the_package_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "PACKAGE", "no_such_package")
    assert installed.modules() == {}
    with pytest.raises(kd.UnknownNameError, match="unknown robot"):
        kd.load("g1_mj_description")
