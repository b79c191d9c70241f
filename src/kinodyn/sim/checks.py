"""Checks of arguments that several files here share."""

from __future__ import annotations

import numpy as np

from kinodyn.errors import InputError


def positive(name: str, value: float) -> float:
    """Return the value, or raise an error if it is no finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
        raise InputError(f"{name} must be a finite number above 0, got {value!r}")
    return float(value)
