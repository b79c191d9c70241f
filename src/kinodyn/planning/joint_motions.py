"""Jerk-limited motions of a group of joints: to rest in the least time, and to other configurations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.trajectory.bounds import Bounds
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.ruckig_adapter import Planner, extrema, pieces, stop_extrema
from kinodyn.trajectory.space import Space

TOLERANCE = 1e-9  # beyond position limits, for rounding

JointState = tuple[Array, Array, Array]


class JointMotions:
    """Motions of the coordinates `columns` of v from any state, within position limits too.

    Parameters
    ----------
    space
    q0 : (nq,)
        Where the other joints stay.
    columns
        Velocity coordinates that move.
    bounds
        Limits.
    """

    def __init__(self, space: Space, q0: Array, columns: NDArray[np.intp], bounds: Bounds) -> None:
        self.space, self.q0, self.columns = space, q0, columns
        self.q_index = space.q_index[columns]
        self.lower, self.upper = bounds.lower[self.q_index], bounds.upper[self.q_index]
        v, a, j = (limit[columns] for limit in (bounds.velocity, bounds.acceleration, bounds.jerk))
        self._planner, self._independent = Planner(v, a, j), Planner(v, a, j, "none")

    def state(self, motion: PiecewisePolynomial, t: float) -> JointState:
        """Return position, velocity and acceleration of the group at a time of a motion."""
        q, v, a = (motion(t, order) for order in range(3))
        return q[self.q_index], v[self.columns], a[self.columns]

    def stop(self, state: JointState) -> PiecewisePolynomial | None:
        """Return the motion to rest in the least time, None if it violates a position limit."""
        found = self._independent.stop(state)
        return self._motion(found) if self._within(*stop_extrema(found)) else None

    def to(self, state: JointState, target: Array) -> PiecewisePolynomial | None:
        """Return the fastest motion to a position of the group at rest, None if it violates a position limit."""
        rest = np.zeros(len(self.columns))
        try:
            found = self._planner.plan(state, (target, rest, rest))
        except InputError:
            return None
        return self._motion(found) if self._within(*extrema(found)) else None

    def _within(self, low: Array, high: Array) -> bool:
        return bool((low >= self.lower - TOLERANCE).all() and (high <= self.upper + TOLERANCE).all())

    def _motion(self, found: Any) -> PiecewisePolynomial:
        knots, axes = pieces(found)
        coefficients = np.zeros((*axes.shape[:-1], self.space.nv))
        coefficients[..., self.columns] = axes
        coefficients[0][:, self.columns] -= self.q0[self.q_index]
        base = np.tile(self.q0, (len(knots) - 1, 1))
        return PiecewisePolynomial(self.space, knots, base, coefficients)


def standing(space: Space, q: Array, duration: float) -> PiecewisePolynomial:
    """Return the motion that stays at q (nq,) for a time [s]."""
    return PiecewisePolynomial(space, np.array([0.0, duration]), np.array(q[None]), np.zeros((4, 1, space.nv)))
