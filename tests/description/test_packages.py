"""Finding mesh files: by given folders, upward from the file, by the ROS variables; never over the network."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kinodyn.description.packages import PackageFinder
from kinodyn.description.urdf import parse_urdf, read_urdf
from kinodyn.errors import DescriptionWarning

MESH = "meshes/hand.stl"


@pytest.fixture(autouse=True)
def _no_ros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def make_package(folder: Path, declared: str | None = None) -> Path:
    """Make a package with one mesh and return the mesh."""
    mesh = folder / MESH
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b"solid")
    if declared is not None:
        (folder / "package.xml").write_text(f"<package><name> {declared} </name></package>", encoding="utf-8")
    return mesh


def test_a_given_folder_may_hold_the_package(tmp_path: Path) -> None:
    mesh = make_package(tmp_path / "hand_description")
    assert PackageFinder(None, [tmp_path]).find(f"package://hand_description/{MESH}") == mesh
    assert PackageFinder(None, str(tmp_path)).find(f"model://hand_description/{MESH}") == mesh


def test_a_second_slash_does_not_lead_out_of_the_package(tmp_path: Path) -> None:
    mesh = make_package(tmp_path / "hand_description")
    finder = PackageFinder(None, [tmp_path])
    assert finder.find(f"package://hand_description//{MESH}") == mesh
    assert finder.find(f"package://hand_description/{mesh}") is None


def test_a_given_folder_may_be_the_package_by_its_name_or_its_package_xml(tmp_path: Path) -> None:
    mesh = make_package(tmp_path / "checkout", "hand_description")
    assert PackageFinder(None, [mesh.parents[1]]).find(f"package://checkout/{MESH}") == mesh
    assert PackageFinder(None, [mesh.parents[1]]).find(f"package://hand_description/{MESH}") == mesh
    assert PackageFinder(None, [mesh.parents[1]]).find(f"package://other/{MESH}") is None


def test_the_upward_search_finds_packages_around_and_beside_the_file(tmp_path: Path) -> None:
    own, beside = make_package(tmp_path / "src" / "arm"), make_package(tmp_path / "src" / "hand")
    declared = make_package(tmp_path / "src" / "arm" / "inner", "declared_name")
    finder = PackageFinder(tmp_path / "src" / "arm" / "inner" / "urdf" / "arm.urdf")
    assert finder.find(f"package://arm/{MESH}") == own
    assert finder.find(f"package://hand/{MESH}") == beside
    assert finder.find(f"package://declared_name/{MESH}") == declared
    assert finder.find(f"package:///hand/{MESH}") == beside
    assert finder.package("hand") == tmp_path / "src" / "hand"
    assert finder.package("foot") is None


def test_the_upward_search_also_follows_symbolic_links(tmp_path: Path) -> None:
    mesh = make_package(tmp_path / "real" / "arm")
    urdf = tmp_path / "real" / "arm" / "arm.urdf"
    urdf.touch()
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "arm.urdf"
    try:
        link.symlink_to(urdf)
    except OSError:
        pytest.skip("this system lets nobody make symbolic links")
    assert PackageFinder(link).find(f"package://arm/{MESH}") == mesh


def test_a_path_through_a_symbolic_link_is_resolved_as_by_the_system(tmp_path: Path) -> None:
    mesh = make_package(tmp_path / "real")
    (tmp_path / "real" / "urdf").mkdir()
    (tmp_path / "arm").mkdir()
    try:
        (tmp_path / "arm" / "urdf").symlink_to(tmp_path / "real" / "urdf")
    except OSError:
        pytest.skip("this system lets nobody make symbolic links")
    found = PackageFinder(tmp_path / "arm" / "arm.urdf").find(f"urdf/../{MESH}")
    assert found is not None
    assert found.samefile(mesh)


def test_the_ros_environment_variables_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = make_package(tmp_path / "ws" / "one")
    nested = make_package(tmp_path / "ws" / "stack" / "nested")
    ament = make_package(tmp_path / "opt" / "share" / "two")
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join([str(tmp_path / "absent"), str(tmp_path / "ws")]))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "opt"))
    finder = PackageFinder()
    assert finder.find(f"package://one/{MESH}") == one
    assert finder.find(f"package://nested/{MESH}") == nested
    assert finder.find(f"package://two/{MESH}") == ament


def test_given_folders_precede_the_upward_search_which_precedes_ros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, walked, ros = (make_package(tmp_path / where / "hand") for where in ("given", "walked", "ros"))
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    uri, urdf = f"package://hand/{MESH}", tmp_path / "walked" / "arm.urdf"
    assert PackageFinder(urdf, [tmp_path / "given"]).find(uri) == given
    assert PackageFinder(urdf).find(uri) == walked
    assert PackageFinder().find(uri) == ros


def test_a_package_without_the_file_does_not_hide_one_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "empty" / "hand").mkdir(parents=True)
    mesh = make_package(tmp_path / "full" / "hand")
    assert PackageFinder(None, [tmp_path / "empty", tmp_path / "full"]).find(f"package://hand/{MESH}") == mesh


def test_plain_names_and_file_uris_start_at_the_description(tmp_path: Path) -> None:
    mesh = make_package(tmp_path / "my arm")
    (tmp_path / "my arm" / "urdf").mkdir()
    finder = PackageFinder(tmp_path / "my arm" / "urdf" / "arm.urdf")
    assert finder.find(f"../{MESH}") == mesh
    assert finder.find(f"./.././{MESH}") == mesh
    assert finder.find(f"file://../{MESH}") == mesh
    assert finder.find(str(mesh)) == mesh
    assert finder.find(mesh.as_uri()) == mesh
    assert "%20" in mesh.as_uri()


def test_plain_names_are_also_looked_for_in_given_folders(tmp_path: Path) -> None:
    mesh = make_package(tmp_path)
    assert PackageFinder(None, [tmp_path]).find(MESH) == mesh
    assert PackageFinder(None).find(MESH) is None


def test_files_of_a_package_that_is_not_there_are_found_beside_the_description(tmp_path: Path) -> None:
    mesh = tmp_path / "fetch" / "meshes" / "hand.stl"
    mesh.parent.mkdir(parents=True)
    mesh.touch()
    (tmp_path / "hand.stl").touch()
    finder = PackageFinder(tmp_path / "fetch" / "robots" / "fetch.urdf")
    assert finder.find("package://resources/fetch/meshes/hand.stl") == mesh
    assert finder.find("package://resources/hand.stl") is None  # further up than is searched
    assert finder.find("package://resources/fetch/meshes/foot.stl") is None


@pytest.mark.parametrize(
    "uri",
    ["http://localhost:9/hand.stl", "https://x/hand.stl", "ftp://x/hand.stl", "\\\\host\\share\\hand.stl", "package://",
     "package://hand", "package://../hand.stl", "package://./hand.stl", "x" * 5000, "file://", ""],
)  # fmt: skip
def test_only_existing_files_are_found(uri: str, tmp_path: Path) -> None:
    (tmp_path / "hand.stl").touch()
    (tmp_path / "in").mkdir()
    assert PackageFinder(tmp_path / "in" / "arm.urdf", [tmp_path]).find(uri) is None


def test_an_invalid_package_xml_above_the_file_is_skipped(tmp_path: Path) -> None:
    mesh = make_package(tmp_path / "hand")
    (tmp_path / "package.xml").write_text("<package><name>hand", encoding="utf-8")
    assert PackageFinder(tmp_path / "arm.urdf").find(f"package://hand/{MESH}") == mesh


def test_given_packages_lists_names_of_the_folders_and_of_those_inside(tmp_path: Path) -> None:
    make_package(tmp_path / "ws" / "hand")
    (tmp_path / "ws" / "package.xml").write_text("<package><name>all</name></package>", encoding="utf-8")
    packages = PackageFinder(None, [tmp_path / "ws", tmp_path / "absent"]).given_packages()
    assert packages["hand"] == tmp_path / "ws" / "hand"
    assert packages["all"] == packages["ws"] == tmp_path / "ws"


def mesh_robot(*uris: str) -> str:
    shapes = "".join(f'<visual><geometry><mesh filename="{uri}" scale="1 -1 2"/></geometry></visual>' for uri in uris)
    return f'<robot name="r"><link name="a">{shapes}</link></robot>'


def test_the_reader_keeps_the_path_the_uri_and_the_scale(tmp_path: Path) -> None:
    mesh = make_package(tmp_path / "hand")
    (tmp_path / "arm.urdf").write_text(mesh_robot(f"package://hand/{MESH}"), encoding="utf-8")
    (shape,) = read_urdf(tmp_path / "arm.urdf").links[0].visuals
    assert (shape.kind, shape.mesh, shape.uri) == ("mesh", mesh, f"package://hand/{MESH}")
    assert shape.size == (1.0, -1.0, 2.0)


def test_missing_meshes_are_one_warning_for_the_file(tmp_path: Path) -> None:
    make_package(tmp_path / "hand")
    uris = [f"package://hand/{MESH}", *(f"package://gone/{i}.stl" for i in range(6)), "package://gone/0.stl"]
    with pytest.warns(DescriptionWarning) as caught:
        description = parse_urdf(mesh_robot(*uris), packages=[tmp_path])
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "6 of 7 mesh files not found: package://gone/0.stl" in message
    assert "and 2 more" in message
    assert "packages" in message
    assert [shape.mesh is None for shape in description.links[0].visuals] == [False] + [True] * 7
