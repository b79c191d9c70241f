"""Triangles as the content of a mesh file."""

from __future__ import annotations

import numpy as np

from kinodyn.description.meshes import TriangleMesh

_HEADER = b"kinodyn".ljust(80)
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def stl_bytes(mesh: TriangleMesh) -> bytes:
    """Return the content of a binary STL file.

    Parameters
    ----------
    mesh
        Triangles [m].

    Returns
    -------
    bytes
        Coordinates are rounded to single precision.
    """
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    rows = np.zeros(len(mesh), dtype=_TRIANGLE)
    rows["normal"], rows["corners"] = normals / np.where(lengths > 0.0, lengths, 1.0), corners
    return _HEADER + len(mesh).to_bytes(4, "little") + rows.tobytes()
