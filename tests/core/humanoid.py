"""The robot with which arguments of public functions are tested."""

from __future__ import annotations

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array

ROBOT = kd.load("humanoid")
FRAME = "left_hand"
NQ, NV = ROBOT.nq, ROBOT.nv


def states(n: int | None) -> tuple[Array, Array, Array]:
    """Draw q, v, a."""
    v, a = np.random.default_rng(0).normal(size=(2, NV) if n is None else (2, n, NV))
    return ROBOT.random(n), v, a
