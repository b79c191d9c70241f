"""Read the triangles of a COLLADA file (.dae), a common mesh format that trimesh alone does not read.

Positions, polygons, the node tree and the unit of length are read; materials, normals and the up axis are ignored:
robot descriptions use the coordinates as written, independent of the up axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import DescriptionError
from kinodyn.spatial import exp

Faces = NDArray[np.int64]
Piece = tuple[Array, Faces]

MAX_NODES = 100_000  # with those of instances


def parse_collada(data: bytes, path: Path, max_triangles: int) -> Piece:
    """Return vertices (n, 3) [m] and faces (m, 3) of everything in the visual scenes of a COLLADA document.

    Parameters
    ----------
    data
        The document.
    path
        Its file, for messages.
    max_triangles
        Instances of instances can multiply a few lines without bound: more triangles or nodes are an error.
    """
    root = _parse(data, path)
    try:
        meshes = {f"#{node.get('id')}": _geometry(node) for node in _below(root, "library_geometries", "geometry")}
        library = {f"#{node.get('id')}": node for node in root.iter(_tag(root, "node")) if node.get("id")}
        scenes = _below(root, "library_visual_scenes", "visual_scene")
        tree = _Nodes(meshes, library, max_triangles)
        pieces = [piece for scene in scenes for piece in tree.pieces(scene, np.eye(4), 0)]
    except (KeyError, ValueError, IndexError, TypeError) as cause:
        raise DescriptionError(f"the COLLADA file is invalid: {cause}", file=path) from cause
    if not pieces:
        raise DescriptionError("the COLLADA file contains no triangles", file=path)
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in pieces)])
    faces = np.concatenate([part + start for (_, part), start in zip(pieces, starts, strict=False)])
    return _unit(root) * np.concatenate([vertices for vertices, _ in pieces]), faces


def _parse(data: bytes, path: Path) -> ElementTree.Element:
    if b"<!DOCTYPE" in data or b"\0" in data:  # no entities are expanded or fetched
        raise DescriptionError("a COLLADA file with a document type declaration is not read", file=path)
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as cause:
        raise DescriptionError(f"the COLLADA file is not valid XML: {cause}", file=path) from cause


def _tag(root: ElementTree.Element, name: str) -> str:
    """Return a tag with the namespace of the file."""
    space = root.tag.rpartition("}")[0]
    return f"{space}}}{name}" if space else name


def _below(root: ElementTree.Element, *names: str) -> list[ElementTree.Element]:
    return root.findall("/".join(_tag(root, name) for name in names))


def _unit(root: ElementTree.Element) -> float:
    found = _below(root, "asset", "unit")
    return float(found[0].get("meter", "1")) if found else 1.0


def _numbers(node: ElementTree.Element, kind: type = float) -> NDArray[np.generic]:
    return np.array((node.text or "").split(), dtype=kind)


def _geometry(geometry: ElementTree.Element) -> list[Piece]:
    """Read each group of polygons of a geometry."""
    mesh = geometry.find(_tag(geometry, "mesh"))
    if mesh is None:
        return []
    sources = {
        f"#{source.get('id')}": np.asarray(_numbers(array), dtype=float)
        for source in _below(mesh, "source")
        for array in _below(source, "float_array")
    }
    positions = {
        f"#{vertices.get('id')}": sources[str(entry.get("source"))].reshape(-1, 3)
        for vertices in _below(mesh, "vertices")
        for entry in _below(vertices, "input")
        if entry.get("semantic") == "POSITION"
    }
    kinds = ("triangles", "polylist", "polygons")
    return [_polygons(group, positions) for kind in kinds for group in _below(mesh, kind) if len(_below(group, "p"))]


def _polygons(group: ElementTree.Element, positions: dict[str, Array]) -> Piece:
    inputs = {str(entry.get("semantic")): entry for entry in _below(group, "input")}
    stride = 1 + max(int(entry.get("offset", "0")) for entry in _below(group, "input"))
    column = int(inputs["VERTEX"].get("offset", "0"))
    runs = [np.asarray(_numbers(p, int)).reshape(-1, stride)[:, column] for p in _below(group, "p")]
    index = np.concatenate(runs)
    counts = _below(group, "vcount")
    if counts:
        sizes = np.asarray(_numbers(counts[0], int))
    elif group.tag.endswith("polygons"):
        sizes = np.array([len(run) for run in runs])
    else:
        sizes = np.full(len(index) // 3, 3)
    return positions[str(inputs["VERTEX"].get("source"))], index[_triangle_fans(sizes, len(index))]


def _triangle_fans(sizes: Faces, corners: int) -> Faces:
    """Triangulate polygons as fans about their first corner: indices (m, 3) into the list of corners."""
    if (sizes < 0).any() or sizes.sum() > corners:
        raise ValueError(f"polygons of {sizes.sum()} corners with a list of {corners}")
    starts = np.cumsum(sizes) - sizes
    counts = np.maximum(sizes - 2, 0)
    first = np.repeat(starts, counts)
    step = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([first, first + step + 1, first + step + 2], axis=1)


class _Nodes:
    """The node tree, with the number of nodes and triangles that may still be visited."""

    def __init__(
        self, meshes: dict[str, list[Piece]], library: dict[str, ElementTree.Element], max_triangles: int
    ) -> None:
        self._meshes, self._library = meshes, library
        self._nodes_left, self._triangles_left = MAX_NODES, max_triangles

    def pieces(self, node: ElementTree.Element, T: Array, depth: int) -> Iterator[Piece]:
        """Walk the tree below a node and yield its geometry in the scene's frame."""
        if depth > 64:
            raise ValueError("nodes are nested more than 64 deep")
        for child in node:
            self._nodes_left -= 1
            self._check()
            name = child.tag.rpartition("}")[2]
            if name in ("matrix", "translate", "rotate", "scale"):
                T = T @ _transform(name, np.asarray(_numbers(child), dtype=float))
            elif name == "instance_geometry":
                yield from self._instance(self._meshes[str(child.get("url"))], T)
            elif name == "node":
                yield from self.pieces(child, T, depth + 1)
            elif name == "instance_node":
                yield from self.pieces(self._library[str(child.get("url"))], T, depth + 1)

    def _instance(self, parts: list[Piece], T: Array) -> Iterator[Piece]:
        for vertices, faces in parts:
            self._triangles_left -= len(faces)
            self._check()
            turned = faces[:, ::-1] if np.linalg.det(T[:3, :3]) < 0 else faces
            yield vertices @ T[:3, :3].T + T[:3, 3], turned

    def _check(self) -> None:
        if min(self._nodes_left, self._triangles_left) < 0:
            raise ValueError("it is too large, with all its instances")


def _transform(kind: str, values: Array) -> Array:
    T = np.eye(4)
    if kind == "matrix":
        T = values.reshape(4, 4)
    elif kind == "translate":
        T[:3, 3] = values
    elif kind == "scale":
        T[:3, :3] = np.diag(values)
    else:
        axis = values[:3] / np.linalg.norm(values[:3])
        T = exp(np.concatenate([np.zeros(3), np.deg2rad(values[3]) * axis]))
    return T
