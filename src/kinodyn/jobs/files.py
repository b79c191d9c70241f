"""Files as inputs of a job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kinodyn.argument_types import check_types
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.jobs.sources import Part, Source, content_hash


@displayed
class Files:
    """Files as inputs: the function receives the paths of a shard, as a list, and reads them itself.

    Their content is part of what identifies the job: a folder with results for other content raises an error.

    Parameters
    ----------
    paths
        Files, or folders; of a folder all files in it, in alphabetical order, but hidden ones.
    suffixes
        Endings of the files that are taken from folders; by default all.

    Attributes
    ----------
    paths : tuple of Path

    Examples
    --------
    >>> import tempfile, kinodyn as kd
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.csv", "a.csv", "notes.txt"):
    ...         (Path(folder) / name).touch()
    ...     [path.name for path in kd.jobs.Files(folder, suffixes=(".csv",)).paths]
    ['a.csv', 'b.csv']
    """

    @check_types
    def __init__(
        self, paths: Sequence[str | os.PathLike[str]] | str | os.PathLike[str], suffixes: Sequence[str] | str = ()
    ) -> None:
        given = [paths] if isinstance(paths, str | os.PathLike) else paths
        if not isinstance(given, Sequence) or not all(isinstance(path, str | os.PathLike) for path in given):
            raise InputError(f"paths must be files or folders, got {paths!r:.80}")
        suffixes = [suffixes] if isinstance(suffixes, str) else suffixes
        self._endings = tuple(suffix.lower() for suffix in suffixes)
        found: list[Path] = []
        for path in map(Path, given):
            if path.is_dir():
                found += sorted(each for each in path.iterdir() if each.is_file() and self._takes(each))
            elif path.is_file():
                found.append(path)
            else:
                raise InputError(f"inputs: {path} does not exist")
        if not found:
            wanted = f" ending in {', '.join(suffixes)}" if suffixes else ""
            raise InputError(f"inputs: there are no files{wanted} in {', '.join(map(str, given)) or 'an empty list'}")
        self.paths = tuple(found)

    def _takes(self, path: Path) -> bool:
        name = path.name.lower()
        return not name.startswith(".") and (not self._endings or name.endswith(self._endings))

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"Files({len(self)} files)"


class FileSource(Source):
    """The files of a `Files`."""

    def __init__(self, files: Files) -> None:
        self.paths, self.count = files.paths, len(files)

    def fingerprint(self) -> str:
        return content_hash(self.paths)

    def part(self, index: int, start: int, stop: int) -> Part:
        return _FilePart(tuple(str(path.absolute()) for path in self.paths[start:stop]))


@dataclass(frozen=True)
class _FilePart(Part):
    paths: tuple[str, ...]

    def read(self) -> list[Path]:
        return [Path(path) for path in self.paths]
