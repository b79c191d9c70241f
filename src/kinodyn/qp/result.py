"""The solution of a quadratic program."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.qp.program import Program


@displayed
@dataclass(eq=False, slots=True)  # not frozen: initialising a frozen one takes microseconds
class QPResult:
    """The solution of a quadratic program; all of its numbers are finite, whatever the status.

    Attributes
    ----------
    x : (n,)
        The minimum if `status` is "solved". If "infeasible", the point with the least sum of squares of violations of
        rows of unit length. If "unbounded", a feasible point, from which the cost decreases without bound along `ray`.
        If "failed", the best point found.
    status : str
        "solved", "infeasible", "unbounded" or "failed".
    reason : str
        One sentence that explains a status other than "solved"; otherwise empty.
    multipliers, bound_multipliers : (m,), (n,)
        With H x + g + A' multipliers + bound_multipliers = 0: above 0 at an upper bound, below 0 at a lower one. If
        "infeasible", Farkas' certificate.
    primal, dual, gap : float
        Residuals of the KKT conditions, relative to the magnitude of their terms: the worst violation of a row or
        bound; the worst of the gradient of the Lagrangian and of complementarity; the duality gap.
    iterations : int
        Iterations of the active-set method.
    program : Program
        The program that was solved.
    ray : (n,) or None
        The direction in which the cost decreases without bound.
    """

    x: Array
    status: str
    reason: str
    multipliers: Array
    bound_multipliers: Array
    primal: float
    dual: float
    gap: float
    iterations: int
    program: Program = field(repr=False)
    ray: Array | None = None

    @property
    def solved(self) -> bool:
        """Whether x is the minimum."""
        return self.status == "solved"

    @property
    def row_violation(self) -> Array:
        """How far (m,) A x is above the upper bounds; negative where it is below the lower ones."""
        n = len(self.x)
        return _violation(self.program.A @ self.x, self.program.lower[n:], self.program.upper[n:])

    @property
    def bound_violation(self) -> Array:
        """How far (n,) x is above its upper bounds; negative where it is below the lower ones."""
        n = len(self.x)
        return _violation(self.x, self.program.lower[:n], self.program.upper[:n])

    @property
    def cost(self) -> float:
        """1/2 x'Hx + g'x plus the cost of violating soft rows."""
        cost = float(0.5 * self.x @ self.program.H @ self.x + self.program.g @ self.x)
        if self.program.soft is None:
            return cost
        soft = np.isfinite(self.program.soft)
        return cost + float(0.5 * self.program.soft[soft] @ self.row_violation[soft] ** 2)


def _violation(at: Array, lower: Array, upper: Array) -> Array:
    result: Array = np.maximum(at - upper, 0.0) - np.maximum(lower - at, 0.0)
    return result
