"""Centroidal momentum: the momentum of the whole robot about its centre of mass (CoM), in world axes, linear first.

D. Orin, A. Goswami, S.-H. Lee, "Centroidal dynamics of a humanoid robot", 2013.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

__all__ = ["momentum", "momentum_matrix", "momentum_rate"]


def __dir__() -> list[str]:
    return list(__all__)


def momentum_matrix(robot: Robot, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the centroidal momentum matrix.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    out : array, optional

    Returns
    -------
    A : (..., 6, nv) array
        The momentum is `A @ v`.

    Notes
    -----
    Orin et al. 2013, eq. 8.
    """
    return _core.momentum_matrix(robot, q, out)


def momentum(robot: Robot, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the centroidal momentum.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    out : array, optional

    Returns
    -------
    h : (..., 6) array
        Linear [kg m/s], then angular about the CoM [kg m^2/s].
    """
    return _core.momentum(robot, q, v, out)


def momentum_rate(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the rate of change of the centroidal momentum: the sum of all external wrenches, weight included.

    Parameters
    ----------
    robot : Robot
    q, v, a : (..., nq), (..., nv), (..., nv)
    out : array, optional

    Returns
    -------
    h_dot : (..., 6) array
        Force [N], then moment about the CoM [N m].
    """
    return _core.momentum_rate(robot, q, v, a, out)
