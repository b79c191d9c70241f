"""Parts that the shapes of the bundled arms are made of: smooth meshes to draw, capsules and spheres to collide with.

Capsules need few spheres, and agree with what is drawn to about a centimetre. They may overlap with those of the link
before and after, which no check considers, but stay apart from all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.meshes import TriangleMesh
from kinodyn.description.surfaces import rounded_cylinder
from kinodyn.description.types import Shape

Colour = tuple[float, float, float, float]
Point = Sequence[float] | Array

WHITE: Colour = (0.90, 0.91, 0.92, 1.0)
GREY: Colour = (0.70, 0.72, 0.76, 1.0)
DARK: Colour = (0.25, 0.27, 0.31, 1.0)
BLUE: Colour = (0.33, 0.55, 0.74, 1.0)


@dataclass(frozen=True, eq=False)
class LinkShapes:
    """The shapes of one link: what is drawn, and what collides."""

    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()


def drawn(mesh: TriangleMesh, T: Array | None = None, rgba: Colour = WHITE) -> Shape:
    """Return a mesh as a shape at a pose in its link."""
    placed = np.eye(4) if T is None else T
    return Shape("mesh", (1.0, 1.0, 1.0), placed, rgba=rgba, triangles=(mesh.vertices, mesh.faces))


def hub(start: Point, end: Point, radius: float, rgba: Colour = WHITE, edge: float = 0.008) -> Shape:
    """Return a drawn cylinder with rounded edges between two points."""
    T, length = between(start, end)
    return drawn(rounded_cylinder(radius, -0.5 * length, 0.5 * length, edge), T, rgba)


def capsule(start: Point, end: Point, radius: float, rgba: Colour = GREY) -> Shape:
    """Return a capsule around the segment between two points."""
    T, length = between(start, end)
    return Shape("capsule", (radius, length), T, rgba=rgba)


def ball(centre: Point, radius: float, rgba: Colour = GREY) -> Shape:
    """Return a sphere."""
    T = np.eye(4)
    T[:3, 3] = centre
    return Shape("sphere", (radius,), T, rgba=rgba)


def between(start: Point, end: Point) -> tuple[Array, float]:
    """Return the pose midway between two points with z from one to the other, and their distance [m]."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    return posed((b - a) / length, at=0.5 * (a + b)), length


def posed(z: Point, x: Point | None = None, at: Point = (0.0, 0.0, 0.0)) -> Array:
    """Return the pose at a point whose axes are the unit vectors `z` and, if given, `x`, orthogonal to it."""
    third = np.asarray(z, dtype=float)
    if x is None:
        helper = np.eye(3)[int(np.argmin(np.abs(third)))]
        first = np.cross(helper, third)
        first /= np.linalg.norm(first)
    else:
        first = np.asarray(x, dtype=float)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([first, np.cross(third, first), third])
    T[:3, 3] = at
    return T
