"""What a case may end with: a result without NaN, or an error of kinodyn."""

from __future__ import annotations

import dataclasses
import traceback
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import numpy as np

import kinodyn as kd

MAX_MESSAGE = 4000  # characters of an error
CALLER = "/kinodyn/argument_types.py"  # the decorator that calls the function
MAX_DEPTH = 4  # of nested results in which NaN is searched


def outcome(call: Callable[[], Any], *, finite: bool = True) -> str:
    """Run a case; return "" if it ended as it may, otherwise what was wrong.

    Parameters
    ----------
    call
    finite
        Whether NaN in the result is wrong.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = call()
    except kd.errors.KinodynError as error:
        return f"a message of {len(str(error))} characters" if len(str(error)) > MAX_MESSAGE else ""
    except MemoryError:
        return ""  # as NumPy raises for an array that is too large
    except Exception as error:
        return _untyped(error)
    found = _nan(result, 0) if finite and not hasattr(result, "status") else ""  # which says that there is no answer
    return f"NaN in the result: {found}" if found else ""


def _untyped(error: Exception) -> str:
    """Describe an error that is not kinodyn's; "" if Python itself refused the call."""
    place = _innermost(error.__traceback__)
    if isinstance(error, TypeError) and (place == "" or "unexpected keyword argument" in str(error)):
        return ""
    return f"{type(error).__name__} in {place}: {str(error)[:120]}"


def _innermost(trace: TracebackType | None) -> str:
    """Return the last place in kinodyn's code, "" if the call did not reach it."""
    frames = [frame for frame in traceback.extract_tb(trace) if "/kinodyn/" in frame.filename]
    frames = [frame for frame in frames if not frame.filename.endswith(CALLER)]
    if not frames:
        return ""
    last = frames[-1]
    return f"{last.filename.rpartition('/kinodyn/')[2]}:{last.lineno} {last.name}"


def _nan(value: Any, depth: int) -> str:
    """Return where a result has a NaN, "" if nowhere."""
    if isinstance(value, (float, np.floating)):
        return "a number" if value != value else ""
    if isinstance(value, np.ndarray):
        return f"an array {value.shape}" if value.dtype.kind == "f" and np.isnan(value).any() else ""
    if depth >= MAX_DEPTH:
        return ""
    for name, part in _parts(value):
        found = _nan(part, depth + 1)
        if found:
            return f"{name}: {found}"
    return ""


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(str(key), part) for key, part in list(value.items())[:100]]
    if isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", range(len(value)))
        return [(str(name), part) for name, part in list(zip(names, value, strict=False))[:100]]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value)]
    return []
