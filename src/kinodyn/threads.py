"""The number of threads that large batches use. Small ones stay in the calling thread."""

from __future__ import annotations

from kinodyn import _core
from kinodyn.checks import integer

MAX_THREADS = 1024


def get_threads() -> int:
    """Return the number of threads that large batches use.

    Returns
    -------
    count : int
        At first the number of cores, or the value of the environment variable KINODYN_THREADS.
    """
    return _core.threads()


def set_threads(count: int) -> None:
    """Set the number of threads that large batches use; results do not depend on it.

    Parameters
    ----------
    count
        From 1 to 1024, the calling thread included; 1 keeps all work in the calling thread.
    """
    integer("threads", count, 1, MAX_THREADS)
    _core.set_threads(int(count))
