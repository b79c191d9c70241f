"""Collision checks of trajectories: continuous, also among obstacles that move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.query import Query
from kinodyn.errors import InputError
from kinodyn.layouts import layout
from kinodyn.trajectory.piecewise import PiecewisePolynomial

COEFFICIENTS = 6  # of a polynomial, as the core takes them
NO_SPHERES = np.zeros(0, dtype=layout("moving_sphere"))


def pieces_free(
    query: Query,
    motion: PiecewisePolynomial,
    pieces: NDArray[np.intp] | None = None,
    *,
    resolution: float,
    spheres: np.ndarray = NO_SPHERES,
    start: float = 0.0,
) -> NDArray[np.bool_]:
    """Tell which pieces of a trajectory are free of collision throughout.

    Parameters
    ----------
    query
        With the joints that move.
    motion
        Of polynomials up to degree 5.
    pieces : (n,) int, optional
        Which ones; all by default.
    resolution
        Of the continuous checks [m].
    spheres
        Moving obstacles, records of the layout "moving_sphere".
    start
        Time of the obstacles at which the motion starts [s].
    """
    chosen = slice(None) if pieces is None else pieces
    rows = motion.coefficients[:, chosen].transpose(1, 0, 2)
    if rows.shape[1] > COEFFICIENTS:
        raise InputError(f"the trajectory has polynomials of degree {rows.shape[1] - 1}; at most 5 are checked")
    if not motion.space.is_vector and (rows[..., motion.space.on_manifold] != 0.0).any():
        return _geodesics_free(query, motion, np.arange(len(motion.base))[chosen], resolution, len(spheres))
    padded = np.zeros((len(rows), COEFFICIENTS, rows.shape[2]))
    padded[:, : rows.shape[1]] = rows
    durations, starts = np.diff(motion.knots)[chosen], start + motion.knots[:-1][chosen]
    free = _core.curve_free(
        query.robot, query.core, spheres, motion.base[chosen], padded, durations, starts, resolution
    )
    return np.asarray(free != 0)


def _geodesics_free(
    query: Query, motion: PiecewisePolynomial, pieces: NDArray[np.intp], resolution: float, n_spheres: int
) -> NDArray[np.bool_]:
    """Check pieces in which ball or floating joints move: along one direction, as on straight segments."""
    if n_spheres:
        raise InputError("among moving obstacles ball and floating joints must not move")
    x = motion.coefficients[:, pieces]
    largest = x[np.abs(x).sum(axis=2).argmax(axis=0), np.arange(len(pieces))]
    unit = largest / np.maximum(np.linalg.norm(largest, axis=-1, keepdims=True), 1e-300)
    aside = x - (x * unit).sum(axis=-1, keepdims=True) * unit
    if np.abs(aside).max(initial=0.0) > 1e-9:
        raise InputError("where ball or floating joints move, only straight motions are checked")
    return query.motion_free(motion(motion.knots[pieces]), _ends(motion, pieces), resolution)


def _ends(motion: PiecewisePolynomial, pieces: NDArray[np.intp]) -> Array:
    """Return the configurations at the ends of pieces."""
    powers = np.diff(motion.knots)[pieces] ** np.arange(len(motion.coefficients))[:, None]
    return motion.space.integrate(motion.base[pieces], (powers[..., None] * motion.coefficients[:, pieces]).sum(axis=0))
