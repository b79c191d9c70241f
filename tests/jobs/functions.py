"""Functions that worker processes import."""

import os
import time
from pathlib import Path

import numpy as np

import kinodyn as kd

PANDA = kd.load("panda")


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
