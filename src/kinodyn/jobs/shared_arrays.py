"""Arrays in shared memory: worker processes read their rows from it, so that no data is sent."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.jobs.inputs import ArraySource
from kinodyn.jobs.sources import Part, Source


@dataclass(frozen=True)
class _Place:
    """Where an array is in shared memory."""

    memory: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _SharedPart(Part):
    places: dict[str, _Place]
    start: int
    stop: int
    single: bool

    def read(self) -> Any:
        arrays = {name: _copy(place, self.start, self.stop) for name, place in self.places.items()}
        return arrays[""] if self.single else arrays


class SharedSource(Source):
    """A copy of an `ArraySource` in shared memory."""

    def __init__(self, source: ArraySource, memories: dict[str, SharedMemory]) -> None:
        self.count, self._source = source.count, source
        self._places = {
            name: _Place(memories[name].name, array.dtype.str, array.shape) for name, array in source.arrays.items()
        }

    def fingerprint(self) -> str:
        return self._source.fingerprint()

    def part(self, index: int, start: int, stop: int) -> Part:
        return _SharedPart(self._places, start, stop, self._source.single)


@contextmanager
def shared(source: Source, folder: Path) -> Iterator[Source]:
    """Share the arrays of a source; those in files are read by the workers, and others are returned as they are.

    The names depend on the folder of the job: what a job left there that was killed is removed by the next one.
    """
    if type(source) is not ArraySource or any(isinstance(array, np.memmap) for array in source.arrays.values()):
        yield source
        return
    memories: dict[str, SharedMemory] = {}
    try:
        for k, (name, array) in enumerate(source.arrays.items()):
            memory = _allocate(_name(folder, k), array.nbytes)
            if memory is None:
                break
            memories[name] = memory
            np.ndarray(array.shape, array.dtype, memory.buf)[...] = array
        yield SharedSource(source, memories) if len(memories) == len(source.arrays) else source
    finally:
        for memory in memories.values():
            memory.close()
            memory.unlink()


def _name(folder: Path, number: int) -> str:
    digest = hashlib.blake2b(str(folder.resolve()).encode(), digest_size=6).hexdigest()
    return f"kinodyn-{digest}-{number}"


def _allocate(name: str, size: int) -> SharedMemory | None:
    """Return shared memory; None if there is too little, in which case the rows are sent to the workers."""
    with suppress(FileNotFoundError):
        left = SharedMemory(name=name)
        left.close()
        left.unlink()
    memory = SharedMemory(name=name, create=True, size=max(1, size))
    try:
        # pages that cannot be had would end the process with a bus error when they are written
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(memory._fd, 0, max(1, size))  # type: ignore[attr-defined]
    except OSError:
        memory.close()
        memory.unlink()
        return None
    return memory


def _copy(place: _Place, start: int, stop: int) -> NDArray[Any]:
    memory = SharedMemory(name=place.memory)
    try:
        return np.array(np.ndarray(place.shape, np.dtype(place.dtype), memory.buf)[start:stop])
    finally:
        memory.close()
