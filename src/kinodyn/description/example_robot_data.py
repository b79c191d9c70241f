"""Robots of the `example-robot-data` wheel, which the `robots` extra installs, and their names.

The wheel contains only data, a folder for each robot with URDF and mostly SRDF files. The short name of a robot is that
of its folder without `_description` or `_data`; further files of a folder have their file name without `.urdf`.
"""

from __future__ import annotations

import functools
import importlib.metadata
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from kinodyn.description.srdf import read_srdf
from kinodyn.description.types import Description
from kinodyn.description.urdf import read_urdf

DISTRIBUTION = "example-robot-data"

_SUFFIXES = ("_description", "_data")

# The file that a short name stands for, where a folder has several and none of that name.
_DEFAULT_FILES = {
    "alex": "alex_nub_hands",
    "allegro_hand": "allegro_right_hand",
    "anymal_b_simple": "anymal",
    "anymal_c_simple": "anymal",
    "g1": "g1_29dof_rev_1_0",
    "so_arm": "so101",
    "talos": "talos_reduced",
    "ur": "ur5_robot",
}

# Robots that walk or fly have a floating base. Arms, hands and wheeled robots load with a fixed base by default.
_QUADRUPEDS = ("a1", "anymal_b_simple", "anymal_c_simple", "b1", "go1", "go2", "hyq", "laikago", "quadruped", "solo")
_BIPEDS = ("alex", "alexander", "bolt", "g1", "human", "icub", "romeo", "simple_humanoid", "talos")
_LEGS_WITH_WHEELS = ("centauro",)
_FLYING = ("borinot", "hector", "hextilt", "iris")
FLOATING = frozenset((*_QUADRUPEDS, *_BIPEDS, *_LEGS_WITH_WHEELS, *_FLYING))
# Parts of such robots, mounted on a test bench.
_MOUNTED = frozenset({"talos_left_arm"})

# Invalid files of the wheel: a mimic of a missing joint, a negative moment of inertia, a <robot> without name. They are
# not listed; loading them by name raises the error.
_INVALID = frozenset({"alex_psyonic_hands", "romeo_laas_small", "ur3"})


def data_folder() -> Path | None:
    """Return the folder that contains a folder for each robot, None if the wheel is not installed."""
    try:
        files = importlib.metadata.files(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        robots = _robots_folder_of(file)
        if robots is not None:
            return Path(str(file.locate())).parents[len(file.parts) - len(robots.parts) - 1]
    return None


def _robots_folder_of(file: PurePath) -> PurePath | None:
    """Return the part of a path up to `example-robot-data/robots`, None if the file is not below it."""
    return next((folder for folder in file.parents if folder.parts[-2:] == (DISTRIBUTION, "robots")), None)


@dataclass(frozen=True)
class RobotFiles:
    """The URDF files of the wheel: `short` by short name, `folder` by folder name, `stem` by file name."""

    short: Mapping[str, Path]
    folder: Mapping[str, Path]
    stem: Mapping[str, Path]

    def find(self, name: str) -> Path | None:
        """Return the file of a name, None if there is none."""
        return self.short.get(name) or self.stem.get(name) or self.folder.get(name)

    def names(self, taken: Collection[str]) -> list[str]:
        """Return the names to list, sorted; a robot whose short name is `taken` has the name of its folder."""
        free = {name for name in (*self.short, *self.stem) if name not in taken and name not in _INVALID}
        hidden = {folder for folder in self.folder if short_name(folder) in taken}
        return sorted(free | hidden)


@functools.cache
def robot_files() -> RobotFiles:
    """Find the files of the wheel; none if it is not installed."""
    root = data_folder()
    folders = [] if root is None else sorted(folder for folder in root.iterdir() if folder.is_dir())
    urdfs = {folder.name: sorted(folder.rglob("*.urdf")) for folder in folders}
    default = {folder: _default_file(short_name(folder), files) for folder, files in urdfs.items() if files}
    every = [file for files in urdfs.values() for file in files]
    count = Counter(file.stem for file in every)
    return RobotFiles(
        short={short_name(folder): file for folder, file in default.items()},
        folder=default,
        # Two folders have an anymal.urdf: such a name would be ambiguous.
        stem={file.stem: file for file in every if count[file.stem] == 1},
    )


def _default_file(name: str, files: list[Path]) -> Path:
    default = _DEFAULT_FILES.get(name, name)
    return next((file for file in files if file.stem == default), files[0])


def short_name(folder: str) -> str:
    """Return the name of a folder without its suffix."""
    for ending in _SUFFIXES:
        folder = folder.removesuffix(ending)
    return folder


def describe_file(file: Path) -> Description:
    """Read one of the wheel's URDF files with its SRDF file."""
    description = read_urdf(file)
    folder = _robot_folder(file)
    srdf = _srdf_of(file, folder)
    if srdf is not None:
        description = read_srdf(srdf, description)
    floating = short_name(folder.name) in FLOATING and file.stem not in _MOUNTED
    return replace(description, base="floating" if floating else description.base)


def _robot_folder(file: Path) -> Path:
    return next(folder for folder in file.parents if folder.parent.name == "robots" and folder.name.endswith(_SUFFIXES))


def _srdf_of(file: Path, folder: Path) -> Path | None:
    """Return the SRDF file with the name of the URDF file, else of the robot, else the only one, else None."""
    found = {srdf.stem: srdf for srdf in sorted(folder.rglob("*.srdf"))}
    for stem in (file.stem, file.stem.removesuffix("_robot"), short_name(folder.name)):
        if stem in found:
            return found[stem]
    return next(iter(found.values())) if len(found) == 1 else None
