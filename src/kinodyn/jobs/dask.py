"""Dask distributed behind one adapter: workers of this machine, or of a cluster by its address or client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any, TypeVar

from kinodyn.errors import InputError, KinodynError
from kinodyn.jobs.engine import Engine

ADDRESSES = ("tcp://", "tls://", "ucx://", "ws://", "wss://", "inproc://")
CONNECT_TIMEOUT = 10.0  # [s]
ANSWER_TIMEOUT = 10.0  # [s] for a scheduler to answer
START_TIMEOUT, START_ATTEMPTS = 120.0, 3  # [s] of a cluster of this machine, whose workers may be killed meanwhile
STOP_TIMEOUT = 20.0  # [s]
COUNT_INTERVAL = 2.0  # [s] between counts of the workers of a cluster
PATIENCE = 300.0  # [s] without any worker: those of a cluster may wait in a queue
OWN_PATIENCE = 60.0  # [s] without any worker of a cluster that we start, which replaces those that die
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
        with _closing(_client(distributed, engine)) as client:
            yield _connected(client, workers)


def _client(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=CONNECT_TIMEOUT)
    except (OSError, TimeoutError, ValueError) as cause:
        raise InputError(f"engine must be the address of a running Dask scheduler, got {address!r}: {cause}") from cause


def _local(distributed: Any, workers: int) -> Iterator[Engine]:
    """Start a cluster of this machine that listens on the loopback interface only."""
    with ExitStack() as stack:
        stack.enter_context(_worker_settings())
        cluster = stack.enter_context(_closing(_started(distributed, workers)))
        client = stack.enter_context(_closing(distributed.Client(cluster, timeout=CONNECT_TIMEOUT)))
        yield _connected(client, workers, OWN_PATIENCE)


def _started(distributed: Any, workers: int) -> Any:
    """Start workers; Dask gives up when one of them is killed meanwhile."""

    def start() -> Any:
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            # the scheduler has an HTTP server even so: on any free port, for other clusters may run on this machine
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        )

    for _ in range(START_ATTEMPTS - 1):
        with suppress(RuntimeError, OSError):
            return bounded(start, START_TIMEOUT)
    try:
        return bounded(start, START_TIMEOUT)
    except (RuntimeError, OSError) as error:
        raise KinodynError(
            f"the Dask workers of this machine did not start ({type(error).__name__}: {error}); call the job again"
        ) from error


@contextmanager
def _closing(opened: Any) -> Iterator[Any]:
    """Close a client or cluster, but do not wait for ever: its other end may be gone, or not answer."""
    try:
        yield opened
    finally:
        with suppress(RuntimeError, OSError, TimeoutError):
            bounded(lambda: opened.__exit__(None, None, None), STOP_TIMEOUT)


Value = TypeVar("Value")


def bounded(call: Callable[[], Value], seconds: float) -> Value:
    """Call a function of Dask that may wait for ever, and raise TimeoutError if it has not returned in time.

    Parameters
    ----------
    call
        Runs in a thread of its own, which is left alone if it is late.
    seconds
        [s]

    Returns
    -------
    object
        What it returns.
    """
    future: Future[Value] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="kinodyn-dask", daemon=True).start()
    wait([future], seconds)
    if not future.done():
        raise TimeoutError(f"no answer within {seconds:g} s")
    return future.result()


def _worker_settings() -> AbstractContextManager[object]:
    """Set what costs time: returning freed memory to the system, profiling, and looking at the system all the time."""
    config: Any = import_module("dask.config")
    environment = dict(config.get(WORKER_ENVIRONMENT, {}))
    environment.pop("MALLOC_TRIM_THRESHOLD_", None)
    environment |= {f"DASK_{name.replace('.', '__').replace('-', '_').upper()}": str(v) for name, v in SETTINGS.items()}
    context: AbstractContextManager[object] = config.set({WORKER_ENVIRONMENT: environment, **SETTINGS})
    return context


def _connected(client: Any, workers: int | None, patience: float | None = None) -> Engine:
    connected = _Workers(client, PATIENCE if patience is None else patience)
    return Engine(
        client.get_executor(pure=False),
        connected.count if workers is None else (lambda: workers),
        lost=connected.lost,
        death_errors=(BrokenExecutor, import_module("distributed").KilledWorker),
        single_thread=True,
    )


class _Workers:
    """Workers that are connected, counted from time to time; a job does not wait for ever for the first or the next."""

    def __init__(self, client: Any, patience: float) -> None:
        self._client, self._patience = client, patience
        self._count, self._counted_at, self._seen_at = 1, 0.0, time.monotonic()

    def count(self) -> int:
        """Return their number of threads, at least one."""
        self._update()
        return max(1, self._count)

    def lost(self) -> str:
        """Return why no shard will be computed; empty while workers are connected."""
        if self._client.status not in ("running", "connecting"):
            return "the Dask scheduler is lost; start it and call the job again to continue"
        self._update()
        if time.monotonic() - self._seen_at <= self._patience:
            return ""
        advice = "start one, and call the job again to continue"
        return f"no Dask worker has been connected for {self._patience:g} s; {advice}"

    def _update(self) -> None:
        if time.monotonic() - self._counted_at < COUNT_INTERVAL or self._client.status != "running":
            return
        self._count = 0
        with suppress(RuntimeError, OSError, TimeoutError):  # the connection may break at any moment
            self._count = sum(bounded(self._client.nthreads, ANSWER_TIMEOUT).values())
        self._counted_at = time.monotonic()
        if self._count:
            self._seen_at = self._counted_at
