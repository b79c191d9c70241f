"""Collision checking: shapes of robots and worlds, distances and contacts between them."""

from kinodyn.collision.geometry import LinkGeometry, robot_geometry
from kinodyn.collision.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    PointCloud,
    Shape,
    Sphere,
)

__all__ = [
    "Box",
    "Capsule",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "LinkGeometry",
    "Mesh",
    "PointCloud",
    "Shape",
    "Sphere",
    "robot_geometry",
]


def __dir__() -> list[str]:
    return list(__all__)
