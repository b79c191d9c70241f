"""Rows of tables in files as inputs of a job."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn import tables
from kinodyn.errors import InputError
from kinodyn.jobs.sources import Part, Source, content_hash


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
                pieces.append((str(file.absolute()), low, high))
            before += rows
        return _TablePart(tuple(pieces))


@dataclass(frozen=True)
class _TablePart(Part):
    pieces: tuple[tuple[str, int, int], ...]  # file, first row, row after the last

    def read(self) -> dict[str, NDArray[Any]]:
        read = [_rows(file, low, high) for file, low, high in self.pieces]
        names = list(read[0])
        for (file, _, _), columns in zip(self.pieces, read, strict=True):
            if list(columns) != names:
                raise InputError(f"{file} has the columns {list(columns)}; the files before have {names}")
        return {name: np.concatenate([columns[name] for columns in read]) for name in names}


def _rows(file: str, low: int, high: int) -> dict[str, NDArray[Any]]:
    """Read rows; of formats that can only be read as a whole, the last file is kept for the next shard."""
    if file.lower().endswith(".parquet"):
        return tables.read_rows(file, low, high)
    columns = _whole(file, os.stat(file).st_mtime_ns)
    return {name: column[low:high].copy() for name, column in columns.items()}


@functools.lru_cache(maxsize=1)
def _whole(file: str, modified: int) -> dict[str, NDArray[Any]]:
    return tables.read(file).columns
