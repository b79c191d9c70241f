"""Find the robots of the `example-robot-data` wheel, which the `robots` extra installs, and give them names.

The wheel is data only, a folder for each robot with URDF and mostly SRDF files. A robot's short name is its folder's
without `_description` or `_data`; a folder's further files go by their file name without `.urdf`.
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

_ENDINGS = ("_description", "_data")

# Which file a short name means, where a folder has several and none is called like it.
_FIRST_FILES = {
    "alex": "alex_nub_hands",
    "allegro_hand": "allegro_right_hand",
    "anymal_b_simple": "anymal",
    "anymal_c_simple": "anymal",
    "g1": "g1_29dof_rev_1_0",
    "so_arm": "so101",
    "talos": "talos_reduced",
    "ur": "ur5_robot",
}

# Nothing holds the base of robots that walk or fly. Arms and hands are bolted down, and robots on wheels keep upright
# by themselves: they load with a fixed base unless asked otherwise.
_ON_FOUR_LEGS = ("a1", "anymal_b_simple", "anymal_c_simple", "b1", "go1", "go2", "hyq", "laikago", "quadruped", "solo")
_ON_TWO_LEGS = ("alex", "alexander", "bolt", "g1", "human", "icub", "romeo", "simple_humanoid", "talos")
_ON_LEGS_WITH_WHEELS = ("centauro",)
_FLYING = ("borinot", "hector", "hextilt", "iris")
FLOATING = frozenset((*_ON_FOUR_LEGS, *_ON_TWO_LEGS, *_ON_LEGS_WITH_WHEELS, *_FLYING))
# Parts of such robots, on a test bench.
_BENCH = frozenset({"talos_left_arm"})

# Files of the wheel that describe no robot: a mimic of a joint that is not there, a negative moment of inertia, a
# <robot> without name. Asked for by name, they say so; they are not listed.
_FAULTY = frozenset({"alex_psyonic_hands", "romeo_laas_small", "ur3"})


def data_folder() -> Path | None:
    """Return the folder with a folder for each robot, None when the wheel is not installed."""
    try:
        files = importlib.metadata.files(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        robots = _robots_above(file)
        if robots is not None:
            return Path(str(file.locate())).parents[len(file.parts) - len(robots.parts) - 1]
    return None


def _robots_above(file: PurePath) -> PurePath | None:
    """Return the part of a path up to `example-robot-data/robots`, if the file lies below it."""
    return next((folder for folder in file.parents if folder.parts[-2:] == (DISTRIBUTION, "robots")), None)


@dataclass(frozen=True)
class RobotFiles:
    """The URDF files of the wheel: `short` by short name, `folder` by folder name, `stem` by their own name."""

    short: Mapping[str, Path]
    folder: Mapping[str, Path]
    stem: Mapping[str, Path]

    def find(self, name: str) -> Path | None:
        """Return the file that a name means, None if it means none."""
        return self.short.get(name) or self.stem.get(name) or self.folder.get(name)

    def names(self, taken: Collection[str]) -> list[str]:
        """Return the names to list, sorted; a robot whose short name is `taken` goes by its folder's name."""
        free = {name for name in (*self.short, *self.stem) if name not in taken and name not in _FAULTY}
        hidden = {folder for folder in self.folder if short_name(folder) in taken}
        return sorted(free | hidden)


@functools.cache
def robot_files() -> RobotFiles:
    """Look through the wheel; no files when it is not installed."""
    root = data_folder()
    folders = [] if root is None else sorted(folder for folder in root.iterdir() if folder.is_dir())
    urdfs = {folder.name: sorted(folder.rglob("*.urdf")) for folder in folders}
    first = {folder: _first(short_name(folder), files) for folder, files in urdfs.items() if files}
    every = [file for files in urdfs.values() for file in files]
    times = Counter(file.stem for file in every)
    return RobotFiles(
        short={short_name(folder): file for folder, file in first.items()},
        folder=first,
        # Two folders have an anymal.urdf: such a name would mean neither.
        stem={file.stem: file for file in every if times[file.stem] == 1},
    )


def _first(name: str, files: list[Path]) -> Path:
    wanted = _FIRST_FILES.get(name, name)
    return next((file for file in files if file.stem == wanted), files[0])


def short_name(folder: str) -> str:
    """Return a folder's name without the ending that all of them have."""
    for ending in _ENDINGS:
        folder = folder.removesuffix(ending)
    return folder


def describe_file(file: Path) -> Description:
    """Read one of the wheel's URDF files with the SRDF file that goes with it."""
    description = read_urdf(file)
    folder = _robot_folder(file)
    srdf = _srdf_of(file, folder)
    if srdf is not None:
        description = read_srdf(srdf, description)
    floating = short_name(folder.name) in FLOATING and file.stem not in _BENCH
    return replace(description, base="floating" if floating else description.base)


def _robot_folder(file: Path) -> Path:
    return next(folder for folder in file.parents if folder.parent.name == "robots" and folder.name.endswith(_ENDINGS))


def _srdf_of(file: Path, folder: Path) -> Path | None:
    """Return the SRDF file called like the URDF file, else like the robot, else the only one, else None."""
    found = {srdf.stem: srdf for srdf in sorted(folder.rglob("*.srdf"))}
    for stem in (file.stem, file.stem.removesuffix("_robot"), short_name(folder.name)):
        if stem in found:
            return found[stem]
    return next(iter(found.values())) if len(found) == 1 else None
