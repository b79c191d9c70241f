"""Run a function over many inputs, shard by shard."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import ExitStack
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from kinodyn.checks import integer
from kinodyn.errors import InputError
from kinodyn.jobs.engines import Engine, open_engine, stop
from kinodyn.jobs.inputs import as_source
from kinodyn.jobs.manifest import JobDescription, JobFolder
from kinodyn.jobs.result import JobResult, ShardFailure, Status
from kinodyn.jobs.shards import Outcome, run_shard
from kinodyn.jobs.shared_arrays import shared
from kinodyn.jobs.sources import Source
from kinodyn.progress import ProgressBar

MAX_SHARD = 1_000_000
SHARDS = 64  # at least that many, unless the inputs are few: progress is visible, and a stop loses little
SAVE_INTERVAL = 2.0  # [s] between updates of the manifest


def map(
    function: Callable[[Any], Any],
    inputs: Any,
    *,
    out: str | os.PathLike[str],
    engine: Any = "processes",
    shard: int | None = None,
    workers: int | None = None,
    retries: int = 2,
    parameters: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> JobResult:
    """Call a function on the shards of its inputs, in parallel, and write each result to a file.

    If it is stopped at any moment, even by a power failure, a second call computes what is missing; the files are
    identical to the byte with those of an uninterrupted run.

    Parameters
    ----------
    function
        Receives the rows of a shard: an array (k, ...), a dict of arrays, or a `SampleBatch`. Returns an array (n, ...)
        or a dict of them, with any number of rows n. With processes or Dask it must be importable, such as a function
        of a module or a `functools.partial` of one.
    inputs
        Array (count, ...); dict of arrays with `count` rows; a CSV, NPZ or Parquet file, a folder of them, or a folder
        of .npy files; or `Samples`.
    out
        Folder of the output: `shard-*.parquet` and `manifest.json`.
    engine
        "processes" of this machine; "dask", workers of this machine; the address of a Dask scheduler
        ("tcp://127.0.0.1:8786") or its client; or an executor of `concurrent.futures`. Dask workers must see the folder
        under the same path.
    shard
        Inputs per shard; by default a 64th of them, at most a million. A job that is continued keeps its size.
    workers
        Number of workers; by default one for each core.
    retries
        How often a shard is retried after an error or after its worker died.
    parameters
        JSON values that the results depend on, such as the name of a robot. They are recorded; a folder with results
        for other values is refused.
    progress
        Whether to show a progress bar on stderr, if that is a terminal.

    Returns
    -------
    JobResult
        Result with a status; failed shards are listed with their errors, the others are complete.

    Raises
    ------
    InputError
        Before anything is computed: for inputs that cannot be read, or a folder that has another job.

    Notes
    -----
    Nothing is unpickled from files. Functions and results travel as pickles between this process and its workers: a
    cluster is only as trustworthy as its workers.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import kinodyn as kd, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as threads:
    ...     job = kd.jobs.map(np.square, np.arange(10.0), out=folder, engine=threads, shard=4)
    ...     print(job.status, job.read()["result"][-1])
    complete 81.0
    """
    source, folder = as_source(inputs), JobFolder(out)
    _check(function, source, retries, workers)
    folder.lock()
    try:
        job = _describe(function, source, shard, parameters or {}, folder)
        done = folder.begin(job)
        with ExitStack() as stack:
            run = _Run(function, source, job, folder, retries, ProgressBar(progress, job.count, "inputs"))
            if len(done) < job.shards:
                run.source = stack.enter_context(shared(source)) if engine == "processes" else source
                run.engine = stack.enter_context(open_engine(engine, workers))
            return run(done)
    finally:
        folder.unlock()


class _Run:
    """One run of a job: schedules shards, counts finished ones, and retries failed ones."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        source: Source,
        job: JobDescription,
        folder: JobFolder,
        retries: int,
        bar: ProgressBar,
    ) -> None:
        self.function, self.source, self.job, self.folder = function, source, job, folder
        self.retries, self.bar = retries, bar
        self.engine: Engine | None = None
        self.failed: dict[int, ShardFailure] = {}
        self.reason = ""
        self._attempts: dict[int, int] = {}
        self._in_flight: dict[Future[Outcome], int] = {}
        self._suspects: set[int] = set()  # shards in flight when a worker died
        self._computed, self._saved = 0, 0.0

    def __call__(self, done: set[int]) -> JobResult:
        begin = time.monotonic()
        self.done = set(done)
        self._queue = [index for index in range(self.job.shards) if index not in done][::-1]
        status: Status = "complete"
        try:
            while (self._queue or self._in_flight) and not self.reason:
                self._submit()
                self._collect()
        except KeyboardInterrupt:
            status, self.reason = "interrupted", "interrupted"
        finally:
            for future in self._in_flight:
                future.cancel()
            self.bar.close()
        seconds = time.monotonic() - begin
        self.folder.write(self.job, len(self.done), {index: asdict(each) for index, each in self.failed.items()})
        if status == "complete" and self.reason:
            status = "failed"
        elif status == "complete" and self.failed:
            status = "incomplete"
            self.reason = f"{len(self.failed)} of {self.job.shards} shards failed; the first: {self._first_error()}"
        rate = self._computed / seconds if seconds > 0 else 0.0
        return JobResult(
            self.folder.path, status, self.job, len(self.done), dict(self.failed), self.reason, seconds, rate
        )

    def _first_error(self) -> str:
        index = min(self.failed)
        return f"shard {index}: {self.failed[index].error}"

    def _submit(self) -> None:
        """Keep twice as many shards in flight as there are workers; more would only take memory."""
        assert self.engine is not None
        while self._queue and len(self._in_flight) < self._max_in_flight():
            index = self._queue.pop()
            part = self.source.part(index, *self.job.bounds(index))
            file = str(self.folder.shard_file(index).absolute())
            self._attempts[index] = self._attempts.get(index, 0) + 1
            try:
                future = self.engine.executor.submit(run_shard, self.function, part, index, file, self.job.key)
            except BrokenExecutor:
                self._attempts[index] -= 1
                self._queue.append(index)
                self._renew()
                continue
            self._in_flight[future] = index

    def _max_in_flight(self) -> int:
        """Return how many shards may be in flight: one at a time after a worker died, to find the cause."""
        assert self.engine is not None
        suspected = bool(self._suspects & {*self._queue[-1:], *self._in_flight.values()})
        return 1 if suspected else 2 * self.engine.workers

    def _collect(self) -> None:
        finished, _ = wait(self._in_flight, timeout=0.5, return_when=FIRST_COMPLETED)
        broken = False
        for future in finished:
            index = self._in_flight.pop(future)
            error = future.exception()
            if isinstance(error, BrokenExecutor):
                broken = True
                self._suspects.add(index)
                self._retry(index, ShardFailure(f"its worker died: {error}", "", self._attempts[index]))
            elif error is not None:
                self._retry(index, ShardFailure(f"{type(error).__name__}: {error}", "", self._attempts[index]))
            else:
                self._finish(future.result())
        if broken:
            self._renew()
        self.bar.update(min(len(self.done) * self.job.shard, self.job.count))
        if finished and time.monotonic() - self._saved > SAVE_INTERVAL:
            self._saved = time.monotonic()
            self.folder.write(self.job, len(self.done), {index: asdict(each) for index, each in self.failed.items()})

    def _finish(self, outcome: Outcome) -> None:
        index = outcome.index
        if outcome.fatal:
            self.reason = outcome.error
        elif outcome.error:
            self._retry(index, ShardFailure(outcome.error, outcome.trace, self._attempts[index]))
        else:
            first, last = self.job.bounds(index)
            self._computed += last - first
            self._suspects.discard(index)
            self.done.add(index)
            self.failed.pop(index, None)

    def _retry(self, index: int, failure: ShardFailure) -> None:
        if failure.attempts > self.retries:
            self.failed[index] = failure
            self._suspects.discard(index)
        else:
            self._queue.append(index)

    def _renew(self) -> None:
        """Replace workers that died; their shards are computed again."""
        assert self.engine is not None
        if self.engine.renew is None:
            raise InputError("the workers of the executor have died; give jobs.map a new one")
        for future, index in self._in_flight.items():
            future.cancel()
            self._suspects.add(index)
            self._queue.append(index)
        self._in_flight.clear()
        stop(self.engine.executor)
        self.engine.executor = self.engine.renew()


def _check(function: object, source: Source, retries: object, workers: object) -> None:
    if not callable(function):
        raise InputError(f"function must be callable, got {type(function).__name__}")
    if source.count == 0:
        raise InputError("inputs has no rows")
    integer("retries", retries, 0, 100)
    if workers is not None:
        integer("workers", workers, 1, 4096)


def _describe(
    function: Callable[[Any], Any], source: Source, shard: int | None, parameters: Mapping[str, Any], folder: JobFolder
) -> JobDescription:
    if shard is None:
        earlier = folder.read()
        shard = earlier[0].shard if earlier else min(max(1, -(-source.count // SHARDS)), MAX_SHARD)
    integer("shard", shard, 1)
    if -(-source.count // shard) > 10_000_000:
        raise InputError(
            f"{source.count} inputs in shards of {shard} are more than 10,000,000 files; use larger shards"
        )
    return JobDescription(
        function=_name(function),
        inputs=source.fingerprint(),
        count=int(source.count),
        shard=int(shard),
        parameters=dict(parameters),
        version=version("kinodyn"),
    )


def _name(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    module = getattr(function, "__module__", None) or type(function).__module__
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"
