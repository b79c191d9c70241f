"""Tables in Parquet files. The metadata of a table is part of the schema."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.errors import InputError, KinodynError
from kinodyn.tables.columns import Columns, Labels, Table, check_size, column_names, reject_repeated, split_columns
from kinodyn.tables.output import write_file


def pyarrow_modules() -> tuple[Any, Any]:
    """Import pyarrow, which is an optional dependency."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as cause:
        raise KinodynError("Parquet needs the package pyarrow; install it with: pip install 'kinodyn[data]'") from cause
    return pyarrow, parquet


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a Parquet file; whatever is wrong with it raises InputError."""
    arrow, parquet = pyarrow_modules()
    try:
        yield parquet.ParquetFile(Path(path), page_checksum_verification=True)
    except (arrow.ArrowException, OSError) as cause:
        raise InputError(f"{path} cannot be read as Parquet: {cause}") from cause


def write_parquet(file: Path, arrays: Columns, labels: Labels, metadata: Any, constants: Columns) -> None:
    """Write arrays (n, ...) as columns, and constants with their description in the metadata."""
    arrow, parquet = pyarrow_modules()
    content = arrow.table(
        {name: _arrow_array(file, name, values) for name, values in split_columns(arrays, labels).items()}
    )
    if metadata is not None:
        layout = {
            name: {"shape": array.shape[1:], "columns": column_names(name, array.shape[1:], labels)}
            for name, array in arrays.items()
        }
        fixed = {name: array.tolist() for name, array in constants.items()}
        text = json.dumps({"about": metadata, "layout": layout, "constants": fixed})
        content = content.replace_schema_metadata({b"kinodyn": text.encode()})
    # dictionaries of measured numbers, which hardly repeat, only cost time
    repeated = [column.name for column in content.schema if not arrow.types.is_floating(column.type)]
    options = {"compression": "zstd", "use_dictionary": repeated, "write_page_checksum": True}
    write_file(file, lambda stream: parquet.write_table(content, stream, **options))


def _arrow_array(file: Path, name: str, values: NDArray[Any]) -> Any:
    """Return a column as an Arrow array.

    It is made of buffers because `pyarrow.array` imports pandas, if that is installed: half a second for each worker of
    a job.
    """
    arrow, _ = pyarrow_modules()
    try:
        if values.dtype.kind == "U":
            texts = [str(text).encode() for text in values]
            ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
            buffers = arrow.py_buffer(ends), arrow.py_buffer(b"".join(texts))
            return arrow.LargeStringArray.from_buffers(len(values), *buffers).cast(arrow.string())
        if values.dtype.kind == "b":
            kind, content = arrow.bool_(), np.packbits(values, bitorder="little")
        else:
            content = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
            kind = arrow.from_numpy_dtype(content.dtype)
        return arrow.Array.from_buffers(kind, len(values), [None, arrow.py_buffer(content)])
    except (arrow.ArrowException, UnicodeError) as cause:
        raise InputError(f"{file} cannot be written: column {name!r} is {values.dtype}: {cause}") from cause


def read_parquet(file: Path, most: int | None) -> Table:
    """Read a Parquet file."""
    with _opened(file) as opened:
        stored = opened.metadata
        declared = sum(stored.row_group(k).total_byte_size for k in range(stored.num_row_groups))
        check_size(
            file, max(declared, 8 * stored.num_rows * stored.num_columns), most
        )  # repeated values are stored once
        content = opened.read()
    return _table(file, content)


def parquet_row_count(file: Path) -> int:
    """Count the rows without reading them."""
    with _opened(file) as opened:
        return int(opened.metadata.num_rows)


def parquet_rows(file: Path, start: int, stop: int) -> Columns:
    """Read the row groups that contain the rows from `start` to before `stop`."""
    with _opened(file) as opened:
        ends = np.cumsum([opened.metadata.row_group(k).num_rows for k in range(opened.metadata.num_row_groups)])
        first, last = int(np.searchsorted(ends, start, side="right")), int(np.searchsorted(ends, stop, side="left"))
        before = int(ends[first - 1]) if first else 0
        content = opened.read_row_groups(list(range(first, last + 1))).slice(start - before, stop - start)
    columns = _table(file, content).columns
    return {name: column for name, column in columns.items() if len(column) == stop - start}


def read_metadata(path: str | os.PathLike[str]) -> Any:
    """Read the metadata of a table in a Parquet file, without its columns.

    Parameters
    ----------
    path
        A Parquet file.

    Returns
    -------
    JSON value
        None if it says nothing.
    """
    with _opened(path) as opened:
        schema = opened.schema_arrow.metadata or {}
    try:
        described = json.loads(schema.get(b"kinodyn", b"null"))
    except ValueError as cause:
        raise InputError(f"{path} cannot be read as Parquet: {cause}") from cause
    return described.get("about") if isinstance(described, dict) else None


def _table(file: Path, content: Any) -> Table:
    reject_repeated(file, content.column_names)
    columns = {name: _column(content[name]) for name in content.column_names}
    described = json.loads((content.schema.metadata or {}).get(b"kinodyn", b"null"))
    return _described(columns, described, content.num_rows) if isinstance(described, dict) else Table(columns, None)


def _column(column: Any) -> NDArray[Any]:
    name = _fixed_width().get(column.type)
    if column.null_count == 0 and name is not None:
        # without pandas, which `to_numpy` imports, and `to_pandas_dtype` of older versions
        dtype = np.dtype(name)
        parts = [np.frombuffer(chunk.buffers()[1], dtype)[chunk.offset :][: len(chunk)] for chunk in column.chunks]
        return np.concatenate([np.empty(0, dtype), *parts])
    array = np.array(column.to_numpy())
    return array.astype(str) if array.dtype.kind == "O" else array


def _fixed_width() -> dict[Any, str]:
    """Return the names in NumPy of Arrow's types of numbers."""
    arrow, _ = pyarrow_modules()
    integers = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    return {getattr(arrow, name)(): name for name in (*integers, "float16", "float32", "float64")}


def _described(columns: Columns, described: dict[str, Any], rows: int) -> Table:
    """Put the columns of arrays together again."""
    arrays: Columns = {}
    for name, part in described["layout"].items():
        parts = [columns[label] for label in part["columns"]]
        whole = np.stack(parts, axis=1) if parts else np.zeros((rows, 0))
        arrays[name] = whole.reshape(rows, *(int(size) for size in part["shape"]))
    constants = {name: np.array(values) for name, values in described["constants"].items()}
    return Table({**arrays, **constants}, described["about"])
