"""The same jobs on Dask workers."""

import hashlib
import os
import sys
import threading
import time
from pathlib import Path

import pytest

import kinodyn as kd

pytest.importorskip("pyarrow")
distributed = pytest.importorskip("distributed")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import functions  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, of workers that are killed


@pytest.fixture
def importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))


def digests(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.glob("shard-*.parquet"))}


def test_workers_that_are_killed_do_not_change_a_byte(tmp_path, importable):
    q = functions.PANDA.random(60, seed=4)
    plain = kd.jobs.map(functions.positions, q, out=tmp_path / "plain", shard=3, workers=2)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill():
            while len(digests(tmp_path / "dask")) < 3:
                time.sleep(0.02)
            next(iter(cluster.workers.values())).process.process._process.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        job = kd.jobs.map(functions.slow_positions, q, out=tmp_path / "dask", engine=client, shard=3)
        killer.join()
    assert plain.status == job.status == "complete"
    for name, column in plain.read().items():
        assert (job.read()[name] == column).all()
