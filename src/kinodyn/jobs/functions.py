"""The function of a job: what identifies it, and how it is sent to worker processes."""

from __future__ import annotations

import functools
import hashlib
import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinodyn.errors import InputError
from kinodyn.model.fingerprint import fingerprint
from kinodyn.model.robot import Robot


@dataclass(frozen=True)
class PickledFunction:
    """A function as it is sent to a worker process, which says so if it cannot import it, instead of dying.

    Attributes
    ----------
    content : bytes
    """

    content: bytes

    @staticmethod
    def of(function: Callable[[Any], Any]) -> PickledFunction:
        """Pickle a function, or raise InputError."""
        try:
            return PickledFunction(pickle.dumps(function))
        except Exception as cause:  # objects raise errors of many types when they are pickled
            raise InputError(
                f"function must be importable by worker processes, got {function_name(function)}, which cannot be sent "
                f"to them ({cause}); define it at the top level of a module, or use engine=ThreadPoolExecutor()"
            ) from cause

    def load(self) -> Callable[[Any], Any]:
        """Import the function, or raise InputError."""
        return _load(self.content)


@functools.lru_cache(maxsize=1)
def _load(content: bytes) -> Callable[[Any], Any]:
    try:
        function: Callable[[Any], Any] = pickle.loads(content)  # of the parent, through a pipe
    except Exception as cause:  # of the imports that it makes
        raise InputError(
            f"worker processes cannot import the function ({type(cause).__name__}: {cause}); define it at the top "
            'level of a module, and not below `if __name__ == "__main__":`'
        ) from cause
    return function


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
