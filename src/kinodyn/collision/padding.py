"""Scaling and padding of links in checks against obstacles, as in a planning scene of MoveIt."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn.arrays import Array
from kinodyn.checks import nonnegative, positive
from kinodyn.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, PointCloud, Shape, Sphere
from kinodyn.errors import InputError, unknown_name

MAX_FORMS = 16  # padded forms that are kept of a shape

_PADDED: WeakKeyDictionary[Shape, dict[Padding, PaddedShape]] = WeakKeyDictionary()


class Padding(NamedTuple):
    """By how much a link is enlarged.

    Attributes
    ----------
    distance : float
        Added around its shapes [m].
    scale : float
        Factor on its shapes about their centres, before the distance is added.
    """

    distance: float = 0.0
    scale: float = 1.0


class PaddedShape(NamedTuple):
    """A padded shape: all points within `margin` [m] of `shape`."""

    shape: Shape
    margin: float


@dataclass(frozen=True)
class LinkPadding:
    """The padding of each link: of some by name, and of all others.

    Attributes
    ----------
    others : Padding
        That of the links that are not named.
    named : tuple of (str, Padding)
        Links with an individual padding.
    """

    others: Padding = Padding()
    named: tuple[tuple[str, Padding], ...] = ()

    def __bool__(self) -> bool:
        return any(padding != Padding() for padding in (self.others, *dict(self.named).values()))

    def of(self, link: str) -> Padding:
        """Return the padding of a link."""
        return dict(self.named).get(link, self.others)

    def check(self, links: Collection[str]) -> None:
        """Raise if a name is not that of a link."""
        for name, _ in self.named:
            if name not in links:
                raise unknown_name("link", name, links)


NO_PADDING = LinkPadding()


def link_padding(distance: float | Mapping[str, float], scale: float | Mapping[str, float]) -> LinkPadding:
    """Return the padding for a distance [m] and a scale, each a number for all links or numbers by link."""
    distances, scales = _by_link("padding", distance), _by_link("scale", scale)
    others = Padding(
        0.0 if isinstance(distance, Mapping) else nonnegative("padding", distance),
        1.0 if isinstance(scale, Mapping) else positive("scale", scale),
    )
    named = {
        link: Padding(
            nonnegative(f"padding of {link!r}", distances.get(link, others.distance)),
            positive(f"scale of {link!r}", scales.get(link, others.scale)),
        )
        for link in (*distances, *scales)
    }
    return LinkPadding(others, tuple(sorted(named.items())))


def _by_link(what: str, given: float | Mapping[str, float]) -> Mapping[str, float]:
    if not isinstance(given, Mapping):
        return {}
    for link in given:
        if not isinstance(link, str):
            raise InputError(f"{what} must be a number or numbers by name of a link, got the name {link!r}")
    return given


def padded_shape(shape: Shape, padding: Padding) -> PaddedShape:
    """Return a padded shape, the same one for the same arguments.

    Boxes and cylinders keep their corners, as in MoveIt; the edges of other shapes become round.
    """
    if padding == Padding() or (padding.scale == 1.0 and isinstance(shape, (Ellipsoid, HeightField, Mesh))):
        return PaddedShape(shape, padding.distance)  # not kept: the shape would keep itself alive
    known = _PADDED.setdefault(shape, {})
    if padding not in known:
        if len(known) >= MAX_FORMS:
            known.clear()
        known[padding] = _padded(shape, *padding)
    return known[padding]


def _padded(shape: Shape, distance: float, scale: float) -> PaddedShape:
    if isinstance(shape, Box):
        return PaddedShape(Box(shape.size * scale + 2.0 * distance), 0.0)
    if isinstance(shape, Sphere):
        return PaddedShape(Sphere(shape.radius * scale + distance), 0.0)
    if isinstance(shape, Cylinder):
        return PaddedShape(Cylinder(shape.radius * scale + distance, shape.length * scale + 2.0 * distance), 0.0)
    if isinstance(shape, Capsule):
        return PaddedShape(Capsule(shape.radius * scale + distance, shape.length * scale), 0.0)
    if isinstance(shape, PointCloud):
        return PaddedShape(PointCloud(_scaled(shape.points, scale), shape.radius * scale + distance), 0.0)
    if isinstance(shape, Ellipsoid):
        return PaddedShape(Ellipsoid(shape.radii * scale), distance)
    mesh, convex = shape.triangles(), isinstance(shape, Mesh) and shape.convex
    return PaddedShape(Mesh(_scaled(mesh.vertices, scale), mesh.faces, convex), distance)


def _scaled(points: Array, scale: float) -> Array:
    centre = points.mean(axis=0)
    return np.asarray(centre + scale * (points - centre))
