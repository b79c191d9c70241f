"""Meshes of a world: from a file, arrays or a trimesh object."""

from __future__ import annotations

import os
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.collision.geometry import is_convex
from kinodyn.collision.shapes import Mesh
from kinodyn.description.meshes import MAX_TRIANGLES, TriangleMesh, read_mesh, repaired
from kinodyn.errors import InputError, warn


class HasTriangles(Protocol):
    """An object with vertices and faces, such as a `trimesh.Trimesh`."""

    @property
    def vertices(self) -> ArrayLike: ...  # noqa: D102

    @property
    def faces(self) -> ArrayLike: ...  # noqa: D102


MeshSource: TypeAlias = str | os.PathLike[str] | tuple[ArrayLike, ArrayLike] | HasTriangles


def mesh_shape(name: str, source: MeshSource, scale: ArrayLike) -> Mesh:
    """Return the mesh of a file or of arrays, scaled, and warn of its faults."""
    factors = _factors(scale)
    if isinstance(source, (str, os.PathLike)):
        given = read_mesh(source, tuple(factors.tolist()))
    else:
        given = _scaled(_arrays(source), factors)
    mesh, faults = repaired(given)
    if len(mesh) == 0:
        raise InputError(f"every face of the mesh of {name!r} is degenerate; give triangles with an area")
    if faults:
        warn(f"object {name!r}: the mesh is broken: {', '.join(faults)}")
    return Mesh(mesh.vertices, mesh.faces, is_convex(mesh))


def _factors(scale: ArrayLike) -> Array:
    factors = numbers("scale", scale)
    if factors.shape not in ((), (3,)) or not factors.all():
        raise InputError(f"scale must be one factor or three, none of them 0, got {scale!r}")
    return np.array(np.broadcast_to(factors, (3,)))


def _arrays(source: tuple[ArrayLike, ArrayLike] | HasTriangles) -> Mesh:
    if isinstance(source, (tuple, list)) and len(source) == 2:
        vertices, faces = source
    elif hasattr(source, "vertices") and hasattr(source, "faces"):
        vertices, faces = source.vertices, source.faces
    else:
        kind = type(source).__name__
        raise InputError(
            f"mesh must be a path, (vertices, faces), or an object that has vertices and faces, got a {kind}"
        )
    try:
        indices = np.asarray(faces)
    except ValueError as cause:
        raise InputError(f"faces must be integers (m, 3): {cause}") from cause
    if len(np.atleast_1d(indices)) > MAX_TRIANGLES:
        raise InputError(f"a mesh may have at most {MAX_TRIANGLES} triangles, got {len(indices)}: simplify it")
    return Mesh(numbers("vertices", vertices, 3), indices)


def _scaled(mesh: Mesh, factors: Array) -> TriangleMesh:
    mirrored = bool(np.prod(factors) < 0.0)
    return TriangleMesh(mesh.vertices * factors, mesh.faces[:, ::-1] if mirrored else mesh.faces)
