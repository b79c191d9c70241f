"""Collision checking: shapes of robots and worlds, distances and contacts between them."""

from kinodyn.collision.checks import free, motion_free
from kinodyn.collision.contacts import CollisionContact, contacts
from kinodyn.collision.distance import Distance, distance
from kinodyn.collision.fitting import Overshoot
from kinodyn.collision.geometry import LinkGeometry, robot_geometry
from kinodyn.collision.near import NearPair, near_pairs
from kinodyn.collision.pairs import AllowedPairs, allowed_pairs, write_srdf
from kinodyn.collision.refinement import robot_spheres
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
from kinodyn.collision.snapshot import WorldObject, WorldSnapshot
from kinodyn.collision.spheres import SphereSet
from kinodyn.collision.world import World

__all__ = [
    "AllowedPairs",
    "Box",
    "Capsule",
    "CollisionContact",
    "Cylinder",
    "Distance",
    "Ellipsoid",
    "HeightField",
    "LinkGeometry",
    "Mesh",
    "NearPair",
    "Overshoot",
    "PointCloud",
    "Shape",
    "Sphere",
    "SphereSet",
    "World",
    "WorldObject",
    "WorldSnapshot",
    "allowed_pairs",
    "contacts",
    "distance",
    "free",
    "motion_free",
    "near_pairs",
    "robot_geometry",
    "robot_spheres",
    "write_srdf",
]


def __dir__() -> list[str]:
    return list(__all__)
