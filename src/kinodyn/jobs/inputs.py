"""Inputs of jobs: arrays, tables in files, and random samples, each divided into parts that can be sent to workers."""

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
from kinodyn.argument_types import check_types
from kinodyn.checks import integer
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.jobs.files import Files, FileSource
from kinodyn.jobs.manifest import require_complete
from kinodyn.jobs.sources import HASHED_AT_ONCE, Part, Source
from kinodyn.jobs.table_inputs import TableSource
from kinodyn.jobs.zarr_inputs import ZarrSource, is_zarr

MAX_COUNT = 10**15


@displayed
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


@check_types
@displayed
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
        self.count, self._seed = int(samples.count), int(samples.seed)
        self.seed = self._seed

    def fingerprint(self) -> str:
        return f"samples:{self._seed}:{self.count}"

    def part(self, index: int, start: int, stop: int) -> Part:
        return _SamplePart(self._seed, index, start, stop - start)


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
        self.files = {name: str(file.absolute()) for name, file in files.items()}

    def part(self, index: int, start: int, stop: int) -> Part:
        return _MappedPart(self.files, start, stop)


@dataclass(frozen=True)
class _MappedPart(Part):
    files: dict[str, str]
    start: int
    stop: int

    def read(self) -> dict[str, NDArray[Any]]:
        return {name: np.array(_memory_mapped(Path(file))[self.start : self.stop]) for name, file in self.files.items()}


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
            "inputs must be an array, a dict of arrays, a file or folder of tables or arrays, jobs.Files or "
            f"jobs.Samples, got {type(inputs).__name__}"
        ) from cause


def _from_path(path: Path) -> Source:
    if path.is_file():
        return TableSource([path])
    if not path.is_dir():
        raise InputError(f"inputs: {path} does not exist")
    if is_zarr(path):
        return ZarrSource(path)
    require_complete(path)
    arrays = sorted(path.glob("*.npy"))
    if arrays:
        return MappedSource({file.stem: file for file in arrays})
    files = sorted(file for file in path.iterdir() if file.suffix in tables.SUFFIXES and not file.name.startswith("."))
    if not files:
        raise InputError(f"inputs: {path} has no Zarr arrays and no .npy, {', '.join(tables.SUFFIXES)} files")
    return TableSource(files)


def _memory_mapped(file: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as cause:
        raise InputError(f"{file} cannot be read as an array: {cause}") from cause
    return array


def _label(name: str) -> str:
    return f"[{name!r}]" if name else ""
