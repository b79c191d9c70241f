"""Coulomb friction: the forces and wrenches that a contact can exert, their margins, and projection onto them.

Cones are given as rows C with C f <= 0 inside, as limits are throughout the package (G x <= h). The force part of each
row has length 1: -C f is how far [N] a force is inside each face.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from kinodyn import qp
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import broadcast, integer, not_overflowed, numbers, one_of, shape_of
from kinodyn.errors import InputError
from kinodyn.spatial import as_pose

__all__ = ["axes", "edges", "margin", "patch_cone", "project", "project_rows", "pyramid", "span", "wrench_cone"]

UP = (0.0, 0.0, 1.0)
MAX_SIDES = 1000


def __dir__() -> list[str]:
    return list(__all__)


def axes(normal: ArrayLike = UP) -> Array:
    """Compute contact axes for a normal, by the smallest rotation of the world axes.

    Parameters
    ----------
    normal : (..., 3)
        Normal of any length.

    Returns
    -------
    (..., 3, 3)
        Two tangents and the normal as columns; for a normal along z the identity.
    """
    n = _unit(normal)
    x, y, z = n[..., 0], n[..., 1], n[..., 2]
    flat = x * x + y * y
    k = np.where(z > 0, 1.0 / (1.0 + np.abs(z)), (1.0 - z) / np.where(flat > 0, flat, 1.0))  # 1 / (1 + z), exact
    down = (flat == 0) & (z < 0)  # straight down the smallest rotation is not unique: about x
    first = np.stack([1.0 - k * x * x, -k * x * y, -x], axis=-1)
    second = np.stack([-k * x * y, np.where(down, -1.0, 1.0 - k * y * y), -y], axis=-1)
    return np.stack([first, second, n], axis=-1)


def margin(force: ArrayLike, friction: ArrayLike, normal: ArrayLike = UP) -> Array:
    """Compute the distance of forces to the surface of the friction cone ``|f_t| <= friction * f_n``.

    Parameters
    ----------
    force : (..., 3)
        Forces on the robot, in the axes of `normal`.
    friction : (...)
        Coefficient of friction, above 0.
    normal : (..., 3)
        Direction of the ground's normal force.

    Returns
    -------
    (...)
        [N], negative outside the cone.

    Examples
    --------
    >>> from kinodyn.dynamics.contact import friction
    >>> friction.margin([[0.0, 0.0, 100.0], [30.0, 40.0, 100.0], [0.0, 0.0, -5.0]], 0.5).round(6)
    array([44.72136,  0.     , -5.     ])
    """
    f, mu, n = _broadcast(force, friction, normal)
    along, across = _split(f, n)
    side = np.linalg.norm(across, axis=-1)
    slanted = (mu * along - side) / np.sqrt(1.0 + mu * mu)
    inside: Array = np.where(mu * side <= -along, -np.linalg.norm(f, axis=-1), slanted)
    return inside


def project(force: ArrayLike, friction: ArrayLike, normal: ArrayLike = UP) -> Array:
    """Compute the nearest forces within the friction cone.

    Parameters
    ----------
    force, friction, normal
        As for `margin`.

    Returns
    -------
    (..., 3)

    Notes
    -----
    S. Boyd, L. Vandenberghe, "Convex Optimization", 2004, exercise 8.3(c), for a cone of any slope.
    """
    f, mu, n = _broadcast(force, friction, normal)
    along, across = _split(f, n)
    side = np.linalg.norm(across, axis=-1)
    height = (along + mu * side) / (1.0 + mu * mu)
    direction = across / np.where(side > 0, side, 1.0)[..., None]
    on_surface = height[..., None] * (n + mu[..., None] * direction)
    below = np.where((mu * side <= -along)[..., None], 0.0, on_surface)
    return np.where((side <= mu * along)[..., None], f, below)


@check_types
def pyramid(friction: ArrayLike, normal: ArrayLike = UP, *, sides: int = 4, kind: str = "inner") -> Array:
    """Compute the rows of a pyramid that approximates the friction cone: C f <= 0 inside.

    Parameters
    ----------
    friction : (...)
        Coefficient of friction, above 0.
    normal : (..., 3)
        Direction of the ground's normal force.
    sides : int
        Number of faces; the first one is along the first tangent of `axes`.
    kind : "inner" or "outer"
        "inner": the edges are on the cone, all forces inside are possible. "outer": the faces touch the cone, all
        forces outside are impossible.

    Returns
    -------
    (..., sides, 3)
        Rows C of length 1.
    """
    mu, n = _friction(friction), _unit(normal)
    mu, n = broadcast((mu, 0), (n, 1))
    angles = 2.0 * np.pi * np.arange(_sides(sides)) / sides
    slope = (mu * (np.cos(np.pi / sides) if _inner(kind) else 1.0))[..., None]
    local = np.stack(np.broadcast_arrays(np.cos(angles), np.sin(angles), -slope), axis=-1)
    return _unit_rows(local @ np.swapaxes(axes(n), -1, -2))


@check_types
def edges(friction: ArrayLike, normal: ArrayLike = UP, *, sides: int = 4, kind: str = "inner") -> Array:
    """Compute the edges of `pyramid`: every force inside is a sum of non-negative multiples of them.

    Parameters
    ----------
    friction, normal, sides, kind
        As for `pyramid`.

    Returns
    -------
    (..., 3, sides)
        Vectors of length 1 as columns.
    """
    mu, n = broadcast((_friction(friction), 0), (_unit(normal), 1))
    angles = 2.0 * np.pi * (np.arange(_sides(sides)) + 0.5) / sides
    slope = (mu * (1.0 if _inner(kind) else 1.0 / np.cos(np.pi / sides)))[..., None]
    local = np.stack(np.broadcast_arrays(slope * np.cos(angles), slope * np.sin(angles), 1.0), axis=-2)
    spread: Array = axes(n) @ (local / np.linalg.norm(local, axis=-2, keepdims=True))
    return spread


@check_types
def wrench_cone(
    friction: ArrayLike, half_x: ArrayLike, half_y: ArrayLike, *, T: MatrixLike | None = None, kind: str = "inner"
) -> Array:
    """Compute the rows of the contact wrench cone of a rectangular sole: C w <= 0 inside.

    Exactly the wrenches of four corner forces, each within a pyramid of four sides. In order: four rows against
    sliding, four against tipping over an edge, eight against turning about the normal.

    Parameters
    ----------
    friction : (...)
        Coefficient of friction, above 0.
    half_x, half_y : (...)
        Half lengths of the sole along x and y [m].
    T : (..., 4, 4), optional
        Pose of the middle of the sole, z along the normal, in the frame in whose axes and about whose origin wrenches w
        (force, moment) are given; by default the frame of the sole.
    kind : "inner" or "outer"
        As for `pyramid`.

    Returns
    -------
    (..., 16, 6)

    Notes
    -----
    S. Caron, Q.-C. Pham, Y. Nakamura, "Stability of surface contacts for humanoid robots: closed-form formulae of the
    contact wrench cone for rectangular support areas", 2015; "inner" pyramids lower friction to friction / sqrt(2) in
    each of the two directions.
    """
    mu, X, Y = broadcast((_friction(friction), 0), (_length("half_x", half_x), 0), (_length("half_y", half_y), 0))
    mu = mu * (np.sqrt(0.5) if _inner(kind) else 1.0)
    one, zero = np.ones(mu.shape), np.zeros(mu.shape)
    rows: list[list[Array]] = []
    for s in (-1.0, 1.0):  # sliding: |fx| <= mu fz, |fy| <= mu fz
        rows += [[s * one, zero, -mu, zero, zero, zero], [zero, s * one, -mu, zero, zero, zero]]
    for s in (-1.0, 1.0):  # tipping: |mx| <= Y fz, |my| <= X fz
        rows += [[zero, zero, -Y, s * one, zero, zero], [zero, zero, -X, zero, s * one, zero]]
    for a in (-1.0, 1.0):
        for b in (-1.0, 1.0):  # turning: |Y fx + mu mx| + |X fy + mu my| + mz <= mu (X + Y) fz, and its mirror image
            rows.append([a * Y, b * X, -mu * (X + Y), a * mu, b * mu, one])
            rows.append([a * Y, b * X, -mu * (X + Y), -a * mu, -b * mu, -one])
    C = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    return _unit_rows(C if T is None else _moved(C, as_pose(T, "T")))


@check_types
def span(
    friction: ArrayLike, corners: ArrayLike, normal: ArrayLike = UP, *, sides: int = 4, kind: str = "inner"
) -> Array:
    """Compute the generators of the wrenches that forces at any corners can exert: their non-negative combinations.

    Parameters
    ----------
    friction : (...)
        Coefficient of friction, above 0.
    corners : (..., n, 3)
        Positions [m].
    normal, sides, kind
        As for `pyramid`.

    Returns
    -------
    (..., 6, n sides)
        Wrenches about the origin, of forces of 1 N along the edges of the pyramid of each corner.
    """
    p = _corners(corners)
    E = edges(friction, normal, sides=sides, kind=kind)
    p, E = broadcast((p, 2), (E, 2))
    force = np.broadcast_to(E[..., None, :, :], (*p.shape[:-1], 3, sides))
    moment = np.cross(p[..., None], force, axisa=-2, axisb=-2, axisc=-2)
    wrenches = np.moveaxis(np.concatenate([force, moment], axis=-2), -3, -2)  # (..., 6, n, sides)
    return wrenches.reshape(*wrenches.shape[:-2], p.shape[-2] * sides)


@check_types
def patch_cone(
    friction: float, corners: ArrayLike, normal: ArrayLike = UP, *, sides: int = 4, kind: str = "inner"
) -> Array:
    """Compute the rows of the contact wrench cone of a flat patch of any shape: C w <= 0 inside.

    Parameters
    ----------
    friction : float
        Coefficient of friction, above 0.
    corners : (n, 3)
        Corners of the patch [m].
    normal, sides, kind
        As for `pyramid`.

    Returns
    -------
    (m, 6)
        For a rectangle and four sides the 16 rows of `wrench_cone`.

    Notes
    -----
    The facets of `span` by Qhull (C. B. Barber, D. P. Dobkin, H. Huhdanpaa 1996) among wrenches of normal force 1 N.
    Their number grows quickly with corners and sides; forces at the corners as variables of a QP scale better.
    """
    p = _corners(corners)
    if p.ndim != 2:
        raise InputError(f"corners must have shape (n, 3), got {p.shape}; patches are taken one at a time")
    middle, R = p.mean(axis=0), axes(normal)
    if R.shape != (3, 3) or np.shape(friction) != ():
        raise InputError("patch_cone takes one friction and one normal; patches are taken one at a time")
    local = (p - middle) @ R
    size = float(np.abs(local).max()) or 1.0
    unit = np.array([1.0, 1.0, 1.0, size, size, size])
    rays = span(friction, local, sides=sides, kind=kind) / unit[:, None]
    slice_ = np.delete(rays / rays[2], 2, axis=0).T
    try:
        faces = ConvexHull(slice_).equations
    except QhullError as cause:
        raise InputError(
            f"the {len(p)} corners do not span a patch: they lie on a line or are one point; use span instead of rows"
        ) from cause
    # inside: e (fx, fy, mx, my, mz) / fz + e0 <= 0
    rows = np.insert(faces[:, :5], 2, faces[:, 5], axis=1) / unit
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, middle
    return _unit_rows(_moved(_distinct(rows), T))


@check_types
def project_rows(rows: ArrayLike, wrench: ArrayLike, *, weights: ArrayLike | None = None) -> Array:
    """Compute the nearest forces or wrenches within a pyramid or wrench cone, by one QP each.

    Parameters
    ----------
    rows : (..., m, k)
        Rows C of the cone, C w <= 0 inside.
    wrench : (..., k)
        Forces or wrenches.
    weights : (k,), optional
        Weights of squared differences; for moments 1 / length^2 with a length that compares them to forces.

    Returns
    -------
    (..., k)
    """
    size = (shape_of(wrench) or (0,))[-1]
    w = numbers("wrench", wrench, size)
    shape = shape_of(rows)
    if len(shape) < 2 or shape[-1] != size:
        raise InputError(f"rows must have shape (..., m, {size}) for wrenches {w.shape}, got {shape}")
    C, w = broadcast((numbers("rows", rows, *shape[-2:]), 2), (w, 1))
    scale = np.ones(size) if weights is None else numbers("weights", weights, size)
    if scale.ndim != 1 or not (scale > 0).all():
        raise InputError(f"weights must have shape ({size},) and be above 0, got {weights!r}")
    nearest = np.empty(w.shape)
    for index in np.ndindex(w.shape[:-1]):
        answer = qp.solve(np.diag(scale), -scale * w[index], C[index], upper=0.0)
        if not answer.solved:
            raise InputError(f"projection onto the cone failed: {answer.reason}")
        nearest[index] = answer.x
    return nearest


def _unit_rows(rows: Array) -> Array:
    """Scale the force part of each row to length 1."""
    length: Array = np.linalg.norm(rows[..., :3], axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return not_overflowed("the wrench cone", rows / length)


def _moved(rows: Array, T: Array) -> Array:
    """Transform rows for wrenches in the frame of a patch to the frame in which its pose is T."""
    R, p = T[..., :3, :3], T[..., :3, 3]
    force, moment = rows[..., :3], rows[..., 3:] @ np.swapaxes(R, -1, -2)
    # the moment about the patch is m - p x f, and row . (p x f) = (row x p) . f
    return np.concatenate([force @ np.swapaxes(R, -1, -2) + np.cross(p[..., None, :], moment), moment], axis=-1)


def _distinct(rows: Array) -> Array:
    """Remove duplicate rows: Qhull divides a facet with many corners into several."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    kept: list[int] = []
    for i in range(len(unit)):
        if not kept or np.linalg.norm(unit[kept] - unit[i], axis=1).min() > 1e-7:
            kept.append(i)
    return rows[kept]


def _split(force: Array, normal: Array) -> tuple[Array, Array]:
    along = (force * normal).sum(axis=-1)
    return along, force - along[..., None] * normal


def _broadcast(force: ArrayLike, friction: ArrayLike, normal: ArrayLike) -> tuple[Array, Array, Array]:
    f, mu, n = broadcast((numbers("force", force, 3), 1), (_friction(friction), 0), (_unit(normal), 1))
    return f, mu, n


def _unit(normal: ArrayLike) -> Array:
    n = numbers("normal", normal, 3)
    length: Array = np.linalg.norm(n, axis=-1, keepdims=True)
    if not (length > 1e-9).all():
        raise InputError("normal must be a nonzero vector that points out of the ground")
    return n / length


def _friction(friction: ArrayLike) -> Array:
    return _above_zero("friction", friction)


def _length(what: str, value: ArrayLike) -> Array:
    return _above_zero(what, value)


def _above_zero(what: str, value: ArrayLike) -> Array:
    array = numbers(what, value)
    if not (array > 0).all():
        raise InputError(f"{what} must be positive, got {value!r}")
    return array


def _corners(corners: ArrayLike) -> Array:
    p = numbers("corners", corners, 3)
    if p.ndim < 2 or p.shape[-2] == 0:
        raise InputError(f"corners must have shape (..., n, 3), got {p.shape}")
    return p


def _sides(sides: int) -> int:
    integer("sides of a pyramid", sides, 3, MAX_SIDES)
    return sides


def _inner(kind: str) -> bool:
    one_of("kind of pyramid", kind, ("inner", "outer"))
    return kind == "inner"
