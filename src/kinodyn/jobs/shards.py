"""One shard: read its input, call the function, write its output. This runs in a worker."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn import tables
from kinodyn.errors import InputError
from kinodyn.jobs.functions import PickledFunction
from kinodyn.jobs.sources import Part
from kinodyn.threads import get_threads, set_threads

RESULT = "result"  # name of the output of a function that returns one array
MAX_TRACE = 4000  # characters of a traceback that are kept


@dataclass(frozen=True)
class Outcome:
    """The outcome of a shard.

    Attributes
    ----------
    index : int
    rows : int
        Rows written.
    seconds : float
    error, trace : str
        Empty if it was written.
    fatal : bool
        Whether other shards would fail as well: the function cannot be imported, the folder cannot be written.
    """

    index: int
    rows: int
    seconds: float
    error: str = ""
    trace: str = ""
    fatal: bool = False


def run_shard(
    function: Callable[[Any], Any] | PickledFunction, part: Part, index: int, file: str, key: str, single_thread: bool
) -> Outcome:
    """Compute one shard and write it, at once or not at all."""
    begin = time.perf_counter()
    if single_thread and get_threads() != 1:
        set_threads(1)
    try:
        call = function.load() if isinstance(function, PickledFunction) else function
    except InputError as error:
        return Outcome(index, 0, time.perf_counter() - begin, str(error), fatal=True)
    try:
        columns = as_columns(call(part.read()))
    except BaseException as error:  # whatever the function raises, SystemExit too, is the result of this shard
        trace = traceback.format_exc()[-MAX_TRACE:]
        return Outcome(index, 0, time.perf_counter() - begin, f"{type(error).__name__}: {error}"[:MAX_TRACE], trace)
    try:
        tables.write(Path(file), columns, metadata={"job": key, "shard": index})
    except InputError as error:
        return Outcome(index, 0, time.perf_counter() - begin, str(error), fatal=isinstance(error.__cause__, OSError))
    rows = len(next(iter(columns.values())))
    return Outcome(index, rows, time.perf_counter() - begin)


def as_columns(result: Any) -> dict[str, NDArray[Any]]:
    """Return what a function returned as arrays (n, ...) by name, or raise InputError."""
    given = result if isinstance(result, Mapping) else {RESULT: result}
    given = {str(name): each for name, each in given.items()}
    columns = {name: np.asarray(each) for name, each in given.items()}
    if not columns:
        raise InputError("the function returned no columns")
    for name, array in columns.items():
        if array.ndim == 0 or array.dtype.kind not in "fiubU":
            raise InputError(
                "the function must return an array (n, ...) of numbers or strings, or a dict of them; "
                f"{name!r} is {_described(given[name], array)}"
            )
    lengths = {name: len(array) for name, array in columns.items()}
    if len(set(lengths.values())) != 1:
        raise InputError(f"the function must return arrays with the same number of rows, got {lengths}")
    return columns


def _described(value: Any, array: NDArray[Any]) -> str:
    if value is None or (array.dtype.hasobject and not isinstance(value, np.ndarray)):
        return f"of type {type(value).__name__}"
    return f"{array.dtype} with shape {array.shape}"
