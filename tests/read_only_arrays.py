"""A search for read-only arrays in results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kinodyn.display import attributes

MAX_DEPTH = 4  # of nested results
MAX_ITEMS = 5  # of a list or mapping that are looked at


def read_only_arrays(value: Any, place: str, depth: int = 0) -> Iterator[str]:
    """Iterate over the places of read-only arrays in a value and its public attributes."""
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            yield place
    elif depth < MAX_DEPTH:
        for name, part in _parts(value):
            yield from read_only_arrays(part, f"{place}{name}", depth + 1)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from (("[]", part) for part in list(value.values())[:MAX_ITEMS])
    elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        yield from (("[]", part) for part in value[:MAX_ITEMS])
    elif type(value).__module__.startswith("kinodyn"):
        yield from ((f".{name}", part) for name, part in attributes(value))
