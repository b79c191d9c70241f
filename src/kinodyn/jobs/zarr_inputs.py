"""Zarr arrays as inputs of a job; the package zarr is imported here only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.errors import InputError, KinodynError
from kinodyn.jobs.sources import Part, Source, content_hash

METADATA = (".zarray", ".zgroup", "zarr.json")
UNSAFE = ("pickle",)  # codecs that would execute what they read
MAX_METADATA = 1 << 22  # bytes


def is_zarr(path: Path) -> bool:
    """Return whether a folder is a Zarr array or group, of format 2 or 3."""
    return any((path / name).is_file() for name in METADATA)


class ZarrSource(Source):
    """A Zarr array (n, ...), or the arrays of a group, by name, with n rows each."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        _reject_pickles(self.path)
        arrays = _open(str(self.path))
        self.names = tuple(sorted(arrays))
        counts = {name: int(arrays[name].shape[0]) for name in self.names}
        if len(set(counts.values())) != 1:
            raise InputError(f"arrays of {path} must have the same number of rows, got {counts}")
        self.count = counts[self.names[0]]

    def fingerprint(self) -> str:
        return content_hash(sorted(file for file in self.path.rglob("*") if file.is_file()), self.path)

    def part(self, index: int, start: int, stop: int) -> Part:
        return _ZarrPart(str(self.path), start, stop)


@dataclass(frozen=True)
class _ZarrPart(Part):
    path: str
    start: int
    stop: int

    def read(self) -> Any:
        read = {name: _slice(array, self.start, self.stop, self.path) for name, array in _open(self.path).items()}
        return read[""] if list(read) == [""] else read


def _open(path: str) -> dict[str, Any]:
    """Open the arrays of a folder without reading them; a single array has the name ""."""
    try:
        zarr: Any = import_module("zarr")
    except ImportError as cause:
        raise KinodynError(
            "Zarr folders need the package zarr; install it with: pip install 'kinodyn[zarr]'"
        ) from cause
    try:
        opened = zarr.open(path, mode="r")
        arrays = {"": opened} if hasattr(opened, "shape") else {str(name): each for name, each in opened.arrays()}
    except Exception as cause:  # zarr raises errors of many kinds for broken metadata
        raise InputError(f"{path} cannot be read as Zarr: {type(cause).__name__}: {cause}") from cause
    if not arrays:
        raise InputError(f"{path} has no arrays")
    for name, array in arrays.items():
        if array.ndim == 0 or array.dtype.hasobject:
            raise InputError(f"{path}: {name or 'the array'} must be an array (n, ...) of numbers, got {array.dtype}")
    return arrays


def _slice(array: Any, start: int, stop: int, path: str) -> NDArray[Any]:
    try:
        return np.asarray(array[start:stop])
    except Exception as cause:  # of codecs, for chunks that are cut off or damaged
        raise InputError(f"{path} cannot be read as Zarr: {type(cause).__name__}: {cause}") from cause


def _reject_pickles(path: Path) -> None:
    """Raise if an array is stored by a codec that unpickles."""
    for file in (each for name in METADATA for each in path.rglob(name)):
        if file.stat().st_size > MAX_METADATA:
            raise InputError(f"{file} must be smaller than {MAX_METADATA} bytes")
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as cause:
            raise InputError(f"{file} cannot be read as Zarr: {cause}") from cause
        if any(codec in UNSAFE for codec in _codecs(content)):
            raise InputError(f"{file} must not use pickles, which execute code when they are read")


def _codecs(content: Any) -> list[str]:
    """List all identifiers of codecs in metadata of format 2 ("id") and 3 ("name")."""
    found, pending = list[str](), [content]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            found += [str(part[key]).rpartition(".")[2].lower() for key in ("id", "name") if key in part]
            pending += part.values()
        elif isinstance(part, list):
            pending += part
    return found
