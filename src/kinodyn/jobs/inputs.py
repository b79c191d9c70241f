"""Inputs of jobs: arrays, tables in files, and random samples, each cut into parts that can be sent to workers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn import tables
from kinodyn.checks import integer
from kinodyn.errors import InputError
from kinodyn.jobs.files import Files, FileSource
from kinodyn.jobs.sources import HASHED_AT_ONCE, Part, Source, content_hash

MAX_COUNT = 10**15


@dataclass(frozen=True, eq=False)
class SampleBatch:
    """What a function receives for a shard of `Samples`.

    Attributes
    ----------
    rng : numpy.random.Generator
        Seeded by the job's seed and the number of the shard.
    count : int
        Number of samples to draw.
    start : int
        Number of samples in the shards before.
    """

    rng: np.random.Generator
    count: int
    start: int


@dataclass(frozen=True)
class Samples:
    """Inputs that the function draws itself.

    The function receives a `SampleBatch`. Its generator depends on the seed and the shard only, so that results do not
    depend on the number of workers.

    Parameters
    ----------
    count
        Number of samples.
    seed
        Seed of all generators, 0 or more.

    Examples
    --------
    >>> import kinodyn as kd
    >>> kd.jobs.Samples(10**8, seed=1).count
    100000000
    """

    count: int
    seed: int = 0

    def __post_init__(self) -> None:
        for what, value, least in (("count", self.count, 1), ("seed", self.seed, 0)):
            integer(what, value, least, MAX_COUNT)


class SampleSource(Source):
    """The samples of a `Samples`."""

    def __init__(self, samples: Samples) -> None:
        self.count, self.seed = int(samples.count), int(samples.seed)

    def fingerprint(self) -> str:
        return f"samples:{self.seed}:{self.count}"

    def part(self, index: int, start: int, stop: int) -> Part:
        return _SamplePart(self.seed, index, start, stop - start)


@dataclass(frozen=True)
class _SamplePart(Part):
    seed: int
    index: int
    start: int
    count: int

    def read(self) -> SampleBatch:
        sequence = np.random.SeedSequence(self.seed, spawn_key=(self.index,))
        return SampleBatch(np.random.default_rng(sequence), self.count, self.start)


class ArraySource(Source):
    """One array (n, ...), or several with the same number of rows, in memory or memory-mapped."""

    def __init__(self, arrays: NDArray[Any] | Mapping[str, NDArray[Any]]) -> None:
        self.single = not isinstance(arrays, Mapping)
        given = arrays if isinstance(arrays, Mapping) else {"": arrays}
        self.arrays = {str(name): np.asanyarray(array) for name, array in given.items()}
        if not self.arrays:
            raise InputError("inputs has no arrays")
        for name, array in self.arrays.items():
            if array.ndim == 0 or array.dtype.hasobject:
                raise InputError(f"inputs{_label(name)} must be an array (n, ...) of numbers, got {array.dtype}")
        counts = {name: len(array) for name, array in self.arrays.items()}
        if len(set(counts.values())) != 1:
            raise InputError(f"arrays of inputs must have the same number of rows, got {counts}")
        self.count = next(iter(counts.values()))

    def fingerprint(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        for name, array in sorted(self.arrays.items()):
            digest.update(f"{name}:{array.dtype.str}:{array.shape}:".encode())
            rows = max(1, HASHED_AT_ONCE // max(1, array[:1].nbytes))
            for start in range(0, len(array), rows):
                digest.update(np.ascontiguousarray(array[start : start + rows]).view(np.uint8).data)
        return f"arrays:{digest.hexdigest()}"

    def part(self, index: int, start: int, stop: int) -> Part:
        return _ArrayPart({name: np.array(array[start:stop]) for name, array in self.arrays.items()}, self.single)


@dataclass(frozen=True, eq=False)
class _ArrayPart(Part):
    arrays: dict[str, NDArray[Any]]
    single: bool

    def read(self) -> Any:
        return self.arrays[""] if self.single else dict(self.arrays)


class MappedSource(ArraySource):
    """Arrays in .npy files, which workers map into memory themselves."""

    def __init__(self, files: dict[str, Path]) -> None:
        super().__init__({name: _memory_mapped(file) for name, file in files.items()})
        self.files = {name: str(file) for name, file in files.items()}

    def part(self, index: int, start: int, stop: int) -> Part:
        return _MappedPart(self.files, start, stop)


@dataclass(frozen=True)
class _MappedPart(Part):
    files: dict[str, str]
    start: int
    stop: int

    def read(self) -> dict[str, NDArray[Any]]:
        return {name: np.array(_memory_mapped(Path(file))[self.start : self.stop]) for name, file in self.files.items()}


class TableSource(Source):
    """The rows of Parquet, CSV or NPZ files, one after the other in the order of their names.

    The function receives the columns of a part: arrays by name.
    """

    def __init__(self, files: list[Path]) -> None:
        self.files = files
        self.rows = [tables.row_count(file) for file in files]
        self.count = sum(self.rows)

    def fingerprint(self) -> str:
        return content_hash(self.files)

    def part(self, index: int, start: int, stop: int) -> Part:
        pieces, before = [], 0
        for file, rows in zip(self.files, self.rows, strict=True):
            low, high = max(start - before, 0), min(stop - before, rows)
            if low < high:
                pieces.append((str(file), low, high))
            before += rows
        return _TablePart(tuple(pieces))


@dataclass(frozen=True)
class _TablePart(Part):
    pieces: tuple[tuple[str, int, int], ...]  # file, first row, row after the last

    def read(self) -> dict[str, NDArray[Any]]:
        read = [tables.read_rows(file, low, high) for file, low, high in self.pieces]
        names = list(read[0])
        for (file, _, _), columns in zip(self.pieces, read, strict=True):
            if list(columns) != names:
                raise InputError(f"{file} has the columns {list(columns)}; the files before have {names}")
        return {name: np.concatenate([columns[name] for columns in read]) for name in names}


def as_source(inputs: Any) -> Source:
    """Return the inputs of a job as a source, or raise InputError."""
    if isinstance(inputs, Samples):
        return SampleSource(inputs)
    if isinstance(inputs, Files):
        return FileSource(inputs)
    if isinstance(inputs, str | os.PathLike):
        return _from_path(Path(inputs))
    if isinstance(inputs, Mapping | np.ndarray):
        return ArraySource(inputs)
    try:
        return ArraySource(np.asarray(inputs, dtype=float))
    except (TypeError, ValueError) as cause:
        raise InputError(
            "inputs must be an array, a dict of arrays, a file or folder of tables or .npy files, or jobs.Samples, "
            f"got {type(inputs).__name__}"
        ) from cause


def _from_path(path: Path) -> Source:
    if path.is_file():
        return TableSource([path])
    if not path.is_dir():
        raise InputError(f"inputs: {path} does not exist")
    arrays = sorted(path.glob("*.npy"))
    if arrays:
        return MappedSource({file.stem: file for file in arrays})
    files = sorted(file for file in path.iterdir() if file.suffix in tables.SUFFIXES and not file.name.startswith("."))
    if not files:
        raise InputError(f"inputs: {path} has no .npy, {', '.join(tables.SUFFIXES)} files")
    return TableSource(files)


def _memory_mapped(file: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as cause:
        raise InputError(f"{file} cannot be read as an array: {cause}") from cause
    return array


def _label(name: str) -> str:
    return f"[{name!r}]" if name else ""
