"""What an answer is worth: the conditions of Karush, Kuhn and Tucker at it, or a proof that there is none.

A point is called solved when its rows hold, its slope is balanced by multipliers, and each multiplier pushes from a
side that is touched. A programme is called infeasible when the least violation that any point has is above rounding:
the multipliers of that least-squares problem are Farkas' certificate. It is called unbounded when a direction without
curvature, along which no row is left, goes down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinodyn.arrays import Array
from kinodyn.qp.engine import Engine, Point
from kinodyn.qp.problem import Problem, scaled


class Residuals(NamedTuple):
    """How far a point is from the conditions of optimality, as shares of the numbers that meet in them."""

    primal: float
    slope: float
    signs: float

    def worst(self) -> float:
        """Return the largest of the three."""
        return max(self.primal, self.slope, self.signs)


def residuals(problem: Problem, point: Point) -> Residuals:
    """Measure the conditions of optimality at a point."""
    y, multipliers = point.y, point.multipliers
    scale = problem.row_scale(y)
    primal = np.abs(problem.outside(y)) / scale
    slope = problem.H @ y + problem.g + problem.G.T @ multipliers
    forces = np.abs(problem.H) @ np.abs(y) + np.abs(problem.g) + np.abs(problem.G).T @ np.abs(multipliers)
    size = float(forces.max()) + 1e-300
    # a multiplier pushes either from a side that is touched, or by next to nothing
    at = problem.G @ y
    away = np.where(multipliers > 0, problem.upper - at, at - problem.lower) / scale
    pushing = np.abs(multipliers) / (np.abs(multipliers).max(initial=0.0) + 1e-300)
    signs = np.where(multipliers == 0, 0.0, np.minimum(np.abs(away), pushing))
    return Residuals(float(primal.max(initial=0.0)), float(np.abs(slope).max()) / size, float(signs.max(initial=0.0)))


def least_violation(problem: Problem) -> tuple[Point, Residuals]:
    """Find the point at which the squares of what rows are violated by sum up to the least."""
    m, n = problem.G.shape
    H = np.zeros((n + m, n + m))
    H[n:, n:] = np.eye(m)
    elastic = scaled(H, np.zeros(n + m), np.hstack([problem.G, np.eye(m)]), problem.lower, problem.upper)
    point = Engine(elastic, elastic.lower == elastic.upper).solve(elastic)
    return point._replace(y=point.y[:n]), residuals(elastic, point)


def way_down(problem: Problem) -> Array | None:
    """Find a direction (n,) without curvature that leaves no row and goes down, the steepest; None: there is none."""
    size = float(np.linalg.norm(problem.g))
    if size == 0.0:
        return None
    n = len(problem.g)
    rows = np.vstack([problem.H, problem.G])
    flat = np.zeros(n)
    lower = np.concatenate([flat, np.where(np.isfinite(problem.lower), 0.0, -np.inf)])
    upper = np.concatenate([flat, np.where(np.isfinite(problem.upper), 0.0, np.inf)])
    cone = scaled(np.eye(n), problem.g / size, rows, lower, upper)
    point = Engine(cone, lower == upper).solve(cone)
    fine = not point.trouble and residuals(cone, point).worst() < 1e-8
    return point.y if fine and np.linalg.norm(point.y) > 1e-6 else None
