"""Structures, codes and constants shared with the compiled core. Each is declared once, in C++ (core/layout.hpp).

A *record* has a fixed size; the core takes tables of them: `np.zeros(n, dtype=layout("body"))`. A *block* is a row of
float64 numbers that broadcasts over batch axes like any other argument; `named_view` shows its fields by name.
An enumeration crosses the boundary as integers; `codes` returns them by name (core/codes.hpp).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.errors import InputError


@cache
def layout(name: str, **sizes: int) -> np.dtype[np.void]:
    """Return the dtype of a structure of the core.

    Parameters
    ----------
    name
        Name of the layout, such as "body".
    **sizes
        Dimensions that the core knows only at run time, by name; records have none.

    Examples
    --------
    >>> table = np.zeros(2, dtype=layout("frame"))
    >>> table["R"].shape
    (2, 3, 3)
    """
    fields = _core.layouts()[name]
    dimensions = [] if isinstance(fields, np.dtype) else [size for *_, shape in fields for size in shape]
    needed = {size for size in dimensions if isinstance(size, str)}
    if set(sizes) != needed:
        raise InputError(f"layout {name!r} takes {_listed(needed)}, got {_listed(sizes)}")
    if isinstance(fields, np.dtype):
        return fields
    return np.dtype(
        [
            (field, form, tuple(size if isinstance(size, int) else sizes[size] for size in shape))
            for field, form, shape in fields
        ]
    )


@cache
def codes(name: str) -> Mapping[str, int]:
    """Return the codes of an enumeration of the core, by the name of the value.

    Examples
    --------
    >>> list(codes("rotation_bound"))
    ['angle', 'xyz', 'rotation_vector']
    """
    return MappingProxyType(_core.codes()[name])


def constant(name: str) -> float:
    """Return a number of the core that Python uses too.

    Examples
    --------
    >>> constant("no_limit")
    1e+30
    """
    return _core.constants()[name]


def record(name: str, values: Mapping[str, float]) -> np.ndarray:
    """Return one record (1,) of the core with all its fields, by name.

    Examples
    --------
    >>> float(record("height_grid", {"cell": 0.02, "x0": 0.0, "y0": 0.0})["cell"][0])
    0.02
    """
    result = np.zeros(1, dtype=layout(name))
    if set(values) != set(result.dtype.names or ()):
        raise InputError(f"layout {name!r} must get the fields {', '.join(result.dtype.names or ())}")
    for field, value in values.items():
        result[field] = value
    return result


def _listed(sizes: Collection[str]) -> str:
    return f"the sizes {', '.join(sorted(sizes))}" if sizes else "no sizes"


def block_size(dtype: np.dtype[np.void]) -> int:
    """Return how many float64 numbers a structure of numbers takes."""
    return dtype.itemsize // np.dtype(float).itemsize


def named_view(numbers: Array, dtype: np.dtype[np.void]) -> np.ndarray:
    """View rows of numbers `(..., size)` as structures `(...)` with named fields, without a copy."""
    return numbers.view(dtype)[..., 0]
