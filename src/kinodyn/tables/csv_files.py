"""Tables in CSV files."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.errors import InputError
from kinodyn.tables.columns import Columns, Table, as_floats, check_size, is_float, reject_repeated

BYTES_PER_BYTE = 16  # that cells take in memory, at most, for each byte of the file: "1," is a string of 50 bytes


def csv_text(columns: Columns) -> str:
    """Write columns as text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    plain = [(column.astype(float) if column.dtype.kind == "b" else column).tolist() for column in columns.values()]
    writer.writerows(zip(*plain, strict=True))
    return text.getvalue()


def read_csv(file: Path, most: int | None) -> Table:
    """Read a CSV file; a first line of numbers has no names."""
    check_size(file, BYTES_PER_BYTE * file.stat().st_size, most)
    rows = [row for row in csv.reader(file.read_text(encoding="utf-8-sig").splitlines()) if row]
    if not rows:
        raise InputError(f"{file} has 0 lines; give a line of column names and lines of numbers")
    if len(rows[0]) == 1 and any(mark in rows[0][0] for mark in ";\t"):
        raise InputError(f"{file} separates columns by ';' or tabs; write ',' between columns and '.' in numbers")
    names = [name.strip() for name in rows[0]]
    headless = all(is_float(name) for name in names)
    body = rows if headless else rows[1:]
    for k, row in enumerate(body):
        if len(row) != len(names):
            raise InputError(f"{file}: row {k} has {len(row)} cells; the first line has {len(names)}")
    columns = [_column([row[k] for row in body]) for k in range(len(names))]
    if headless:
        return Table({"": np.stack([as_floats(str(k), column) for k, column in enumerate(columns)], axis=1)}, None)
    reject_repeated(file, names)
    return Table(dict(zip(names, columns, strict=True)), None)


def _column(cells: list[str]) -> NDArray[Any]:
    try:
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells], dtype=float)
    except ValueError:
        return np.array(cells, dtype=str)
