"""Functions that workers cannot use, and what a function may return."""

import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import functions
import numpy as np
import pytest

import kinodyn as kd

pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    "function", [lambda x: x, partial(np.add, threading.Lock()), partial(np.add, (i for i in range(3)))]
)
def test_a_function_that_cannot_be_sent_is_refused_at_once(tmp_path, function):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for engine in ("processes", pool):
            with pytest.raises(kd.InputError, match="function must be importable by worker processes"):
                kd.jobs.map(function, np.arange(4.0), out=tmp_path / "out", engine=engine)
    assert not (tmp_path / "out").exists()


def run_script(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(f"import numpy as np, kinodyn as kd\n{text}")
    return subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600)


def test_a_function_that_only_the_script_knows_ends_the_job_with_advice(tmp_path):
    done = run_script(
        tmp_path,
        'if __name__ == "__main__":\n'
        "    def local(x):\n        return x\n"
        f"    job = kd.jobs.map(local, np.arange(4.0), out={str(tmp_path / 'out')!r}, shard=1, workers=1)\n"
        "    print(job.status, job.reason)\n",
    )
    assert done.stdout.startswith("failed worker processes cannot import the function (AttributeError")
    assert "top level" in done.stdout and done.stderr == ""


def test_a_script_without_a_guard_is_told_to_add_one(tmp_path):
    done = run_script(
        tmp_path,
        f"job = kd.jobs.map(np.sqrt, np.arange(4.0), out={str(tmp_path / 'out')!r}, shard=1, workers=1)\n"
        "print(job.status, job.reason)\n",
    )
    assert done.stdout.startswith("failed the worker processes ended 3 times in a row while they started")
    assert "jobs.map was called while a worker process imported this script" in done.stderr


def leave(x):
    sys.exit(3)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: None, "'result' is of type NoneType"),
        (lambda x: object(), "'result' is of type object"),
        (lambda x: {"a": x, "b": x[:1]}, "same number of rows"),
        (lambda x: 3.0, "'result' is float64 with shape ()"),
        (lambda x: x + 1j, "'result' is complex128"),
        (lambda x: {}, "no columns"),
        (lambda x: np.array(["\ud800"] * len(x)), "cannot be written: column 'result'"),
        (leave, "SystemExit: 3"),
    ],
)
def test_what_cannot_be_written_is_named(tmp_path, threads, function, message):
    job = kd.jobs.map(function, np.arange(4.0), out=tmp_path, engine=threads, shard=2, retries=0)
    assert job.status == "incomplete" and sorted(job.failed) == [0, 1] and message in job.failed[0].error


def test_the_engine_may_be_any_executor_of_processes(tmp_path, threads):
    q = functions.PANDA.random(40, seed=3)
    kd.jobs.map(functions.positions, q, out=tmp_path / "threads", engine=threads, shard=15)
    for method in ("spawn", "forkserver"):
        with ProcessPoolExecutor(2, mp_context=get_context(method)) as pool:
            kd.jobs.map(functions.positions, q, out=tmp_path / method, engine=pool, shard=15)
        assert functions.digests(tmp_path / method) == functions.digests(tmp_path / "threads")


def test_an_empty_folder_name_is_refused(threads):
    with pytest.raises(kd.InputError, match="out must be the path of a folder"):
        kd.jobs.map(np.sqrt, np.arange(4.0), out="", engine=threads)
