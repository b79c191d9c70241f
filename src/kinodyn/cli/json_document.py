"""Write values as JSON: arrays as lists, non-finite numbers as null."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np


def to_jsonable(value: Any) -> Any:
    """Convert a value to the types that JSON has."""
    if isinstance(value, Mapping):
        return {str(name): to_jsonable(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return to_jsonable(value.tolist())
    if isinstance(value, list | tuple):
        return [to_jsonable(part) for part in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return str(value)


def dump_json(value: Any) -> str:
    """Write one JSON document: one line per entry, lists of numbers on one line."""
    return _dump(to_jsonable(value), "")


def _dump(value: Any, margin: str) -> str:
    deeper = margin + "  "
    if isinstance(value, dict) and value:
        lines = [f"{deeper}{json.dumps(name)}: {_dump(part, deeper)}" for name, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    if isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        return "[\n" + ",\n".join(deeper + _dump(part, deeper) for part in value) + f"\n{margin}]"
    return json.dumps(value, allow_nan=False, ensure_ascii=False)
