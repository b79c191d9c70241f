"""Recordings as tables of pandas and xarray, which are imported here only."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kinodyn import tables
from kinodyn.errors import InputError, KinodynError
from kinodyn.recording.recording import Recording


def to_pandas(recording: Recording) -> Any:
    """Return a DataFrame; see `Recording.to_pandas`."""
    if recording.batch:
        raise InputError(f"recording must be of one simulation, got a batch {recording.batch}; member(k) selects one")
    columns = tables.split_columns(dict(recording.arrays()), _labels(recording))
    time = columns.pop("time")
    pandas = _module("pandas")
    return pandas.DataFrame(columns, index=pandas.Index(time, name="time"))


def to_xarray(recording: Recording) -> Any:
    """Return a Dataset; see `Recording.to_xarray`."""
    batch = [f"batch_{k}" for k in range(len(recording.batch))]
    last = {"q": "q_name", "v": "v_name", "tau": "v_name"}
    variables = {}
    for name, array in recording.arrays():
        if name == "time":
            continue
        leading = ["time", *batch][: array.ndim] if array.shape[1 : 1 + len(batch)] == recording.batch else ["time"]
        rest = [f"{name}_{k}" for k in range(array.ndim - len(leading))]
        if rest and name in last:
            rest[-1] = last[name]
        elif rest and name.startswith("forces."):
            rest[-1] = "wrench"
        variables[name] = ((*leading, *rest), array)
    coordinates: dict[str, Any] = {"time": recording.time}
    coordinates |= {"q_name": list(recording.q_names), "v_name": list(recording.v_names)}
    coordinates |= {"wrench": list(tables.WRENCH)} if recording.forces else {}
    attributes = {"robot": recording.robot, "status": recording.status, "reason": recording.reason}
    return _module("xarray").Dataset(variables, coordinates, attributes)


def _labels(recording: Recording) -> dict[str, Any]:
    labels = {"q": recording.q_names, "v": recording.v_names, "tau": recording.v_names}
    return {**labels, **{f"forces.{frame}": tables.WRENCH for frame in recording.forces}}


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as cause:
        raise KinodynError(f"this needs the package {name}; install it with: pip install {name}") from cause
