"""The protocol of TRAC-IK's README: random reachable poses, start midway between limits, 1e-5, 5 ms per pose."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import kinodyn as kd
from ik_chains import Chain
from ik_numeric import verify
from timing import Entry, best_of

TOLERANCE, TIME_LIMIT = 1e-5, 5e-3  # [m and rad], [s]

# From TRAC-IK's README, version 1.5.1, measured by its authors on their machine: solved [%], mean time [us].
PUBLISHED = {"panda": (99.88, 370), "ur5": (99.17, 370), "baxter arm": (99.83, 370), "pr2 arm": (99.96, 310)}


def measure(chain: Chain, poses: int, singles: int, rounds: int) -> dict[str, Any]:
    """Solve all poses in one batch on one thread, and the first ones again in single calls, timed."""
    _, T = chain.reachable(poses)
    solve = partial(kd.ik.solve, chain.robot, q0=chain.middle, tolerance=TOLERANCE)
    whole = partial(solve, {chain.frame: T})
    batch = best_of({"batch": Entry(whole, poses)}, min(rounds, 2))["batch"]
    best = np.full(singles, np.inf)
    solved = np.zeros(singles, dtype=bool)
    for _ in range(rounds):
        for index in range(singles):
            begin = time.perf_counter()
            found = solve({chain.frame: T[index]})
            best[index] = min(best[index], time.perf_counter() - begin)
            solved[index] = bool(found.success)
    return {
        "chain": chain.name,
        "joints": chain.robot.nq,
        "poses": {"batch": poses, "singles": singles},
        "batch": verify(chain, T, whole(), TOLERANCE),
        "us": {"batch": batch, "single, mean": 1e6 * float(best.mean()), "single, longest": 1e6 * float(best.max())},
        "single calls solved within 5 ms %": 100.0 * float((solved & (best <= TIME_LIMIT)).mean()),
        "TRAC-IK, published": PUBLISHED.get(chain.name),
    }
