"""The number of threads that large batches use. Small ones stay in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from kinodyn import _core
from kinodyn.checks import integer

T = TypeVar("T")

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


def map_in_threads(function: Callable[..., T], *arguments: Iterable[Any]) -> Iterator[T]:
    """Yield the results of a function, computed in as many threads as batches use, in the order of its arguments.

    Ctrl-C, which Python raises in the main thread only, and errors end the native calls of the other threads too.

    Parameters
    ----------
    function
    *arguments
        As for `map`.

    Yields
    ------
    result
    """
    from concurrent.futures import ThreadPoolExecutor  # it takes time to import

    cancellation = _core.Cancellation()
    pool = ThreadPoolExecutor(get_threads())
    try:
        yield from pool.map(lambda *given: cancellation.call(function, *given), *arguments)
    finally:
        cancellation.cancel()
        pool.shutdown(cancel_futures=True)
