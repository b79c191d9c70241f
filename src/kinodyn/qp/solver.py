"""Quadratic programmes: set up, change, solve, judge."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.qp.engine import Engine, Point
from kinodyn.qp.problem import Problem, checked_cost, matrix, scaled, sides, vector
from kinodyn.qp.verdict import Residuals, least_violation, residuals, way_down


@dataclass(frozen=True)
class QPResult:
    """The answer to a quadratic programme; all of its numbers are finite, whatever the status.

    Attributes
    ----------
    x : (n,)
        The minimum if `status` is "solved". If "infeasible", the point that violates the rows least, in the sense of
        least squares of rows of length 1. If "unbounded", a point within all rows, from which `ray` goes down without
        end. If "failed", the best that there is.
    status : str
        "solved", "infeasible", "unbounded" or "failed".
    reason : str
        One sentence for a status other than "solved"; else empty.
    multipliers : (m,), bound_multipliers : (n,)
        With H x + g + A' multipliers + bound_multipliers = 0: above 0 at an upper side, below 0 at a lower one.
    outside : (m,), bound_outside : (n,)
        How far A x and x are above their upper sides (below the lower ones: negative). What soft rows give, and what
        gives way when nothing satisfies all.
    cost : float
        1/2 x'Hx + g'x, with what soft rows cost.
    primal, dual : float
        Worst violation of a row, and of the conditions for multipliers, as shares of the numbers that meet in them.
    iterations : int
        Of the active-set method.
    ray : (n,) or None
        The direction in which the cost falls without end.
    """

    x: Array
    status: str
    reason: str
    multipliers: Array
    bound_multipliers: Array
    outside: Array
    bound_outside: Array
    cost: float
    primal: float
    dual: float
    iterations: int
    ray: Array | None = field(default=None)

    @property
    def solved(self) -> bool:
        """Tell whether x is the minimum."""
        return self.status == "solved"


class QP:
    """A quadratic programme that is solved again and again: min 1/2 x'Hx + g'x, lower <= A x <= upper, and bounds on x.

    What does not change is factored once; the rows that held the last answer are where the next search begins.

    Parameters
    ----------
    H, g
        The cost: H (n, n) symmetric and positive semidefinite, g (n,). Where H is singular on what equality rows
        leave, the proximal-point method is used, which does not change the answer; of many minima it finds one.
    A, lower, upper
        Rows (m, n) and their sides (m,), or one number for all; -inf and inf where there is none, equal for equality.
    x_lower, x_upper
        Bounds (n,) on x, likewise.
    soft
        Weight (m,) of each row of A: a violation s costs 1/2 weight s^2. inf, the default, is a hard row.
    tolerance
        How large the conditions of optimality may be, as shares of the numbers that meet in them, to call it solved.

    Example
    -------
    >>> import numpy as np, kinodyn as kd
    >>> problem = kd.qp.QP(np.eye(2), [-2.0, -2.0], [[1.0, 1.0]], upper=1.0)
    >>> problem.solve().x
    array([0.5, 0.5])
    >>> problem.update(upper=3.0)
    >>> problem.solve().x
    array([1.5, 1.5])
    """

    def __init__(
        self,
        H: ArrayLike,
        g: ArrayLike,
        A: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        *,
        x_lower: ArrayLike | None = None,
        x_upper: ArrayLike | None = None,
        soft: ArrayLike | None = None,
        tolerance: float = 1e-8,
    ) -> None:
        self.H, self.g = checked_cost(H, g)
        self.n = len(self.g)
        self.A = matrix("A", A, self.n)
        self.lower, self.upper = sides(("lower", "upper"), lower, upper, len(self.A))
        self.x_lower, self.x_upper = sides(("x_lower", "x_upper"), x_lower, x_upper, self.n)
        self.soft = _weights(soft, len(self.A))
        if not 0 < tolerance < 1:
            raise InputError(f"tolerance must be between 0 and 1, got {tolerance!r}")
        self.tolerance = float(tolerance)
        self._engine: Engine | None = None
        self._frame: Problem | None = None
        self._bound = np.zeros(0, dtype=int)  # which variables have bounds

    def update(
        self,
        H: ArrayLike | None = None,
        g: ArrayLike | None = None,
        A: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        *,
        x_lower: ArrayLike | None = None,
        x_upper: ArrayLike | None = None,
    ) -> None:
        """Change parts of the programme, of the same sizes; None leaves a part as it is. On an error nothing changes.

        New g and limits keep all factors; new H, new A or other equality rows need new ones.
        """
        new_H, new_g = (self.H, self.g) if H is None else checked_cost(H, self.g if g is None else g)
        new_g = new_g if g is None else vector("g", g, self.n)
        new_A = self.A if A is None else matrix("A", A, self.n)
        if new_H.shape != self.H.shape or new_A.shape != self.A.shape:
            shapes = f"H {self.H.shape} and A {self.A.shape}, got {new_H.shape} and {new_A.shape}"
            raise InputError(f"update keeps the sizes of {shapes}; set up another QP")
        rows, bounds = (self.lower, self.upper), (self.x_lower, self.x_upper)
        if lower is not None or upper is not None:
            given = (self.lower if lower is None else lower, self.upper if upper is None else upper)
            rows = sides(("lower", "upper"), *given, len(new_A))
        if x_lower is not None or x_upper is not None:
            given = (self.x_lower if x_lower is None else x_lower, self.x_upper if x_upper is None else x_upper)
            bounds = sides(("x_lower", "x_upper"), *given, self.n)
        self.H, self.g, self.A = new_H, new_g, new_A
        (self.lower, self.upper), (self.x_lower, self.x_upper) = rows, bounds
        if H is not None or A is not None:
            self._frame = None

    def solve(self) -> QPResult:
        """Solve the programme as it is now."""
        problem = self._scaled()
        equal = problem.lower == problem.upper
        engine = self._engine
        if engine is None or engine.G is not problem.G or not np.array_equal(engine.equal, equal):
            engine = Engine(problem, equal, None if engine is None else engine.active)
            self._engine = engine
        point = engine.solve(problem)
        found = residuals(problem, point)
        if found.worst() <= self.tolerance:
            return self._result(problem, point, found, "solved", "")
        return self._without_answer(problem, engine, point)

    def _without_answer(self, problem: Problem, engine: Engine, point: Point) -> QPResult:
        """Find out why there is no answer."""
        nearest, quality = least_violation(problem)
        at_nearest = residuals(problem, nearest)
        kept = max(quality.primal, quality.signs) <= max(self.tolerance, 1e-3 * at_nearest.primal)
        if kept and quality.slope <= self.tolerance and at_nearest.primal > 10 * self.tolerance:
            reason = f"no x is within all rows; they are missed by {at_nearest.primal:.3g} of their size at least"
            return self._result(problem, nearest, at_nearest, "infeasible", reason)
        ray = way_down(problem) if at_nearest.primal <= 10 * self.tolerance else None
        if ray is not None:
            reason = "the cost falls without end along ray"
            return self._result(problem, nearest, at_nearest, "unbounded", reason, ray * problem.d)
        if engine.singular:  # a minimum far away, perhaps
            point = engine.solve(problem, patience=6)
        found = residuals(problem, point)
        if found.worst() <= self.tolerance:
            return self._result(problem, point, found, "solved", "")
        reason = point.trouble or f"the answer misses the conditions of optimality by {found.worst():.3g}"
        if not np.isfinite(point.y).all() or found.primal > at_nearest.primal:
            point, found = nearest, at_nearest
        return self._result(problem, point, found, "failed", reason)

    def _scaled(self) -> Problem:
        """Bring the programme to scaled numbers: bounds first, then rows, slacks of soft rows as variables behind x."""
        give = np.flatnonzero(np.isfinite(self.soft))
        bound = np.flatnonzero(np.isfinite(self.x_lower) | np.isfinite(self.x_upper))
        lower = np.concatenate([self.x_lower[bound], self.lower])
        upper = np.concatenate([self.x_upper[bound], self.upper])
        g = np.concatenate([self.g, np.zeros(len(give))])
        before = self._frame
        if before is not None and np.array_equal(self._bound, bound) and (self.H.any() or not self.g.any()):
            return Problem(before.H, g * before.d / before.c, before.G, lower / before.r, upper / before.r,
                           before.d, before.r, before.c)  # fmt: skip
        n, k = self.n, len(give)
        H = np.zeros((n + k, n + k))
        H[:n, :n] = self.H
        H[n:, n:] = np.diag(self.soft[give])
        rows = np.zeros((len(bound) + len(self.A), n + k))
        rows[np.arange(len(bound)), bound] = 1.0
        rows[len(bound) :, :n] = self.A
        rows[len(bound) + give, n + np.arange(k)] = 1.0
        self._bound = bound
        self._frame = scaled(H, g, rows, lower, upper)
        return self._frame

    def _result(
        self, problem: Problem, point: Point, found: Residuals, status: str, reason: str, ray: Array | None = None
    ) -> QPResult:
        full = point.y * problem.d
        x, slack = full[: self.n], full[self.n :]
        if status == "solved":
            x = np.clip(x, self.x_lower, self.x_upper)  # bounds hold to the last digit
        multipliers = point.multipliers * problem.c / problem.r
        k = len(self._bound)
        bounds = np.zeros(self.n)
        bounds[self._bound] = multipliers[:k]
        at = self.A @ x
        weights = self.soft[np.isfinite(self.soft)]
        return QPResult(
            x=x,
            status=status,
            reason=reason,
            multipliers=multipliers[k:],
            bound_multipliers=bounds,
            outside=np.maximum(at - self.upper, 0.0) - np.maximum(self.lower - at, 0.0),
            bound_outside=np.maximum(x - self.x_upper, 0.0) - np.maximum(self.x_lower - x, 0.0),
            cost=float(0.5 * x @ self.H @ x + self.g @ x + 0.5 * slack @ (weights * slack)),
            primal=found.primal,
            dual=max(found.slope, found.signs),
            iterations=point.iterations,
            ray=None if ray is None else ray[: self.n],
        )


def solve(
    H: ArrayLike,
    g: ArrayLike,
    A: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    x_lower: ArrayLike | None = None,
    x_upper: ArrayLike | None = None,
    soft: ArrayLike | None = None,
    tolerance: float = 1e-8,
) -> QPResult:
    """Solve min 1/2 x'Hx + g'x subject to lower <= A x <= upper and x_lower <= x <= x_upper.

    The arguments are those of `QP`, which is for programmes that are solved again and again. The answer is checked
    before it is called solved.

    D. Arnstrom, A. Bemporad, D. Axehill, "A Dual Active-Set Solver for Embedded Quadratic Programming Using Recursive
    LDL^T Updates", 2022.

    >>> import kinodyn as kd
    >>> answer = kd.qp.solve([[2.0, 0.0], [0.0, 2.0]], [-2.0, -6.0], [[1.0, 1.0]], upper=2.0, x_lower=0.0)
    >>> answer.status, answer.x, answer.multipliers
    ('solved', array([0., 2.]), array([2.]))
    """
    return QP(
        H, g, A, lower, upper, x_lower=x_lower, x_upper=x_upper, soft=soft, tolerance=tolerance
    ).solve()  # fmt: skip


def _weights(soft: ArrayLike | None, rows: int) -> Array:
    weights = np.asarray(np.inf if soft is None else soft, dtype=float)
    weights = np.full(rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (rows,) or not (weights > 0).all():
        raise InputError(f"soft must be weights ({rows},) above 0, inf for hard rows, got {soft!r}")
    return weights
