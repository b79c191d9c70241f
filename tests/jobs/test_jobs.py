"""Jobs: shards, resumption, failures, engines."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import functions
import numpy as np
import pytest

import kinodyn as kd
from kinodyn import tables

pytest.importorskip("pyarrow")


def test_rows_come_back_in_order_whatever_the_shards(tmp_path, threads):
    q = functions.PANDA.random(1003, seed=2)
    expected = functions.positions(q)
    for shard in (1003, 100, 17):
        job = kd.jobs.map(functions.positions, q, out=tmp_path / str(shard), engine=threads, shard=shard)
        assert job.status == "complete" and job.done == -(-1003 // shard)
        for name, column in job.read().items():
            np.testing.assert_array_equal(column, expected[name])


def test_processes_and_threads_write_the_same_bytes(tmp_path, threads):
    q = functions.PANDA.random(400, seed=3)
    kd.jobs.map(functions.positions, q, out=tmp_path / "threads", engine=threads, shard=150)
    kd.jobs.map(functions.positions, q, out=tmp_path / "processes", shard=150, workers=2)
    assert functions.digests(tmp_path / "threads") == functions.digests(tmp_path / "processes")


def test_samples_do_not_depend_on_the_engine_and_differ_between_shards(tmp_path, threads):
    samples = kd.jobs.Samples(1000, seed=5)
    job = kd.jobs.map(functions.draws, samples, out=tmp_path / "a", engine=threads, shard=300)
    with ThreadPoolExecutor(1) as other:
        kd.jobs.map(functions.draws, samples, out=tmp_path / "b", engine=other, shard=300)
    assert functions.digests(tmp_path / "a") == functions.digests(tmp_path / "b")
    drawn = job.read()["result"]
    np.testing.assert_array_equal(drawn[:, 0], np.arange(1000))
    assert len(np.unique(drawn[:, 1])) == 1000


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npz"])
def test_tables_and_folders_of_tables_are_inputs(tmp_path, threads, suffix):
    folder = tmp_path / "in"
    folder.mkdir()
    rng = np.random.default_rng(1)
    parts = [{"a": rng.normal(size=n), "b": rng.normal(size=n)} for n in (10, 25, 7)]
    for k, part in enumerate(parts):
        tables.write(folder / f"part{k}{suffix}", part)
    job = kd.jobs.map(functions.sums, folder, out=tmp_path / "out", engine=threads, shard=9)
    expected = np.concatenate([part["a"] + part["b"] for part in parts])
    np.testing.assert_array_equal(job.read()["result"], expected)


def test_a_folder_of_arrays_is_mapped(tmp_path, threads):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a", "b"):
        np.save(folder / f"{name}.npy", np.arange(50.0))
    job = kd.jobs.map(functions.sums, folder, out=tmp_path / "out", engine=threads, shard=20)
    np.testing.assert_array_equal(job.read()["result"], 2.0 * np.arange(50.0))


def test_a_finished_job_computes_nothing_again_and_a_missing_shard_is_computed(tmp_path, threads):
    calls = []

    def count(x):
        calls.append(len(x))
        return x

    x = np.arange(100.0)
    kd.jobs.map(count, x, out=tmp_path, engine=threads, shard=10)
    before = functions.digests(tmp_path)
    assert len(calls) == 10
    kd.jobs.map(count, x, out=tmp_path, engine=threads, shard=10)
    assert len(calls) == 10
    (tmp_path / "shard-00000003.parquet").unlink()
    (tmp_path / "shard-00000007.parquet").write_bytes(b"PAR1 broken")
    (tmp_path / ".shard-00000007.parquet.x1").write_bytes(b"left by a killed writer")
    kd.jobs.map(count, x, out=tmp_path, engine=threads)
    assert len(calls) == 12 and functions.digests(tmp_path) == before
    assert not list(tmp_path.glob(".shard-*"))


def test_a_shard_whose_numbers_were_damaged_is_computed_again(tmp_path, threads):
    x = np.random.default_rng(0).normal(size=2000)
    kd.jobs.map(np.square, x, out=tmp_path, engine=threads, shard=500)
    before, file = functions.digests(tmp_path), tmp_path / "shard-00000002.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1  # one bit: the file and its metadata can still be read
    file.write_bytes(content)
    job = kd.jobs.map(np.square, x, out=tmp_path, engine=threads, shard=500)
    assert job.status == "complete" and functions.digests(tmp_path) == before
    np.testing.assert_array_equal(job.read()["result"], np.square(x))


def test_a_shard_that_fails_is_reported_while_the_rest_finishes(tmp_path, threads):
    job = kd.jobs.map(functions.poisoned, np.arange(40.0), out=tmp_path, engine=threads, shard=5, retries=1)
    assert job.status == "incomplete" and job.done == 7
    assert list(job.failed) == [2] and "ValueError: thirteen" in job.failed[2].error and job.failed[2].attempts == 2
    assert "poisoned" in job.failed[2].trace
    reopened = kd.jobs.open_job(tmp_path)
    assert reopened.status == "incomplete" and "thirteen" in reopened.failed[2].error


def test_a_shard_that_kills_its_worker_is_found_and_the_rest_finishes(tmp_path):
    job = kd.jobs.map(functions.deadly, np.arange(40.0), out=tmp_path, shard=5, retries=1, workers=2)
    assert job.status == "incomplete" and job.done == 7
    assert list(job.failed) == [2] and "died" in job.failed[2].error


@pytest.mark.parametrize(("retries", "shard"), [(2, 5), (0, 5), (0, 40)])
def test_a_worker_that_dies_once_is_replaced(tmp_path, monkeypatch, retries, shard):
    monkeypatch.setenv("KINODYN_TEST_FLAG", str(tmp_path / "flag"))
    job = kd.jobs.map(
        functions.dies_once, np.arange(40.0), out=tmp_path / "out", shard=shard, retries=retries, workers=2
    )
    assert (tmp_path / "flag").exists() and job.status == "complete"
    np.testing.assert_array_equal(job.read()["result"], np.arange(40.0))


def test_the_manifest_of_failed_shards_does_not_depend_on_workers_that_died(tmp_path, monkeypatch):
    monkeypatch.setenv("KINODYN_TEST_FLAG", str(tmp_path / "flag"))
    manifests = []
    for name in ("died", "lived"):  # the worker dies in the first job only
        out, function = tmp_path / name, functions.poisoned_and_dies_once
        job = kd.jobs.map(function, np.arange(40.0), out=out, shard=5, workers=2, retries=0)
        assert job.status == "incomplete" and list(job.failed) == [2] and job.failed[2].attempts == 1
        manifests.append((out / "manifest.json").read_bytes())
    assert manifests[0] == manifests[1]


SCRIPT = """
import numpy as np, kinodyn as kd, functions
if __name__ == "__main__":
    q = functions.PANDA.random(60, seed=1)
    print(kd.jobs.map(functions.slow_positions, q, out={out!r}, shard=3, workers=2).status, flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_job_that_was_stopped_at_any_moment_continues_to_the_same_bytes(tmp_path, threads, how):
    out = tmp_path / "out"
    script = tmp_path / "job.py"
    script.write_text(SCRIPT.format(out=str(out)))
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 120
    while len(list(out.glob("shard-*.parquet"))) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, how) if how == signal.SIGKILL else process.send_signal(how)
    printed = process.communicate()[0].decode()
    assert 4 <= len(functions.digests(out)) < 20
    if how == signal.SIGINT:
        assert printed.strip() == "interrupted"
    q = functions.PANDA.random(60, seed=1)
    job = kd.jobs.map(functions.slow_positions, q, out=out, engine=threads)
    assert job.status == "complete"
    kd.jobs.map(functions.slow_positions, q, out=tmp_path / "whole", engine=threads, shard=3)
    assert functions.digests(out) == functions.digests(tmp_path / "whole")


def test_another_job_in_the_folder_is_refused_with_what_differs(tmp_path, threads):
    x = np.arange(10.0)
    kd.jobs.map(np.square, x, out=tmp_path, engine=threads, shard=5, parameters={"robot": "panda"})
    before = functions.digests(tmp_path)
    with pytest.raises(kd.InputError, match=r"function was .*square.*, now .*sqrt"):
        kd.jobs.map(np.sqrt, x, out=tmp_path, engine=threads, shard=5, parameters={"robot": "panda"})
    with pytest.raises(kd.InputError, match="inputs was"):
        kd.jobs.map(np.square, x + 1.0, out=tmp_path, engine=threads, shard=5, parameters={"robot": "panda"})
    with pytest.raises(kd.InputError, match="parameters was"):
        kd.jobs.map(np.square, x, out=tmp_path, engine=threads, shard=5)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["job"]["version"] = "0.0.1"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(kd.InputError, match="version was '0.0.1'"):
        kd.jobs.map(np.square, x, out=tmp_path, engine=threads, shard=5, parameters={"robot": "panda"})
    assert functions.digests(tmp_path) == before


def test_a_full_disk_stops_the_job_and_says_so(tmp_path, threads, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    x = np.arange(20.0)
    kd.jobs.map(np.square, x, out=tmp_path, engine=threads, shard=5)
    (tmp_path / "shard-00000002.parquet").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        job = kd.jobs.map(np.square, x, out=tmp_path, engine=threads)
        assert job.status == "failed" and "the disk is full" in job.reason and job.done == 3
    assert not list(tmp_path.glob(".shard-*"))
    assert kd.jobs.map(np.square, x, out=tmp_path, engine=threads).status == "complete"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"function": 3}, "function must be a function"),
        ({"inputs": np.zeros((0, 3))}, "no rows"),
        ({"inputs": "nowhere"}, "does not exist"),
        ({"inputs": {"a": np.zeros(3), "b": np.zeros(4)}}, "same number of rows"),
        ({"inputs": [object()]}, "inputs must be"),
        ({"engine": "slurm"}, "engine must be"),
        ({"shard": 0}, "shard must be"),
        ({"workers": -1}, "workers must be"),
        ({"retries": 1.5}, "retries must be"),
    ],
)
def test_bad_input_is_refused_before_anything_is_computed(tmp_path, arguments, message):
    given = {"function": np.square, "inputs": np.arange(3.0), "engine": "processes", **arguments}
    function, inputs = given.pop("function"), given.pop("inputs")
    with pytest.raises(kd.InputError, match=message):
        kd.jobs.map(function, inputs, out=tmp_path / "out", **given)
    assert not list(tmp_path.glob("out/shard*"))


def test_a_result_that_is_not_an_array_fails_its_shard(tmp_path, threads):
    job = kd.jobs.map(lambda x: object(), np.arange(4.0), out=tmp_path, engine=threads, retries=0)
    assert job.status == "incomplete" and "must return an array" in job.failed[0].error


def test_samples_are_checked():
    with pytest.raises(kd.InputError, match="count must be"):
        kd.jobs.Samples(0)
    with pytest.raises(kd.InputError, match="seed must be"):
        kd.jobs.Samples(10, seed=-1)
