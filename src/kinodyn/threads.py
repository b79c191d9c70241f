"""How many cores large batches use. Small ones stay in the calling thread."""

from __future__ import annotations

from kinodyn import _core


def get_threads() -> int:
    """Tell how many threads large batches use: all cores at first, or the variable KINODYN_THREADS."""
    return _core.threads()


def set_threads(count: int) -> None:
    """Set how many threads large batches use, the calling thread included; 1 switches the pool off."""
    _core.set_threads(count)
