"""Strictly convex programmes in fast loops: checked like all others, without the care for scales and singular cases."""

from __future__ import annotations

from typing import NamedTuple

import daqp
import numpy as np

from kinodyn.arrays import Array

PRIMAL = 1e-7  # by how much a constraint may be missed, in its own unit
DUAL = 1e-6  # of the largest gradient, by how much an optimum may not be one
STATUS = {1: "solved", 2: "solved", -1: "infeasible", -3: "unbounded", -4: "failed", -5: "failed", -6: "failed"}


class QuickResult(NamedTuple):
    """What came out: x (n,), multipliers (m,), and "solved", "infeasible", "unbounded" or "failed"."""

    x: Array
    multipliers: Array
    status: str
    iterations: int


def quick(H: Array, g: Array, A: Array, lower: Array, upper: Array) -> QuickResult:
    """Minimise x H x / 2 + g x subject to lower <= A x <= upper; H (n, n) positive definite, bounds may be infinite.

    For loops that build their own well-scaled programmes: arguments are not checked, the answer is. `solve` takes any
    programme, and several times as long.
    """
    x, _, flag, info = daqp.solve(H, g, A, upper, lower, None, primal_tol=1e-9)
    multipliers = info["lam"]
    status = STATUS.get(flag, "failed")
    if status == "solved":
        rows = A @ x
        missed = float(np.abs(np.minimum(np.maximum(rows, lower), upper) - rows).max(initial=0.0))
        gradient = g + H @ x
        off = float(np.abs(gradient + multipliers @ A).max())
        if not (missed <= PRIMAL and off <= DUAL * (1.0 + float(np.abs(g).max()))):
            status = "failed"
    return QuickResult(x, multipliers, status, int(info["iterations"]))
