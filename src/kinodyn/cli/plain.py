"""Values that JSON has: no arrays, no NaN."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Turn a value into what JSON has: arrays into lists, numbers that are not finite into null."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
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


def document(value: Any) -> str:
    """Write one JSON document: a line for each entry, lists of numbers on one line."""
    return _written(plain(value), "")


def _written(value: Any, margin: str) -> str:
    deeper = margin + "  "
    if isinstance(value, dict) and value:
        lines = [f"{deeper}{json.dumps(name)}: {_written(part, deeper)}" for name, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    if isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        return "[\n" + ",\n".join(deeper + _written(part, deeper) for part in value) + f"\n{margin}]"
    return json.dumps(value, allow_nan=False, ensure_ascii=False)
