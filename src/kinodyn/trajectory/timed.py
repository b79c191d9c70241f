"""A path and a time law: where the path is at its own time s, and s as a function of time."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.trajectory.base import JointTrajectory
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import Space


class TimedPath(JointTrajectory):
    """A path walked at another pace: at time t where `path` is at time s = law(t).

    By the chain rule v = v_path(s) ds/dt and a = a_path(s) (ds/dt)^2 + v_path(s) d2s/dt2, on manifolds too.
    `law` is a trajectory of one number that never goes backwards, from 0 to the path's duration.
    """

    def __init__(self, path: JointTrajectory, law: JointTrajectory) -> None:
        if law.space.nq != 1 or law.robot is not None:
            raise InputError("law must be a trajectory of a plain vector of one number")
        s = law(np.linspace(0.0, law.duration, 200))[:, 0]
        slack = 1e-9 * max(1.0, path.duration)
        if s.min() < -slack or s.max() > path.duration + slack:
            raise InputError(f"law goes from {s.min():.6g} to {s.max():.6g}; the path from 0 to {path.duration:.6g}")
        if (np.diff(s) < -slack).any():
            raise InputError("law goes backwards; give one that never does")
        super().__init__(path.space, law.duration)
        self.path, self.law = path, law
        self._times: Array | None = None

    @property
    def knots(self) -> Array:
        """List the times at which the law has a knot or passes one of the path [s]."""
        if self._times is None:
            inner = self.path.knots[1:-1]
            self._times = np.union1d(self.law.knots, self.when(inner))
        return self._times

    def when(self, s: Array) -> Array:
        """Find the times (n,) at which the law reaches s (n,), by bisection [s]."""
        low, high = np.zeros(len(s)), np.full(len(s), self.law.duration)
        for _ in range(60 if len(s) else 0):
            middle = 0.5 * (low + high)
            before = self.law(middle)[:, 0] < s
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return high

    def _evaluate(self, t: Array, order: int) -> Array:
        if order == 3:
            raise InputError("order 3 is given only by polynomials in pieces")
        s = np.clip(self.law(t)[..., 0], 0.0, self.path.duration)
        if order == 0:
            return self.path(s)
        rate = self.law(t, 1)
        if order == 1:
            return np.asarray(self.path(s, 1) * rate)
        return np.asarray(self.path(s, 2) * rate**2 + self.path(s, 1) * self.law(t, 2))


def linear_law(duration: float, end: float) -> PiecewisePolynomial:
    """Make the law that goes from 0 to `end` at constant pace."""
    rate = end / duration if duration else 0.0
    return PiecewisePolynomial(
        Space(None, 1), np.array([0.0, duration]), np.zeros((1, 1)), np.array([[[0.0]], [[rate]]])
    )


def stretched_path(path: JointTrajectory, factor: float) -> TimedPath:
    """Walk a path `factor` times as slowly."""
    return TimedPath(path, linear_law(factor * path.duration, path.duration))
