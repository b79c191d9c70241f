"""Mesh properties for fitting spheres: orientation of faces, concave edges, closed holes."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kinodyn.arrays import Array
from kinodyn.description.meshes import Faces, TriangleMesh, open_edges

CONCAVE = 1e-9  # fraction of the extent: a neighbour that rises less above a triangle is coplanar with it


def facing_outwards(mesh: TriangleMesh) -> TriangleMesh:
    """Return the mesh with triangles turned if it encloses a negative volume."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] - mesh.vertices[mesh.faces[0, 0]] for k in range(3))
    volume = float(np.einsum("ij,ij->", a, np.cross(b, c)))
    return mesh if volume >= 0.0 else TriangleMesh(mesh.vertices, mesh.faces[:, ::-1])


def with_holes_closed(mesh: TriangleMesh) -> TriangleMesh:
    """Close holes: connect each open edge to the middle of the open edges around the same hole."""
    edges = open_edges(mesh.faces)
    if len(edges) == 0:
        return mesh
    count = len(mesh.vertices)
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    _, hole = connected_components(graph, directed=False)
    _, index = np.unique(hole[edges[:, 0]], return_inverse=True)
    sums = np.zeros((index.max() + 1, 3))
    np.add.at(sums, index, mesh.vertices[edges].mean(axis=1))
    middles = sums / np.bincount(index)[:, None]
    fans = np.column_stack([edges[:, ::-1], count + index])
    return TriangleMesh(np.concatenate([mesh.vertices, middles]), np.concatenate([mesh.faces, fans]))


def bends(mesh: TriangleMesh) -> Array:
    """Return how far points below each triangle may lie outside the prism below it, relative to their distance (m,).

    A point inside is nearest to a point within a triangle, straight below which it is, or to one on a concave edge or
    corner. Then its direction is between the normals of the triangles there, which differ by no more than the angles of
    the concave edges together: 2 sin(angle / 2), at most 1. It is 0 where the surface is convex, and for a mesh that is
    not closed, and has no well-defined interior.
    """
    if len(open_edges(mesh.faces)):
        return np.zeros(len(mesh.faces))
    edges, angles = _concave_edges(mesh)
    total = np.zeros(len(mesh.vertices))
    np.add.at(total, edges, angles[:, None])
    widest = np.minimum(total[mesh.faces].max(axis=1), np.pi / 3.0)
    return np.asarray(2.0 * np.sin(0.5 * widest))


def _normals(mesh: TriangleMesh) -> Array:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300))


def _concave_edges(mesh: TriangleMesh) -> tuple[Faces, Array]:
    """Return the edges (k, 2) of two triangles of which one rises above the plane of the other, and their angles."""
    faces, normals = mesh.faces, _normals(mesh)
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    opposite = np.concatenate([faces[:, 2], faces[:, 0], faces[:, 1]])
    owner = np.tile(np.arange(len(faces)), 3)
    order = np.lexsort(edges.T)
    same = np.flatnonzero((edges[order[1:]] == edges[order[:-1]]).all(axis=1))
    first, second = order[same], order[same + 1]
    offset = mesh.vertices[opposite[second]] - mesh.vertices[edges[first, 0]]
    rise = np.einsum("ij,ij->i", offset, normals[owner[first]])
    concave = rise > CONCAVE * float(np.ptp(mesh.vertices, axis=0).max())
    cosines = np.einsum("ij,ij->i", normals[owner[first]], normals[owner[second]])
    return edges[first[concave]], np.arccos(np.clip(cosines[concave], -1.0, 1.0))
