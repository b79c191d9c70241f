"""One run of a job: keeps the engine busy, counts finished shards, and retries failed ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import asdict
from typing import Any

from kinodyn.errors import InputError
from kinodyn.jobs.engine import Engine
from kinodyn.jobs.functions import PickledFunction
from kinodyn.jobs.manifest import JobDescription, JobFolder
from kinodyn.jobs.result import JobResult, ShardFailure, Status
from kinodyn.jobs.shards import Outcome, run_shard
from kinodyn.jobs.sources import Source
from kinodyn.progress import ProgressBar

SAVE_INTERVAL = 2.0  # [s] between updates of the manifest
POLL_INTERVAL = 0.5  # [s] between looks at the engine while no shard ends
MIN_DEATHS = 2  # of workers by which a shard fails, even without retries: one may be killed for another reason


class Runner:
    """Schedules the shards of a job that are missing.

    Attributes
    ----------
    done : set of int
        Shards written.
    failed : dict of int -> ShardFailure
        Shards that failed on every attempt.
    reason : str
        Why the run must stop; empty while it need not.
    """

    def __init__(
        self,
        function: Callable[[Any], Any] | PickledFunction,
        source: Source,
        job: JobDescription,
        folder: JobFolder,
        engine: Engine,
        retries: int,
    ) -> None:
        self.function, self.source, self.job, self.folder = function, source, job, folder
        self.engine, self.retries = engine, retries
        self.done: set[int] = set()
        self.failed: dict[int, ShardFailure] = {}
        self.reason = ""
        self._attempts: dict[int, int] = {}  # calls of the function, but those cut off by the death of a worker
        self._deaths: dict[int, int] = {}  # of workers while a shard was in flight alone
        self._in_flight: dict[Future[Outcome], int] = {}
        self._suspects: set[int] = set()  # shards in flight when a worker died
        self._computed, self._saved = 0, time.monotonic()

    def __call__(self, done: set[int], progress: bool) -> JobResult:
        """Compute the shards that are not done."""
        begin, self.done = time.monotonic(), set(done)
        bar = ProgressBar(progress, self.job.count, "inputs", first=self._inputs_done())
        self._queue = [index for index in range(self.job.shards) if index not in done][::-1]
        interrupted = False
        try:
            while (self._queue or self._in_flight) and not self.reason:
                self._submit()
                self._collect()
                bar.update(self._inputs_done())
        except KeyboardInterrupt:
            interrupted = True
        finally:
            for future in self._in_flight:
                future.cancel()
            bar.close()
        return self._result(interrupted, time.monotonic() - begin)

    def _inputs_done(self) -> int:
        return min(len(self.done) * self.job.shard, self.job.count)

    def _submit(self) -> None:
        """Keep twice as many shards in flight as there are workers; more would only take memory."""
        while self._queue and len(self._in_flight) < self._max_in_flight() and not self.reason:
            index = self._queue.pop()
            part = self.source.part(index, *self.job.bounds(index))
            file = str(self.folder.shard_file(index).absolute())
            single = self.engine.single_thread
            try:
                future = self.engine.executor.submit(run_shard, self.function, part, index, file, self.job.key, single)
            except (BrokenExecutor, RuntimeError) as error:  # RuntimeError: it was shut down
                self._queue.append(index)
                self._renew(error)
                continue
            self._attempts[index] = self._attempts.get(index, 0) + 1
            self._in_flight[future] = index

    def _max_in_flight(self) -> int:
        """Return how many shards may be in flight: one at a time after a worker died, to find the cause."""
        suspected = bool(self._suspects & {*self._queue[-1:], *self._in_flight.values()})
        return 1 if suspected else 2 * self.engine.workers()

    def _collect(self) -> None:
        finished, _ = wait(self._in_flight, timeout=POLL_INTERVAL, return_when=FIRST_COMPLETED)
        broken: BaseException | None = None
        alone = len(self._in_flight) == 1
        for future in finished:
            index = self._in_flight.pop(future)
            error = _error(future)
            if isinstance(error, CancelledError):  # not by us: the connection to a scheduler was lost
                self._attempts[index] -= 1
                self._queue.append(index)
            elif isinstance(error, self.engine.death_errors):
                if isinstance(error, BrokenExecutor):
                    broken = error
                self._suspects.add(index)
                self._attempts[index] -= 1
                self._deaths[index] = self._deaths.get(index, 0) + alone
                failure = ShardFailure(f"its worker died: {type(error).__name__}: {error}", "", self._deaths[index])
                self._retry(index, failure, max(self.retries, MIN_DEATHS - 1))
            elif error is not None:
                failure = ShardFailure(f"{type(error).__name__}: {error}", "", self._attempts[index])
                self._retry(index, failure, self.retries)
            else:
                self._finish(future.result())
        self.reason = self.reason or self.engine.lost()
        if broken is not None:
            self._renew(broken)
        if finished and time.monotonic() - self._saved > SAVE_INTERVAL:
            self._save()

    def _finish(self, outcome: Outcome) -> None:
        index = outcome.index
        if outcome.fatal:
            self.reason = outcome.error
        elif outcome.error:
            failure = ShardFailure(outcome.error, outcome.trace, self._attempts[index])
            self._retry(index, failure, self.retries)
        else:
            first, last = self.job.bounds(index)
            self._computed += last - first
            self._suspects.discard(index)
            self.done.add(index)

    def _retry(self, index: int, failure: ShardFailure, retries: int) -> None:
        if failure.attempts > retries:
            self.failed[index] = failure
            self._suspects.discard(index)
        else:
            self._queue.append(index)

    def _renew(self, error: BaseException) -> None:
        """Replace workers that died; their shards are computed again."""
        if self.engine.renew is None:
            self.reason = f"the workers of the executor have died ({error}); call the job again with a new one"
            return
        for future, index in self._in_flight.items():
            future.cancel()
            self._attempts[index] -= 1
            self._suspects.add(index)
            self._queue.append(index)
        self._in_flight.clear()
        self.engine.executor = self.engine.renew()

    def _save(self) -> None:
        """Update the manifest; if that is impossible, such as on a full disk, the run stops."""
        self._saved = time.monotonic()
        try:
            self.folder.write(self.job, self.done, {index: asdict(each) for index, each in self.failed.items()})
        except InputError as error:
            self.reason = self.reason or str(error)

    def _result(self, interrupted: bool, seconds: float) -> JobResult:
        self._save()
        status: Status = "complete"
        if interrupted:
            status, self.reason = "interrupted", "interrupted"
        elif self.reason:
            status = "failed"
        elif self.failed:
            status, index = "incomplete", min(self.failed)
            self.reason = (
                f"{len(self.failed)} of {self.job.shards} shards failed; the first: shard {index}: "
                f"{self.failed[index].error}"
            )
        rate = self._computed / seconds if seconds > 0 else 0.0
        return JobResult(
            self.folder.path, status, self.job, len(self.done), dict(self.failed), self.reason, seconds, rate
        )


def _error(future: Future[Outcome]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error
