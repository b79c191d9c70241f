"""Recordings in files: CSV, NPZ and Parquet with the same columns."""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError, KinodynError, unknown_name
from kinodyn.identification.columns import WRENCH, base_rows, groups
from kinodyn.identification.measurements import Measurements, measurements
from kinodyn.model.robot import Robot

SUFFIXES = (".csv", ".npz", ".parquet")
Table = dict[str, Array]


def read(path: str | os.PathLike[str], robot: Robot, *, columns: Mapping[str, str] | None = None) -> Measurements:
    """Read a recording of a robot from a .csv, .npz or .parquet file.

    Columns are `time`, `q.<joint>`, `tau.<joint>` and, where recorded, `v.<joint>`, `a.<joint>` and
    `wrench.<frame>.fx` to `nz`, in any order; or by number `q0`, `q1`, ..., `tau0`, ... in the robot's order. In an NPZ
    file the arrays may also be whole: `time` (n,), `q` (n, nq), `tau` (n, nv), `wrench.<frame>` (n, 6); nothing in it
    is unpickled. Parquet needs pyarrow (`pip install 'kinodyn[data]'`).

    Parameters
    ----------
    columns
        Other names that the file uses: {"t": "time", "motor_1_torque": "tau.joint1"}.

    Raises
    ------
    InputError
        For a file that is no table of numbers, with the line; for columns that are missing, with their names.
    UnknownNameError
        For columns of joints or frames that the robot does not have.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
    file = Path(path)
    readers = {".csv": _read_csv, ".npz": _read_npz, ".parquet": _read_parquet}
    if file.suffix.lower() not in readers:
        raise InputError(f"{file} ends in {file.suffix!r}; recordings end in {', '.join(SUFFIXES)}")
    if not file.is_file():
        raise InputError(f"{file} does not exist or is no file")
    table = _renamed(file, readers[file.suffix.lower()](file), columns or {})
    try:
        return _assemble(robot, _split(robot, table))
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def write(data: Measurements, path: str | os.PathLike[str]) -> None:
    """Write measurements so that `read` returns the same numbers; the suffix says in which format."""
    file, table = Path(path), _table(data)
    suffix = file.suffix.lower()
    if suffix == ".npz":
        with open(file, "wb") as stream:
            np.savez_compressed(stream, **table)  # type: ignore[arg-type]
    elif suffix == ".csv":
        with open(file, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(table)
            writer.writerows([repr(float(value)) for value in row] for row in zip(*table.values(), strict=True))
    elif suffix == ".parquet":
        arrow, parquet = _pyarrow()
        parquet.write_table(arrow.table(table), file)
    else:
        raise InputError(f"{file} ends in {suffix!r}; recordings end in {', '.join(SUFFIXES)}")


def _table(data: Measurements) -> Table:
    table: Table = {"time": data.time}
    for group, names in groups(data.robot).items():
        array = getattr(data, group)
        skipped = base_rows(data.robot) if group == "tau" else 0
        if array is not None:
            table.update({f"{group}.{name}": array[:, k] for k, name in enumerate(names) if k >= skipped})
    for frame, wrench in data.wrenches.items():
        table.update({f"wrench.{frame}.{axis}": wrench[:, k] for k, axis in enumerate(WRENCH)})
    return table


def _read_csv(file: Path) -> Table:
    try:
        with open(file, newline="", encoding="utf-8-sig") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as cause:
        raise InputError(f"{file} cannot be read as CSV: {cause}") from cause
    if len(rows) < 2:
        raise InputError(f"{file} has {len(rows)} lines; give a line of column names and at least two of numbers")
    names = [name.strip() for name in rows[0]]
    _refuse_repeated(file, names)
    values = np.empty((len(rows) - 1, len(names)))
    for k, row in enumerate(rows[1:]):
        if len(row) != len(names):
            raise InputError(f"{file}: row {k} has {len(row)} cells; the first line names {len(names)} columns")
        for i, cell in enumerate(row):
            try:
                values[k, i] = float(cell) if cell.strip() else np.nan
            except ValueError as cause:
                raise InputError(f"{file}: row {k}, column {names[i]!r} is {cell!r}, not a number") from cause
    return dict(zip(names, values.T, strict=True))


def _read_npz(file: Path) -> Table:
    try:
        with np.load(file, allow_pickle=False) as stream:
            return {name: stream[name] for name in stream.files}
    except (OSError, ValueError, KeyError, AttributeError, TypeError, EOFError, zipfile.BadZipFile) as cause:
        raise InputError(f"{file} cannot be read as NPZ without pickle: {cause}") from cause


def _read_parquet(file: Path) -> Table:
    arrow, parquet = _pyarrow()
    try:
        table = parquet.ParquetFile(file).read()
    except (arrow.ArrowException, OSError) as cause:
        raise InputError(f"{file} cannot be read as Parquet: {cause}") from cause
    _refuse_repeated(file, table.column_names)
    return {name: table[name].to_numpy() for name in table.column_names}


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as cause:
        raise KinodynError("Parquet needs the package pyarrow; install it with: pip install 'kinodyn[data]'") from cause
    return pyarrow, parquet


def _refuse_repeated(file: Path, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"{file} names columns twice: {', '.join(repeated)}")


def _renamed(file: Path, table: Table, columns: Mapping[str, str]) -> Table:
    for name in columns:
        if name not in table:
            raise unknown_name(f"column of {file}", name, table)
    names = [columns.get(name, name) for name in table]
    _refuse_repeated(file, names)
    return dict(zip(names, table.values(), strict=True))


def _split(robot: Robot, table: Table) -> dict[str, Any]:
    """Sort columns into groups: group -> array (n, k) or label -> column; "ignored" -> names."""
    parts: dict[str, Any] = {"ignored": []}
    for name, array in table.items():
        group, _, label = name.partition(".")
        number = name.rstrip("0123456789")
        if name in ("time", "q", "v", "a", "tau"):
            parts[name] = array
        elif group in groups(robot) and label:
            _known(group, label, groups(robot)[group])
            parts.setdefault(f"{group} columns", {})[label] = array
        elif group == "wrench" and label:
            _add_wrench(robot, parts, label, array)
        elif number in groups(robot) and number != name:
            parts.setdefault(f"{number} columns", {})[_numbered(robot, number, name)] = array
        else:
            parts["ignored"].append(name)
    return parts


def _known(group: str, label: str, allowed: tuple[str, ...]) -> None:
    if label not in allowed:
        raise unknown_name("column", f"{group}.{label}", (f"{group}.{name}" for name in allowed))


def _numbered(robot: Robot, group: str, name: str) -> str:
    names, k = groups(robot)[group], int(name[len(group) :])
    if k >= len(names):
        raise InputError(f"column {name!r} is one too many: {robot.name} has {group}0 to {group}{len(names) - 1}")
    return names[k]


def _add_wrench(robot: Robot, parts: dict[str, Any], label: str, array: Array) -> None:
    wrenches = parts.setdefault("wrenches", {})
    frame, _, axis = label.rpartition(".")
    if axis in WRENCH and frame in robot.frame_names:
        wrenches.setdefault(frame, {})[axis] = array
    else:
        robot.frame_index(label)
        wrenches[label] = array


def _assemble(robot: Robot, parts: dict[str, Any]) -> Measurements:
    if "time" not in parts:
        raise InputError("there is no column 'time'; name it by columns={'...': 'time'} if it is called otherwise")
    v, a = (_group(robot, parts, group) if _has(parts, group) else None for group in ("v", "a"))
    wrenches = {frame: _wrench(frame, given) for frame, given in parts.get("wrenches", {}).items()}
    q, tau = _group(robot, parts, "q"), _group(robot, parts, "tau")
    data = measurements(robot, parts["time"], q, tau, v=v, a=a, wrenches=wrenches)
    return Measurements(**{**vars(data), "ignored": tuple(parts["ignored"])})


def _has(parts: dict[str, Any], group: str) -> bool:
    return group in parts or f"{group} columns" in parts


def _group(robot: Robot, parts: dict[str, Any], group: str) -> Array:
    """Put the columns of one group in the robot's order."""
    given: Table = parts.get(f"{group} columns", {})
    if group in parts:
        if given:
            raise InputError(f"{group} is there as a whole and by columns {', '.join(given)}; keep one of them")
        whole: Array = parts[group]
        return whole
    names = groups(robot)[group]
    needed = names[base_rows(robot) :] if group == "tau" else names
    missing = [f"{group}.{name}" for name in needed if name not in given]
    if missing:
        raise InputError(f"columns are missing: {', '.join(missing)}; the robot {robot.name} needs them")
    zero = np.zeros_like(next(iter(given.values()), np.zeros(0)))
    return _side_by_side({f"{group}.{name}": given.get(name, zero) for name in names})


def _wrench(frame: str, given: Array | Table) -> Array:
    if not isinstance(given, dict):
        return given
    missing = [f"wrench.{frame}.{axis}" for axis in WRENCH if axis not in given]
    if missing:
        raise InputError(f"columns are missing: {', '.join(missing)}; a wrench has six")
    return _side_by_side({f"wrench.{frame}.{axis}": given[axis] for axis in WRENCH})


def _side_by_side(columns: Table) -> Array:
    shapes = {name: np.shape(column) for name, column in columns.items()}
    (first, shape), *_ = shapes.items()
    for name, other in shapes.items():
        if len(other) != 1 or other != shape:
            raise InputError(f"column {name!r} has shape {other} and {first!r} has {shape}; give (n,) of one length")
    return np.stack(list(columns.values()), axis=1)
