"""Momentum of the whole robot about its centre of mass, along the world's axes, linear part first.

D. Orin, A. Goswami, S.-H. Lee, "Centroidal dynamics of a humanoid robot", 2013.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot


def momentum_matrix(robot: Robot, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the matrix A (..., 6, nv) with momentum = A v (the paper's eq. 8)."""
    return _core.momentum_matrix(robot, q, out)


def momentum(robot: Robot, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute linear momentum [kg m/s] and angular momentum about the centre of mass [kg m^2/s]: (..., 6)."""
    return _core.momentum(robot, q, v, out)


def momentum_rate(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the rate of change (..., 6) of the momentum: the sum of all external wrenches, weight included."""
    return _core.momentum_rate(robot, q, v, a, out)
