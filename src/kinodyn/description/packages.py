"""Locate the files that a description names: `package://`, `model://`, `file://` and plain paths. Nothing is opened."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from kinodyn.checks import as_path
from kinodyn.description.roots import Roots, environment_paths
from kinodyn.description.xml_tree import read_xml
from kinodyn.errors import DescriptionError

PackageDirs: TypeAlias = Sequence[str | os.PathLike[str]] | str | os.PathLike[str]

NEAR = 2  # folders above a description where files of a missing package are searched
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


class PackageFinder:
    """Resolves the file names of one description to paths on this machine.

    Parameters
    ----------
    file
        The description. Relative names start at its folder, and packages are also searched in the folders above; None
        for a description that is not in a file.
    packages
        Folders searched first; each may be a package or contain packages.
    allow_outside
        Whether files outside of the folders of the description are found too; see `roots.Roots`.

    Attributes
    ----------
    outside : list of str
        The names of existing files that were not returned because they are outside of the folders of the description.

    Notes
    -----
    Files of a package that is not found are searched next to the description and in the folder above, by the end of
    their path: robots are often copied without their package.
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | None = None,
        packages: PackageDirs = (),
        *,
        allow_outside: bool = False,
    ) -> None:
        self._given = package_folders(packages)
        self._roots = Roots(None if file is None else Path(file), self._given, allow_outside=allow_outside)
        self.outside: list[str] = []
        self._above = [] if file is None else _parent_folders(Path(os.path.abspath(file)))
        self._packages: dict[str, list[Path]] = {}
        self._declared: dict[Path, str | None] = {}

    def find(self, uri: str) -> Path | None:
        """Return the file that a URI or a path names, None if it is not on this machine.

        The network is never used: `http://` and the like, and Windows shares, are not found.
        """
        for path in self._candidates(uri.strip()):
            if is_file(path) and self.may_read(path, uri):
                return _normalised(path)
        return None

    def may_read(self, path: Path, uri: str) -> bool:
        """Return whether a file is in the folders of the description; its URI is added to `outside` if it is not."""
        if self._roots.contains(path):
            return True
        self.outside.append(uri)
        return False

    def package(self, name: str) -> Path | None:
        """Return the folder of a package, from which files may then be read; None if it is not found."""
        folder = next(iter(self._package_folders(name)), None)
        if folder is not None:
            self._roots.add(folder)
        return folder

    def given_packages(self) -> dict[str, Path]:
        """Map the package names of the given folders to their folders."""
        found: dict[str, Path] = {}
        for folder in self._given:
            names = [folder.name, self._declared_name(folder)]
            found.update((name, folder) for name in names if name and name not in found)
            for below in _subfolders(folder):
                found.setdefault(below.name, below)
        return found

    def _candidates(self, uri: str) -> Iterator[Path]:
        match = _SCHEME.fullmatch(uri)
        if match is None:
            yield from self._relative(uri)
        elif match[1].lower() in ("package", "model"):
            # package:///name/path, with an empty host, also occurs
            name, _, rest = unquote(match[2]).lstrip("/").partition("/")
            rest = rest.lstrip("/")  # package://name//path too; it is never an absolute path
            folders = self._package_folders(name)
            for folder in folders:
                self._roots.add(folder)
            yield from (folder / rest for folder in folders if rest)
            if rest and not folders and name not in ("", ".", ".."):
                yield from self._moved(rest)
        elif match[1].lower() == "file":
            yield from self._relative(unquote(match[2]))

    def _moved(self, path: str) -> Iterator[Path]:
        """Yield places near the description of a file whose package is not there

        The end of the path, as long as possible, must be the same.
        """
        parts = Path(path).parts
        for k in range(len(parts)):
            end = Path(*parts[k:])
            yield from (folder / end for folder in self._above[:NEAR])

    def _relative(self, name: str) -> Iterator[Path]:
        if name.startswith("\\\\"):
            return
        # One leading slash only: two would name a network share on Windows.
        path = Path(re.sub(r"^/+(?=[A-Za-z]:)|^/+(?=/)", "", name))
        if path.is_absolute():
            yield path
            return
        yield from (folder / path for folder in self._above[:1])
        yield from (folder / path for folder in self._given)

    def _package_folders(self, name: str) -> list[Path]:
        if name not in self._packages:
            self._packages[name] = [] if name in ("", ".", "..") else list(dict.fromkeys(self._search(name)))
        return self._packages[name]

    def _search(self, name: str) -> Iterator[Path]:
        """Yield the folders that may be the package, the most likely first."""
        yield from self._in_or_below(self._given, name)
        yield from self._in_or_below(self._above, name)
        for root in environment_paths("ROS_PACKAGE_PATH"):
            yield from self._in_or_below((root,), name)
            # ROS searches the whole tree; one more level finds the packages of a stack or a repository.
            yield from (folder / name for folder in _subfolders(root) if os.path.isdir(folder / name))
        for prefix in environment_paths("AMENT_PREFIX_PATH"):
            if os.path.isdir(prefix / "share" / name):
                yield prefix / "share" / name

    def _in_or_below(self, folders: Iterable[Path], name: str) -> Iterator[Path]:
        for folder in folders:
            if folder.name == name or self._declared_name(folder) == name:
                yield folder
            if os.path.isdir(folder / name):
                yield folder / name

    def _declared_name(self, folder: Path) -> str | None:
        """Return the name in the folder's package.xml, None without a readable one."""
        if folder not in self._declared:
            self._declared[folder] = _read_package_name(folder / "package.xml")
        return self._declared[folder]


def package_folders(packages: PackageDirs) -> list[Path]:
    """Return the folders of packages that a caller names; one alone need not be in a list."""
    given = (packages,) if isinstance(packages, (str, os.PathLike)) else packages
    folders = list(given) if isinstance(given, Iterable) else [given]
    return [as_path("packages", folder).expanduser() for folder in folders]


def is_file(path: Path) -> bool:
    """Return whether a path is that of a file; a path that no system accepts is not."""
    try:
        return os.path.isfile(path)
    except ValueError:  # a null byte
        return False


def _normalised(path: Path) -> Path:
    """Shorten `a/../b` to `b`, unless a symbolic link makes that another file."""
    short = Path(os.path.normpath(path))
    return short if short.exists() and short.samefile(path) else path


def _parent_folders(file: Path) -> list[Path]:
    """List the folders above a file, as the path is written and then with links resolved."""
    return list(dict.fromkeys((*file.parents, *file.resolve().parents)))


def _read_package_name(path: Path) -> str | None:
    if not os.path.isfile(path):
        return None
    try:
        names = list(read_xml(path).all("name"))
    except DescriptionError:
        # An invalid package.xml further up is not an error of the robot: that folder has no name.
        return None
    return names[0].text.strip() if len(names) == 1 else None


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir())
    except OSError:
        return []
