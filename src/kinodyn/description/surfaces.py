"""Smooth closed surfaces made of rings of points: solids of revolution, lofts, plates with round ends.

All rings have the same number of points and run counter-clockwise seen from the end of the surface, so that the
triangles face outwards. The same arguments always give the same triangles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.meshes import Faces, TriangleMesh

SIDES = 32  # points of a ring
FILLET_POINTS = 5  # points of a rounded edge in the profile


def loft(rings: Array) -> TriangleMesh:
    """Connect rings of points to a closed surface; the first and the last ring are closed by flat fans.

    Parameters
    ----------
    rings
        (n, m, 3) points [m].

    Returns
    -------
    TriangleMesh
    """
    n, m = rings.shape[:2]
    vertices = np.concatenate([rings.reshape(-1, 3), rings[0].mean(axis=0)[None], rings[-1].mean(axis=0)[None]])
    return TriangleMesh(vertices, _loft_faces(n, m).copy())


@lru_cache(maxsize=64)
def _loft_faces(n: int, m: int) -> Faces:
    here = np.arange(m)
    after = np.roll(here, -1)
    start = m * np.arange(n - 1)[:, None]
    a, b, c, d = start + here, start + after, start + m + here, start + m + after
    sides = np.concatenate([np.stack([a, b, d], axis=-1), np.stack([a, d, c], axis=-1)], axis=1).reshape(-1, 3)
    bottom = np.stack([after, here, np.full(m, n * m)], axis=-1)
    top = m * (n - 1) + np.stack([here, after, np.full(m, m + 1)], axis=-1)
    return np.asarray(np.concatenate([sides, bottom, top]), dtype=np.int64)


def revolved(profile: Sequence[tuple[float, float]] | Array, sides: int = SIDES) -> TriangleMesh:
    """Revolve a profile about the z axis.

    Parameters
    ----------
    profile
        (n, 2) heights and radii [m], from the bottom upwards.
    sides
        Points of a ring.

    Returns
    -------
    TriangleMesh
    """
    z, r = np.array(profile, dtype=float).T
    return loft(superellipses(z, r, r, sides=sides))


def superellipses(
    z: Array,
    half_x: Array,
    half_y: Array,
    centre_x: Array | float = 0.0,
    centre_y: Array | float = 0.0,
    *,
    exponent: Array | float = 2.0,
    sides: int = SIDES,
) -> Array:
    """Return rings (n, sides, 3) at the heights `z` (n,): |x / half_x|^e + |y / half_y|^e = 1, an ellipse for e = 2.

    Parameters
    ----------
    z, half_x, half_y
        (n,) heights and half widths [m].
    centre_x, centre_y
        (n,) or one number [m].
    exponent
        (n,) or one number; above 2 the ring approaches a rectangle.
    sides
        Points of a ring, a multiple of 4 for a symmetric one.
    """
    cos, sin = _circle(sides)
    power = np.reshape(2.0 / np.asarray(exponent, dtype=float), (-1, 1))
    rings = np.empty((len(z), sides, 3))
    for k, (half, part, centre) in enumerate(((half_x, cos, centre_x), (half_y, sin, centre_y))):
        rings[..., k] = half[:, None] * (np.sign(part) * np.abs(part) ** power) + np.reshape(centre, (-1, 1))
    rings[..., 2] = z[:, None]
    return rings


@lru_cache(maxsize=8)
def _circle(sides: int) -> tuple[Array, Array]:
    """Return cosine and sine of evenly spaced angles, exactly 0 and 1 on the axes."""
    angle = 2.0 * math.pi / sides * np.arange(sides)
    return np.round(np.cos(angle), 15) + 0.0, np.round(np.sin(angle), 15) + 0.0


def smooth(stations: Array, count: int) -> Array:
    """Interpolate rows by a curve without overshoot (monotone cubic; Fritsch and Carlson, 1980).

    Parameters
    ----------
    stations
        (n, k) rows; the first column increases.
    count
        Rows of the result.

    Returns
    -------
    (count, k) array
        Evenly spaced in the first column.
    """
    t, y = stations[:, 0], stations[:, 1:]
    h = np.diff(t)
    slope = np.diff(y, axis=0) / h[:, None]
    d = np.empty_like(y)
    d[0], d[-1] = slope[0], slope[-1]
    # the weighted harmonic mean of the slopes on both sides; zero where they differ in sign
    w1, w2 = (2.0 * h[1:] + h[:-1])[:, None], (h[1:] + 2.0 * h[:-1])[:, None]
    left, right = slope[:-1], slope[1:]
    same = left * right > 0.0
    weighted = w1 * np.where(same, right, 1.0) + w2 * np.where(same, left, 1.0)
    d[1:-1] = np.where(same, (w1 + w2) * left * right / np.where(same, weighted, 1.0), 0.0)
    at = np.linspace(t[0], t[-1], count)
    k = np.clip(np.searchsorted(t, at, "right") - 1, 0, len(h) - 1)
    s, step = ((at - t[k]) / h[k])[:, None], h[k][:, None]
    basis = (2 * s**3 - 3 * s**2 + 1, s**3 - 2 * s**2 + s, 3 * s**2 - 2 * s**3, s**3 - s**2)
    values = basis[0] * y[k] + basis[1] * step * d[k] + basis[2] * y[k + 1] + basis[3] * step * d[k + 1]
    return np.column_stack([at, values])


def rounded_profile(radius: float, bottom: float, top: float, edge: float, end: float | None = None) -> Array:
    """Return the profile (n, 2) of a cylinder or, with another radius `end` at the top, a cone, with rounded edges.

    Parameters
    ----------
    radius, bottom, top
        [m]
    edge
        Radius of the rounded edges [m].
    end
        Radius at the top [m].
    """
    turn = np.linspace(0.0, 0.5 * math.pi, FILLET_POINTS)
    upper = radius if end is None else end
    below = np.column_stack([bottom + edge * (1.0 - np.sin(turn)), radius - edge * (1.0 - np.cos(turn))])[::-1]
    above = np.column_stack([top - edge * (1.0 - np.sin(turn)), upper - edge * (1.0 - np.cos(turn))])
    return np.concatenate([below, above])


def rounded_cylinder(
    radius: float, bottom: float, top: float, edge: float = 0.008, end: float | None = None, sides: int = SIDES
) -> TriangleMesh:
    """Return a cylinder about z with rounded edges, or a cone with the radius `end` at its top."""
    return revolved(rounded_profile(radius, bottom, top, edge, end), sides)


def rounded_loft(rings: Array, edge: float) -> TriangleMesh:
    """Return a loft whose first and last ring are rounded towards their centres.

    Parameters
    ----------
    rings
        (n, m, 3) points [m]; the first and the last two have other heights.
    edge
        Radius of the rounded edges [m]; the ends stay where they are.
    """
    return loft(np.concatenate([_edge(rings[0], rings[1], edge)[::-1], rings[1:-1], _edge(rings[-1], rings[-2], edge)]))


def _edge(end: Array, inner: Array, edge: float) -> Array:
    """Return rings of a rounded edge, from the inner side to the end."""
    centre = end.mean(axis=0)
    arms = end - centre
    inward = inner.mean(axis=0) - centre
    inward /= np.linalg.norm(inward)
    shrink = edge / np.linalg.norm(arms, axis=1, keepdims=True)
    turn = np.linspace(0.0, 0.5 * math.pi, FILLET_POINTS)
    return np.array(
        [centre + arms * (1.0 - shrink * (1.0 - np.cos(a))) + edge * (1.0 - np.sin(a)) * inward for a in turn]
    )


def plate(
    length: float, radius: float, end: float, bottom: float, top: float, edge: float = 0.008, sides: int = 2 * SIDES
) -> TriangleMesh:
    """Return a plate with round ends: circles of two radii at x = 0 and x = `length` and their tangents, from z to z.

    Parameters
    ----------
    length
        Distance of the circles [m].
    radius, end
        Radii at x = 0 and at x = `length` [m].
    bottom, top
        Heights [m].
    edge
        Radius of the rounded edges [m].
    sides
        Points of a ring.
    """
    tangent = math.acos((radius - end) / length)  # angle of the points of tangency
    half = sides // 2
    far = np.linspace(-tangent, tangent, half)
    near = np.linspace(tangent, 2.0 * math.pi - tangent, sides - half)
    ring = np.zeros((sides, 3))
    ring[:half, 0], ring[:half, 1] = length + end * np.cos(far), end * np.sin(far)
    ring[half:, 0], ring[half:, 1] = radius * np.cos(near), radius * np.sin(near)
    turn = np.linspace(0.0, 0.5 * math.pi, FILLET_POINTS)
    normal = np.zeros((sides, 2))
    normal[:half] = np.column_stack([np.cos(far), np.sin(far)])
    normal[half:] = np.column_stack([np.cos(near), np.sin(near)])

    def shrunk(angle: float, z: float) -> Array:
        moved: Array = ring.copy()
        moved[:, :2] -= edge * (1.0 - math.cos(angle)) * normal
        moved[:, 2] = z
        return moved

    below = [shrunk(a, bottom + edge * (1.0 - math.sin(a))) for a in turn[::-1]]
    above = [shrunk(a, top - edge * (1.0 - math.sin(a))) for a in turn]
    return loft(np.array(below + above))


def sphere(radius: float, rings: int = 16, sides: int = SIDES) -> TriangleMesh:
    """Return a sphere at the origin [m]."""
    angle = np.linspace(-0.5 * math.pi, 0.5 * math.pi, rings + 2)[1:-1]
    return revolved(np.column_stack([radius * np.sin(angle), radius * np.cos(angle)]), sides)


def joined(meshes: Sequence[TriangleMesh]) -> TriangleMesh:
    """Return several meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return TriangleMesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)]),
    )
