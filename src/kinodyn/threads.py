"""How many cores large batches use. Small ones stay in the calling thread."""

from __future__ import annotations

import numpy as np

from kinodyn import _core
from kinodyn.errors import InputError

MOST = 1024


def get_threads() -> int:
    """Tell how many threads large batches use: all cores at first, or the variable KINODYN_THREADS."""
    return _core.threads()


def set_threads(count: int) -> None:
    """Set how many threads large batches use, the calling thread included; 1 switches the pool off."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= MOST:
        raise InputError(f"threads must be a whole number from 1 to {MOST}, got {count!r}")
    _core.set_threads(int(count))
