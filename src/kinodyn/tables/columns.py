"""Columns of a table: arrays split into columns, and put together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError

WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")  # labels of a wrench
# Bytes that a file may unpack to, unless the caller sets a limit. The recording of a walk shrinks by a fifth; only
# tables that repeat one row shrink a hundredfold, and those of less than 256 MiB are read all the same.
MAX_RATIO = 64  # bytes for each byte of the file
ALWAYS_READ, MAX_BYTES = 1 << 28, 1 << 32

Columns: TypeAlias = dict[str, NDArray[Any]]
Labels: TypeAlias = Mapping[str, Sequence[str]]


class Table(NamedTuple):
    """The content of a file: arrays by name, and metadata."""

    columns: Columns  # (n,) or (n, ...); under the name "" a CSV file whose first line has no names
    metadata: Any  # JSON value, None if there is none


def split_columns(arrays: Mapping[str, Any], labels: Labels | None = None) -> Columns:
    """Split arrays (n, ...) into columns (n,), named `name.0.label`."""
    columns: Columns = {}
    for name, given in arrays.items():
        array = np.asarray(given)
        for column, entry in zip(column_names(name, array.shape[1:], labels), _entries(array), strict=True):
            if column in columns:
                raise InputError(f"two columns would be called {column!r}; give one of the arrays another name")
            columns[column] = entry
    return columns


def stack(columns: Columns, name: str, labels: Sequence[str]) -> Array | None:
    """Find an array of numbers: under its own name, as `name.label` each, or under the labels alone.

    Parameters
    ----------
    columns
        Of a file; those of a CSV file without names are taken as they are.
    name
        Of the array.
    labels
        Of its k columns.

    Returns
    -------
    (n, k) array or None
        None where a label is missing.
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
        row = next(k for k, cell in enumerate(column) if not is_float(cell))
        cell = str(column[row])[:40]
        hint = "; write a decimal point" if is_float(cell.replace(",", ".")) else ""
        raise InputError(f"row {row}, column {name!r} is {cell!r}, not a number{hint}") from cause


def reject_repeated(file: Path, names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated:
        raise InputError(f"{file} has columns of the same name: {', '.join(repeated)}")


def column_names(name: str, shape: tuple[int, ...], labels: Labels | None) -> list[str]:
    """Name the columns of an array (n, *shape)."""
    last = list((labels or {}).get(name, ()))
    found = []
    for index in np.ndindex(shape):
        ends = [last[index[-1]]] if last and index else [str(i) for i in index[-1:]]
        found.append(".".join([name, *(str(i) for i in index[:-1]), *ends]))
    return found


def _entries(array: NDArray[Any]) -> list[NDArray[Any]]:
    flat = array.reshape(len(array), int(np.prod(array.shape[1:])))
    return [np.ascontiguousarray(flat[:, k]) for k in range(flat.shape[1])]


def check_size(file: Path, size: int, most: int | None) -> None:
    """Raise if a file would unpack to more bytes than `most`, or, without it, than its own size makes plausible."""
    allowed = most or min(max(MAX_RATIO * file.stat().st_size, ALWAYS_READ), MAX_BYTES)
    if size > allowed:
        raise InputError(f"{file} would unpack to {size} bytes; at most {allowed} are read (max_bytes= sets the limit)")


def is_float(cell: object) -> bool:
    """Return whether a cell is a number."""
    try:
        float(str(cell))
    except ValueError:
        return False
    return True
