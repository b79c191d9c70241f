"""The door from walking to the solver of quadratic programmes; the answer is checked before it is called solved."""

from __future__ import annotations

from typing import NamedTuple

import daqp
import numpy as np

from kinodyn.description.types import Array

PRIMAL = 1e-7  # by how much a constraint may be missed, in its own unit
DUAL = 1e-6  # of the largest gradient, by how much an optimum may not be one
STATUS = {1: "solved", 2: "solved", -1: "infeasible", -3: "unbounded", -4: "failed", -5: "failed", -6: "failed"}


class Answer(NamedTuple):
    """What came out: x (n,), multipliers (m,), and "solved", "infeasible", "unbounded" or "failed"."""

    x: Array
    multipliers: Array
    status: str
    iterations: int


def solve(H: Array, g: Array, A: Array, lower: Array, upper: Array) -> Answer:
    """Minimise x H x / 2 + g x subject to lower <= A x <= upper; H (n, n) positive definite, bounds may be infinite."""
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
    return Answer(x, multipliers, status, int(info["iterations"]))
