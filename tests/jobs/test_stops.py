"""Jobs that are stopped from outside, and folders that other programs have left."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import functions
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.jobs import shared_arrays

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

SECONDS = 120.0  # of waiting, on a machine that is busy


def wait_for(condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start(tmp_path, call):
    """Start a script that runs a job, in a group of processes of its own."""
    script = tmp_path / "job.py"
    script.write_text(
        "import functions, numpy as np, kinodyn as kd\n"
        f'if __name__ == "__main__":\n    job = kd.jobs.map({call})\n    print(job.status, job.reason, flush=True)\n'
    )
    return subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_workers_end_with_a_parent_that_was_killed(tmp_path):
    out = tmp_path / "out"
    job = start(tmp_path, f"functions.with_process, np.arange(400.0), out={str(out)!r}, shard=2, workers=2")
    wait_for(lambda: len(functions.digests(out)) >= 4)
    job.kill()
    job.communicate()
    found = {int(each) for shard in kd.jobs.open_job(out).shards() for each in shard["process"]}
    assert found
    wait_for(lambda: not any(is_running(process) for process in found))


def test_ctrl_c_in_a_terminal_is_quiet_and_leaves_a_job_that_continues(tmp_path, threads):
    out = tmp_path / "out"
    q = f"functions.PANDA.random(60, seed=1), out={str(out)!r}, shard=3, workers=2"
    job = start(tmp_path, f"functions.slow_positions, {q}")
    wait_for(lambda: len(functions.digests(out)) >= 4)
    os.killpg(job.pid, signal.SIGINT)  # a terminal sends it to all processes
    printed, errors = job.communicate()
    assert printed.split() == ["interrupted", "interrupted"] and errors == ""
    state = json.loads((out / "manifest.json").read_text())["shards"]
    assert state["total"] == 20 and state["done"].startswith("0-")
    q = functions.PANDA.random(60, seed=1)
    assert kd.jobs.map(functions.slow_positions, q, out=out, engine=threads).status == "complete"
    kd.jobs.map(functions.slow_positions, q, out=tmp_path / "whole", engine=threads, shard=3)
    assert functions.digests(out) == functions.digests(tmp_path / "whole")


def test_a_file_that_cannot_be_written_whole_is_not_there(tmp_path, threads, monkeypatch):
    out = tmp_path / "out"
    job = start(tmp_path, f"functions.limited, np.arange(40.0), out={str(out)!r}, shard=20, workers=1")
    printed, errors = job.communicate()
    assert printed.startswith("failed") and "cannot be written" in printed, errors
    assert not functions.digests(out) and not list(out.glob(".shard-*"))
    monkeypatch.setattr(functions, "LIMIT", None)
    assert kd.jobs.map(functions.limited, np.arange(40.0), out=out, engine=threads).status == "complete"


def test_an_executor_whose_workers_have_died_ends_the_job_with_that_reason(tmp_path, threads):
    x = np.arange(40.0)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        job = kd.jobs.map(functions.deadly, x, out=tmp_path / "out", engine=pool, shard=5)
    assert job.status == "failed" and "workers of the executor have died" in job.reason
    assert kd.jobs.open_job(tmp_path / "out").status == "incomplete"
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    job = kd.jobs.map(np.square, x, out=tmp_path / "closed", engine=closed)
    assert job.status == "failed" and "after shutdown" in job.reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"job": {"format": 99, "version": "9.0"}, "shards": {}}', "must have format 2, got 99 of kinodyn 9.0"),
        ('{"job": {"form', "is not a manifest of a job"),
        ('{"job": {"format": 2, "unknown": 1}, "shards": {}}', "is not a manifest of a job"),
        ("[]", "is not a manifest of a job"),
    ],
)
def test_a_manifest_of_another_version_or_half_of_one_is_refused_and_nothing_is_lost(tmp_path, threads, text, message):
    x = np.arange(10.0)
    kd.jobs.map(np.square, x, out=tmp_path, engine=threads, shard=5)
    before = functions.digests(tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    for call in (
        lambda: kd.jobs.map(np.square, x, out=tmp_path, engine=threads, shard=5),
        lambda: kd.jobs.open_job(tmp_path),
    ):
        with pytest.raises(kd.InputError, match=message):
            call()
    assert functions.digests(tmp_path) == before and (tmp_path / "manifest.json").read_text() == text


def test_the_output_of_an_incomplete_job_is_not_taken_as_input(tmp_path, threads):
    kd.jobs.map(np.square, np.arange(20.0), out=tmp_path / "in", engine=threads, shard=5)
    doubled = kd.jobs.map(lambda c: c["result"] * 2, tmp_path / "in", out=tmp_path / "a", engine=threads, shard=7)
    np.testing.assert_array_equal(doubled.read()["result"], 2.0 * np.arange(20.0) ** 2)
    (tmp_path / "in" / "shard-00000001.parquet").unlink()
    with pytest.raises(kd.InputError, match=r"without 1 of 4 shards \(the first is 1\)"):
        kd.jobs.map(lambda c: c["result"], tmp_path / "in", out=tmp_path / "b", engine=threads)


def test_arguments_that_are_bound_to_the_function_belong_to_the_job(tmp_path, threads):
    x = np.arange(10.0)

    def run(function, **parameters):
        return kd.jobs.map(function, x, out=tmp_path, engine=threads, shard=5, parameters=parameters)

    offsets = np.array([3.0])
    first = run(functools.partial(functions.scaled, gain=2.0, offsets=offsets), sizes=(1, 2))
    assert run(functools.partial(functions.scaled, gain=2.0, offsets=offsets.copy()), sizes=(1, 2)).done == first.done
    with pytest.raises(kd.InputError, match="arguments.gain was 2.0, now 3.0"):
        run(functools.partial(functions.scaled, gain=3.0, offsets=offsets), sizes=(1, 2))
    with pytest.raises(kd.InputError, match="arguments.offsets was"):
        run(functools.partial(functions.scaled, gain=2.0, offsets=offsets + 1.0), sizes=(1, 2))
    for bad in (np.zeros(2), float("nan"), object()):
        with pytest.raises(kd.InputError, match="parameters must be JSON values"):
            run(np.square, size=bad)


def test_shared_memory_that_a_killed_job_left_is_replaced(tmp_path):
    name = shared_arrays._name(tmp_path / "out", 0)
    SharedMemory(name=name, create=True, size=10).close()
    x = np.arange(40.0)
    job = kd.jobs.map(np.square, x, out=tmp_path / "out", shard=10, workers=1)
    np.testing.assert_array_equal(job.read()["result"], x**2)
    with pytest.raises(FileNotFoundError):
        SharedMemory(name=name)


def test_without_enough_shared_memory_the_rows_are_sent(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with shared_arrays.shared(kd.jobs.inputs.as_source(np.arange(5.0)), tmp_path) as source:
        np.testing.assert_array_equal(source.part(0, 1, 3).read(), [1.0, 2.0])


def test_arrays_that_are_mapped_from_a_file_are_not_copied_to_shared_memory(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(40.0))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    with shared_arrays.shared(kd.jobs.inputs.as_source(mapped), tmp_path) as source:
        assert not isinstance(source, shared_arrays.SharedSource)
    job = kd.jobs.map(np.square, mapped, out=tmp_path / "out", shard=10, workers=1)
    np.testing.assert_array_equal(job.read()["result"], np.arange(40.0) ** 2)


def test_workers_import_only_what_they_need():
    code = "import sys, kinodyn.jobs.shards\nprint('scipy.optimize' in sys.modules, 'mujoco' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "False False\n"
