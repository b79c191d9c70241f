"""Tables of numbers in files: CSV, NPZ and Parquet, read and written in one place.

An array (n, ...) with a row for each sample is one array in NPZ and several columns in CSV and Parquet: `q.<joint>`
where the entries of its last axis have labels, `M.0.1` where they are numbered. Nothing that is read is unpickled.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError, KinodynError

SUFFIXES = (".csv", ".npz", ".parquet")
MAX_BYTES = 1 << 34  # that a file may unpack to
WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")  # labels of a wrench

Columns: TypeAlias = dict[str, NDArray[Any]]
Labels: TypeAlias = Mapping[str, Sequence[str]]


class Table(NamedTuple):
    """The content of a file: arrays by name, and what the file says about them."""

    columns: Columns  # (n,) or (n, ...); under the name "" a CSV file whose first line has no names
    about: Any  # JSON value, None if there is none


def read(path: str | os.PathLike[str], *, suffixes: Sequence[str] = SUFFIXES) -> Table:
    """Read a table.

    Parameters
    ----------
    path
        A file that ends in one of `suffixes`.
    suffixes
        The formats that are accepted.

    Returns
    -------
    Table
        Columns of numbers as they are in the file, of CSV as float64 with NaN for empty cells; columns of text as str.

    Raises
    ------
    InputError
        If there is no such file, or it is broken, too large or contains pickled objects; with its name and the reason.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in suffixes:
        raise InputError(f"{file} ends in {file.suffix!r}; tables end in {', '.join(suffixes)}")
    if not file.is_file():
        raise InputError(f"{file} does not exist or is not a file")
    readers = {".csv": _read_csv, ".npz": _read_npz, ".parquet": _read_parquet}
    try:
        table = readers[suffix](file)
    except InputError:
        raise
    except (
        *(OSError, ValueError, KeyError, AttributeError, TypeError, EOFError, MemoryError, NotImplementedError),
        *(csv.Error, zipfile.BadZipFile, zlib.error, RecursionError, SyntaxError),
    ) as cause:
        names = {".csv": "CSV", ".npz": "NPZ without pickle", ".parquet": "Parquet"}
        raise InputError(f"{file} cannot be read as {names[suffix]}: {cause}") from cause
    return table


def write(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Any],
    *,
    labels: Labels | None = None,
    about: Mapping[str, Any] | None = None,
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
    about
        JSON values that describe the table, for NPZ and Parquet.
    constants
        Arrays without a row for each sample, for NPZ and Parquet.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    given = {name: np.asarray(array) for name, array in arrays.items()}
    fixed = {name: np.asarray(array) for name, array in (constants or {}).items()}
    if suffix == ".npz":
        described = {} if about is None else {"about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)}
        write_file(file, lambda stream: np.savez_compressed(stream, **described, **given, **fixed))  # type: ignore[arg-type]
    elif suffix == ".csv":
        content = _csv_text(spread(given, labels))
        write_file(file, lambda stream: stream.write(content.encode()))
    elif suffix == ".parquet":
        _write_parquet(file, given, labels or {}, about, fixed)
    else:
        raise InputError(f"{file} ends in {file.suffix!r}; tables end in {', '.join(SUFFIXES)}")


def write_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its final place and move it there at the end: no reader sees an incomplete file."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    except OSError as cause:
        raise InputError(f"{path} cannot be written: {cause}") from cause
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # as any new file; those of mkstemp are closed to others
        os.replace(name, path)
    except BaseException as cause:
        Path(name).unlink(missing_ok=True)
        if isinstance(cause, OSError):
            raise InputError(f"{path} cannot be written: {cause}") from cause
        raise


def check_writable(path: Path | None, suffixes: Sequence[str]) -> None:
    """Raise if a file cannot be written, before the computation whose result it will hold; None is ignored."""
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{path} ends in {path.suffix!r}; allowed are {', '.join(suffixes)}")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(f"{path} cannot be written: the folder {folder} does not exist")
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    if not os.access(path if path.exists() else folder, os.W_OK) or not os.access(folder, os.W_OK):
        raise InputError(f"{path} cannot be written: you may not write in {folder}; choose another folder")


def spread(arrays: Mapping[str, Any], labels: Labels | None = None) -> Columns:
    """Split arrays (n, ...) into columns (n,), named `name.0.label`."""
    columns: Columns = {}
    for name, given in arrays.items():
        array = np.asarray(given)
        for column, entry in zip(_column_names(name, array.shape[1:], labels), _entries(array), strict=True):
            if column in columns:
                raise InputError(f"two columns would be called {column!r}; give one of the arrays another name")
            columns[column] = entry
    return columns


def stack(columns: Columns, name: str, labels: Sequence[str]) -> Array | None:
    """Find an array of numbers (n, k): under its own name, as `name.label` each, or under the labels alone.

    Returns None where a label is missing. A CSV file without names is taken as it is.
    """
    whole = columns.get(name)
    if whole is not None and whole.ndim >= 1 and whole.dtype.kind in "fiub":
        return np.asarray(whole, dtype=float)
    for names in ([f"{name}.{label}" for label in labels], list(labels)):
        if all(column in columns for column in names):
            return side_by_side({column: columns[column] for column in names})
    return np.asarray(columns[""], dtype=float) if "" in columns else None


def side_by_side(columns: Columns) -> Array:
    """Put columns (n,) of numbers next to each other: (n, k)."""
    shapes = {name: column.shape for name, column in columns.items()}
    (first, shape), *_ = shapes.items()
    for name, other in shapes.items():
        if len(other) != 1 or other != shape:
            raise InputError(f"columns must have one shape (n,), got {shape} for {first!r} and {other} for {name!r}")
    return np.stack([as_floats(name, column) for name, column in columns.items()], axis=1)


def as_floats(name: str, column: NDArray[Any]) -> Array:
    """Return a column as numbers, or raise an error that names the first cell that is none."""
    try:
        return np.asarray(column, dtype=float)
    except (ValueError, TypeError) as cause:
        row = next(k for k, cell in enumerate(column) if not _is_float(cell))
        cell = str(column[row])[:40]
        hint = "; write a decimal point" if _is_float(cell.replace(",", ".")) else ""
        raise InputError(f"row {row}, column {name!r} is {cell!r}, not a number{hint}") from cause


def refuse_repeated(file: Path, names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated:
        raise InputError(f"{file} has columns of the same name: {', '.join(repeated)}")


def _column_names(name: str, shape: tuple[int, ...], labels: Labels | None) -> list[str]:
    last = list((labels or {}).get(name, ()))
    found = []
    for index in np.ndindex(shape):
        ends = [last[index[-1]]] if last and index else [str(i) for i in index[-1:]]
        found.append(".".join([name, *(str(i) for i in index[:-1]), *ends]))
    return found


def _entries(array: NDArray[Any]) -> list[NDArray[Any]]:
    flat = array.reshape(len(array), int(np.prod(array.shape[1:])))
    return [np.ascontiguousarray(flat[:, k]) for k in range(flat.shape[1])]


def _csv_text(columns: Columns) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    plain = [(column.astype(float) if column.dtype.kind == "b" else column).tolist() for column in columns.values()]
    writer.writerows(zip(*plain, strict=True))
    return text.getvalue()


def _read_csv(file: Path) -> Table:
    _check_size(file, file.stat().st_size)
    rows = [row for row in csv.reader(file.read_text(encoding="utf-8-sig").splitlines()) if row]
    if not rows:
        raise InputError(f"{file} has 0 lines; give a line of column names and lines of numbers")
    if len(rows[0]) == 1 and any(mark in rows[0][0] for mark in ";\t"):
        raise InputError(f"{file} separates columns by ';' or tabs; write ',' between columns and '.' in numbers")
    names = [name.strip() for name in rows[0]]
    headless = all(_is_float(name) for name in names)
    body = rows if headless else rows[1:]
    for k, row in enumerate(body):
        if len(row) != len(names):
            raise InputError(f"{file}: row {k} has {len(row)} cells; the first line has {len(names)}")
    columns = [_csv_column([row[k] for row in body]) for k in range(len(names))]
    if headless:
        return Table({"": np.stack([as_floats(str(k), column) for k, column in enumerate(columns)], axis=1)}, None)
    refuse_repeated(file, names)
    return Table(dict(zip(names, columns, strict=True)), None)


def _csv_column(cells: list[str]) -> NDArray[Any]:
    try:
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells], dtype=float)
    except ValueError:
        return np.array(cells, dtype=str)


def _read_npz(file: Path) -> Table:
    with zipfile.ZipFile(file) as archive:
        _check_size(file, sum(member.file_size for member in archive.infolist()))
    with np.load(file, allow_pickle=False) as stream:
        columns = {name: stream[name] for name in stream.files}
    described = columns.pop("about", None)
    return Table(columns, None if described is None else json.loads(bytes(described.astype(np.uint8))))


def _write_parquet(file: Path, arrays: Columns, labels: Labels, about: Any, constants: Columns) -> None:
    arrow, parquet = _pyarrow()
    content = arrow.table(spread(arrays, labels))
    if about is not None:
        layout = {
            name: {"shape": array.shape[1:], "columns": _column_names(name, array.shape[1:], labels)}
            for name, array in arrays.items()
        }
        fixed = {name: array.tolist() for name, array in constants.items()}
        text = json.dumps({"about": about, "layout": layout, "constants": fixed})
        content = content.replace_schema_metadata({b"kinodyn": text.encode()})
    write_file(file, lambda stream: parquet.write_table(content, stream))


def _read_parquet(file: Path) -> Table:
    arrow, parquet = _pyarrow()
    try:
        opened = parquet.ParquetFile(file)
        groups = range(opened.metadata.num_row_groups)
        _check_size(file, sum(opened.metadata.row_group(k).total_byte_size for k in groups))
        content = opened.read()
    except arrow.ArrowException as cause:
        raise InputError(f"{file} cannot be read as Parquet: {cause}") from cause
    return _parquet_table(file, content)


def _parquet_table(file: Path, content: Any) -> Table:
    refuse_repeated(file, content.column_names)
    columns = {name: _parquet_column(content[name]) for name in content.column_names}
    described = json.loads((content.schema.metadata or {}).get(b"kinodyn", b"null"))
    return _described(columns, described, content.num_rows) if isinstance(described, dict) else Table(columns, None)


def _parquet_column(column: Any) -> NDArray[Any]:
    array = np.array(column.to_numpy())
    return array.astype(str) if array.dtype.kind == "O" else array


def _described(columns: Columns, described: dict[str, Any], rows: int) -> Table:
    """Put the columns of arrays together again."""
    arrays: Columns = {}
    for name, part in described["layout"].items():
        parts = [columns[label] for label in part["columns"]]
        whole = np.stack(parts, axis=1) if parts else np.zeros((rows, 0))
        arrays[name] = whole.reshape(rows, *(int(size) for size in part["shape"]))
    constants = {name: np.array(values) for name, values in described["constants"].items()}
    return Table({**arrays, **constants}, described["about"])


def _check_size(file: Path, size: int) -> None:
    if size > MAX_BYTES:
        raise InputError(f"{file} would unpack to {size} bytes; at most {MAX_BYTES} are read")


def _is_float(cell: object) -> bool:
    try:
        float(str(cell))
    except ValueError:
        return False
    return True


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as cause:
        raise KinodynError("Parquet needs the package pyarrow; install it with: pip install 'kinodyn[data]'") from cause
    return pyarrow, parquet


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
        arrow, parquet = _pyarrow()
        try:
            return int(parquet.ParquetFile(file).metadata.num_rows)
        except (arrow.ArrowException, OSError) as cause:
            raise InputError(f"{file} cannot be read as Parquet: {cause}") from cause
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
    arrow, parquet = _pyarrow()
    try:
        opened = parquet.ParquetFile(file)
        ends = np.cumsum([opened.metadata.row_group(k).num_rows for k in range(opened.metadata.num_row_groups)])
        first, last = int(np.searchsorted(ends, start, side="right")), int(np.searchsorted(ends, stop, side="left"))
        before = int(ends[first - 1]) if first else 0
        content = opened.read_row_groups(list(range(first, last + 1))).slice(start - before, stop - start)
    except (arrow.ArrowException, OSError) as cause:
        raise InputError(f"{file} cannot be read as Parquet: {cause}") from cause
    columns = _parquet_table(file, content).columns
    return {name: column for name, column in columns.items() if len(column) == stop - start}


def read_about(path: str | os.PathLike[str]) -> Any:
    """Read what a Parquet file says about its table, without its columns.

    Parameters
    ----------
    path
        A Parquet file.

    Returns
    -------
    JSON value
        None if it says nothing.
    """
    arrow, parquet = _pyarrow()
    try:
        metadata = parquet.read_schema(Path(path)).metadata or {}
        described = json.loads(metadata.get(b"kinodyn", b"null"))
    except (arrow.ArrowException, OSError, ValueError) as cause:
        raise InputError(f"{path} cannot be read as Parquet: {cause}") from cause
    return described.get("about") if isinstance(described, dict) else None
