"""Collision shapes, each in its own frame: value types, validated on construction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, copied_on_access, frozen, stored
from kinodyn.checks import numbers, positive, positive_vector, triangle_indices
from kinodyn.collision.tessellation import box_mesh, revolved_mesh, rings
from kinodyn.description.height_fields import field_mesh
from kinodyn.description.meshes import MAX_TRIANGLES, TriangleMesh
from kinodyn.display import displayed
from kinodyn.errors import InputError

TOLERANCE = 1e-3  # [m] of triangles


class Solid:
    """A shape with a surface."""

    def triangles(self, tolerance: float = TOLERANCE) -> TriangleMesh:
        """Return triangles that enclose the shape; those of boxes, meshes and height fields are its surface.

        Parameters
        ----------
        tolerance
            How far they may exceed a round shape [m].

        Returns
        -------
        mesh : TriangleMesh
        """
        raise NotImplementedError


@displayed
@copied_on_access("size")
@dataclass(frozen=True, eq=False, init=False)
class Box(Solid):
    """A box centred at the origin.

    Parameters
    ----------
    size : (3,)
        Full lengths along x, y and z [m].
    """

    size: Array

    def __init__(self, size: ArrayLike) -> None:
        _set(self, size=positive_vector("size", size, 3))

    def triangles(self, tolerance: float = TOLERANCE) -> TriangleMesh:
        return box_mesh(self.size)


@check_types
@displayed
@dataclass(frozen=True)
class Sphere(Solid):
    """A sphere centred at the origin.

    Parameters
    ----------
    radius
        [m]
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("radius", self.radius))

    def triangles(self, tolerance: float = TOLERANCE) -> TriangleMesh:
        return revolved_mesh(self.radius, 0.0, rings(self.radius, tolerance))


@check_types
@displayed
@dataclass(frozen=True)
class Cylinder(Solid):
    """A cylinder along z, centred at the origin.

    Parameters
    ----------
    radius, length
        [m]
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        _set(self, radius=positive("radius", self.radius), length=positive("length", self.length))

    def triangles(self, tolerance: float = TOLERANCE) -> TriangleMesh:
        return revolved_mesh(self.radius, self.length, rings(self.radius, tolerance), caps=False)


@check_types
@displayed
@dataclass(frozen=True)
class Capsule(Solid):
    """A cylinder along z with half a sphere at each end, centred at the origin.

    Parameters
    ----------
    radius
        [m]
    length
        Length of the cylinder, without the caps [m].
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        _set(self, radius=positive("radius", self.radius), length=positive("length", self.length))

    def triangles(self, tolerance: float = TOLERANCE) -> TriangleMesh:
        return revolved_mesh(self.radius, self.length, rings(self.radius, tolerance))


@displayed
@copied_on_access("radii")
@dataclass(frozen=True, eq=False)
class Ellipsoid(Solid):
    """An ellipsoid centred at the origin.

    Parameters
    ----------
    radii : (3,)
        Along x, y and z [m].
    """

    radii: Array

    def __post_init__(self) -> None:
        _set(self, radii=positive_vector("radii", stored(self, "radii"), 3))

    def triangles(self, tolerance: float = TOLERANCE) -> TriangleMesh:
        unit = revolved_mesh(1.0, 0.0, rings(float(self.radii.max()), tolerance))
        return TriangleMesh(unit.vertices * self.radii, unit.faces)


@check_types
@displayed
@copied_on_access("vertices", "faces")
@dataclass(frozen=True, eq=False)
class Mesh(Solid):
    """Triangles; the solid inside them if they are closed.

    Parameters
    ----------
    vertices : (n, 3)
        [m]
    faces : (m, 3)
        Indices of the vertices of each triangle, counter-clockwise seen from outside.
    convex
        Whether the triangles are the whole surface of a convex solid.
    """

    vertices: Array
    faces: NDArray[np.int64]
    convex: bool = False

    def __post_init__(self) -> None:
        vertices = _points("vertices", stored(self, "vertices"))
        faces = triangle_indices("faces", stored(self, "faces"), len(vertices))
        _set(self, vertices=vertices, faces=faces, convex=bool(self.convex))

    def triangles(self, tolerance: float = TOLERANCE) -> TriangleMesh:
        return TriangleMesh(self.vertices, self.faces)


@check_types
@displayed
@copied_on_access("heights", "size")
@dataclass(frozen=True, eq=False)
class HeightField(Solid):
    """Solid ground below heights on a grid, which is centred at the origin.

    Parameters
    ----------
    heights : (nx, ny)
        At least 2 by 2: heights[i, j] [m] is the height at the i-th x and the j-th y.
    size : (2,)
        Extent of the grid along x and y [m].
    thickness
        How far the solid reaches below the lowest height [m].
    """

    heights: Array
    size: Array
    thickness: float = 0.1

    def __post_init__(self) -> None:
        heights = numbers("heights", stored(self, "heights"))
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise InputError(f"heights must have shape (nx, ny), at least 2 by 2, got {heights.shape}")
        if 2 * heights.size > MAX_TRIANGLES:
            most = MAX_TRIANGLES // 2
            raise InputError(f"heights must have at most {most} entries, got {heights.size}: divide the ground")
        size, thickness = positive_vector("size", stored(self, "size"), 2), positive("thickness", self.thickness)
        _set(self, heights=heights.copy(), size=size, thickness=thickness)

    @property
    def base(self) -> float:
        """Height of the lower side of the solid [m]."""
        return float(stored(self, "heights").min()) - self.thickness

    def triangles(self, tolerance: float = TOLERANCE) -> TriangleMesh:
        return field_mesh(stored(self, "heights"), stored(self, "size"), self.base)


@check_types
@displayed
@copied_on_access("points")
@dataclass(frozen=True, eq=False)
class PointCloud:
    """Points with a common radius, such as those of a depth camera.

    Parameters
    ----------
    points : (n, 3)
        [m]
    radius
        Radius of the sphere around each point [m].
    """

    points: Array
    radius: float

    def __post_init__(self) -> None:
        _set(self, points=_points("points", stored(self, "points")), radius=positive("radius", self.radius))


Shape: TypeAlias = Box | Sphere | Cylinder | Capsule | Ellipsoid | Mesh | HeightField | PointCloud


def _set(shape: object, **values: object) -> None:
    """Set the checked fields of a frozen dataclass."""
    for name, value in values.items():
        shape.__dict__[name] = frozen(value) if isinstance(value, np.ndarray) else value


def _points(what: str, value: ArrayLike) -> Array:
    points = numbers(what, value, 3)
    if points.ndim != 2 or len(points) == 0:
        raise InputError(f"{what} must have shape (n, 3), at least one row, got {points.shape}")
    return np.array(points, dtype=float)
