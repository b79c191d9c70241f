"""The mesh reader: STL, OBJ, DAE, PLY and GLB files as triangles, with limits on the size of what is read."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.checks import as_path, vector
from kinodyn.description.collada import parse_collada
from kinodyn.description.messages import counted
from kinodyn.errors import DescriptionError

SUFFIXES = (".stl", ".obj", ".dae", ".ply", ".glb")
MAX_BYTES = 200_000_000
MAX_XML_BYTES = 80_000_000  # a parsed element takes twenty times its size in the file
MAX_TRIANGLES = 2_000_000
MAX_EXTENT, MIN_EXTENT = 20.0, 1e-4  # [m] extents beyond these are probably in another unit
MAX_COORDINATE = 1e6  # [m] of a vertex: in float32, whose squares must be finite, a step is 6 cm there

Faces = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Triangles, counter-clockwise seen from outside.

    Parameters
    ----------
    vertices : (n, 3) array
        [m]
    faces : (m, 3) array of int
        Indices of the vertices of each triangle.
    """

    vertices: Array
    faces: Faces

    def __len__(self) -> int:
        return len(self.faces)


def read_mesh(path: str | os.PathLike[str], scale: Sequence[float] = (1.0, 1.0, 1.0)) -> TriangleMesh:
    """Read the triangles of a mesh file.

    Parameters
    ----------
    path
        An STL, OBJ, DAE, PLY or GLB file.
    scale
        Factors along x, y and z; a mirrored mesh still faces outwards.

    Returns
    -------
    mesh : TriangleMesh
        In metres, unmodified: `repaired` removes faults.

    Raises
    ------
    DescriptionError
        If the file cannot be read, has no triangles or is too large: more than 200 MB or 2 million triangles.
    """
    path = as_path("path", path)
    factors = vector("scale", scale, 3)
    vertices, faces = _parse(path, _content(path))
    if len(faces) == 0:
        raise DescriptionError("the mesh has no triangles", file=path)
    if len(faces) > MAX_TRIANGLES:
        raise _too_large(path, f"{len(faces)} triangles")
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise DescriptionError("the vertices of the mesh must have three coordinates each", file=path)
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise DescriptionError("a triangle of the mesh names a vertex that does not exist", file=path)
    with np.errstate(over="ignore", invalid="ignore"):
        farthest = float(np.abs(vertices * factors).max())
    if not np.isfinite(farthest):
        raise DescriptionError("the mesh has vertices that are not finite", file=path)
    if farthest > MAX_COORDINATE:
        raise DescriptionError(f"a vertex of the mesh is at {farthest:.3g} m, beyond {MAX_COORDINATE:g} m", file=path)
    return TriangleMesh(vertices * factors, faces[:, ::-1] if np.prod(factors) < 0 else faces)


def repaired(mesh: TriangleMesh) -> tuple[TriangleMesh, tuple[str, ...]]:
    """Merge equal vertices, remove degenerate and duplicate triangles, and list the faults of a mesh.

    Parameters
    ----------
    mesh
        As `read_mesh` returns it.

    Returns
    -------
    mesh : TriangleMesh
        It may be empty, if every triangle was degenerate.
    faults : tuple of str
        What was removed, and what remains: open edges, an implausible size. Empty for a sound mesh.
    """
    vertices, faces = _merged(mesh.vertices, mesh.faces)
    proper = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    sound = areas(vertices, faces) > 1e-12 * float(np.ptp(vertices, axis=0).max()) ** 2
    single = _core.first_equal_rows(np.sort(faces, axis=1)) == np.arange(len(faces))
    faults = {
        "degenerate triangle": int((~sound).sum()),
        "duplicate triangle": int((sound & ~single).sum()),
        "open edge": len(open_edges(faces[proper & single])),
    }
    found = [counted(count, noun) for noun, count in faults.items() if count]
    return TriangleMesh(vertices, faces[sound & single]), (*found, *_implausible_size(vertices))


def open_edges(faces: Faces) -> Faces:
    """Return the directed edges (k, 2) that belong to one triangle only."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    ends = np.sort(edges, axis=1)
    first = _core.first_equal_rows(ends)
    alone = np.bincount(first, minlength=len(edges))[first] == 1
    return np.asarray(edges[alone][np.lexsort(ends[alone].T[::-1])])


def _content(path: Path) -> bytes:
    """Read the whole file, but never more than the limit: a device or a pipe may be endless."""
    limit = MAX_XML_BYTES if path.suffix.lower() == ".dae" else MAX_BYTES
    if path.suffix.lower() not in SUFFIXES:
        raise DescriptionError(f"meshes are read from {', '.join(SUFFIXES)} files", file=path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise DescriptionError("the mesh is not a regular file", file=path)
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except OSError as cause:
        raise DescriptionError(f"the mesh cannot be read: {cause.strerror}", file=path) from cause
    if len(data) > limit:
        raise _too_large(path, f"more than {limit / 1e6:.0f} MB")
    return data


def _parse(path: Path, data: bytes) -> tuple[Array, Faces]:
    kind = path.suffix.lower()[1:]
    if kind == "dae":
        return parse_collada(data, path, MAX_TRIANGLES)
    if kind == "obj" and data.count(b"\nf") > MAX_TRIANGLES:
        raise _too_large(path, f"{data.count(b'f')} faces")
    try:
        if kind == "glb":
            _check_accessors(path, data)
        return _load(path, data, kind)
    except DescriptionError:
        raise
    except Exception as cause:  # trimesh's readers raise exceptions of many types
        raise DescriptionError(f"the mesh cannot be read: {cause}", file=path) from cause


def _load(path: Path, data: bytes, kind: str) -> tuple[Array, Faces]:
    import trimesh  # slow to import

    scene = trimesh.load_scene(io.BytesIO(data), file_type=kind, process=False)
    placed = [scene.geometry[scene.graph[node][1]] for node in scene.graph.nodes_geometry]
    size = sum(len(part.faces) for part in placed if isinstance(part, trimesh.Trimesh))
    if size > MAX_TRIANGLES:
        raise _too_large(path, f"{size} triangles")
    if size == 0:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    made = scene.to_mesh()
    return np.asarray(made.vertices, dtype=float), np.asarray(made.faces, dtype=np.int64)


def _check_accessors(path: Path, data: bytes) -> None:
    """Raise if the header of a GLB file requests more numbers than the file can contain."""
    length = int.from_bytes(data[12:16], "little")
    header = json.loads(data[20 : 20 + length])
    counts = [int(accessor["count"]) for accessor in header.get("accessors", ())]
    if sum(counts) > len(data) or min(counts, default=0) < 0:
        raise _too_large(path, f"{sum(counts)} vertices and indices in {len(data)} bytes")


def _too_large(path: Path, found: str) -> DescriptionError:
    return DescriptionError(
        f"the mesh is too large: {found}; at most {MAX_BYTES / 1e6:.0f} MB ({MAX_XML_BYTES / 1e6:.0f} MB for .dae) and "
        f"{MAX_TRIANGLES} triangles are read, so simplify it",
        file=path,
    )


def _merged(vertices: Array, faces: Faces) -> tuple[Array, Faces]:
    """Give vertices at one place one index."""
    values = np.ascontiguousarray(vertices, dtype=float) + 0.0  # negative zeros become zeros
    first = _core.first_equal_rows(values.view(np.int64))
    kept = np.flatnonzero(first == np.arange(len(first)))
    kept = kept[np.lexsort(values[kept].T)]
    index = np.empty(len(first), dtype=np.int64)
    index[kept] = np.arange(len(kept))
    return vertices[kept], index[first][faces]


def areas(vertices: Array, faces: Faces) -> Array:
    """Return twice the area of each triangle (m,) [m^2]."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.asarray(np.linalg.norm(np.cross(b - a, c - a), axis=1))


def _implausible_size(vertices: Array) -> tuple[str, ...]:
    extent = float(np.ptp(vertices, axis=0).max())
    if MIN_EXTENT <= extent <= MAX_EXTENT:
        return ()
    return (f"an extent of {extent:.3g} m: is the unit of the file the metre? scale= converts it",)
