"""Uneven ground as triangles, which recordings keep so that it can be drawn with the motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.dynamics.contact.ground import HeightField, Plane
from kinodyn.sim.terrain import GROUND_DEPTH, Block, GroundShape, axes_on, block_geom
from kinodyn.terrain import Box, Terrain
from kinodyn.terrain.shapes import Shape

PLANE_HALF_SIZE = 20.0  # [m] of an infinite plane that is kept
_CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
_HALVES = np.concatenate([_SIDES[:, [0, 1, 2]], _SIDES[:, [0, 2, 3]]])


def terrain_mesh(ground: object, blocks: Sequence[Block] = (), terrain: Terrain | None = None) -> dict[str, Array]:
    """Triangulate everything that differs from level ground at z = 0: "vertices" (n, 3) [m] and "faces" (m, 3).

    Empty on level ground. A plane is kept as a square; grounds of unknown types are left out.
    """
    if terrain is not None:
        parts = [_shape(shape) for shape in terrain.shapes]
        return _joined([part for part in parts if np.abs(part[0][:, 2]).max() > 1e-9])
    known = ground if isinstance(ground, Plane | HeightField) else None
    parts = [] if known is None else [_plane(known) if isinstance(known, Plane) else _field(known)]
    parts = [part for part in parts if np.abs(part[0][:, 2]).max() > 1e-9]
    parts += [_box(block, known) for block in blocks]
    return _joined(parts)


def _joined(parts: list[tuple[Array, Array]]) -> dict[str, Array]:
    if not parts:
        return {}
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    faces = [faces + start for (_, faces), start in zip(parts, starts[:-1], strict=True)]
    return {"vertices": np.concatenate([vertices for vertices, _ in parts]), "faces": np.concatenate(faces)}


def _shape(shape: Shape) -> tuple[Array, Array]:
    if isinstance(shape, Plane):
        return _plane(shape)
    if isinstance(shape, HeightField):
        return _field(shape)
    return (shape.corners(), _HALVES) if isinstance(shape, Box) else (shape.vertices, shape.faces.astype(float))


def _plane(plane: Plane) -> tuple[Array, Array]:
    axes = axes_on(plane.normal)
    square = PLANE_HALF_SIZE * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    return square @ axes.T + plane.point, np.array([[0, 1, 2], [0, 2, 3]])


def _field(field: HeightField) -> tuple[Array, Array]:
    """Triangulate the grid."""
    nx, ny = field.heights.shape
    x, y = (field.origin[k] + field.spacing[k] * np.arange(n) for k, n in enumerate((nx, ny)))
    places = np.stack([*np.meshgrid(x, y, indexing="ij"), field.heights], axis=-1)
    node = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = (part.ravel() for part in (node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]))
    return places.reshape(-1, 3), np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _box(block: Block, ground: GroundShape | None) -> tuple[Array, Array]:
    """Triangulate the box as MuJoCo has it; on level ground the part below the ground is left out."""
    geom = block_geom(block, "", ground)
    corners = _CORNERS * geom["size"]
    if ground is None:
        corners[:, 2] = np.maximum(corners[:, 2], GROUND_DEPTH - geom["size"][2])
    turn = Rotation.from_quat(np.roll(geom["quat"], -1))
    return turn.apply(corners) + geom["pos"], _HALVES
