"""Functions that worker processes import."""

import hashlib
import os
import time
from pathlib import Path

import numpy as np

import kinodyn as kd

PANDA = kd.load("panda")
LIMIT = 50_000  # bytes


def positions(q):
    return {"position": kd.kinematics.pose(PANDA, q, "panda_link8")[:, :3, 3], "height": q[:, 0] * 2.0}


def slow_positions(q):
    time.sleep(0.2)
    return positions(q)


def sums(columns):
    return columns["a"] + columns["b"]


def draws(batch):
    return np.column_stack([batch.start + np.arange(batch.count), batch.rng.uniform(size=batch.count)])


def poisoned(x):
    if (x == 13.0).any():
        raise ValueError("thirteen")
    return x


def deadly(x):
    if (x == 13.0).any():
        os._exit(9)
    return x


def dies_once(x):
    """End the process the first time that the value 5 is seen; the folder is the last column's number."""
    flag = Path(os.environ["KINODYN_TEST_FLAG"])
    if (x == 5.0).any() and not flag.exists():
        flag.touch()
        os._exit(9)
    return x


def poisoned_and_dies_once(x):
    return poisoned(dies_once(x))


def scaled(x, gain, offsets=None):
    return gain * x if offsets is None else gain * x + offsets[0]


def limited(x):
    """Return much, and limit the size of files of this process."""
    if LIMIT is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    return np.tile(x[:, None], (1, 1000)) * np.linspace(0.1, 1.7, 1000)


def with_process(x):
    time.sleep(0.1)
    return {"x": x, "process": np.full(len(x), os.getpid())}


def digests(folder):
    """Return a checksum of each shard of a job."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.glob("shard-*.parquet"))}
