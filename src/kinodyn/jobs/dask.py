"""Dask distributed behind one adapter: workers of this machine, or of a cluster by its address or client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, suppress
from importlib import import_module
from typing import Any

from kinodyn.errors import InputError, KinodynError
from kinodyn.jobs.engine import Engine

ADDRESSES = ("tcp://", "tls://", "ucx://", "ws://", "wss://", "inproc://")
CONNECT_TIMEOUT = 10.0  # [s]
COUNT_INTERVAL = 2.0  # [s] between counts of the workers of a cluster
WORKER_ENVIRONMENT = "distributed.nanny.pre-spawn-environ"  # of the configuration of Dask
SETTINGS = {  # of clusters that we start; with the defaults of Dask their bookkeeping takes 5 % of two cores
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "500ms",
}


def is_dask(engine: object) -> bool:
    """Return whether an engine is "dask", an address of a scheduler or a client."""
    named = isinstance(engine, str) and (engine == "dask" or engine.startswith(ADDRESSES))
    return named or hasattr(engine, "get_executor")


def dask_engine(engine: Any, workers: int | None, cores: int) -> Iterator[Engine]:
    """Connect to a cluster, or start one on this machine."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError as cause:
        raise KinodynError('engine="dask" needs dask: pip install "kinodyn[cluster]"') from cause
    if hasattr(engine, "get_executor"):
        yield _connected(engine, workers)
    elif engine == "dask":
        yield from _local(distributed, workers or cores)
    else:
        with _client(distributed, engine) as client:
            yield _connected(client, workers)


def _client(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=CONNECT_TIMEOUT)
    except (OSError, TimeoutError, ValueError) as cause:
        raise InputError(f"engine must be the address of a running Dask scheduler, got {address!r}: {cause}") from cause


def _local(distributed: Any, workers: int) -> Iterator[Engine]:
    """Start a cluster of this machine that listens on the loopback interface only."""
    with (
        _worker_settings(),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            # the scheduler has an HTTP server even so: on any free port, for other clusters may run on this machine
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield _connected(client, workers)


def _worker_settings() -> AbstractContextManager[object]:
    """Set what costs time: returning freed memory to the system, profiling, and looking at the system all the time."""
    config: Any = import_module("dask.config")
    environment = dict(config.get(WORKER_ENVIRONMENT, {}))
    environment.pop("MALLOC_TRIM_THRESHOLD_", None)
    environment |= {f"DASK_{name.replace('.', '__').replace('-', '_').upper()}": str(v) for name, v in SETTINGS.items()}
    context: AbstractContextManager[object] = config.set({WORKER_ENVIRONMENT: environment, **SETTINGS})
    return context


def _connected(client: Any, workers: int | None) -> Engine:
    count: Callable[[], int] = (lambda: workers) if workers is not None else _Count(client)
    return Engine(
        client.get_executor(pure=False),
        count,
        lost=lambda: _connection_failure(client),
        death_errors=(BrokenExecutor, import_module("distributed").KilledWorker),
        single_thread=True,
    )


def _connection_failure(client: Any) -> str:
    running = client.status in ("running", "connecting")
    return "" if running else "the Dask scheduler is lost; start it and call the job again to continue"


class _Count:
    """Number of threads of the workers that are connected, updated from time to time."""

    def __init__(self, client: Any) -> None:
        self._client, self._count, self._counted_at = client, 1, 0.0

    def __call__(self) -> int:
        if time.monotonic() - self._counted_at > COUNT_INTERVAL and self._client.status == "running":
            self._counted_at = time.monotonic()
            with suppress(OSError, TimeoutError):  # the connection may break at any moment
                self._count = max(1, sum(self._client.nthreads().values()))
        return self._count
