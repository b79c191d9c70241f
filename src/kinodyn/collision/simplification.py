"""Meshes on which searches take too long, replaced by cubes that contain them.

Boxes around thousands of long thin triangles overlap nearly everywhere, such as those of a polygon of many corners that
is read as a fan, so that a search for the nearest triangle visits most of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.description.meshes import Faces, TriangleMesh

MAX_TRIANGLES = 300_000
FEW_TRIANGLES = 1000  # searches on fewer ones are quick whatever they are like
MAX_SEARCH_COST = 2000.0  # nodes that a search visits; meshes of robots need some dozens, with holes up to 1400
CELL_FRACTION = 0.25  # smallest side of the cubes, as a fraction of the resolution
MAX_BOUND = 1.5  # in resolutions: where spheres of a mesh reach farther beyond it, those of cubes may be better


class Simplified(NamedTuple):
    """A mesh that encloses another one, and by how much it may be outside of it [m]: 0 if it is the same."""

    mesh: TriangleMesh
    excess: float


def searchable(mesh: TriangleMesh, resolution: float) -> Simplified:
    """Return a mesh on which searches are quick: the same, or the surface of cubes of a fraction of the resolution."""
    if len(mesh) <= FEW_TRIANGLES:
        return Simplified(mesh, 0.0)
    if len(mesh) <= MAX_TRIANGLES and _core.TriangleBvh(*core_arrays(mesh)).search_cost() <= MAX_SEARCH_COST:
        return Simplified(mesh, 0.0)
    return voxel_hull(mesh, resolution)


def coverable(mesh: TriangleMesh, resolution: float) -> Simplified:
    """Return the mesh or a surface of cubes around it, whichever spheres cover with the smaller overshoot.

    The area of a comb with hundreds of teeth, and the length of a coil, bound the number of spheres and make them
    large; the cubes that contain such a mesh have neither.
    """
    found = searchable(mesh, resolution)
    if found.excess > 0.0:
        return found
    bound = _core.fit_bound(*core_arrays(mesh), resolution)
    if bound <= MAX_BOUND * resolution:
        return found
    hull = voxel_hull(mesh, resolution)
    return hull if _core.fit_bound(*core_arrays(hull.mesh), resolution) + hull.excess < bound else found


def voxel_hull(mesh: TriangleMesh, resolution: float) -> Simplified:
    """Return the surface of the cubes that a mesh passes through or encloses."""
    vertices, faces, cell = _core.voxel_hull(*core_arrays(mesh), CELL_FRACTION * resolution)
    return Simplified(TriangleMesh(vertices, faces), math.sqrt(3.0) * cell)


def core_arrays(mesh: TriangleMesh) -> tuple[Array, Faces]:
    """Return vertices and faces as the compiled core expects them."""
    return np.ascontiguousarray(mesh.vertices), np.ascontiguousarray(mesh.faces, dtype=np.int64)
