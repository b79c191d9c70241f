"""What the fit of spheres needs to know of a mesh: which side is outside, where it is concave, how holes are closed."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kinodyn.arrays import Array
from kinodyn.description.meshes import Faces, TriangleMesh, open_edges

CONCAVE = 1e-9  # of the extent: a neighbour that rises less above a triangle is in its plane


def facing_outwards(mesh: TriangleMesh) -> TriangleMesh:
    """Return the mesh with triangles turned if it encloses a negative volume."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] - mesh.vertices[mesh.faces[0, 0]] for k in range(3))
    volume = float(np.einsum("ij,ij->", a, np.cross(b, c)))
    return mesh if volume >= 0.0 else TriangleMesh(mesh.vertices, mesh.faces[:, ::-1])


def with_lids(mesh: TriangleMesh) -> TriangleMesh:
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
    lids = np.column_stack([edges[:, ::-1], count + index])
    return TriangleMesh(np.concatenate([mesh.vertices, middles]), np.concatenate([mesh.faces, lids]))


def bends(mesh: TriangleMesh) -> Array:
    """Return how far the inward normals of the neighbours of each triangle deviate at concave edges (m,).

    A point inside, at distance d from the triangle that is nearest to it, is beside the prism below the triangle by at
    most d times this number, which is 2 sin(angle / 2), at most 1. Where the surface is convex it is 0.
    """
    normals = _normals(mesh)
    concave = np.zeros(len(mesh.vertices), dtype=bool)
    concave[_concave_edges(mesh, normals)] = True
    mean = np.zeros_like(mesh.vertices)
    np.add.at(mean, mesh.faces, normals[:, None, :])
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
    cosines = np.einsum("ik,ijk->ij", normals, mean[mesh.faces])
    angles = np.arccos(np.clip(cosines, -1.0, 1.0))  # of each triangle at each of its corners
    widest = np.zeros(len(mesh.vertices))
    np.maximum.at(widest, mesh.faces, angles)
    deviation = np.where(concave[mesh.faces], angles + widest[mesh.faces], 0.0).max(axis=1)
    return np.minimum(2.0 * np.sin(np.minimum(0.5 * deviation, 0.5 * np.pi)), 1.0)


def _normals(mesh: TriangleMesh) -> Array:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)


def _concave_edges(mesh: TriangleMesh, normals: Array) -> Faces:
    """Return the edges (k, 2) of two triangles of which one rises above the plane of the other."""
    count = len(mesh.faces)
    edges = np.sort(np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]]), axis=1)
    opposite = np.concatenate([mesh.faces[:, 2], mesh.faces[:, 0], mesh.faces[:, 1]])
    owner = np.tile(np.arange(count), 3)
    order = np.lexsort(edges.T)
    same = np.flatnonzero((edges[order[1:]] == edges[order[:-1]]).all(axis=1))
    first, second = order[same], order[same + 1]
    offset = mesh.vertices[opposite[second]] - mesh.vertices[edges[first, 0]]
    rise = np.einsum("ij,ij->i", offset, normals[owner[first]])
    return np.asarray(edges[first[rise > CONCAVE * float(np.ptp(mesh.vertices, axis=0).max())]])
