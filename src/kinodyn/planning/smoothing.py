"""Smooth curves along paths: cubic B-splines whose pieces are all collision-free."""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from kinodyn.arrays import Array
from kinodyn.collision.query import Pairs, Query
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.planning.exact_curves import ExactCurves
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import Space

RESOLUTION = 2e-4  # [m] of continuous checks
DEGREE = 3
MAX_EDGE_FRACTION = 0.45  # maximum reach of a corner, so that corners of one edge do not overlap
MIN_REACH = 1e-3  # [rad or m] a corner with a smaller reach is not rounded
# the same where the exact shapes decide, whose checks take a thousand times as long
MAX_EXACT_REACH, MIN_EXACT_REACH = 0.1, 0.02  # [rad or m]
MAX_ROUNDS = 64


class Polygon(NamedTuple):
    """Control points (m, nv), and the first and last edge of the path that each of them is on (m, 2)."""

    points: Array
    edges: NDArray[np.intp]
    corners: NDArray[np.intp]  # vertex of the path that a point belongs to, 0 for the ends


def smoothed(robot: Robot, path: Array, query: Query, allowed: Pairs, reach: float = np.inf) -> PiecewisePolynomial:
    """Return a collision-free curve along a path.

    A cubic B-spline has its control points on the path: each vertex, and a point before and one after it. A piece is
    in the convex hull of four consecutive control points. If these are on one edge of the path, the piece is part of
    that edge and free, as the path is. All other pieces are polynomials that are checked continuously; where one is not
    free, the points around its corners move nearer to them. Around vertices whose spheres touch something, the original
    shapes decide. In the limit they coincide, three at each corner, and the
    curve is the path itself.

    Parameters
    ----------
    robot
    path : (n, nq)
        Vertices of a path that is free.
    query
        Collision query of the joints that move.
    allowed
        Pairs that may touch, as the query has them.
    reach
        Maximum distance of the control points next to a vertex from it [rad or m].

    Returns
    -------
    curve : PiecewisePolynomial
        Over its parameter, which is about the length along the path [rad or m].
    """
    # floating and ball joints do not move: the others have vector coordinates
    x = robot.difference(path[0], path)
    distinct = np.concatenate([[True], (np.diff(x, axis=0) != 0.0).any(axis=1)])
    x = x[distinct]
    if len(x) < 2:
        raise InputError("the path has no length; there is no curve along it")
    lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
    checks = ExactCurves(query, allowed, RESOLUTION)
    touches = checks.touching(path[distinct])
    reaches = np.minimum(reach, MAX_EDGE_FRACTION * np.minimum(lengths[:-1], lengths[1:]))
    reaches = np.where(touches[1:-1], np.minimum(reaches, MAX_EXACT_REACH), reaches)
    smallest = np.where(touches[1:-1], MIN_EXACT_REACH, MIN_REACH)
    for _ in range(MAX_ROUNDS):
        polygon = _polygon(x, lengths, reaches)
        curve = _curve(robot, path[0], polygon.points)
        curved = np.flatnonzero([not _on_one_edge(polygon.edges[k : k + 4]) for k in range(len(polygon.points) - 3)])
        if not len(curved):
            return curve
        exactly = touches[polygon.corners[curved[:, None] + np.arange(4)]].any(axis=1)
        blocked = curved[~checks.pieces_free(curve, curved, exactly)]
        if not len(blocked):
            return curve
        corners = np.unique(polygon.corners[blocked[:, None] + np.arange(4)])
        corners = corners[corners > 0] - 1
        reaches[corners] = np.where(reaches[corners] > smallest[corners], 0.5 * reaches[corners], 0.0)
    raise AssertionError("the reach of a corner is halved until it is zero")


def _polygon(x: Array, lengths: Array, reaches: Array) -> Polygon:
    """Return the control points for a path (n, nv) and the reach (n - 2,) of its corners."""
    last = len(x) - 2  # edge
    points, edges, corners = [x[0], x[0] + (x[1] - x[0]) * _first(lengths, reaches, 0)], [(0, 0), (0, 0)], [0, 0]
    for i in range(1, len(x) - 1):
        before, after = (x[i] - x[i - 1]) / lengths[i - 1], (x[i + 1] - x[i]) / lengths[i]
        r = reaches[i - 1]
        points += [x[i] - r * before, x[i], x[i] + r * after]
        edges += [(i - 1, i - 1 if r > 0.0 else i), (i - 1, i), (i if r > 0.0 else i - 1, i)]
        corners += [i, i, i]
    points += [x[-1] - (x[-1] - x[-2]) * _first(lengths, reaches, -1), x[-1]]
    return Polygon(np.array(points), np.array([*edges, (last, last), (last, last)]), np.array([*corners, 0, 0]))


def _first(lengths: Array, reaches: Array, end: int) -> float:
    """Return where on the first or last edge its second control point is, as a fraction."""
    room = lengths[end] - (reaches[end] if len(reaches) else 0.0)
    return float(room / lengths[end]) / 3.0


def _on_one_edge(edges: NDArray[np.intp]) -> bool:
    return bool(edges[:, 0].max() <= edges[:, 1].min())


def _curve(robot: Robot, base: Array, points: Array) -> PiecewisePolynomial:
    """Return the clamped cubic B-spline of control points (m, nv), its knots averages of lengths along them."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    inner = (along[1:-3] + along[2:-2] + along[3:-1]) / DEGREE
    knots = np.concatenate([np.zeros(DEGREE + 1), inner, np.full(DEGREE + 1, along[-1])])
    spline, times = BSpline(knots, points, DEGREE), knots[DEGREE : len(knots) - DEGREE].copy()
    coefficients = np.stack([spline(times[:-1], order) / factorial(order) for order in range(DEGREE + 1)])
    return PiecewisePolynomial(Space(robot), times, np.tile(base, (len(times) - 1, 1)), coefficients)
