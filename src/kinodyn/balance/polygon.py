"""Convex polygons on the ground: hulls, signed margins, half-planes, offsets."""

from __future__ import annotations

from math import hypot

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import nonnegative, numbers
from kinodyn.errors import InputError

TOLERANCE = 1e-9  # [m] within which corners coincide, and points are collinear
MANY = 16  # points, from which on those between others are left out first


def hull(points: ArrayLike) -> Array:
    """Compute the convex hull of points (A. M. Andrew, "Another efficient algorithm for convex hulls in two
    dimensions", 1979).

    Parameters
    ----------
    points
        (n, 2)

    Returns
    -------
    (m, 2)
        Corners, counter-clockwise, without collinear points.

    Examples
    --------
    >>> print(hull([[0, 0], [1, 0], [0.5, 0.2], [0, 1], [1, 1]]))
    [[0. 0.]
     [1. 0.]
     [1. 1.]
     [0. 1.]]
    """
    given = numbers("points", points, 2)
    if given.ndim != 2 or len(given) == 0:
        raise InputError(f"points must have shape (n, 2), got {given.shape}")
    ordered = sorted((x, y) for x, y in given.tolist())
    if len(ordered) == 1:
        return np.array(given)
    if len(ordered) > MANY:
        ordered = _outermost(ordered)
    # without a tolerance: the order of points whose x differ by rounding is that of x
    corners = _chain(ordered, 0.0)[:-1] + _chain(ordered[::-1], 0.0)[:-1]
    kept = _chain(corners, TOLERANCE)
    while len(kept) > 2 and not _turns_left(kept[-2], kept[-1], kept[0], TOLERANCE):
        kept.pop()
    while len(kept) > 2 and not _turns_left(kept[-1], kept[0], kept[1], TOLERANCE):
        kept.pop(0)
    return np.array(kept, dtype=float)


def _outermost(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Keep the lowest and the highest of the points with equal x: grids have many between them."""
    xs = [x for x, _ in ordered]
    between = [before == x == after for before, x, after in zip(xs, xs[1:], xs[2:], strict=False)]
    return [point for point, is_between in zip(ordered, [False, *between, False], strict=True) if not is_between]


def _chain(ordered: list[tuple[float, float]], tolerance: float) -> list[tuple[float, float]]:
    """Follow the corners on the right, from the first point to the last."""
    chain: list[tuple[float, float]] = []
    for point in ordered:
        while len(chain) > 1 and not _turns_left(chain[-2], chain[-1], point, tolerance):
            chain.pop()
        chain.append(point)
    return chain


def _turns_left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], tolerance: float) -> bool:
    """Return whether b is on the right of the line from a to c by more than a tolerance [m]."""
    x, y = c[0] - a[0], c[1] - a[1]
    return (b[0] - a[0]) * y - (b[1] - a[1]) * x > tolerance * hypot(x, y)


def simplified(polygon: Array, corners: int) -> Array:
    """Reduce a convex polygon (m, 2) to a number of its corners: the least area is cut off, one corner at a time.

    Parameters
    ----------
    polygon
        Corners (m, 2), counter-clockwise [m].
    corners
        Maximum number of corners that are left, at least 3.

    Returns
    -------
    (k, 2)
        A polygon inside the one given.
    """
    kept = np.asarray(polygon, dtype=float)
    while len(kept) > corners:
        before, after = np.roll(kept, 1, axis=0) - kept, np.roll(kept, -1, axis=0) - kept
        areas = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
        kept = np.delete(kept, int(areas.argmin()), axis=0)
    return kept


def half_planes(corners: ArrayLike) -> tuple[Array, Array]:
    """Write a convex polygon as half-planes.

    Parameters
    ----------
    corners
        (m, 2), counter-clockwise [m].

    Returns
    -------
    A : (m, 2)
        Unit normals of A p <= b.
    b : (m,)
        Offsets [m].
    """
    p = _polygon(corners)
    edge = np.roll(p, -1, axis=0) - p
    normal = np.column_stack([edge[:, 1], -edge[:, 0]])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return normal, np.einsum("ij,ij->i", normal, p)


def margin(polygon: ArrayLike, point: ArrayLike) -> Array:
    """Measure the signed distance of points from the edge of a convex hull.

    Parameters
    ----------
    polygon
        Points (..., n, 2) in any order, whose hull is taken [m].
    point
        (..., 2) [m]; batches broadcast, so that each state can have its own polygon.

    Returns
    -------
    (...)
        Distance to the nearest edge inside, minus the distance to the hull outside [m].

    Examples
    --------
    >>> print(margin([[0, 0], [1, 0], [1, 1], [0, 1]], [[0.5, 0.2], [0.5, 1.3], [2, 2]]).round(3))
    [ 0.2   -0.3   -1.414]
    """
    corners, p = numbers("polygon", polygon, 2), numbers("point", point, 2)
    if corners.ndim < 2 or corners.shape[-2] == 0:
        raise InputError(f"polygon must have shape (..., n, 2) with n >= 1, got {corners.shape}")
    try:
        batch = np.broadcast_shapes(corners.shape[:-2], p.shape[:-1])
    except ValueError as cause:
        raise InputError(f"polygons {corners.shape} and points {p.shape} are not compatible") from cause
    edge = corners[..., None, :, :] - corners[..., :, None, :]  # from corner i to corner j
    length = np.linalg.norm(edge, axis=-1)
    # an edge of the hull has every corner on its left
    away = corners[..., None, None, :, :] - corners[..., :, None, None, :]
    left = edge[..., None, 0] * away[..., 1] - edge[..., None, 1] * away[..., 0]
    border = (left >= -TOLERANCE * length[..., None]).all(axis=-1) & (length > TOLERANCE)
    offset = np.broadcast_to(p, (*batch, 2))[..., None, None, :] - corners[..., :, None, :]
    unit = edge / np.where(length > TOLERANCE, length, 1.0)[..., None]
    inside = unit[..., 0] * offset[..., 1] - unit[..., 1] * offset[..., 0]
    nearest = np.where(border, inside, np.inf).min(axis=(-2, -1))
    along = np.clip((unit * offset).sum(axis=-1), 0.0, length)
    gap = np.linalg.norm(offset - along[..., None] * unit, axis=-1)
    distance = np.where(border | np.eye(corners.shape[-2], dtype=bool), gap, np.inf).min(axis=(-2, -1))
    # a line has its edge in both directions, and no inside
    flat = (border & np.swapaxes(border, -1, -2)).any(axis=(-2, -1))
    result: Array = np.where((nearest >= 0) & np.isfinite(nearest) & ~flat, nearest, -distance)
    return result


def nearest(polygon: ArrayLike, point: ArrayLike) -> Array:
    """Find the nearest point of a convex polygon.

    Parameters
    ----------
    polygon
        (m, 2), counter-clockwise [m].
    point
        (..., 2) [m]

    Returns
    -------
    (..., 2)
        The point itself where it is inside.
    """
    corners, p = _polygon(polygon), numbers("point", point, 2)
    if p.ndim == 1:
        return np.array(_nearest_alone(corners.tolist(), *p.tolist()))
    edge = np.roll(corners, -1, axis=0) - corners
    offset = p[..., None, :] - corners
    inside = np.asarray((edge[:, 0] * offset[..., 1] - edge[:, 1] * offset[..., 0] >= 0).all(axis=-1))
    share = np.clip((offset * edge).sum(axis=-1) / (edge**2).sum(axis=-1), 0.0, 1.0)
    on_edges = corners + share[..., None] * edge
    best = np.linalg.norm(p[..., None, :] - on_edges, axis=-1).argmin(axis=-1)
    chosen = np.take_along_axis(on_edges, best[..., None, None], axis=-2)[..., 0, :]
    result: Array = np.where(inside[..., None], p, chosen)
    return result


def _nearest_alone(corners: list[list[float]], x: float, y: float) -> tuple[float, float]:
    """Do the same for one point in plain floats, for control loops."""
    inside, least, found = True, np.inf, (x, y)
    a, b = corners[-1]
    for c, d in corners:
        ex, ey, wx, wy = c - a, d - b, x - a, y - b
        if ex * wy - ey * wx < 0:
            inside = False
            share = min(max((wx * ex + wy * ey) / (ex * ex + ey * ey), 0.0), 1.0)
            px, py = a + share * ex, b + share * ey
            distance = (x - px) ** 2 + (y - py) ** 2
            if distance < least:
                least, found = distance, (px, py)
        a, b = c, d
    return (x, y) if inside else found


def shrink(polygon: ArrayLike, distance: float) -> Array:
    """Move every edge of a convex polygon inwards.

    Parameters
    ----------
    polygon
        (m, 2), counter-clockwise [m].
    distance
        0 or more [m].

    Returns
    -------
    (k, 2)
        Corners.
    """
    nonnegative("distance", distance)
    corners = _polygon(polygon)
    A, b = half_planes(corners)
    for normal, offset in zip(A, b - distance, strict=True):
        corners = cut(corners, normal, float(offset))
    if len(corners) < 3:
        raise InputError(f"moving the edges inwards by {distance:g} m leaves nothing of the polygon; give less")
    return hull(corners)


def intersection(polygon: ArrayLike, other: ArrayLike) -> Array:
    """Compute the part that two convex polygons share.

    Parameters
    ----------
    polygon, other
        (m, 2) and (n, 2), counter-clockwise [m].

    Returns
    -------
    (k, 2)
        Corners, counter-clockwise; (0, 2) if they share no area.

    Examples
    --------
    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> print(intersection(square, [[0.5, -1], [3, -1], [3, 2], [0.5, 2]]))
    [[0.5 0. ]
     [1.  0. ]
     [1.  1. ]
     [0.5 1. ]]
    """
    corners = _polygon(polygon)
    for normal, offset in zip(*half_planes(other), strict=True):
        if len(corners):
            corners = cut(corners, normal, float(offset))
    shared = hull(corners) if len(corners) > 2 else corners[:0]
    return shared if len(shared) > 2 else shared[:0]


def cut(corners: Array, normal: Array, offset: float) -> Array:
    """Clip a convex polygon to normal p <= offset (I. Sutherland, G. Hodgman 1974)."""
    kept: list[tuple[float, float]] = []
    (a, b), points = normal.tolist(), corners.tolist()
    for (x, y), (u, v) in zip(points, [*points[1:], *points[:1]], strict=True):
        here, there = a * x + b * y - offset, a * u + b * v - offset
        if here <= 0:
            kept.append((x, y))
        if (here < 0 < there) or (there < 0 < here):
            share = here / (here - there)
            kept.append((x + share * (u - x), y + share * (v - y)))
    return np.array(kept).reshape(-1, 2)


def largest_rectangle(corners: Array) -> Array:
    """Return the largest rectangle along the axes inside a convex polygon (m, 2): [[x0, y0], [x1, y1]] [m].

    Searches over pairs of columns, between which the height is bounded by the outline at both.
    """
    low, high = corners.min(axis=0), corners.max(axis=0)
    if len(corners) < 3 or (len(corners) == 4 and ((corners == low) | (corners == high)).all()):
        return np.array([low, high])
    x = np.unique(np.concatenate([corners[:, 0], np.linspace(corners[:, 0].min(), corners[:, 0].max(), 101)]))
    a, b = corners, np.roll(corners, -1, axis=0)
    upper = np.full(len(x), -np.inf)
    lower = np.full(len(x), np.inf)
    for p, other in zip(a, b, strict=True):
        (x0, y0), (x1, y1) = (p, other) if p[0] <= other[0] else (other, p)
        on = (x >= x0) & (x <= x1)
        y = y0 + (x - x0) / (x1 - x0) * (y1 - y0) if x1 > x0 else np.full(len(x), y0)
        upper[on], lower[on] = np.maximum(upper[on], y[on]), np.minimum(lower[on], y[on])
        upper[x == x1], lower[x == x1] = np.maximum(upper[x == x1], y1), np.minimum(lower[x == x1], y1)
    top = np.minimum(upper[:, None], upper)
    bottom = np.maximum(lower[:, None], lower)
    area = np.abs(x[:, None] - x) * np.maximum(top - bottom, 0.0)
    i, j = np.unravel_index(int(area.argmax()), area.shape)
    return np.array([[min(x[i], x[j]), bottom[i, j]], [max(x[i], x[j]), top[i, j]]])


def _polygon(corners: ArrayLike) -> Array:
    p = numbers("polygon", corners, 2)
    if p.ndim != 2 or len(p) < 3:
        raise InputError(f"polygon must have shape (m, 2) with three corners at least, got {p.shape}")
    area, (a, b) = 0.0, p[-1].tolist()
    for c, d in p.tolist():
        area += a * d - b * c
        a, b = c, d
    if area <= 0:
        raise InputError("the corners of polygon must be counter-clockwise and enclose an area; hull() orders them")
    return p
