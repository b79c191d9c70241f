"""Time several functions fairly: interleaved, best of several rounds."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import kinodyn as kd

Run = Callable[[], object]


@dataclass(frozen=True)
class Entry:
    """A run over `states` states, with the number of threads that kinodyn may use for it."""

    run: Run
    states: int
    threads: int = 1


def loop(function: Callable[..., object], *columns: Iterable[object]) -> Run:
    """Return a run that calls `function` once per state, with as little Python overhead as possible."""

    def run() -> None:
        deque(map(function, *columns), maxlen=0)

    return run


def repeated(run: Run, times: int) -> Run:
    """Return a run of several runs, long enough for the resolution of the clock."""

    def runs() -> None:
        for _ in range(times):
            run()

    return runs


def thread_gain(run: Run, rounds: int, seconds: float) -> float:
    """Return the speed-up by two threads: the median over neighbouring pairs of sustained runs.

    The ratio of two best times would compare the fastest moments of one core with those of both, on machines whose
    clock changes from one second to the next.
    """
    gains = []
    for _ in range(rounds):
        rates = [sustained(run, threads, seconds) for threads in (1, 2)]
        gains.append(rates[1] / rates[0])
    return statistics.median(gains)


def sustained(run: Run, threads: int, seconds: float) -> float:
    """Return runs per second over some time, after one warm-up run."""
    kd.set_threads(threads)
    run()
    count, start = 0, time.perf_counter()
    while count == 0 or time.perf_counter() - start < seconds:
        run()
        count += 1
    return count / (time.perf_counter() - start)


def best_of(
    entries: Mapping[str, Entry], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Time each entry once per round, alternating, and return the shortest time of each per state [us].

    Interleaving spreads disturbances of the machine over all entries; noise only ever adds time, so the minimum is
    the best estimate of the undisturbed cost. Each turn begins with an untimed warm-up run, which refills the caches
    and wakes up the cores. With `time.thread_time`, entries of one thread can be compared on a busy machine.
    """
    best = dict.fromkeys(entries, float("inf"))
    for _ in range(rounds):
        for name, entry in entries.items():
            kd.set_threads(entry.threads)
            entry.run()
            start = clock()
            entry.run()
            elapsed = clock() - start
            best[name] = min(best[name], 1e6 * elapsed / entry.states)
    return best
