"""Arrays in shared memory: worker processes read their rows from it, so that nothing is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
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
def shared(source: Source) -> Iterator[Source]:
    """Share the arrays of a source; others are returned as they are."""
    if type(source) is not ArraySource:
        yield source
        return
    memories: dict[str, SharedMemory] = {}
    try:
        for name, array in source.arrays.items():
            memories[name] = SharedMemory(create=True, size=max(1, array.nbytes))
            np.ndarray(array.shape, array.dtype, memories[name].buf)[...] = array
        yield SharedSource(source, memories)
    finally:
        for memory in memories.values():
            memory.close()
            memory.unlink()


def _copy(place: _Place, start: int, stop: int) -> NDArray[Any]:
    memory = SharedMemory(name=place.memory)
    try:
        return np.array(np.ndarray(place.shape, np.dtype(place.dtype), memory.buf)[start:stop])
    finally:
        memory.close()
