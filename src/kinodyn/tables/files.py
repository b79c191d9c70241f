"""Read and write tables; the suffix of a file selects the format."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.checks import as_path, integer
from kinodyn.errors import InputError, KinodynError
from kinodyn.tables.columns import Columns, Labels, Table, split_columns
from kinodyn.tables.csv_files import csv_text, read_csv
from kinodyn.tables.npz import read_arrays, read_npz_table
from kinodyn.tables.output import write_file
from kinodyn.tables.parquet import parquet_row_count, parquet_rows, read_parquet, write_parquet

SUFFIXES = (".csv", ".npz", ".parquet")


def read(path: str | os.PathLike[str], *, suffixes: Sequence[str] = SUFFIXES, max_bytes: int | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    path
        A file that ends in one of `suffixes`.
    suffixes
        The formats that are accepted.
    max_bytes
        Size that the file may unpack to. By default 64 times its own size, but at least 256 MiB and at most 4 GiB: a
        small file can contain a huge table.

    Returns
    -------
    Table
        Columns of numbers as they are in the file, of CSV as float64 with NaN for empty cells; columns of text as str.

    Raises
    ------
    InputError
        If there is no such file, or it is broken, too large or contains pickled objects; with its name and the reason.
    """
    file = as_path("path", path)
    most = None if max_bytes is None else integer("max_bytes", max_bytes, 1)
    suffix = file.suffix.lower()
    if suffix not in suffixes:
        raise InputError(f"{file} ends in {file.suffix!r}; tables end in {', '.join(suffixes)}")
    if not _is_file(file):
        raise InputError(f"{file} does not exist or is not a file")
    readers = {".csv": read_csv, ".npz": read_npz_table, ".parquet": read_parquet}
    try:
        table = readers[suffix](file, most)
    except KinodynError:
        raise
    except Exception as cause:  # readers of broken files raise exceptions of many types
        names = {".csv": "CSV", ".npz": "NPZ without pickle", ".parquet": "Parquet"}
        raise InputError(f"{file} cannot be read as {names[suffix]}: {cause}") from cause
    return table


def write(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Any],
    *,
    labels: Labels | None = None,
    metadata: Mapping[str, Any] | None = None,
    constants: Mapping[str, Array] | None = None,
) -> None:
    """Write a table; `read` returns the same numbers.

    Parameters
    ----------
    path
        The file; its suffix selects the format. It is replaced only once all has been written.
    arrays
        Arrays (n, ...) by name, a row for each sample.
    labels
        Labels of the last axis of arrays, by name; others are numbered.
    metadata
        JSON values that describe the table, for NPZ and Parquet.
    constants
        Arrays without a row for each sample, for NPZ and Parquet.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    given = {name: np.asarray(array) for name, array in arrays.items()}
    fixed = {name: np.asarray(array) for name, array in (constants or {}).items()}
    if suffix == ".npz":
        described = {} if metadata is None else {"about": np.frombuffer(json.dumps(metadata).encode(), dtype=np.uint8)}
        write_file(file, lambda stream: np.savez_compressed(stream, **described, **given, **fixed))  # type: ignore[arg-type]
    elif suffix == ".csv":
        content = csv_text(split_columns(given, labels))
        write_file(file, lambda stream: stream.write(content.encode()))
    elif suffix == ".parquet":
        write_parquet(file, given, labels or {}, metadata, fixed)
    else:
        raise InputError(f"{file} ends in {file.suffix!r}; tables end in {', '.join(SUFFIXES)}")


def row_count(path: str | os.PathLike[str]) -> int:
    """Count the rows of a table; of a Parquet file without reading its columns.

    Parameters
    ----------
    path
        A CSV, NPZ or Parquet file.

    Returns
    -------
    int
    """
    file = Path(path)
    if file.suffix.lower() == ".parquet" and file.is_file():
        return parquet_row_count(file)
    columns = read(file).columns
    return len(next(iter(columns.values()))) if columns else 0


def read_rows(path: str | os.PathLike[str], start: int, stop: int) -> Columns:
    """Read some rows of a table; of a Parquet file only the row groups that contain them.

    Parameters
    ----------
    path
        A CSV, NPZ or Parquet file.
    start, stop
        First row, and the one after the last.

    Returns
    -------
    dict
        Columns by name.
    """
    file = Path(path)
    if file.suffix.lower() != ".parquet":
        return {name: column[start:stop] for name, column in read(file).columns.items()}
    return parquet_rows(file, start, stop)


def read_npz(path: str | os.PathLike[str], what: str, names: Sequence[str]) -> Columns:
    """Read some arrays of an NPZ file, whatever its suffix; nothing is unpickled.

    Parameters
    ----------
    path
    what
        What the file should be, for the message of an error: "a saved trajectory".
    names
        The names of the arrays.

    Returns
    -------
    dict
        Arrays by name.
    """
    try:
        return read_arrays(as_path("path", path), None, names)
    except KinodynError:
        raise
    except Exception as cause:  # readers of broken files raise exceptions of many types
        raise InputError(f"{path} cannot be read as {what}: {cause}") from cause


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):  # a name that no system accepts
        return False
