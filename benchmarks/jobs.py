"""Jobs: overhead against the plain batch call, parallel efficiency, Dask against processes, and a reachability map.

    python benchmarks/jobs.py                     # all parts, a few minutes
    python benchmarks/jobs.py --poses 1e8         # the map with that many samples
    python benchmarks/jobs.py --only overhead efficiency --json

Parts:
    overhead    a job with one worker against the plain call on the same inputs, by processor time and by wall time
    efficiency  time with one worker over time with two workers, divided by two; starting the workers is included
    dask        Dask with two local workers against two processes
    map         a reachability map of the UR5 with voxels of 2.5 cm: rate, peak memory of the parent and of a worker

The work is inverse dynamics of a Panda, in 40 shards of about a second. Efficiency needs two idle cores: on a machine
that is shared, the same measurement with two independent processes and no job (`baseline`) shows what it can give.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array

REPEATS = 500  # inverse dynamics of the same rows, so that a shard takes about a second
ROWS, SHARD = 2_000_000, 50_000
ROUNDS = 2  # of each measurement, in alternation; the best counts
PARTS = ("overhead", "efficiency", "dask", "map")


@functools.cache
def panda() -> kd.Robot:
    """Return the robot; a worker loads it once."""
    return kd.load("panda")


def torques(q: Array) -> Array:
    """Return the torques (n, nv) at rest."""
    still = np.zeros_like(q)
    for _ in range(REPEATS):
        tau = kd.dynamics.inverse(panda(), q, still, still)
    return np.asarray(tau)


def timed(rounds: int, *calls: Callable[[], object]) -> list[tuple[float, float]]:
    """Return the least wall time and processor time [s], children included, of calls made in alternation."""
    best = [(np.inf, np.inf)] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            begin, used = time.perf_counter(), _processor_time()
            call()
            wall, processor = time.perf_counter() - begin, _processor_time() - used
            best[k] = min(best[k][0], wall), min(best[k][1], processor)
    return best


def _processor_time() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def job(q: Array, **options: Any) -> None:
    """Run the job once in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        done = kd.jobs.map(torques, q, out=folder, shard=SHARD, **options)
        if done.status != "complete":
            raise SystemExit(done.reason)


def plain(q: Array) -> None:
    """Compute what the job computes, shard by shard, and keep it in memory."""
    for start in range(0, len(q), SHARD):
        torques(q[start : start + SHARD])


def measure_overhead(q: Array, rounds: int) -> dict[str, float]:
    """Compare one worker with the plain call."""
    kd.set_threads(1)
    (wall, used), (job_wall, job_used) = timed(rounds, lambda: plain(q), lambda: job(q, workers=1))
    return {
        "plain_seconds": wall,
        "job_seconds": job_wall,
        "overhead_wall": job_wall / wall - 1.0,
        "overhead_processor": job_used / used - 1.0,
        "shard_seconds": wall * SHARD / len(q),
    }


def measure_efficiency(q: Array, rounds: int) -> dict[str, float]:
    """Compare two workers with one, and two processes without a job with one."""
    (one, _), (two, _), (single, _), (double, _) = timed(
        rounds,
        *(lambda: job(q, workers=1), lambda: job(q, workers=2)),
        *(lambda: independent(q, 1), lambda: independent(q, 2)),
    )
    return {
        "one_seconds": one,
        "two_seconds": two,
        "efficiency": one / two / 2.0,
        "baseline": single / double / 2.0,
    }


def independent(q: Array, count: int) -> None:
    """Compute equal parts of the rows in processes that do nothing else."""
    context = multiprocessing.get_context("spawn")
    parts = np.array_split(q, count)
    processes = [context.Process(target=alone, args=(part,)) for part in parts]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def alone(q: Array) -> None:
    """Compute the rows on one thread."""
    kd.set_threads(1)
    plain(q)


def measure_dask(q: Array, rounds: int) -> dict[str, float]:
    """Compare Dask with processes, two workers each, their start included."""
    (processes, _), (dask, _) = timed(rounds, lambda: job(q, workers=2), lambda: job(q, workers=2, engine="dask"))
    return {"processes_seconds": processes, "dask_seconds": dask, "dask_over_processes": dask / processes}


def measure_map(poses: int) -> dict[str, float]:
    """Map the positions that the UR5 reaches."""
    robot = kd.load("ur5")
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        space = kd.jobs.workspace(robot, "wrist_3_link", samples=poses, resolution=0.025, out=folder, progress=True)
        seconds = time.perf_counter() - begin
        written = sum(file.stat().st_size for file in Path(folder).iterdir())
    memory = {
        "parent": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "worker": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
    }
    return {
        "poses": float(poses),
        "seconds": seconds,
        "poses_per_second": poses / seconds,
        "voxels": float(space.reachable.sum()),
        "written_MB": written / 1e6,
        **{f"{name}_MB": size / 1e3 for name, size in memory.items()},
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--poses", type=float, default=1e7, help="samples of the map")
    parser.add_argument("--rows", type=int, default=ROWS, help="configurations of the other parts")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured; the best counts")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    q = panda().random(given.rows)
    parts: dict[str, Callable[[], dict[str, float]]] = {
        "overhead": lambda: measure_overhead(q, given.rounds),
        "efficiency": lambda: measure_efficiency(q, given.rounds),
        "dask": lambda: measure_dask(q, given.rounds),
        "map": lambda: measure_map(int(given.poses)),
    }
    results = {name: parts[name]() for name in given.only}
    if given.json:
        print(json.dumps(results, indent=1))
        return
    for part, values in results.items():
        print(part)
        for name, value in values.items():
            print(f"  {name.replace('_', ' '):24s} {value:.4g}")


if __name__ == "__main__":
    main()
