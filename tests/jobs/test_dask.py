"""The same jobs on Dask workers."""

import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import functions
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.jobs import dask

pytest.importorskip("pyarrow")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, of workers that are killed
SECONDS = 120.0  # of waiting, on a machine that is busy


@contextmanager
def after_shards(folder, count, act):
    """Do something in another thread once a number of shards is written."""

    def wait():
        deadline = time.monotonic() + SECONDS
        while len(functions.digests(folder)) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    yield
    thread.join()


@contextmanager
def local_client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def uninterrupted(folder, q):
    with ThreadPoolExecutor(2) as threads:
        return kd.jobs.map(functions.slow_positions, q, out=folder, engine=threads, shard=3)


def test_workers_that_are_killed_do_not_change_a_byte(tmp_path):
    q = functions.PANDA.random(60, seed=4)
    uninterrupted(tmp_path / "plain", q)
    with local_client() as client:

        def kill_all():
            for worker in list(client.cluster.workers.values()):
                worker.process.process._process.kill()

        with after_shards(tmp_path / "dask", 3, kill_all):
            job = kd.jobs.map(functions.slow_positions, q, out=tmp_path / "dask", engine=client, shard=3)
    assert job.status == "complete"
    assert functions.digests(tmp_path / "dask") == functions.digests(tmp_path / "plain")


def test_a_shard_that_kills_its_workers_is_reported_and_the_rest_finishes(tmp_path):
    with local_client() as client:
        job = kd.jobs.map(functions.deadly, np.arange(20.0), out=tmp_path, engine=client, shard=5, retries=0)
    assert job.status == "incomplete" and job.done == 3
    assert list(job.failed) == [2] and "KilledWorker" in job.failed[2].error


WORKER = SimpleNamespace(address="tcp://127.0.0.1:1")


class BlamingExecutor(Executor):
    """Runs what was submitted within a moment; all of it fails together, as shards of one dead worker may in Dask."""

    def __init__(self):
        self._batch, self._lock = [], threading.Lock()

    def submit(self, function, /, *args):
        future = Future()
        with self._lock:
            self._batch.append((future, function, args))
            if len(self._batch) == 1:
                threading.Timer(0.1, self._run).start()
        return future

    def _run(self):
        with self._lock:
            batch, self._batch = self._batch, []
        deadly = any(args[2] == 2 for _, _, args in batch)  # the index of the shard
        for future, function, args in batch:
            if deadly:
                future.set_exception(distributed.KilledWorker(f"shard {args[2]}", WORKER, 3))
            else:
                future.set_result(function(*args))


class BlamingClient:
    status = "running"

    def nthreads(self):
        return {WORKER.address: 2}

    def get_executor(self, pure):
        return BlamingExecutor()


def test_shards_that_went_down_with_another_one_are_computed(tmp_path):
    job = kd.jobs.map(functions.positions, functions.PANDA.random(20), out=tmp_path, engine=BlamingClient(), shard=5)
    assert job.status == "incomplete" and job.done == 3
    assert list(job.failed) == [2] and "KilledWorker" in job.failed[2].error


def test_workers_of_our_own_cluster_spend_no_time_on_bookkeeping():
    config = pytest.importorskip("dask.config")
    before = dict(config.get(dask.WORKER_ENVIRONMENT))
    with dask._worker_settings():
        environment = dict(config.get(dask.WORKER_ENVIRONMENT))
        assert all(config.get(name) == value for name, value in dask.SETTINGS.items())
    assert config.get(dask.WORKER_ENVIRONMENT) == before
    assert "MALLOC_TRIM_THRESHOLD_" not in environment
    seen = config.collect_env({name: value for name, value in environment.items() if name.startswith("DASK_")})
    for name, value in dask.SETTINGS.items():
        assert config.get(name, config=seen) == value


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def cluster_processes(port):
    """Start a scheduler and a worker as programs of their own."""
    address = f"tcp://127.0.0.1:{port}"
    command = [sys.executable, "-m", "distributed.cli.dask_"]
    scheduler = [*command[:2], f"{command[2]}scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = [*command[:2], f"{command[2]}worker", address, "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s"}
    started = [
        subprocess.Popen(each, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        for each in (scheduler, worker)
    ]
    try:
        with distributed.Client(address, timeout=SECONDS) as client:
            client.wait_for_workers(1, timeout=SECONDS)
        yield address, started[0]
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_scheduler_that_is_killed_leaves_a_job_that_continues(tmp_path, monkeypatch):
    q = functions.PANDA.random(60, seed=4)
    uninterrupted(tmp_path / "plain", q)
    monkeypatch.setattr("kinodyn.jobs.dask.CONNECT_TIMEOUT", 3.0)  # also that of connecting again
    with (
        cluster_processes(free_port()) as (address, scheduler),
        after_shards(tmp_path / "dask", 3, scheduler.kill),
    ):
        job = kd.jobs.map(functions.slow_positions, q, out=tmp_path / "dask", engine=address, shard=3)
    assert job.status == "failed" and "scheduler is lost" in job.reason and job.done < 20
    with cluster_processes(free_port()) as (address, _):
        job = kd.jobs.map(functions.slow_positions, q, out=tmp_path / "dask", engine=address)
    assert job.status == "complete"
    assert functions.digests(tmp_path / "dask") == functions.digests(tmp_path / "plain")


def test_an_address_without_a_scheduler_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("kinodyn.jobs.dask.CONNECT_TIMEOUT", 1.0)
    with pytest.raises(kd.InputError, match="address of a running Dask scheduler"):
        kd.jobs.map(np.square, np.arange(3.0), out=tmp_path, engine=f"tcp://127.0.0.1:{free_port()}")


def test_a_cluster_without_workers_ends_the_wait(tmp_path, monkeypatch):
    monkeypatch.setattr("kinodyn.jobs.dask.PATIENCE", 1.0)
    monkeypatch.setattr("kinodyn.jobs.dask.COUNT_INTERVAL", 0.2)
    with (
        distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        job = kd.jobs.map(np.square, np.arange(3.0), out=tmp_path, engine=client)
    assert job.status == "failed" and "no Dask worker" in job.reason


def test_a_scheduler_that_does_not_answer_ends_the_wait(tmp_path, monkeypatch):
    monkeypatch.setattr("kinodyn.jobs.dask.PATIENCE", 0.5)
    monkeypatch.setattr("kinodyn.jobs.dask.ANSWER_TIMEOUT", 0.1)
    monkeypatch.setattr("kinodyn.jobs.dask.COUNT_INTERVAL", 0.1)

    class Silent(BlamingClient):
        def nthreads(self):
            time.sleep(SECONDS)

        def get_executor(self, pure):
            return SimpleNamespace(submit=lambda *_: Future())

    job = kd.jobs.map(np.square, np.arange(3.0), out=tmp_path, engine=Silent())
    assert job.status == "failed" and "no Dask worker" in job.reason


@pytest.mark.parametrize("deaths", [1, 9])
def test_workers_that_are_killed_while_they_start_are_started_again(tmp_path, monkeypatch, deaths):
    started, remaining = distributed.LocalCluster, [RuntimeError("Nanny failed to start.")] * deaths

    def start(**options):
        if remaining:
            raise remaining.pop()
        return started(**options)

    monkeypatch.setattr("distributed.LocalCluster", start)
    if deaths == 1:
        assert kd.jobs.map(np.square, np.arange(3.0), out=tmp_path, engine="dask", workers=1).status == "complete"
    else:
        with pytest.raises(kd.KinodynError, match=r"did not start .*Nanny failed to start"):
            kd.jobs.map(np.square, np.arange(3.0), out=tmp_path, engine="dask", workers=1)
