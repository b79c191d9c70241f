"""The adapter to DAQP, a dual active-set solver.

D. Arnstrom, A. Bemporad, D. Axehill, "A Dual Active-Set Solver for Embedded Quadratic Programming Using Recursive
LDL^T Updates", IEEE Transactions on Automatic Control 67(8), 2022. Where H is singular DAQP adds a proximal term and
repeats (R. T. Rockafellar 1976), which does not change the minimum.
"""

from __future__ import annotations

from typing import NamedTuple

import daqp
import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array

FAILURES = {
    -1: "DAQP found no point that satisfies all constraints",
    -2: "DAQP cycled",
    -3: "DAQP found no minimum",
    -4: "DAQP reached its iteration limit",
}
# In the units of a scaled program. Distant limits need a small proximal weight, nearly dependent rows
# a larger tolerance.
ATTEMPTS: tuple[dict[str, float], ...] = (
    {"primal_tol": 1e-11, "eps_prox": -1e-3, "eta_prox": 1e-12},
    {"primal_tol": 1e-9, "eps_prox": -1e-6, "eta_prox": 1e-12},
    {"primal_tol": 1e-9, "eps_prox": -1e-9, "eta_prox": 1e-10},
    {"primal_tol": 1e-13, "eps_prox": -1e-2, "eta_prox": 1e-13},
)
PERTURBATION = 1e-7  # by which bounds are perturbed where many of them are active at one point


class Point(NamedTuple):
    """Where the solver stopped, in the units of a scaled program; not yet verified."""

    y: Array  # (n,)
    multipliers: Array  # (n + m,) above 0 at an upper bound, below 0 at a lower one
    iterations: int
    failure: str  # "" if DAQP reports an optimum


def minimise(qp: _core.ScaledQp, settings: dict[str, float], start: Array | None = None) -> Point:
    """Run DAQP once; `start` are multipliers of a similar program, whose active set is tried first."""
    y, _, flag, info = daqp.solve(*qp.arrays(), dual_start=start, **settings)
    if flag > 0 and qp.has_cost:
        return Point(y, info["lam"], info["iterations"], "")
    none = np.zeros(len(qp.lower))
    if flag > 0:  # without a cost all multipliers are 0; those of DAQP are rounding errors
        return Point(y, none, info["iterations"], "")
    return Point(np.zeros(len(qp.g)), none, info["iterations"], FAILURES.get(flag, f"DAQP stopped with flag {flag}"))


def minimise_perturbed(qp: _core.ScaledQp, settings: dict[str, float]) -> Point:
    """Run DAQP with inequalities that are loosened by different small amounts.

    Where more rows than variables meet in one point, rounding can lead a dual active-set method to contradictions. They
    are apart then, and the active set is one of those of the program itself, whose KKT equations `polish` solves.
    """
    H, g, A, upper, lower, sense = qp.arrays()
    amounts = PERTURBATION * np.random.default_rng(0).uniform(0.5, 1.5, len(lower)) * (lower != upper)
    y, _, flag, info = daqp.solve(H, g, A, upper + amounts, lower - amounts, sense, **settings)
    if flag <= 0:
        return Point(np.zeros(len(g)), np.zeros(len(lower)), info["iterations"], FAILURES.get(flag, "DAQP failed"))
    return Point(y, info["lam"], info["iterations"], "")


def polish(qp: _core.ScaledQp, point: Point) -> Point:
    """Solve the KKT equations of the active set once more, to remove the effect of rounding and proximal terms."""
    rows = np.flatnonzero(point.multipliers)
    n, k = len(qp.g), len(rows)
    G = np.vstack([np.eye(n), qp.A])[rows]
    active = point.multipliers[rows]
    bounds = np.where(active > 0, qp.upper[rows], qp.lower[rows])
    if not np.isfinite(bounds).all():
        return point
    equations = np.block([[qp.H, G.T], [G, np.zeros((k, k))]])
    errors = np.concatenate([-(qp.H @ point.y + qp.g + G.T @ active), bounds - G @ point.y])
    step = np.linalg.lstsq(equations, errors, rcond=1e-12)[0]
    multipliers = point.multipliers.copy()
    multipliers[rows] += step[n:]
    equal = qp.lower[rows] == qp.upper[rows]
    if ((multipliers[rows] * active < 0) & ~equal).any():  # not the active set of the minimum
        return point
    return point._replace(y=point.y + step[:n], multipliers=multipliers)
