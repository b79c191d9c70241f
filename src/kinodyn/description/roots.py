"""The folders from which the files of a description are read; a file elsewhere is read only on request.

A description may come from an untrusted source, and names files: without this rule, `../../secret.stl` would be opened,
and its content could appear in a web page that shows the robot.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE_FILES = ("package.xml", "model.config")  # of ROS and Gazebo: their folder is a package
# Folders of meshes and textures beside the folder of a description, as in robot/urdf/arm.urdf and robot/meshes.
ASSETS = frozenset(
    ("meshes", "mesh", "assets", "textures", "texture", "materials", "media", "visual", "collision", "visuals")
    + ("collisions", "stl", "stls", "obj", "objs", "dae", "hfields", "geometry", "geometries")
)
NEAR = 3  # folders above a description in which folders of assets are searched


class Roots:
    """The folders that a description may read from.

    These are: its own folder; the package around it, found by its `package.xml` or `model.config`; folders named
    `meshes`, `assets`, `textures` and the like below the three folders above it; the folders in `packages`; the
    packages of `ROS_PACKAGE_PATH` and `AMENT_PREFIX_PATH`. Symbolic links are followed: what counts is where a file
    really is.

    Parameters
    ----------
    file
        The description; None for one that is not in a file.
    packages
        Further folders.
    allow_outside
        True permits every file.
    """

    def __init__(self, file: Path | None, packages: Iterable[Path] = (), *, allow_outside: bool = False) -> None:
        self._allow_outside = allow_outside
        self._folders = set(_real(packages)) | set(_real(_environment_packages()))
        self._with_assets: set[Path] = set()  # folders of which only those named as assets may be read
        for path in () if file is None else _places(file):
            self._folders.add(path.parent)
            self._folders.update(_package_around(path))
            self._with_assets.update(path.parents[1 : 1 + NEAR])

    def add(self, folder: Path) -> None:
        """Permit the folder of a package that a description names; without a package file only its assets.

        Any folder above a description would pass for a package: `package://home/...`.
        """
        files = list(_package_files(folder))
        real = Path(os.path.realpath(folder))
        (self._folders if files else self._with_assets).add(real)
        self._folders.update(path.resolve().parent for path in files)  # of links to the sources of a package

    def contains(self, path: Path) -> bool:
        """Return whether a file may be read."""
        if self._allow_outside:
            return True
        real = Path(os.path.realpath(path))
        if any(real.is_relative_to(folder) for folder in self._folders):
            return True
        return any(
            not ASSETS.isdisjoint(part.lower() for part in real.relative_to(folder).parts[:-1])
            for folder in self._with_assets
            if real.is_relative_to(folder)
        )


def _places(file: Path) -> list[Path]:
    """Return the path as it is written, in a folder without links, and with the link that it may be resolved."""
    absolute = Path(os.path.abspath(file))
    return list(dict.fromkeys((absolute.parent.resolve() / absolute.name, absolute.resolve())))


def _package_around(file: Path) -> Iterator[Path]:
    for folder in file.parents:
        if any(_package_files(folder)):
            yield folder
            return


def _package_files(folder: Path) -> Iterator[Path]:
    return (folder / name for name in PACKAGE_FILES if os.path.isfile(folder / name))


def _real(folders: Iterable[Path]) -> Iterator[Path]:
    return (Path(os.path.realpath(folder)) for folder in folders)


def _environment_packages() -> Iterator[Path]:
    yield from environment_paths("ROS_PACKAGE_PATH")
    yield from (prefix / "share" for prefix in environment_paths("AMENT_PREFIX_PATH"))


def environment_paths(variable: str) -> list[Path]:
    """Return the folders that an environment variable lists."""
    return [Path(part) for part in os.environ.get(variable, "").split(os.pathsep) if part]
