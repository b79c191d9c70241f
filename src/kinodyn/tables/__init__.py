"""Tables of numbers in files: CSV, NPZ and Parquet, read and written in one place.

An array (n, ...) with a row for each sample is one array in NPZ and several columns in CSV and Parquet: `q.<joint>`
where the entries of its last axis have labels, `M.0.1` where they are numbered. Nothing that is read is unpickled.
"""

from kinodyn.tables.columns import (
    WRENCH,
    Columns,
    Labels,
    Table,
    as_floats,
    reject_repeated,
    side_by_side,
    split_columns,
    stack,
)
from kinodyn.tables.files import SUFFIXES, read, read_npz, read_rows, row_count, write
from kinodyn.tables.output import check_writable, write_file, write_text
from kinodyn.tables.parquet import read_metadata

__all__ = [
    "SUFFIXES",
    "WRENCH",
    "Columns",
    "Labels",
    "Table",
    "as_floats",
    "check_writable",
    "read",
    "read_metadata",
    "read_npz",
    "read_rows",
    "reject_repeated",
    "row_count",
    "side_by_side",
    "split_columns",
    "stack",
    "write",
    "write_file",
    "write_text",
]


def __dir__() -> list[str]:
    return list(__all__)
