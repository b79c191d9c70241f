"""Convex quadratic programs: set up, update, solve, verify."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.qp.adapter import ATTEMPTS, Point, minimise, polish
from kinodyn.qp.certificates import best_point, descent_ray, farkas, least_violation
from kinodyn.qp.program import prepare
from kinodyn.qp.result import QPResult


class Residuals(NamedTuple):
    """Residuals of the KKT conditions, relative to the magnitude of their terms, as the core computes them."""

    primal: float
    dual: float
    complementarity: float
    gap: float


@displayed
class QP:
    """A quadratic program that is solved repeatedly, each time warm-started from the last active set.

    min 1/2 x'Hx + g'x subject to lower <= A x <= upper and x_lower <= x <= x_upper.

    Parameters
    ----------
    H : (n, n)
        Symmetric and positive semidefinite. If it is singular, one of several minima is found.
    g : (n,)
    A : (m, n), optional
        Rows of the constraints.
    lower, upper : (m,) or float, optional
        Sides of the rows; -inf and inf where there is none, equal for an equality constraint.
    x_lower, x_upper : (n,) or float, optional
        Bounds on x, likewise.
    soft : (m,) or float, optional
        Weight of each row of A: a violation s costs 1/2 weight s^2. inf, the default, is a hard row.
    tolerance : float
        Maximum residual of the KKT conditions for the status "solved", relative to the magnitude of the
        terms of each condition.

    Raises
    ------
    InputError
        If shapes do not match, numbers are not finite, lower bounds are above upper ones, or H has negative curvature.

    Examples
    --------
    >>> import numpy as np, kinodyn as kd
    >>> problem = kd.qp.QP(np.eye(2), [-2.0, -2.0], [[1.0, 1.0]], upper=1.0)
    >>> problem.solve().x
    array([0.5, 0.5])
    >>> problem.update(upper=3.0)
    >>> problem.solve().x
    array([1.5, 1.5])
    """

    @check_types
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
        self._tolerance = positive("tolerance", tolerance)
        if not self._tolerance < 1:
            raise InputError(f"tolerance must be between 0 and 1, got {tolerance!r}")
        self._program, self._scaled = prepare(H, g, A, (lower, upper), (x_lower, x_upper), soft)
        self._start: Array | None = None  # multipliers of the last solution

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
        """Change parts of the program. If an error is raised, nothing changes.

        Parameters
        ----------
        H, g, A, lower, upper, x_lower, x_upper
            As for the class and of the same sizes; None leaves a part as it is.
        """
        p = self._program
        n = len(p.g)
        new, scaled = prepare(
            p.H if H is None else H,
            p.g if g is None else g,
            p.A if A is None else A,
            (p.lower[n:] if lower is None else lower, p.upper[n:] if upper is None else upper),
            (p.lower[:n] if x_lower is None else x_lower, p.upper[:n] if x_upper is None else x_upper),
            p.soft,
        )
        if new.H.shape != p.H.shape or new.A.shape != p.A.shape:
            shapes = f"H {p.H.shape} and A {p.A.shape}, got {new.H.shape} and {new.A.shape}"
            raise InputError(f"update cannot change the sizes of {shapes}; create a new QP")
        self._program, self._scaled = new, scaled

    def solve(self) -> QPResult:
        """Solve the program as it is now.

        Returns
        -------
        QPResult
        """
        point = minimise(self._scaled, ATTEMPTS[0], self._start)
        minimum = None if point.failure else self._scaled.verified(point.y, point.multipliers, self._tolerance)
        if minimum is None:
            return self._classify(point)
        self._start = point.multipliers
        x, bound_multipliers, multipliers, primal, dual, gap = minimum
        if self._program.soft is not None:
            n = len(self._program.g)
            x, bound_multipliers = x[:n], bound_multipliers[:n]
        return QPResult(
            x=x,
            status="solved",
            reason="",
            multipliers=multipliers,
            bound_multipliers=bound_multipliers,
            primal=primal,
            dual=dual,
            gap=gap,
            iterations=point.iterations,
            program=self._program,
        )

    def _classify(self, point: Point) -> QPResult:
        """Verify the polished point, try other settings, or prove that there is no minimum, in this order."""
        qp, tolerance = self._scaled, self._tolerance
        for candidate in self._candidates(point):
            if self._solves(qp, candidate):
                return self._result(qp, candidate, "solved", "")
        nearest, multipliers = least_violation(qp, tolerance)
        feasible = Point(nearest, np.zeros(len(multipliers)), point.iterations, "")
        violation = _residuals(qp, feasible).primal
        certificate = farkas(qp, multipliers) if violation > 10 * tolerance else None
        if certificate is not None:
            reason = f"no x satisfies all constraints; the least violation is {violation:.3g} of the magnitude of a row"
            return self._result(qp, feasible._replace(multipliers=certificate), "infeasible", reason)
        ray = descent_ray(qp, tolerance) if violation <= 10 * tolerance else None
        if ray is not None:
            return self._result(qp, feasible, "unbounded", "the cost decreases without bound along ray", ray)
        near = self._program.scaled(by_bounds=True)
        for scaled, best in ((qp, feasible), (qp, best_point(qp, tolerance)), (near, best_point(near, tolerance))):
            if self._solves(scaled, best):
                return self._result(scaled, best, "solved", "")
        worst = max(_residuals(scaled, best))
        reason = best.failure or f"the largest relative residual of the KKT conditions is {worst:.3g}"
        if _residuals(scaled, best).primal > violation:
            scaled, best = qp, feasible
        return self._result(scaled, best, "failed", reason)

    def _candidates(self, point: Point) -> Iterator[Point]:
        """Yield points that may be the minimum and cost little: a proof that there is none takes far longer."""
        yield polish(self._scaled, point)
        yield point
        if not point.failure:  # DAQP has found an active set, but its point is not accurate enough
            for settings in ATTEMPTS[1:]:
                yield minimise(self._scaled, settings)

    def _solves(self, qp: _core.ScaledQp, point: Point) -> bool:
        return max(_residuals(qp, point)) <= self._tolerance

    def _result(self, qp: _core.ScaledQp, point: Point, status: str, reason: str, ray: Array | None = None) -> QPResult:
        n = len(self._program.g)
        x, bound_multipliers, multipliers = qp.unscale(point.y, point.multipliers, status == "solved")
        found = _residuals(qp, point)
        return QPResult(
            x=x[:n],
            status=status,
            reason=reason,
            multipliers=multipliers,
            bound_multipliers=bound_multipliers[:n],
            primal=found.primal,
            dual=max(found.dual, found.complementarity),
            gap=found.gap,
            iterations=point.iterations,
            program=self._program,
            ray=None if ray is None else (ray * qp.x_unit)[:n],
        )


def _residuals(qp: _core.ScaledQp, point: Point) -> Residuals:
    return Residuals(*qp.residuals(point.y, point.multipliers, True))


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

    Parameters
    ----------
    H : (n, n)
        Symmetric and positive semidefinite. If it is singular, one of several minima is found.
    g : (n,)
    A : (m, n), optional
        Rows of the constraints.
    lower, upper : (m,) or float, optional
        Sides of the rows; -inf and inf where there is none, equal for an equality constraint.
    x_lower, x_upper : (n,) or float, optional
        Bounds on x, likewise.
    soft : (m,) or float, optional
        Weight of each row of A: a violation s costs 1/2 weight s^2. inf, the default, is a hard row.
    tolerance : float
        Maximum residual of the KKT conditions for the status "solved", relative to the magnitude of their terms.

    Returns
    -------
    QPResult
        Its status is "solved" only after verification. For programs that are solved repeatedly, `QP` is faster.

    Examples
    --------
    >>> import kinodyn as kd
    >>> answer = kd.qp.solve([[2.0, 0.0], [0.0, 2.0]], [-2.0, -6.0], [[1.0, 1.0]], upper=2.0, x_lower=0.0)
    >>> answer.status, answer.x, answer.multipliers
    ('solved', array([0., 2.]), array([2.]))
    """
    return QP(
        H, g, A, lower, upper, x_lower=x_lower, x_upper=x_upper, soft=soft, tolerance=tolerance
    ).solve()  # fmt: skip
