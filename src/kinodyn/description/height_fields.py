"""Height fields as triangles."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.meshes import Faces, TriangleMesh


def field_mesh(heights: Array, size: Array, base: float) -> TriangleMesh:
    """Return the closed solid between heights (nx, ny) on a centred grid of `size` (2,) and the level `base`."""
    nx, ny = heights.shape
    x, y = (np.linspace(-0.5 * extent, 0.5 * extent, n) for extent, n in zip(size, (nx, ny), strict=True))
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    upper = np.concatenate([grid, heights[..., None]], axis=-1).reshape(-1, 3)
    lower = np.concatenate([grid, np.full((nx, ny, 1), base)], axis=-1).reshape(-1, 3)
    node = np.arange(nx * ny).reshape(nx, ny)
    cells = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    rim = np.concatenate([node[:-1, 0], node[-1, :-1], node[:0:-1, -1], node[0, :0:-1]])
    after, below = np.roll(rim, -1), nx * ny
    walls = np.stack([rim + below, after + below, after, rim], axis=1)
    quads = np.concatenate([cells, cells[:, ::-1] + below, walls])
    return TriangleMesh(np.concatenate([upper, lower]), halves(quads))


def halves(quads: Faces) -> Faces:
    """Split four-cornered faces (n, 4) into triangles (2 n, 3)."""
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
