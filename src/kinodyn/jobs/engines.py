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
    def create() -> Executor:
        # spawn: a fork would copy locks of threads that do not exist in the child
        return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=start_worker)

    def renew() -> Executor:
        _stop(engine.executor)
        return create()

    engine = Engine(create(), lambda: workers, renew=renew)
    try:
        yield engine
    finally:
        _stop(engine.executor)


def _stop(executor: Executor) -> None:
    """Shut an executor down without waiting for its running tasks."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(5.0)
