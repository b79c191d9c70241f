"""Run a function over many inputs, shard by shard."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from importlib.metadata import version
from multiprocessing import current_process
from typing import Any

from kinodyn.argument_types import check_types
from kinodyn.checks import integer
from kinodyn.errors import InputError
from kinodyn.jobs.engines import open_engine
from kinodyn.jobs.functions import PickledFunction, bound_arguments, function_name, json_values
from kinodyn.jobs.inputs import as_source
from kinodyn.jobs.manifest import JobDescription, JobFolder
from kinodyn.jobs.result import JobResult
from kinodyn.jobs.runner import Runner
from kinodyn.jobs.shared_arrays import shared
from kinodyn.jobs.sources import Source

MAX_SHARD = 1_000_000
SHARDS = 64  # at least that many, unless the inputs are few: progress is visible, and a stop loses little
MAX_SHARDS = 10_000_000


@check_types
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
        How often a shard is retried after an error, or after its worker died while it was the only one in flight; in
        that case at least once.
    parameters
        JSON values that the results depend on, such as the name of a robot. They are recorded; a folder with results
        for other values raises an error.
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
    if getattr(current_process(), "_inheriting", False):
        raise InputError(
            "jobs.map was called while a worker process imported this script; "
            'call it below `if __name__ == "__main__":`'
        )
    source, folder = as_source(inputs), JobFolder(out)
    _check(function, source, retries, workers)
    own = isinstance(engine, str) and engine == "processes"
    sent = PickledFunction.of(function) if own or isinstance(engine, ProcessPoolExecutor) else function
    folder.lock()
    try:
        job = _describe(function, source, shard, parameters or {}, folder)
        done = folder.begin(job)
        if len(done) == job.shards:
            folder.write(job, done, {})
            return JobResult(folder.path, "complete", job, len(done), {})
        with ExitStack() as stack:
            inputs = stack.enter_context(shared(source, folder.path)) if own else source
            opened = stack.enter_context(open_engine(engine, workers))
            result = Runner(sent, inputs, job, folder, opened, retries)(done, progress)
        if own:
            folder.sweep()  # workers that were ended may have been writing
        return result
    finally:
        folder.unlock()


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
    if -(-source.count // shard) > MAX_SHARDS:
        raise InputError(
            f"shard must be large enough for {MAX_SHARDS:,} files, got {shard} for {source.count:,} inputs"
        )
    return JobDescription(
        function=function_name(function),
        arguments=bound_arguments(function),
        inputs=source.fingerprint(),
        count=int(source.count),
        shard=int(shard),
        parameters=json_values("parameters", parameters),
        seed=source.seed,
        version=version("kinodyn"),
    )
