"""Fit spheres to the shapes of one link, and group them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.cache import content_key, load_table, save_table
from kinodyn.collision.geometry import LinkGeometry
from kinodyn.collision.mesh_repair import bends, facing_outwards, with_holes_closed
from kinodyn.collision.shapes import PointCloud, Sphere
from kinodyn.collision.simplification import core_arrays, coverable
from kinodyn.description.meshes import TriangleMesh, areas
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import constant

VERSION = "6"  # of the fit; part of the key of cached spheres
TESSELLATION = 0.1  # tolerance of the triangles of round shapes, as a fraction of the resolution
MAX_COARSE = 16
MAX_OVERSHOOT = 1.05  # in resolutions: with a larger overshoot, spheres protrude through a hole of the mesh
LEAST_RESOLUTION = constant("least_fit_resolution")  # as a fraction of the square root of the area


@displayed
class Overshoot(NamedTuple):
    """Distances from the boundary of a link's spheres to its shapes [m].

    Attributes
    ----------
    median, p95, max : float
        Median, 95 % quantile and maximum over the area of the boundary.
    """

    median: float
    p95: float
    max: float


class LinkSpheres(NamedTuple):
    """Spheres of one link, rows x, y, z, radius [m]: fine ones in the order of the coarse ones that contain them."""

    fine: Array
    counts: tuple[int, ...]  # fine spheres in each coarse one
    coarse: Array
    bounding: Array
    overshoot: Overshoot
    excess: float  # [m] by which cubes that were covered in place of a mesh may be outside of it; 0 without any

    def warning(self, parts: Sequence[LinkGeometry], resolution: float) -> str | None:
        """Return what to tell the user if cubes took the place of a mesh and the overshoot is above the resolution."""
        if self.excess == 0.0 or self.overshoot.max <= resolution:
            return None
        files = ", ".join(dict.fromkeys(str(part.file) for part in parts if part.file is not None)) or "its mesh"
        return (
            f"{parts[0].link!r}: {files}: too many triangles, or long thin ones that overlap, for the fit of spheres: "
            f"cubes that contain them are covered, and the spheres reach up to {1e3 * self.overshoot.max:.3g} mm "
            f"beyond the mesh; simplify it or mesh it again"
        )


def link_spheres(parts: Sequence[LinkGeometry], resolution: float) -> LinkSpheres:
    """Return the spheres of a link, from the cache if they were computed before."""
    meshes = [placed_triangles(part, TESSELLATION * resolution) for part in parts]
    key = content_key("spheres", VERSION, resolution, *_identity(parts, meshes))
    table = load_table(key, 5)
    spheres = None if table is None else _from_table(table)
    if spheres is None:
        spheres = _fitted(parts, meshes, resolution)
        save_table(key, _to_table(spheres))
    return spheres


def _identity(parts: Sequence[LinkGeometry], meshes: Sequence[TriangleMesh]) -> list[bytes | str | float | Array]:
    found: list[bytes | str | float | Array] = []
    for part, mesh in zip(parts, meshes, strict=True):
        found += [type(part.shape).__name__, mesh.vertices, np.asarray(mesh.faces).tobytes()]
    return found


def placed_triangles(part: LinkGeometry, tolerance: float) -> TriangleMesh:
    """Return the triangles of a shape in the link frame."""
    if isinstance(part.shape, PointCloud):
        raise InputError(f"link {part.link!r} has a point cloud as shape; robots have solid shapes")
    mesh = part.shape.triangles(tolerance)
    T = part.T_link_shape
    return TriangleMesh(mesh.vertices @ T[:3, :3].T + T[:3, 3], mesh.faces)


def _fitted(parts: Sequence[LinkGeometry], meshes: Sequence[TriangleMesh], resolution: float) -> LinkSpheres:
    fits = [_fit(part, mesh, resolution) for part, mesh in zip(parts, meshes, strict=True)]
    fine = np.concatenate([fit.spheres for fit in fits])
    count = min(math.ceil(math.sqrt(2.0 * len(fine))), MAX_COARSE) if len(fine) > 3 else 1
    group, coarse = _core.group_spheres(fine, count)
    order = np.argsort(group, kind="stable")
    counts = tuple(np.bincount(group, minlength=len(coarse)).tolist())
    bounding = _core.enclosing_sphere(coarse)[0]
    exact = all(isinstance(part.shape, Sphere) for part in parts)
    overshoot = Overshoot(0.0, 0.0, 0.0) if exact else _overshoot([fit.solid for fit in fits], fine)
    excess = max(fit.excess for fit in fits)
    beyond_mesh = Overshoot(*(distance + excess for distance in overshoot))
    return LinkSpheres(fine[order], counts, coarse, bounding, beyond_mesh, excess)


class _Fit(NamedTuple):
    spheres: Array
    solid: TriangleMesh  # the surface that is covered: the mesh, with holes that are too large closed, or cubes
    excess: float = 0.0  # of the cubes


def _fit(part: LinkGeometry, mesh: TriangleMesh, resolution: float) -> _Fit:
    if isinstance(part.shape, Sphere):
        return _Fit(np.array([[*part.T_link_shape[:3, 3], part.shape.radius]]), mesh)
    fit, closed = _covered(mesh, resolution), with_holes_closed(mesh)
    if closed is mesh or fit.excess > 0.0:
        return fit
    finest = max(resolution, LEAST_RESOLUTION * math.sqrt(0.5 * areas(mesh.vertices, mesh.faces).sum()))
    return _covered(closed, resolution) if _overshoot([mesh], fit.spheres).max > MAX_OVERSHOOT * finest else fit


def _covered(mesh: TriangleMesh, resolution: float) -> _Fit:
    solid, excess = coverable(mesh, resolution)
    outwards = facing_outwards(solid)
    return _Fit(_core.fit_spheres(*core_arrays(outwards), bends(outwards), resolution), solid, excess)


def _overshoot(meshes: Sequence[TriangleMesh], spheres: Array) -> Overshoot:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts[:-1], strict=True)]
    together = TriangleMesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))
    return Overshoot(*_core.TriangleBvh(*core_arrays(together)).overshoot(spheres))


def _to_table(spheres: LinkSpheres) -> Array:
    """Return rows of five numbers: overshoot, number of coarse spheres, excess; all spheres with count or group."""
    group = np.repeat(np.arange(len(spheres.counts)), spheres.counts)
    head = np.array([[*spheres.overshoot, len(spheres.coarse), spheres.excess], [*spheres.bounding, 0.0]])
    return np.concatenate(
        [head, np.column_stack([spheres.coarse, spheres.counts]), np.column_stack([spheres.fine, group])]
    )


def _from_table(table: Array) -> LinkSpheres | None:
    """Return the spheres of a table, None if it does not contain what `_to_table` makes."""
    if len(table) < 4 or not 1.0 <= table[0, 3] <= len(table) - 3 or table[0, 4] < 0.0:
        return None
    number = int(table[0, 3])
    bounding, coarse, fine = table[1, :4], table[2 : 2 + number, :4], table[2 + number :, :4]
    counts, group = table[2 : 2 + number, 4], table[2 + number :, 4]
    if not np.array_equal(np.repeat(np.arange(number), np.maximum(counts, 0).astype(int)), group):
        return None
    contained = _contains(bounding, coarse) and _contains(coarse[group.astype(int)], fine)
    if not contained:
        return None
    overshoot, excess = Overshoot(*table[0, :3].tolist()), float(table[0, 4])
    return LinkSpheres(fine, tuple(counts.astype(int).tolist()), coarse, bounding, overshoot, excess)


def _contains(outer: Array, inner: Array) -> bool:
    """Return whether spheres (n, 4) or one (4,) contain spheres (n, 4) of positive radius."""
    reach = np.linalg.norm(outer[..., :3] - inner[:, :3], axis=-1) + inner[:, 3]
    return bool((inner[:, 3] > 0.0).all() and (reach <= outer[..., 3] + 1e-9).all())
