"""Balance as a limit: the centre of mass stays above a polygon."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError


class ComLimit:
    """Keep the centre of mass above the convex hull of points (n, 2) on the ground, `margin` [m] inside of its edges.

    It counts before the tasks of its own priority, and after those with a smaller number: feet first, then balance,
    then the rest.

    >>> import kinodyn as kd
    >>> limit = kd.limits.ComLimit([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]], margin=0.02)
    >>> print(limit.excess([[0.0, 0.0, 0.9], [0.1, 0.0, 0.9]]).round(3))
    [-0.08  0.02]
    """

    def __init__(self, polygon: ArrayLike, *, margin: float = 0.0, priority: int = 1, name: str = "balance") -> None:
        if not isinstance(margin, int | float | np.number) or not 0 <= margin < np.inf:
            raise InputError(f"margin must be a number from 0 on, got {margin!r}")
        if not isinstance(priority, int | np.integer) or isinstance(priority, bool) or priority < 0:
            raise InputError(f"priority of {name!r} must be a whole number from 0 on, got {priority!r}")
        points = numbers("polygon", polygon, 2)
        if points.ndim != 2:
            raise InputError(f"polygon must have shape (n, 2), got {points.shape}")
        try:
            hull = ConvexHull(points)
        except (QhullError, ValueError) as cause:
            raise InputError("polygon must have three corners at least that are not in one line") from cause
        self.name = name
        self.priority = int(priority)
        self.margin = float(margin)
        self.corners: Array = points[hull.vertices]
        # a c <= b for each edge, doubles of one edge left out
        edges = np.unique(hull.equations.round(12), axis=0)
        self.edges: Array = np.column_stack([edges[:, :2], np.zeros(len(edges)), -edges[:, 2] - self.margin])
        if _smallest_excess(self.edges) > 0:
            raise InputError(f"a margin of {self.margin:g} m leaves nothing of the polygon")

    def excess(self, com: ArrayLike) -> Array:
        """Measure how far (...) [m] centres of mass (..., 3) are beyond the worst edge; negative inside."""
        c = numbers("com", com, 3)
        result: Array = (c @ self.edges[:, :3].T - self.edges[:, 3]).max(axis=-1)
        return result

    def __repr__(self) -> str:
        return f"ComLimit({len(self.corners)} corners, margin={self.margin:g}, priority={self.priority})"


def _smallest_excess(edges: Array) -> float:
    """Return the least that one must be beyond the worst edge: a linear programme in x, y and that excess."""
    from scipy.optimize import linprog

    rows = np.column_stack([edges[:, :2], -np.ones(len(edges))])
    return float(linprog([0.0, 0.0, 1.0], A_ub=rows, b_ub=edges[:, 3], bounds=[(None, None)] * 3).fun)
