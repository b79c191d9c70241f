"""An engine: the executor of a job, and how it is kept busy."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass


def _alive() -> str:
    return ""


@dataclass
class Engine:
    """An executor and how many shards it works on at once.

    Attributes
    ----------
    executor : concurrent.futures.Executor
    workers : callable
        Returns the number of shards that can be computed at the same time; workers may join and leave.
    renew : callable or None
        Makes a new executor after a worker has died; None where the engine replaces its workers itself.
    lost : callable
        Returns why the engine cannot go on, such as the loss of its scheduler; empty while it can.
    death_errors : tuple of exception types
        Errors of a shard that say that its worker died. That may be the fault of another shard, which the worker had
        begun or was to compute next.
    single_thread : bool
        Whether shards set the number of threads to one, because the engine starts its workers itself.
    """

    executor: Executor
    workers: Callable[[], int]
    renew: Callable[[], Executor] | None = None
    lost: Callable[[], str] = _alive
    death_errors: tuple[type[BaseException], ...] = (BrokenExecutor,)
    single_thread: bool = False
