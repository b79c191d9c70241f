"""Wrong values for one argument of a call."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np


class Anything:
    """A class that can be made from any arguments, as a function can be called that does not know what it is given."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


FIXED: list[Callable[[], Any]] = [
    lambda: None,
    lambda: "",
    lambda: "no such name",
    lambda: "x" * 300,
    lambda: "y\0z",
    lambda: b"bytes",
    lambda: 0,
    lambda: -1,
    lambda: 1,
    lambda: 3,
    lambda: True,
    lambda: 2**31,
    lambda: -(2**63),
    lambda: 10**400,
    lambda: 0.0,
    lambda: -1.0,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: -float("inf"),
    lambda: 1e308,
    lambda: 1e-308,
    lambda: 1e60,
    lambda: 1j,
    list,
    lambda: (),
    dict,
    lambda: set(),
    lambda: [[]],
    lambda: [1.0, "a"],
    lambda: [[1.0], [1.0, 2.0]],
    lambda: [None],
    lambda: {"no such name": 1.0},
    lambda: {"no such name": None},
    lambda: {1: 2},
    lambda: object(),
    lambda: Anything,
    lambda: lambda *_, **__: None,
    lambda: lambda *_, **__: float("nan"),
    lambda: iter([1.0, 2.0]),
    lambda: Path("no such file"),
    lambda: np.nan * np.zeros(3),
    lambda: np.zeros(0),
    lambda: np.zeros((0, 3)),
    lambda: np.zeros((2, 2)),
    lambda: np.zeros((1, 1, 1, 1)),
    lambda: np.array(["a", "b"]),
    lambda: np.array([None, object()]),
    lambda: np.zeros(3, dtype=complex),
    lambda: np.array([10**400], dtype=object),
    lambda: np.datetime64("2020-01-01"),
]


def wrong_values(valid: Any, seed: int) -> list[Callable[[], Any]]:
    """Return makers of wrong values: fixed ones, and changes of the valid value."""
    return [*FIXED, *_changes(valid, random.Random(seed))]


def _changes(valid: Any, rng: random.Random) -> list[Callable[[], Any]]:
    array = _as_array(valid)
    if array is not None and array.size:
        return _array_changes(array, rng)
    if isinstance(valid, str):
        return [lambda: valid + "_", lambda: valid[:-1], lambda: valid * 1000]
    if isinstance(valid, Mapping) and valid:
        first = next(iter(valid))
        return [
            lambda: {**valid, "no such name": valid[first]},
            lambda: {**valid, first: None},
            lambda: {**valid, first: float("nan")},
            lambda: {**valid, 5: valid[first]},
            lambda: list(valid),
        ]
    if isinstance(valid, (list, tuple)) and valid:
        return [lambda: [*valid, None], lambda: [*valid, *valid], lambda: list(valid[1:]), lambda: valid[0]]
    return []


def _array_changes(array: np.ndarray, rng: random.Random) -> list[Callable[[], Any]]:
    index = rng.randrange(array.size)

    def with_entry(value: float) -> np.ndarray:
        changed = array.astype(float).copy()
        changed.flat[index] = value
        return changed

    return [
        lambda: with_entry(float("nan")),
        lambda: with_entry(float("inf")),
        lambda: with_entry(1e300),
        lambda: with_entry(-1e5),
        lambda: array * 0.0,
        lambda: -array,
        lambda: array * 1e150,
        lambda: array[..., :-1] if array.ndim else array,
        lambda: array[None],
        lambda: np.stack([array] * 2),
        lambda: array.astype(str),
        lambda: array.astype(object),
        lambda: array.astype(complex),
        lambda: array[:0] if array.ndim else array,
        lambda: np.concatenate([array, array], axis=-1) if array.ndim else array,
    ]


def _as_array(valid: Any) -> np.ndarray | None:
    if isinstance(valid, bool) or not isinstance(valid, (int, float, list, tuple, np.ndarray)):
        return None
    try:
        array = np.asarray(valid)
    except ValueError:
        return None
    return array if array.dtype.kind in "iuf" else None
