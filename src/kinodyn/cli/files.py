"""Rows of numbers in files: CSV, JSON, NPZ and Parquet, chosen by the suffix."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError, KinodynError

WRITTEN = (".json", ".csv", ".npz", ".parquet")
Columns = dict[str, Any]  # name -> (n,) array of numbers or texts


def write_samples(path: Path, samples: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> None:
    """Write arrays (n, ...) by name: whole ones to NPZ, a column for each entry to CSV and Parquet."""
    suffix = path.suffix.lower()
    stream = io.BytesIO()
    if suffix == ".npz":
        arrays: dict[str, Any] = {name: np.asarray(array) for name, array in samples.items()}
        np.savez_compressed(stream, **arrays)
    elif suffix == ".parquet":
        _write_parquet(stream, spread(samples, names))
    else:
        columns = spread(samples, names)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(array.tolist() for array in columns.values()), strict=True))
        stream.write(text.getvalue().encode())
    write_whole(path, stream.getvalue())


def spread(samples: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> Columns:
    """Make a column of each entry: `q.<joint>` where entries have names, `M.0.1` where they have numbers."""
    columns: Columns = {}
    for name, given in samples.items():
        array = np.asarray(given)
        flat = array.reshape(len(array), -1)
        if array.ndim == 1:
            columns[name] = array
            continue
        labels = names.get(name) or [".".join(map(str, at)) for at in itertools.product(*map(range, array.shape[1:]))]
        columns.update({f"{name}.{label}": flat[:, k] for k, label in enumerate(labels)})
    return columns


def check_target(path: Path | None, suffixes: Sequence[str]) -> None:
    """Refuse a file that cannot be written, before the work whose outcome it shall hold."""
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


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file and move it there at the end, so that nobody ever sees a half."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except OSError as cause:
        raise InputError(f"{path} cannot be written: {cause}") from cause


def read_columns(path: Path) -> Columns:
    """Read a file of rows: arrays by name, (n,) each, or (n, k) under one name where the file has no names.

    JSON is a list of rows, each a list of numbers or an object; or an object of name -> list.
    """
    readers: dict[str, Callable[[Path], Columns]] = {
        ".csv": _read_csv,
        ".json": _read_json,
        ".npz": _read_npz,
        ".parquet": _read_parquet,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        raise InputError(f"{path} ends in {path.suffix!r}; files of rows end in {', '.join(readers)}")
    if not path.is_file():
        raise InputError(f"{path} does not exist or is no file")
    try:
        return readers[suffix](path)
    except (ValueError, OSError, KeyError, UnicodeDecodeError) as cause:
        raise InputError(f"{path} cannot be read: {cause}") from cause


def _read_csv(path: Path) -> Columns:
    rows = [row for row in csv.reader(path.read_text(encoding="utf-8").splitlines()) if row]
    if not rows:
        raise ValueError("it is empty")
    try:
        first = [float(part) for part in rows[0]]
    except ValueError:
        table = np.array(_even(rows), dtype=object)[1:].reshape(len(rows) - 1, len(rows[0]))
        return {name.strip(): _numbers(table[:, k]) for k, name in enumerate(rows[0])}
    return {"": np.array([first, *([float(part) for part in row] for row in _even(rows)[1:])])}


def _even(rows: list[list[Any]]) -> list[list[Any]]:
    """Check that all rows are as long as the first."""
    for k, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(f"row {k} has {len(row)} entries and row 0 has {len(rows[0])}")
    return rows


def _numbers(column: Any) -> Any:
    try:
        return column.astype(float)
    except ValueError:
        return column.astype(str)


def _read_json(path: Path) -> Columns:
    content = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return {name: np.array([row[name] for row in content]) for name in content[0]}
    if isinstance(content, list):
        rows = content if content and isinstance(content[0], list) else [content]
        if not all(isinstance(row, list) for row in rows):
            raise ValueError("its rows must be lists of numbers, or objects")
        return {"": np.array(_even(rows), dtype=float).reshape(np.shape(content))}
    if isinstance(content, dict) and {"command", "inputs", "result"} <= set(content):
        content = {**content["inputs"], **content["result"]}  # what a command wrote with --out or --json
        poses = content.get("frames")  # of fk, by name; of others names alone
        content |= {f"{name}.T": pose["T"] for name, pose in poses.items()} if isinstance(poses, dict) else {}
    return {name: np.array(value) for name, value in content.items() if isinstance(value, list)}


def _read_npz(path: Path) -> Columns:
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no NPZ archive")
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files if archive[name].dtype.kind in "fiubU"}


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as cause:
        raise KinodynError("Parquet needs the package pyarrow; install it with: pip install 'kinodyn[data]'") from cause
    return parquet


def _write_parquet(stream: io.BytesIO, columns: Columns) -> None:
    parquet = _parquet()
    import pyarrow

    parquet.write_table(pyarrow.table({name: pyarrow.array(array) for name, array in columns.items()}), stream)


def _read_parquet(path: Path) -> Columns:
    table = _parquet().read_table(path)
    return {name: np.array(table.column(name).to_numpy()) for name in table.column_names}


def group(columns: Columns, prefix: str, labels: Sequence[str]) -> Array | None:
    """Find an array (n, k) in columns: under its own name, under `prefix.label` each, or under the labels alone."""
    if prefix in columns and np.ndim(columns[prefix]) >= 1 and columns[prefix].dtype.kind in "fiub":
        return np.asarray(columns[prefix], dtype=float)
    for names in ([f"{prefix}.{label}" for label in labels], list(labels)):
        if all(name in columns for name in names):
            return np.stack([_floats(name, columns[name]) for name in names], axis=-1)
    return np.asarray(columns[""], dtype=float) if "" in columns else None


def _floats(name: str, column: Any) -> Array:
    """Turn a column into numbers; an entry that is empty or a text is named."""
    try:
        return np.asarray(column, dtype=float)
    except (ValueError, TypeError) as cause:
        row = next(k for k, entry in enumerate(column) if not _is_float(entry))
        raise InputError(f"column {name!r} has {str(column[row])[:40]!r} in row {row}, which is no number") from cause


def _is_float(entry: Any) -> bool:
    try:
        float(entry)
    except (ValueError, TypeError):
        return False
    return True
