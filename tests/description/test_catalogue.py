"""Every name that is listed must give a robot, and a name that is not must lead to one."""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from kinodyn.description import example_robot_data
from kinodyn.description.base import with_base
from kinodyn.description.catalogue import BUNDLED, describe, is_known, robots
from kinodyn.description.example_robot_data import FLOATING, data_folder, robot_files, short_name
from kinodyn.description.validation import validate
from kinodyn.errors import DescriptionError, DescriptionWarning, InputError, UnknownNameError


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the wheel of the `robots` extra were not installed."""

    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    robot_files.cache_clear()
    monkeypatch.setattr(example_robot_data.importlib.metadata, "files", missing)
    yield
    robot_files.cache_clear()


def test_bundled_names_come_first_and_no_name_twice() -> None:
    names = robots()
    assert names[:7] == ("humanoid", "panda", "planar2r", "planar3r", "puma560", "scara", "ur5")
    assert len(set(names)) == len(names)
    assert list(names[7:]) == sorted(names[7:])


@pytest.mark.parametrize("name", robots())
def test_every_listed_robot_builds_is_valid_and_takes_either_base(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        description = describe(name)
        validate(description)
        for base in (None, "fixed", "floating"):
            validate(with_base(description, base))  # type: ignore[arg-type]
    moving = {joint.name for joint in description.joints if joint.kind != "fixed"} | {"root_joint"}
    for values in description.configurations.values():
        assert set(values) <= moving
    for chain in description.chains.values():
        assert set(chain) <= moving


def test_every_folder_with_a_urdf_file_is_listed_by_its_short_name() -> None:
    root = data_folder()
    assert root is not None
    folders = [folder for folder in root.iterdir() if any(folder.rglob("*.urdf"))]
    assert len(folders) > 30
    for folder in folders:
        listed = folder.name if short_name(folder.name) in BUNDLED else short_name(folder.name)
        assert listed in robots()


def test_every_urdf_file_is_reachable_by_some_name() -> None:
    root = data_folder()
    assert root is not None
    files = robot_files()
    reachable = {*files.short.values(), *files.stem.values(), *files.folder.values()}
    assert set(root.rglob("*.urdf")) == reachable


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("talos", "talos_reduced.urdf"),
        ("talos_full_v2", "talos_full_v2.urdf"),
        ("g1", "g1_29dof_rev_1_0.urdf"),
        ("ur10_robot", "ur10_robot.urdf"),
        ("tiago", "tiago.urdf"),
        ("tiago_dual", "tiago_dual.urdf"),
        ("panda_description", "panda.urdf"),
        ("anymal_c_simple", "anymal.urdf"),
    ],
)
def test_names_refer_to_files_by_the_naming_rule(name: str, file: str) -> None:
    found = robot_files().find(name)
    assert found is not None
    assert found.name == file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        assert describe(name).source == found


def test_an_ambiguous_name_refers_to_neither_file() -> None:
    assert not is_known("anymal")
    with pytest.raises(UnknownNameError, match="anymal_b_simple"):
        describe("anymal")


def test_bundled_robots_win_over_those_of_the_extra() -> None:
    assert describe("panda").source is None
    assert len([joint for joint in describe("panda").joints if joint.kind == "revolute"]) == 7


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("humanoid", "floating"),
        ("talos", "floating"),
        ("talos_left_arm", "fixed"),
        ("solo12", "floating"),
        ("hector", "floating"),
        ("ur10_robot", "fixed"),
        ("allegro_hand", "fixed"),
        ("tiago", "fixed"),
        ("panda", "fixed"),
    ],
)
def test_named_robots_have_the_base_of_the_real_ones(name: str, base: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        assert with_base(describe(name)).base == base


def test_every_robot_of_the_floating_list_exists() -> None:
    assert set(robot_files().short) >= FLOATING


def test_the_srdf_next_to_a_file_is_read() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        talos = describe("talos")
    assert "half_sitting" in talos.configurations
    assert len(talos.configurations["half_sitting"]["root_joint"]) == 7
    assert len(talos.chains["l_leg"]) == 6


@pytest.mark.parametrize(
    ("written", "meant"), [("humanod", "humanoid"), ("puma", "puma560"), ("Talos", "talos"), ("ur_5", "ur5")]
)
def test_a_misspelt_name_suggests_the_nearest(written: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=f"'{meant}'"):
        describe(written)


@pytest.mark.filterwarnings("ignore::kinodyn.errors.DescriptionWarning")
def test_invalid_files_of_the_extra_are_not_listed_and_raise_the_reason() -> None:
    for name in ("alex_psyonic_hands", "romeo_laas_small", "ur3"):
        assert name not in robots()
        with pytest.raises(DescriptionError, match=f"{name}.urdf:"):
            describe(name)


def test_height_and_mass_apply_to_the_humanoid_only() -> None:
    body = describe("humanoid", height=1.5, mass=50.0)
    assert sum(link.inertia.mass for link in body.links if link.inertia) == pytest.approx(50.0)
    with pytest.raises(InputError, match="height and mass cannot be set for robot 'panda'"):
        describe("panda", height=1.5, mass=50.0)
    with pytest.raises(InputError, match="mass cannot be set for robot 'talos'"):
        describe("talos", mass=50.0)


@pytest.mark.usefixtures("without_extra")
def test_without_the_extra_only_bundled_robots_are_listed_and_the_error_says_how_to_get_more() -> None:
    assert robots() == tuple(BUNDLED)
    with pytest.raises(UnknownNameError, match=r"unknown robot 'talos'.*pip install 'kinodyn\[robots\]'"):
        describe("talos")


def test_with_the_extra_the_error_does_not_ask_to_install_it() -> None:
    with pytest.raises(UnknownNameError) as caught:
        describe("no such robot")
    assert "pip install" not in str(caught.value)


def test_the_folder_of_the_extra_is_found_wherever_it_was_installed() -> None:
    root = data_folder()
    assert isinstance(root, Path)
    assert (root / "talos_data" / "robots" / "talos_reduced.urdf").is_file()
