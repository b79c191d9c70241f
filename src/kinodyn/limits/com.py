"""Balance as a limit: the centre of mass (CoM) stays above a support polygon."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import nonnegative, numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.limits.limit import RowLimit
from kinodyn.model.robot import Robot


@displayed
class ComLimit(RowLimit):
    """Keep the CoM above a polygon on the ground.

    Parameters
    ----------
    polygon
        Points (n, 2) in the world [m], whose convex hull is the polygon.
    margin
        Minimum distance [m] of the CoM from the edges.
    priority
        In inverse kinematics the limit precedes tasks of the same priority, and follows those with a smaller number:
        feet first, then balance, then the rest.
    braking
        At the acceleration level: deceleration [m/s^2] of the CoM assumed to be available for braking before the edges.
    name
        Name in results and messages.

    Examples
    --------
    >>> import kinodyn as kd
    >>> limit = kd.limits.ComLimit([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]], margin=0.02)
    >>> print(limit.excess([[0.0, 0.0, 0.9], [0.1, 0.0, 0.9]]).round(3))
    [-0.08  0.02]
    """

    kind = "com_limit"
    needs_mass = True

    @check_types
    def __init__(
        self,
        polygon: ArrayLike,
        *,
        margin: float = 0.0,
        priority: int = 1,
        braking: float = 2.0,
        name: str = "balance",
    ) -> None:
        super().__init__(name, priority, braking)
        points = numbers("polygon", polygon, 2)
        if points.ndim != 2:
            raise InputError(f"polygon must have shape (n, 2), got {points.shape}")
        try:
            hull = ConvexHull(points)
        except (QhullError, ValueError) as cause:
            raise InputError("polygon must have at least three corners that are not collinear") from cause
        self.margin = nonnegative("margin", margin)
        self.corners: Array = points[hull.vertices]
        # normal . com <= offset for each edge; the hull may list an edge twice
        edges = np.unique(hull.equations.round(12), axis=0)
        self.normals: Array = np.column_stack([edges[:, :2], np.zeros(len(edges))])
        self.offsets: Array = -edges[:, 2] - self.margin
        if _smallest_excess(self.normals, self.offsets) > 0:
            raise InputError(f"with a margin of {self.margin:g} m the polygon is empty; reduce the margin")

    def row_count(self, robot: Robot) -> int:
        return len(self.offsets)

    def own_settings(self) -> dict[str, Any]:
        return {"normals": self.normals, "offsets": self.offsets}

    def excess(self, com: ArrayLike) -> Array:
        """Measure how far (...) [m] CoM positions (..., 3) are beyond the worst edge; negative inside.

        Parameters
        ----------
        com
            Positions (..., 3) of the CoM [m].

        Returns
        -------
        Array
            Distances (...) [m].
        """
        c = numbers("com", com, 3)
        result: Array = (c @ self.normals.T - self.offsets).max(axis=-1)
        return result

    def __repr__(self) -> str:
        return f"ComLimit({len(self.corners)} corners, margin={self.margin:g}, priority={self.priority})"


def _smallest_excess(normals: Array, offsets: Array) -> float:
    """Return the smallest possible excess beyond the worst edge, by a linear program in x, y and the excess."""
    from scipy.optimize import linprog

    rows = np.column_stack([normals[:, :2], -np.ones(len(normals))])
    found = linprog([0.0, 0.0, 1.0], A_ub=rows, b_ub=offsets, bounds=[(None, None)] * 3)
    return float(found.fun) if found.success else np.inf  # which a margin beyond all measure leads to
