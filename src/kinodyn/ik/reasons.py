"""Explanations of statuses, one for each element of a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def reasons_of(shape: tuple[int, ...], reason: Callable[[tuple[int, ...]], str]) -> NDArray[np.object_]:
    """Call `reason(index)` for each index of a batch; return its texts in an array of that shape."""
    reasons = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        reasons[index] = reason(index)
    return reasons
