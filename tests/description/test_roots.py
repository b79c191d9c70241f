"""Files of a URDF are read from the folders of the robot only, unless the caller allows others."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

import kinodyn as kd
from kinodyn.description.packages import PackageFinder
from kinodyn.errors import DescriptionWarning


@pytest.fixture(autouse=True)
def _no_ros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def mesh(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"solid")
    return path


def urdf(path: Path, uri: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = f'<collision><geometry><mesh filename="{uri}"/></geometry></collision>'
    path.write_text(f'<robot name="r"><link name="base">{shape}</link></robot>')
    return path


def found(path: Path, **more: object) -> Path | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return kd.load(path, **more).description.links[0].collisions[0].mesh  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "uri", ["../../secret.stl", "{root}/secret.stl", "file://{root}/secret.stl", "package://{name}/secret.stl"]
)
def test_a_mesh_elsewhere_is_not_found_and_named_in_a_warning(tmp_path: Path, uri: str) -> None:
    mesh(tmp_path / "secret.stl")
    path = urdf(tmp_path / "a" / "b" / "r.urdf", uri.format(root=tmp_path, name=tmp_path.name))
    with pytest.warns(DescriptionWarning, match=r"allow_outside=True.*outside of the folders"):
        robot = kd.load(path)
    assert robot.description.links[0].collisions[0].mesh is None
    assert found(path, allow_outside=True) == found(path, packages=[tmp_path]) == tmp_path / "secret.stl"


def test_any_folder_above_does_not_pass_for_a_package(tmp_path: Path) -> None:
    """`package://etc/passwd` names a file in a folder below one above the description: /etc."""
    mesh(tmp_path / "etc" / "passwd")
    path = urdf(tmp_path / "home" / "user" / "r.urdf", "package://etc/passwd")
    assert found(path) is None
    (tmp_path / "etc" / "package.xml").write_text("<package><name>etc</name></package>")
    assert found(path) == tmp_path / "etc" / "passwd"


def test_a_symbolic_link_to_a_file_elsewhere_is_not_followed(tmp_path: Path) -> None:
    secret = mesh(tmp_path / "secret.stl")
    path = urdf(tmp_path / "robot" / "urdf" / "r.urdf", "linked.stl")
    os.symlink(secret, path.parent / "linked.stl")
    assert found(path) is None
    assert found(path, allow_outside=True) is not None


@pytest.mark.parametrize("uri", ["../meshes/m.stl", "../../meshes/m.stl", "package://robot/meshes/m.stl"])
def test_the_conventional_folder_of_meshes_is_part_of_the_robot(tmp_path: Path, uri: str) -> None:
    up = uri.count("../")
    expected = mesh(tmp_path / "robot" / "meshes" / "m.stl")
    folder = Path("urdf", "arm") if up == 2 else Path("urdf")
    assert found(urdf(tmp_path / "robot" / folder / "r.urdf", uri)) == expected


def test_a_package_file_makes_its_whole_folder_part_of_the_robot(tmp_path: Path) -> None:
    expected = mesh(tmp_path / "robot" / "parts" / "m.stl")
    path = urdf(tmp_path / "robot" / "urdf" / "deep" / "er" / "r.urdf", "../../../parts/m.stl")
    assert found(path) is None
    (tmp_path / "robot" / "package.xml").write_text("<package><name>robot</name></package>")
    assert found(path) == expected


def test_sources_that_a_workspace_links_to_are_part_of_the_robot(tmp_path: Path) -> None:
    """As `colcon build --symlink-install` installs a package: every file is a link to its source."""
    source, installed = tmp_path / "src" / "robot", tmp_path / "install" / "share" / "robot"
    mesh(source / "parts" / "m.stl")
    urdf(source / "urdf" / "r.urdf", "package://robot/parts/m.stl")
    (source / "package.xml").write_text("<package><name>robot</name></package>")
    for name in ("parts/m.stl", "urdf/r.urdf", "package.xml"):
        (installed / name).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(source / name, installed / name)
    assert found(installed / "urdf" / "r.urdf") is not None


def test_names_that_no_system_accepts_are_not_found(tmp_path: Path) -> None:
    finder = PackageFinder(tmp_path / "r.urdf")
    assert finder.find("x\0y.stl") is None
    assert finder.find("package://a\0b/c.stl") is None
    assert finder.find("x" * 5000 + ".stl") is None


@pytest.mark.parametrize("source", ["x" * 300, "x" * 5000, "a\0b", "a\0b.urdf", "x" * 5000 + ".urdf"])
def test_a_source_that_no_system_accepts_is_a_typed_error(source: str) -> None:
    with pytest.raises(kd.errors.KinodynError):
        kd.load(source)
