"""What runs the shards of a job: processes of this machine, Dask workers, or any executor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from typing import Any

from kinodyn.errors import InputError, KinodynError
from kinodyn.threads import set_threads

WORKER_ENVIRONMENT = "distributed.nanny.pre-spawn-environ"  # of the configuration of Dask
DASK_ADDRESSES = ("tcp://", "tls://", "ucx://", "ws://", "wss://")


@dataclass
class Engine:
    """An executor and how many shards it works on at once.

    Attributes
    ----------
    executor : concurrent.futures.Executor
    workers : int
    renew : callable or None
        Makes a new executor after a worker has died; None where the engine replaces its workers itself.
    """

    executor: Executor
    workers: int
    renew: Callable[[], Executor] | None = None


@contextmanager
def open_engine(engine: Any, workers: int | None) -> Iterator[Engine]:
    """Open the engine that `jobs.map` was given."""
    if isinstance(engine, Executor):
        yield Engine(engine, workers or int(getattr(engine, "_max_workers", 0) or os.cpu_count() or 1))
    elif engine == "processes":
        yield from _processes(workers or _cores())
    elif engine == "dask" or _is_dask(engine):
        yield from _dask(engine, workers)
    else:
        raise InputError(
            'engine must be "processes", "dask", the address or client of a Dask scheduler, or an executor of '
            f"concurrent.futures, got {engine!r}"
        )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processes(workers: int) -> Iterator[Engine]:
    def create() -> Executor:
        # spawn: a fork would copy locks of threads that do not exist in the child
        return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=set_threads, initargs=(1,))

    engine = Engine(create(), workers, create)
    try:
        yield engine
    finally:
        stop(engine.executor)


def stop(executor: Executor) -> None:
    """Shut an executor down without waiting for its running tasks."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(5.0)


def _is_dask(engine: object) -> bool:
    return (isinstance(engine, str) and engine.startswith(DASK_ADDRESSES)) or hasattr(engine, "get_executor")


def _dask(engine: Any, workers: int | None) -> Iterator[Engine]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError as cause:
        raise KinodynError('engine="dask" needs dask: pip install "kinodyn[cluster]"') from cause
    if hasattr(engine, "get_executor"):
        yield _dask_engine(engine, workers)
        return
    if engine != "dask":
        with distributed.Client(engine, timeout=10) as client:
            yield _dask_engine(client, workers)
        return
    with (
        _without_trimming(),
        distributed.LocalCluster(
            n_workers=workers or _cores(), threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield _dask_engine(client, workers)


def _without_trimming() -> AbstractContextManager[object]:
    """Let workers keep memory that they free: Dask makes them return it, which slows down work on large arrays."""
    config: Any = import_module("dask.config")
    environment = dict(config.get(WORKER_ENVIRONMENT, {}))
    environment.pop("MALLOC_TRIM_THRESHOLD_", None)
    context: AbstractContextManager[object] = config.set({WORKER_ENVIRONMENT: environment})
    return context


def _dask_engine(client: Any, workers: int | None) -> Engine:
    client.run(set_threads, 1)
    count = workers or max(1, sum(client.nthreads().values()))
    return Engine(client.get_executor(pure=False), count)
