"""Search for mesh files that a description names but that are not where it says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from kinodyn.description.meshes import SUFFIXES

MAX_PARENT_FOLDERS = 3  # folders above the file that are searched
MAX_ENTRIES = 50_000  # a search ends there
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


class MeshSearch:
    """Finds meshes by their file name, in any case, below the folders around a description.

    Parameters
    ----------
    file
        The description.
    folders
        More folders to search, first.
    """

    def __init__(self, file: Path, folders: tuple[Path, ...] = ()) -> None:
        above = Path(os.path.abspath(file)).parents
        # The root of a file system and the folder of all users are not searched.
        near = [folder for folder in above[: MAX_PARENT_FOLDERS + 1] if len(folder.parts) > 2]
        self._folders = [*folders, *near]
        self._found: dict[Path, dict[str, list[Path]]] = {}

    def find(self, uri: str, *, suffixes: tuple[str, ...] = SUFFIXES) -> Path | None:
        """Return the file that a URI most likely means, None if none has its name.

        Files with the same suffix come first, then those whose folders agree most with those of the URI.
        """
        parts = path_parts(uri)
        if not parts:
            return None
        stem, suffix = os.path.splitext(parts[-1].lower())
        for folder in self._folders:
            candidates = [path for path in self._files(folder).get(stem, []) if path.suffix.lower() in suffixes]
            if candidates:
                return min(
                    candidates,
                    key=lambda path: (path.suffix.lower() != suffix, -_common_folders(path, parts), str(path)),
                )
        return None

    def _files(self, folder: Path) -> dict[str, list[Path]]:
        if folder not in self._found:
            found: dict[str, list[Path]] = {}
            for path in _walk(folder):
                found.setdefault(path.stem.lower(), []).append(path)
            self._found[folder] = found
        return self._found[folder]


def path_parts(uri: str) -> list[str]:
    """Return the folders and the file name of a URI or path, with either kind of slash."""
    match = _SCHEME.fullmatch(uri.strip())
    text = unquote(match[2]) if match else uri.strip()
    return [part for part in re.split(r"[/\\]+", text) if part not in ("", ".", "..")]


def package_of(uri: str) -> str | None:
    """Return the package that a URI names, None if it names none."""
    match = _SCHEME.fullmatch(uri.strip())
    return path_parts(uri)[0] if match and match[1].lower() in ("package", "model") and path_parts(uri) else None


def relative(path: Path, folder: Path) -> str:
    """Return the path relative to a folder, with forward slashes."""
    return PurePosixPath(os.path.relpath(path, folder)).as_posix()


def _common_folders(path: Path, parts: list[str]) -> int:
    """Count how many of the last parts agree."""
    count = 0
    for own, other in zip(reversed(path.parts[:-1]), reversed(parts[:-1]), strict=False):
        if own.lower() != other.lower():
            break
        count += 1
    return count


def _walk(folder: Path) -> Iterator[Path]:
    seen = 0
    for top, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += len(files) + len(folders)
        if seen > MAX_ENTRIES:
            return
        yield from (
            Path(top) / name for name in sorted(files) if os.path.splitext(name)[1].lower() in (*SUFFIXES, ".msh")
        )
