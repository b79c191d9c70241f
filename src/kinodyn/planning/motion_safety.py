"""Safety of motions among moving obstacles: free until the robot is at rest, or until the prediction horizon."""

from __future__ import annotations

import numpy as np

from kinodyn.collision.query import Query
from kinodyn.planning.curves import pieces_free
from kinodyn.planning.joint_motions import standing
from kinodyn.trajectory.piecewise import PiecewisePolynomial, joined

RESOLUTION = 2e-3  # [m] of the checks
TIME_TOLERANCE = 1e-9  # [s] tolerance of times; a shorter motion is at rest


class MotionSafety:
    """Continuous checks of motions among obstacles whose motion is predicted.

    Parameters
    ----------
    query
        Collision query with the joints that move; replaced when the world changes.
    period
        Control period [s], at the end of which motions begin.
    horizon
        Prediction horizon [s].
    """

    def __init__(self, query: Query, period: float, horizon: float) -> None:
        self.query, self.period, self.horizon = query, period, horizon

    def level(self, motion: PiecewisePolynomial, spheres: np.ndarray) -> int:
        """Return how safe a motion is among moving spheres, records of the layout "moving_sphere".

        2: free until the horizon, at rest too; 1: free until it is at rest; 0: not free.
        """
        rest = standing(motion.space, motion(motion.duration), max(self.horizon - motion.duration, self.period))
        free = self._pieces_free(joined([motion, rest]), spheres, self.period)
        return 2 if free.all() else 1 if motion.duration <= TIME_TOLERANCE or free[:-1].all() else 0

    def threats(self, motion: PiecewisePolynomial, spheres: np.ndarray) -> tuple[int, ...]:
        """Return the indices of the spheres that touch the robot before the horizon."""
        return tuple(i for i in range(len(spheres)) if self.level(motion, spheres[i : i + 1]) < 2)

    def is_free(self, motion: PiecewisePolynomial, spheres: np.ndarray, start: float) -> bool:
        """Return whether a motion that begins `start` from now [s] is free throughout."""
        return bool(self._pieces_free(motion, spheres, start).all())

    def _pieces_free(self, motion: PiecewisePolynomial, spheres: np.ndarray, start: float) -> np.ndarray:
        return pieces_free(self.query, motion, resolution=RESOLUTION, spheres=spheres, start=start)
