"""Spheres that cover shapes: attached objects, and links and objects that are padded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.clouds import cloud_spheres
from kinodyn.collision.fitting import TESSELLATION, link_spheres
from kinodyn.collision.geometry import LinkGeometry
from kinodyn.collision.padding import Padding, padded_shape
from kinodyn.collision.shapes import Box, HeightField, Mesh, PointCloud, Shape
from kinodyn.errors import warn

OVERSHOOT_FACTOR = 1.1  # factor on a measured overshoot, for the surface between its samples


class Cover(NamedTuple):
    """Spheres (n, 4) that contain shapes, and how far they reach beyond them at most [m]."""

    spheres: Array
    overshoot: float


def object_cover(name: str, shape: Shape, resolution: float, padding: Padding | None = None) -> Cover:
    """Return spheres of an object in its own frame."""
    return padded_cover([LinkGeometry(name, shape, np.eye(4))], resolution, padding or Padding())


def padded_cover(parts: Sequence[LinkGeometry], resolution: float, padding: Padding) -> Cover:
    """Return spheres of the padded shapes of a link, in its frame."""
    by_margin: dict[float, list[LinkGeometry]] = {}
    for part in parts:
        padded = padded_shape(part.shape, padding)
        by_margin.setdefault(padded.margin, []).append(replace(part, shape=padded.shape))
    found = [(margin, _cover(some, resolution)) for margin, some in by_margin.items()]
    spheres = np.concatenate([cover.spheres + [0.0, 0.0, 0.0, margin] for margin, cover in found])
    return Cover(spheres, max(cover.overshoot for _, cover in found))


def _cover(parts: Sequence[LinkGeometry], resolution: float) -> Cover:
    shape = parts[0].shape
    if isinstance(shape, PointCloud):  # attached by itself: links have none
        spheres = cloud_spheres(shape, resolution)
        return Cover(spheres, 2.0 * float((spheres[:, 3] - shape.radius).max()))
    fit = link_spheres(parts, resolution)
    if message := fit.warning(parts, resolution):
        warn(message)
    return Cover(fit.fine, overshoot_bound([part.shape for part in parts], fit.overshoot.max, resolution))


def overshoot_bound(shapes: Sequence[Shape], measured: float, resolution: float) -> float:
    """Return the overshoot for which spheres were fitted; it was measured where shapes are too large for it."""
    if measured == 0.0:
        return 0.0  # spheres
    is_round = any(not isinstance(shape, (Box, Mesh, HeightField)) for shape in shapes)
    fitted = resolution if measured <= resolution else OVERSHOOT_FACTOR * measured
    return fitted + (TESSELLATION * resolution if is_round else 0.0)
