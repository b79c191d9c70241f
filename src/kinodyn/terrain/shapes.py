"""Shapes of a terrain, and where vertical rays from above hit them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, number, numbers, positive_vector, triangle_indices, vector
from kinodyn.display import displayed
from kinodyn.dynamics.contact.ground import HeightField, Plane
from kinodyn.errors import InputError

MAX_TRIANGLES = 500_000
_UP = np.array([0.0, 0.0, 1.0])


@displayed
@dataclass(frozen=True, eq=False)
class Box:
    """A box anywhere in the world.

    Parameters
    ----------
    size : (3,)
        Lengths of its sides [m].
    pose : (4, 4)
        T_world_box of its centre.
    """

    size: Array
    pose: Array

    def __init__(self, size: ArrayLike, pose: MatrixLike | None = None) -> None:
        object.__setattr__(self, "size", positive_vector("size of the box", size, 3))
        object.__setattr__(self, "pose", np.eye(4) if pose is None else as_pose(pose, "pose of the box"))

    @classmethod
    @check_types
    def standing(cls, x: float, y: float, size: ArrayLike, top: float, yaw: float = 0.0) -> Box:
        """Place a level box by the centre of its upper side.

        Parameters
        ----------
        x, y
            Centre, seen from above [m].
        size
            (3,) [m]
        top
            Height of the upper side [m].
        yaw
            [rad]

        Returns
        -------
        Box
        """
        sides, T = vector("size of the box", size, 3), np.eye(4)
        c, s = np.cos(number("yaw", yaw)), np.sin(yaw)
        T[:2, :2] = [[c, -s], [s, c]]
        T[:3, 3] = (number("x", x), number("y", y), number("top", top) - 0.5 * float(sides[2]))
        return cls(sides, T)

    def corners(self) -> Array:
        """Return the corners (8, 3) [m]."""
        signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        corners: Array = (signs * self.size) @ self.pose[:3, :3].T + self.pose[:3, 3]
        return corners


@displayed
@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles; a surface that is open or closed.

    Parameters
    ----------
    vertices : (n, 3)
        [m]
    faces : (m, 3)
        Indices of vertices.
    """

    vertices: Array
    faces: NDArray[np.int64]

    def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None:
        points = numbers("vertices", vertices, 3)
        if points.ndim != 2:
            raise InputError(f"vertices must have shape (n, 3), got {points.shape}")
        indices = triangle_indices("faces", faces, len(points))
        if len(indices) > MAX_TRIANGLES:
            raise InputError(f"a mesh must have at most {MAX_TRIANGLES} faces, got {len(indices)}")
        object.__setattr__(self, "vertices", points.copy())
        object.__setattr__(self, "faces", indices)


Shape = Plane | HeightField | Box | Mesh


def axes_on(normal: Array) -> Array:
    """Compute axes (3, 3), in columns, with z along the normal and x in the world's x-z plane."""
    x = np.array([normal[2], 0.0, -normal[0]]) / np.hypot(normal[0], normal[2])
    return np.column_stack([x, np.cross(normal, x), normal])


def surface(shape: Shape, xy: Array) -> tuple[Array, Array]:
    """Find where rays straight down hit a shape first.

    Parameters
    ----------
    shape
    xy
        (n, 2) [m]

    Returns
    -------
    heights : (n,)
        [m]; -inf where the ray misses the shape.
    normals : (n, 3)
        Upward; along z where the ray misses the shape.
    """
    if isinstance(shape, Plane):
        return _plane(shape, xy)
    if isinstance(shape, HeightField):
        return _field(shape, xy)
    if isinstance(shape, Box):
        return _box(shape, xy)
    return _triangles(shape.vertices[shape.faces], xy)


def _plane(plane: Plane, xy: Array) -> tuple[Array, Array]:
    n = plane.normal
    heights = plane.point[2] - ((xy - plane.point[:2]) @ n[:2]) / n[2]
    return heights, np.broadcast_to(n, (len(xy), 3)).copy()


def _field(field: HeightField, xy: Array) -> tuple[Array, Array]:
    """Interpolate within the triangles of MuJoCo: each cell is divided from its first to its last corner."""
    nodes = (xy - field.origin) / field.spacing
    last = np.array(field.heights.shape) - 1
    inside = ((nodes >= 0) & (nodes <= last)).all(axis=1)
    cell = np.clip(np.floor(nodes), 0, last - 1).astype(int)
    (i, j), (u, v) = cell.T, (nodes - cell).T
    h = field.heights
    a, b, c, d = h[i, j], h[i + 1, j], h[i + 1, j + 1], h[i, j + 1]
    below = u >= v  # the triangle of a, b, c
    rise = np.stack([np.where(below, b - a, c - d), np.where(below, c - b, d - a)], axis=1)
    heights = np.where(inside, a + rise[:, 0] * u + rise[:, 1] * v, -np.inf)
    normals = np.column_stack([-rise / field.spacing, np.ones(len(xy))])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    normals[~inside] = _UP
    return heights, normals


def _box(box: Box, xy: Array) -> tuple[Array, Array]:
    """Intersect vertical lines with the slabs between opposite sides; the upper end of the intersection is hit."""
    heights, normals = np.full(len(xy), -np.inf), np.tile(_UP, (len(xy), 1))
    corners = box.corners()
    near = np.flatnonzero(((xy >= corners[:, :2].min(axis=0)) & (xy <= corners[:, :2].max(axis=0))).all(axis=1))
    R = box.pose[:3, :3]
    # p = start + z * direction in the axes of the box, with |p| <= size / 2
    start = np.column_stack([xy[near], np.zeros(len(near))]) @ R - box.pose[:3, 3] @ R
    direction, half = R[2], 0.5 * box.size
    low, high = np.full(len(near), -np.inf), np.full(len(near), np.inf)
    side = np.zeros(len(near), dtype=int)
    for k in range(3):
        if abs(direction[k]) < 1e-12:
            high = np.where(np.abs(start[:, k]) <= half[k], high, -np.inf)
            continue
        upper = (np.sign(direction[k]) * half[k] - start[:, k]) / direction[k]
        lower = (-np.sign(direction[k]) * half[k] - start[:, k]) / direction[k]
        side = np.where(upper < high, k, side)
        low, high = np.maximum(low, lower), np.minimum(high, upper)
    hit = low <= high
    heights[near[hit]] = high[hit]
    outward = R.T * np.sign(direction)[:, None]  # row k is the normal of the side that faces up along axis k
    normals[near[hit]] = outward[side[hit]]
    return heights, normals


def _triangles(corners: Array, xy: Array) -> tuple[Array, Array]:
    """Intersect vertical lines with triangles (m, 3, 3), which are sorted into the cells of a grid seen from above."""
    heights, normals = np.full(len(xy), -np.inf), np.tile(_UP, (len(xy), 1))
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(cross, axis=1)
    steep = np.abs(cross[:, 2]) <= 1e-12 + 1e-9 * size
    corners, cross, size = corners[~steep], cross[~steep], size[~steep]
    if len(corners) == 0 or len(xy) == 0:
        return heights, normals
    cross *= np.sign(cross[:, 2])[:, None]
    point, triangle = _candidates(corners[:, :, :2], xy)
    p, (a, b, c) = xy[point], np.moveaxis(corners[triangle], 1, 0)
    inside = np.ones(len(point), dtype=bool)
    orientation = np.sign(_cross2(b - a, c - a))
    for start, end in ((a, b), (b, c), (c, a)):
        scale = 1e-12 * (1.0 + np.abs(end[:, :2] - start[:, :2]).max(axis=1, initial=0.0))
        inside &= orientation * _cross2(end - start, p - start[:, :2]) >= -scale
    point, triangle, p, a = point[inside], triangle[inside], p[inside], a[inside]
    n = cross[triangle]
    z = a[:, 2] - ((p - a[:, :2]) * n[:, :2]).sum(axis=1) / n[:, 2]
    order = np.argsort(z, kind="stable")  # the highest is written last
    heights[point[order]] = z[order]
    normals[point[order]] = (n / size[triangle, None])[order]
    return heights, normals


def _candidates(triangles: Array, xy: Array) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """List the pairs of points and triangles whose cells of a grid overlap."""
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    side = max(float((high - low).max()), 1e-9)
    count = int(np.clip(np.sqrt(len(triangles)), 1, 512))
    cell = side / count * (1 + 1e-9)
    first = np.floor((triangles.min(axis=1) - low) / cell).astype(int)
    last = np.floor((triangles.max(axis=1) - low) / cell).astype(int)
    spans = last - first + 1
    cells = spans.prod(axis=1)
    owner = np.repeat(np.arange(len(triangles)), cells)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(cells) - cells, cells)
    column = first[owner, 0] + number // spans[owner, 1]
    row = first[owner, 1] + number % spans[owner, 1]
    key = column * (count + 1) + row
    order = np.argsort(key, kind="stable")
    key, owner = key[order], owner[order]
    place = np.floor((xy - low) / cell).astype(int)
    within = np.flatnonzero(((xy >= low) & (xy <= high)).all(axis=1))
    wanted = place[within, 0] * (count + 1) + place[within, 1]
    begin, end = np.searchsorted(key, wanted, "left"), np.searchsorted(key, wanted, "right")
    lengths = end - begin
    point = np.repeat(within, lengths)
    index = np.arange(len(point)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(begin, lengths)
    return point, owner[index]


def _cross2(a: Array, b: Array) -> Array:
    result: Array = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return result
