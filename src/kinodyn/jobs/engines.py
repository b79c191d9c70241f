"""What runs the shards of a job: processes of this machine, Dask workers, or any executor."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from kinodyn.errors import InputError
from kinodyn.jobs.dask import dask_engine, is_dask
from kinodyn.jobs.engine import Engine
from kinodyn.jobs.worker import start_worker

MAX_FAILED_STARTS = 3  # one may be killed for another reason


@contextmanager
def open_engine(engine: Any, workers: int | None) -> Iterator[Engine]:
    """Open the engine that `jobs.map` was given."""
    if isinstance(engine, Executor):
        yield _given(engine, workers)
    elif engine == "processes":
        yield from _processes(workers or cores())
    elif is_dask(engine):
        yield from dask_engine(engine, workers, cores())
    else:
        raise InputError(
            'engine must be "processes", "dask", the address or client of a Dask scheduler, or an executor of '
            f"concurrent.futures, got {engine!r}"
        )


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _given(executor: Executor, workers: int | None) -> Engine:
    count = workers or int(getattr(executor, "_max_workers", 0) or cores())
    return Engine(executor, lambda: count)


def _processes(workers: int) -> Iterator[Engine]:
    pool = _Processes(workers)
    engine = Engine(pool.create(), lambda: workers, renew=pool.renew, lost=pool.lost)
    try:
        yield engine
    finally:
        _stop(engine.executor)


class _Processes:
    """Worker processes, which are replaced when one of them has died."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._failed_starts = 0  # in a row

    def create(self) -> Executor:
        """Start workers."""
        # spawn: a fork would copy locks of threads that do not exist in the child
        self._executor = ProcessPoolExecutor(self._workers, mp_context=get_context("spawn"), initializer=start_worker)
        self._started = self._executor.submit(os.getpid)
        return self._executor

    def renew(self) -> Executor:
        """Replace the workers, one of which has died."""
        died = self._started.done() and not self._started.cancelled() and self._started.exception() is not None
        self._failed_starts = self._failed_starts + 1 if died else 0
        _stop(self._executor)
        return self.create()

    def lost(self) -> str:
        """Return why workers cannot be had, if they end each time that they are started."""
        if self._failed_starts < MAX_FAILED_STARTS:
            return ""
        return (
            f"the worker processes ended {self._failed_starts} times in a row while they started; stderr has their "
            'errors. A script must call jobs.map below `if __name__ == "__main__":`, because workers import it'
        )


def _stop(executor: Executor) -> None:
    """Shut an executor down without waiting for its running tasks."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(5.0)
