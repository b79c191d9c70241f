"""Readers of named points: C3D files, and CSV files with a column for each coordinate."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from kinodyn import tables
from kinodyn.errors import InputError
from kinodyn.retarget.motion import MAX_FRAMES, Motion

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "inch": 0.0254, "ft": 0.3048}
TIMES = ("time", "t", "times", "timestamp")
UNIT = re.compile(r"[(\[].*[)\]]")  # such as "(s)" behind the name of a column
AXIS = re.compile(r"^(.+?)[._\s\-:]*([xyz])$", re.IGNORECASE)


def read_csv(path: str | os.PathLike[str]) -> Motion:
    """Read points from a CSV file.

    Parameters
    ----------
    path
        A file with a column of times [s] and three columns for each point: `LKNE.x`, `LKNE.y`, `LKNE.z`; `_`, `:`, a
        space or nothing may stand in place of the dot. Empty cells are frames in which a point was not seen.

    Returns
    -------
    Motion
        With the times sampled evenly.
    """
    file = Path(path)
    columns, _ = tables.read(file, suffixes=(".csv",))
    if list(columns) == [""]:
        raise InputError(f"{file}: the first line must name the columns")
    time = next((name for name in columns if UNIT.sub("", name).strip().lower() in TIMES), None)
    if time is None:
        raise InputError(f"{file} has no column of times; give one of {', '.join(TIMES)}")
    points: dict[str, dict[str, str]] = {}
    for name in columns:
        match = AXIS.match(name.strip())
        if name != time and match:
            points.setdefault(match[1], {})[match[2].lower()] = name
    complete = {name: axes for name, axes in points.items() if len(axes) == 3}
    if not complete:
        raise InputError(f"{file} has no points: three columns such as LKNE.x, LKNE.y, LKNE.z")
    try:
        rows = np.stack([[np.asarray(columns[axes[a]], dtype=float) for a in "xyz"] for axes in complete.values()])
        seconds = np.asarray(columns[time], dtype=float)
    except ValueError as cause:
        raise InputError(f"{file}: coordinates and times must be numbers: {cause}") from cause
    positions = rows.transpose(2, 0, 1)
    steps = np.diff(seconds)
    if len(seconds) < 2 or not np.isfinite(seconds).all() or not (steps > 0).all():
        raise InputError(f"{file}: times must be finite and increasing, at least two")
    step = float(np.median(steps))
    if seconds[-1] - seconds[0] > MAX_FRAMES * step:
        raise InputError(f"{file}: times from {seconds[0]:g} to {seconds[-1]:g} s in steps of {step:g} s are too many")
    if np.abs(steps - step).max() <= 0.01 * step:
        step = float(seconds[-1] - seconds[0]) / len(steps)  # times are rounded, over the whole clip by the least
    else:
        positions = _even(seconds, positions, np.arange(seconds[0], seconds[-1] + 0.5 * step, step))
    names = tuple(complete)
    return Motion(names, (-1,) * len(names), positions, 1.0 / step, file.name)


def _even(seconds: np.ndarray, positions: np.ndarray, even: np.ndarray) -> np.ndarray:
    """Interpolate positions (n, points, 3) to other times."""
    flat = positions.reshape(len(positions), -1)
    columns = [np.interp(even, seconds, column) for column in flat.T]
    return np.stack(columns, axis=1).reshape(len(even), *positions.shape[1:])


def read_c3d(path: str | os.PathLike[str]) -> Motion:
    """Read the points of a C3D file.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Motion
        With NaN where a point was not seen.

    Raises
    ------
    InputError
        If the file cannot be read, or ezc3d is not installed.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file} does not exist or is not a file")
    try:
        import ezc3d
    except ImportError as cause:
        raise InputError("C3D files need ezc3d: pip install kinodyn[mocap]") from cause
    try:
        content = ezc3d.c3d(str(file))
        points, parameters = np.array(content["data"]["points"]), content["parameters"]["POINT"]
        names = tuple(str(name).strip() for name in parameters["LABELS"]["value"])
        rate = float(np.ravel(parameters["RATE"]["value"])[0])
        unit = str((parameters["UNITS"]["value"] or [""])[0]).strip().lower() if "UNITS" in parameters else ""
    except (OSError, ValueError, KeyError, IndexError, RuntimeError, TypeError) as cause:
        raise InputError(f"{file} cannot be read as C3D: {cause}") from cause
    positions = points[:3].transpose(2, 1, 0)[:, : len(names)].copy()
    positions[(positions == 0.0).all(axis=2)] = np.nan  # points that were not seen
    return Motion(names, (-1,) * len(names), positions, rate, file.name, units=UNITS.get(unit))
