"""A primal-dual interior-point method, for programs in which the active-set solver cycles.

J. Nocedal, S. J. Wright, "Numerical Optimization", 2006, algorithm 16.4 (Mehrotra's predictor-corrector method). It is
slower than DAQP, but neither dependent rows nor a singular H mislead it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.qp.adapter import Point

MAX_ITERATIONS = 80
TOLERANCE = 1e-12  # of the largest residual, in the units of a scaled program
REGULARISATION = 1e-11  # proximal terms around the iterate, which do not change the minimum
BOUNDARY_FRACTION = 0.995  # of the distance to the boundary that a step may take


class _Iterate(NamedTuple):
    x: Array
    y: Array  # multipliers of equalities E x = e
    z: Array  # multipliers of inequalities G x + s = h
    s: Array

    def moved(self, step: _Iterate, length: float) -> _Iterate:
        return _Iterate(*(value + length * change for value, change in zip(self, step, strict=True)))

    def longest(self, step: _Iterate) -> float:
        """Return the longest step, up to 1, that keeps z and s positive."""
        pairs = ((self.z, step.z), (self.s, step.s))
        return min([1.0, *(float((-at[d < 0] / d[d < 0]).min(initial=np.inf)) for at, d in pairs)])


class _Program:
    """min 1/2 x'Hx + g'x subject to E x = e and G x <= h."""

    def __init__(self, qp: _core.ScaledQp) -> None:
        rows = np.vstack([np.eye(len(qp.g)), qp.A])
        self.H, self.g, self.equal = qp.H, qp.g, qp.lower == qp.upper
        self.above, self.below = np.isfinite(qp.upper) & ~self.equal, np.isfinite(qp.lower) & ~self.equal
        self.E, self.e = rows[self.equal], qp.lower[self.equal]
        self.G = np.vstack([rows[self.above], -rows[self.below]])
        self.h = np.concatenate([qp.upper[self.above], -qp.lower[self.below]])

    def residuals(self, at: _Iterate) -> tuple[Array, Array, Array]:
        gradient = self.H @ at.x + self.g + self.E.T @ at.y + self.G.T @ at.z
        return gradient, self.E @ at.x - self.e, self.G @ at.x + at.s - self.h

    def newton_step(self, at: _Iterate, complementarity: Array) -> _Iterate:
        """Solve the linearised KKT conditions, with s z reduced by `complementarity`."""
        gradient, equality, inequality = self.residuals(at)
        k = len(self.e)
        curvature = self.H + (self.G.T * (at.z / at.s)) @ self.G + REGULARISATION * np.eye(len(self.g))
        matrix = np.block([[curvature, self.E.T], [self.E, -REGULARISATION * np.eye(k)]])
        right = self.G.T @ ((complementarity - at.z * inequality) / at.s) - gradient
        found = np.linalg.solve(matrix, np.concatenate([right, -equality]))
        x, y = found[: len(self.g)], found[len(self.g) :]
        s = -inequality - self.G @ x
        return _Iterate(x, y, -(complementarity + at.z * s) / at.s, s)

    def multipliers(self, at: _Iterate) -> Array:
        """Return those of all bounds; of inequalities only where they are active."""
        active = np.where(at.z > at.s, at.z, 0.0)
        result = np.zeros(len(self.equal))
        result[self.equal] = at.y
        result[self.above] += active[: self.above.sum()]
        result[self.below] -= active[self.above.sum() :]
        return result


def interior_point(qp: _core.ScaledQp) -> Point:
    """Minimise a scaled program; the point is not yet verified."""
    program = _Program(qp)
    start = _Iterate(np.zeros(len(qp.g)), np.zeros(len(program.e)), np.ones(len(program.h)), np.maximum(1.0, program.h))
    best, least, at, iterations = start, np.inf, start, 0
    while iterations < MAX_ITERATIONS and least > TOLERANCE:
        try:
            with np.errstate(all="ignore"):  # what is not finite ends the iterations
                at = _step(program, at)
                worst = max(float(np.abs(part).max(initial=0.0)) for part in (*program.residuals(at), at.s * at.z))
        except np.linalg.LinAlgError:
            break
        if not worst < np.inf:
            break
        if worst < least:
            best, least = at, worst
        iterations += 1
    return Point(best.x, program.multipliers(best), iterations, "")


def _step(program: _Program, at: _Iterate) -> _Iterate:
    """Predict where s z vanishes, correct its second-order error, and stay away from the boundary."""
    predictor = program.newton_step(at, at.s * at.z)
    tried = at.moved(predictor, at.longest(predictor))
    before, after = float(at.s @ at.z), float(tried.s @ tried.z)
    centring = (after / before) ** 3 * before / len(at.s) if before > 0 else 0.0
    step = program.newton_step(at, at.s * at.z + predictor.s * predictor.z - centring)
    return at.moved(step, BOUNDARY_FRACTION * at.longest(step) if len(at.s) else 1.0)
