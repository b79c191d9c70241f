"""What identifies the function of a job: its name, and the arguments that `functools.partial` binds."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinodyn.errors import InputError
from kinodyn.model.fingerprint import fingerprint
from kinodyn.model.robot import Robot


def function_name(function: Any) -> str:
    """Return the qualified name of a function, also within partials."""
    while isinstance(function, functools.partial):
        function = function.func
    module = getattr(function, "__module__", None) or type(function).__module__
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def bound_arguments(function: Any) -> dict[str, Any]:
    """Return the arguments of partials as JSON values: numbers and strings as they are, arrays and robots by a hash.

    Other objects are identified by their type alone: whether two of them are equal cannot be determined.
    """
    found: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        given = {**{str(k): value for k, value in enumerate(function.args)}, **function.keywords}
        found = {**{name: _identity(value) for name, value in given.items()}, **found}
        function = function.func
    return found


def _identity(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value if value == value else "nan"
    if isinstance(value, Robot):
        return f"robot:{fingerprint(value)}"
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        digest = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=8).hexdigest()
        return f"array:{value.dtype.str}:{value.shape}:{digest}"
    if isinstance(value, list | tuple):
        return [_identity(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): _identity(each) for name, each in value.items()}
    return f"{type(value).__module__}.{type(value).__qualname__}"


def json_values(what: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as JSON has them after a file was written and read: tuples are lists, keys are strings."""
    try:
        read: dict[str, Any] = json.loads(json.dumps(dict(values), allow_nan=False))
    except (TypeError, ValueError) as cause:
        raise InputError(f"{what} must be JSON values, finite numbers, strings and lists of them: {cause}") from cause
    return read
