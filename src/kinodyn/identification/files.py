"""Read measurements from CSV, NPZ and Parquet files with the same columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinodyn import tables
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.errors import InputError, unknown_name
from kinodyn.identification.columns import base_rows, groups
from kinodyn.identification.measurements import Measurements, measurements
from kinodyn.model.robot import Robot


@check_types
def read(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    columns: Mapping[str, str] | None = None,
    max_bytes: int | None = None,
) -> Measurements:
    """Read measurements of a robot from a file.

    Columns are `time`, `q.<joint>`, `tau.<joint>` and, where recorded, `v.<joint>`, `a.<joint>` and
    `wrench.<frame>.fx` to `nz`, in any order; or numbered `q0`, `q1`, ..., `tau0`, ... in the order of the robot. NPZ
    files may contain whole arrays: `time` (n,), `q` (n, nq), `tau` (n, nv), `wrench.<frame>` (n, 6). Nothing is
    unpickled.

    Parameters
    ----------
    path : str or path
        A .csv, .npz or .parquet (`pip install 'kinodyn[data]'`) file.
    robot : Robot
    columns : mapping of str -> str, optional
        Names in the file and those above: {"t": "time", "motor_1_torque": "tau.joint1"}.
    max_bytes : int, optional
        Size that the file may unpack to. By default 64 times its own size, but at least 256 MiB and
        at most 4 GiB: a small file can contain a huge table.

    Returns
    -------
    Measurements

    Raises
    ------
    InputError
        If the file is not a table of numbers, with the row; if columns are missing, with their names.
    UnknownNameError
        If the robot does not have the joint or frame of a column.
    """
    file = Path(path)
    table = tables.read(file, max_bytes=max_bytes).columns
    if "" in table:
        raise InputError(f"{file} has no column names in its first line; name the columns time, q.<joint>, tau.<joint>")
    table = _renamed(file, table, columns or {})
    try:
        return _assemble(robot, _split(robot, table))
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def _renamed(file: Path, table: tables.Columns, columns: Mapping[str, str]) -> tables.Columns:
    for name in columns:
        if name not in table:
            raise unknown_name(f"column of {file}", name, table)
    names = [columns.get(name, name) for name in table]
    tables.reject_repeated(file, names)
    return dict(zip(names, table.values(), strict=True))


def _split(robot: Robot, table: tables.Columns) -> dict[str, Any]:
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
    if axis in tables.WRENCH and frame in robot.frame_names:
        wrenches.setdefault(frame, {})[axis] = array
    else:
        robot.frame_index(label)
        wrenches[label] = array


def _assemble(robot: Robot, parts: dict[str, Any]) -> Measurements:
    if "time" not in parts:
        raise InputError("there is no column 'time'; pass columns={'...': 'time'} if it has another name")
    v, a = (_group(robot, parts, group) if _has(parts, group) else None for group in ("v", "a"))
    wrenches = {frame: _wrench(frame, given) for frame, given in parts.get("wrenches", {}).items()}
    q, tau = _group(robot, parts, "q"), _group(robot, parts, "tau")
    data = measurements(robot, parts["time"], q, tau, v=v, a=a, wrenches=wrenches)
    return Measurements(**{**vars(data), "ignored": tuple(parts["ignored"])})


def _has(parts: dict[str, Any], group: str) -> bool:
    return group in parts or f"{group} columns" in parts


def _group(robot: Robot, parts: dict[str, Any], group: str) -> Array:
    """Put the columns of one group in the robot's order."""
    given: tables.Columns = parts.get(f"{group} columns", {})
    if group in parts:
        if given:
            raise InputError(f"{group} is given as a whole and by columns {', '.join(given)}; keep one of them")
        whole: Array = parts[group]
        return whole
    names = groups(robot)[group]
    needed = names[base_rows(robot) :] if group == "tau" else names
    missing = [f"{group}.{name}" for name in needed if name not in given]
    if missing:
        raise InputError(f"columns are missing: {', '.join(missing)}; the robot {robot.name} needs them")
    zero = np.zeros_like(next(iter(given.values()), np.zeros(0)))
    return tables.side_by_side({f"{group}.{name}": given.get(name, zero) for name in names})


def _wrench(frame: str, given: Array | tables.Columns) -> Array:
    if not isinstance(given, dict):
        return given
    missing = [f"wrench.{frame}.{axis}" for axis in tables.WRENCH if axis not in given]
    if missing:
        raise InputError(f"columns are missing: {', '.join(missing)}; a wrench has six")
    return tables.side_by_side({f"wrench.{frame}.{axis}": given[axis] for axis in tables.WRENCH})
