"""Terrain: one description of the ground for the simulator and for the planner."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers, positive_vector
from kinodyn.display import displayed
from kinodyn.dynamics.contact.ground import Ground, HeightField, Plane
from kinodyn.errors import InputError
from kinodyn.terrain.height_map import HeightMap, checked_region
from kinodyn.terrain.shapes import Box, Mesh, Shape, axes_on, surface

MAX_SHAPES = 20_000
BOX_DEPTH = 0.1  # [m] by which boxes that stand on a terrain extend into it, so that no foot gets below them
EDGE = 1.0  # [m] of ground around the shapes that a map includes


@displayed
class Terrain(Ground):
    """Ground of any shape: planes, height fields, boxes and meshes; where they overlap the highest one counts.

    Parameters
    ----------
    shapes
        `contact.Plane` with an upward normal, `contact.HeightField`, `Box` and `Mesh`, in any number and
        order. Elsewhere there is no ground.
    name
        Name used in messages and reports.

    Attributes
    ----------
    shapes : tuple
    name : str

    Notes
    -----
    Height fields are interpolated by triangles, as MuJoCo does, whatever their own interpolation; they end at the edge
    of their grid.

    Examples
    --------
    >>> import kinodyn as kd
    >>> terrain = kd.terrain.stairs(0.185, 0.24, 10)
    >>> terrain.height([[0.0, 0.0], [0.6, 0.0], [0.8, 0.0]]).round(3)
    array([0.   , 0.185, 0.37 ])
    """

    @check_types
    def __init__(self, shapes: Iterable[Shape], name: str = "terrain") -> None:
        found = tuple(shapes)
        if not 0 < len(found) <= MAX_SHAPES:
            raise InputError(f"a terrain needs 1 to {MAX_SHAPES} shapes, got {len(found)}")
        for k, shape in enumerate(found):
            if not isinstance(shape, Plane | HeightField | Box | Mesh):
                raise InputError(f"shapes[{k}] must be a Plane, HeightField, Box or Mesh, got {shape!r}")
            if isinstance(shape, Plane) and shape.normal[2] < 1e-3:
                raise InputError(f"the normal of shapes[{k}] must point upwards, got {shape.normal.tolist()}")
        self.shapes, self.name = found, str(name)

    def __repr__(self) -> str:
        return f"Terrain({self.name!r}, {len(self.shapes)} shapes)"

    def with_box(self, x: float, y: float, size: ArrayLike) -> Terrain:
        """Return this terrain with another box on it, such as a board or a table.

        Parameters
        ----------
        x, y
            Centre of the box, seen from above [m]; there must be ground.
        size : (3,)
            Length, width, and height above the ground [m]. The box is parallel to the ground below its centre, its
            length along the slope of x.

        Returns
        -------
        Terrain

        Examples
        --------
        >>> import kinodyn as kd
        >>> kd.terrain.flat().with_box(0.4, 0.0, (0.3, 0.6, 0.015)).height([0.4, 0.1])
        array(0.015)
        """
        sides = positive_vector("size of the box", size, 3)
        below = numbers("position of the box", (x, y), 2)
        height, normal = self.surface(below)
        if not np.isfinite(height):
            raise InputError(f"there must be ground below the box, got x={x!r}, y={y!r}")
        half = 0.5 * (sides + [0.0, 0.0, BOX_DEPTH])
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = axes_on(normal), np.array([*below, height]) + (sides[2] - half[2]) * normal
        return Terrain([*self.shapes, Box(2.0 * half, T)], self.name)

    def surface(self, xy: ArrayLike) -> tuple[Array, Array]:
        """Compute height and normal of the ground.

        Parameters
        ----------
        xy
            Positions (..., 2) [m].

        Returns
        -------
        heights : (...)
            [m]; -inf where there is no ground.
        normals : (..., 3)
            Unit vectors; along z where there is no ground.
        """
        places = numbers("xy", xy, 2)
        flat = places.reshape(-1, 2)
        heights, normals = np.full(len(flat), -np.inf), np.tile([0.0, 0.0, 1.0], (len(flat), 1))
        for shape in self.shapes:
            z, n = surface(shape, flat)
            higher = z > heights
            heights[higher], normals[higher] = z[higher], n[higher]
        return heights.reshape(places.shape[:-1]), normals.reshape(*places.shape[:-1], 3)

    def height_and_normal(self, p: ArrayLike) -> tuple[Array, Array]:
        points = numbers("p", p, 3)
        surface, normals = self.surface(points[..., :2])
        return (points[..., 2] - surface) * normals[..., 2], normals

    def height(self, xy: ArrayLike) -> Array:
        """Compute the height of the ground.

        Parameters
        ----------
        xy
            Positions (..., 2) [m].

        Returns
        -------
        (...)
            [m]; -inf where there is no ground.
        """
        return self.surface(xy)[0]

    def normal(self, xy: ArrayLike) -> Array:
        """Compute the upward normal of the ground.

        Parameters
        ----------
        xy
            Positions (..., 2) [m].

        Returns
        -------
        (..., 3)
            Unit vectors.
        """
        return self.surface(xy)[1]

    @property
    def region(self) -> Array:
        """Rectangle (2, 2) that contains all shapes but planes, seen from above: least and largest x, y [m]."""
        corners = [np.array([[-EDGE, -EDGE], [EDGE, EDGE]])]
        for shape in self.shapes:
            if isinstance(shape, HeightField):
                last = shape.origin + shape.spacing * (np.array(shape.heights.shape) - 1)
                corners.append(np.array([shape.origin, last]))
            elif isinstance(shape, Box):
                corners.append(shape.corners()[:, :2])
            elif isinstance(shape, Mesh):
                corners.append(shape.vertices[:, :2])
        points = np.concatenate(corners)
        return np.array([points.min(axis=0), points.max(axis=0)])

    def map(self, *, region: ArrayLike | None = None, cell: float = 0.01) -> HeightMap:
        """Make an exact map of this terrain for planners; `HeightMap.disturbed` adds errors.

        Parameters
        ----------
        region
            Least and largest x, y (2, 2) [m]; by default all shapes, and a metre around them.
        cell
            Side of a cell [m].

        Returns
        -------
        HeightMap
        """
        around = self.region + [[-EDGE, -EDGE], [EDGE, EDGE]] if region is None else region
        low, shape = checked_region(around, cell)
        x, y = (low[k] + cell * (np.arange(shape[k]) + 0.5) for k in range(2))
        heights = self.height(np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1))
        return HeightMap(heights, cell=cell, origin=(x[0], y[0]))


def as_terrain(ground: object) -> Terrain:
    """Return the ground of a simulator as a terrain; None is level at z = 0."""
    if ground is None:
        return Terrain([Plane()], "flat")
    if isinstance(ground, Terrain):
        return ground
    if not isinstance(ground, Plane | HeightField):
        raise InputError(f"ground must be a terrain.Terrain, contact.Plane or contact.HeightField, got {ground!r}")
    return Terrain([ground], "ground")
