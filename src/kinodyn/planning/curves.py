"""Collision checks of trajectories: continuous, also among obstacles that move."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.query import Query
from kinodyn.errors import InputError
from kinodyn.layouts import constant, layout
from kinodyn.trajectory.piecewise import PiecewisePolynomial

COEFFICIENTS = int(constant("curve_coefficients"))
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
    """Return which pieces of a trajectory are collision-free throughout.

    Parameters
    ----------
    query
        Collision query with the joints that move.
    motion
        Trajectory of polynomials up to degree 5.
    pieces : (n,) int, optional
        Which ones; all by default.
    resolution
        Resolution of the continuous checks [m].
    spheres
        Moving obstacles, records of the layout "moving_sphere".
    start
        Time, on the clock of the obstacles, at which the motion starts [s].
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
    if distance_from_line(x).max(initial=0.0) > 1e-9:
        raise InputError("where ball or floating joints move, only straight motions are checked")
    begin, end = piece_ends(motion)
    return query.motion_free(begin[pieces], end[pieces], resolution)


def distance_from_line(x: Array) -> Array:
    """Return how far coefficients (k, n, nv) are from the direction of the largest of the k, for each piece (n,)."""
    largest = x[np.abs(x).sum(axis=2).argmax(axis=0), np.arange(x.shape[1])]
    unit = largest / np.maximum(np.linalg.norm(largest, axis=-1, keepdims=True), 1e-300)
    across = x - (x * unit).sum(axis=-1, keepdims=True) * unit
    return np.asarray(np.abs(across).max(axis=(0, 2), initial=0.0))


def piece_ends(motion: PiecewisePolynomial) -> Array:
    """Return the configurations (2, n, nq) at the start and at the end of each piece."""
    powers = np.diff(motion.knots) ** np.arange(len(motion.coefficients))[:, None]
    last = (powers[..., None] * motion.coefficients).sum(axis=0)
    return np.stack([motion.space.integrate(motion.base, x) for x in (motion.coefficients[0], last)])


def remaining(motion: PiecewisePolynomial, t: float) -> PiecewisePolynomial:
    """Return the part of the motion from time t on, shifted to start at time 0."""
    t = min(max(t, 0.0), motion.duration)
    first = int(np.searchsorted(motion.knots[1:-1], t, side="right"))
    coefficients = motion.coefficients[:, first:]
    shift, degree = t - motion.knots[first], len(coefficients) - 1
    for k in range(degree + 1):  # Taylor expansion about the new start
        powers = np.array([comb(m, k) * shift ** (m - k) for m in range(k, degree + 1)])
        coefficients[k, 0] = powers @ motion.coefficients[k:, first]
    knots = np.concatenate([[0.0], motion.knots[first + 1 :] - t])
    return PiecewisePolynomial(motion.space, knots, motion.base[first:], coefficients)


def until(motion: PiecewisePolynomial, t: float) -> PiecewisePolynomial:
    """Return the motion up to time t."""
    last = int(np.searchsorted(motion.knots[1:-1], t, side="left")) + 1
    knots = np.append(motion.knots[:last], min(max(t, 0.0), motion.duration))
    return PiecewisePolynomial(motion.space, knots, motion.base[:last], motion.coefficients[:, :last])
