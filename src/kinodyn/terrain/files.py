"""Terrains from files: images of heights, height fields of MJCF files, meshes."""

from __future__ import annotations

import os
from pathlib import Path

import mujoco as mj
import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.checks import numbers, positive
from kinodyn.description.meshes import SUFFIXES, read_mesh
from kinodyn.description.mjcf.guard import check_file
from kinodyn.description.roots import Roots
from kinodyn.dynamics.contact.ground import HeightField
from kinodyn.errors import DescriptionError, InputError
from kinodyn.terrain.height_map import MAX_CELLS
from kinodyn.terrain.shapes import Mesh
from kinodyn.terrain.terrain import Terrain

IMAGES = (".png",)


@check_types
def from_heights(heights: ArrayLike, cell: float, origin: ArrayLike | None = None, name: str = "heights") -> Terrain:
    """Make a terrain from heights on a grid.

    Parameters
    ----------
    heights
        (nx, ny) [m], at least 2 by 2, x along the first axis.
    cell
        Distance between nodes [m].
    origin
        x, y (2,) [m] of the first node; by default the grid is centred at the origin of the world.
    name
        Name used in messages.

    Returns
    -------
    Terrain
    """
    grid, side = numbers("heights", heights), positive("cell", cell)
    if grid.ndim != 2 or min(grid.shape) < 2 or grid.size > MAX_CELLS:
        raise InputError(f"heights must be (nx, ny), from 2 by 2 to {MAX_CELLS} nodes, got shape {grid.shape}")
    first = -0.5 * side * (np.array(grid.shape) - 1.0) if origin is None else numbers("origin", origin, 2)
    return Terrain([HeightField(grid, side, first, interpolation="linear")], name)


@check_types
def from_image(
    path: str | os.PathLike[str], cell: float = 0.05, height: float = 0.3, origin: ArrayLike | None = None
) -> Terrain:
    """Read heights from a grey PNG image, of 8 or 16 bits.

    Parameters
    ----------
    path
    cell
        Side of a pixel [m].
    height
        Height of white above black [m]; the ground has height 0 at the origin of the world.
    origin
        x, y (2,) [m] of the lower left pixel; by default the image is centred at the origin. Right is along x, up is y.

    Returns
    -------
    Terrain
    """
    from PIL import Image, UnidentifiedImageError

    file, tall = Path(path), positive("height", height)
    try:
        with Image.open(file, formats=["PNG"]) as image:
            if image.width * image.height > MAX_CELLS or min(image.size) < 2:
                raise InputError(
                    f"{file} has {image.width} x {image.height} pixels; from 2 x 2 to {MAX_CELLS} in total are allowed"
                )
            grey = np.asarray(image if image.mode in ("L", "I;16", "I") else image.convert("L"), dtype=float)
            white = 65535.0 if image.mode in ("I;16", "I") else 255.0
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError, Image.DecompressionBombError) as cause:
        if isinstance(cause, InputError):
            raise
        raise InputError(f"{file} cannot be read as a PNG image: {cause}") from cause
    heights = np.flipud(grey).T * (tall / white)
    shifted = from_heights(heights, cell, origin, file.name)
    return _level_at_start(shifted)


@check_types
def from_mjcf(path: str | os.PathLike[str]) -> Terrain:
    """Read the height fields of a MJCF file, as MuJoCo places them.

    Parameters
    ----------
    path

    Returns
    -------
    Terrain
    """
    file = Path(path)
    check_file(file, Roots(file))
    try:
        model = mj.MjModel.from_xml_path(str(file))
    except (ValueError, TypeError, RuntimeError, MemoryError, OSError, mj.FatalError) as cause:
        raise DescriptionError(f"MuJoCo cannot read it: {cause}", file=file) from cause
    data = mj.MjData(model)
    mj.mj_kinematics(model, data)
    fields = []
    for geom in np.flatnonzero(model.geom_type == mj.mjtGeom.mjGEOM_HFIELD):
        k, R = int(model.geom_dataid[geom]), data.geom_xmat[geom].reshape(3, 3)
        if np.abs(R - np.eye(3)).max() > 1e-9:
            raise DescriptionError(f"height field {k} is rotated; only level ones are read", file=file)
        rows, columns, begin = int(model.hfield_nrow[k]), int(model.hfield_ncol[k]), int(model.hfield_adr[k])
        half_x, half_y, tall, _ = model.hfield_size[k]
        grid = tall * model.hfield_data[begin : begin + rows * columns].astype(float).reshape(rows, columns).T
        x, y, z = data.geom_xpos[geom]
        spacing = (2.0 * half_x / (columns - 1), 2.0 * half_y / (rows - 1))
        fields.append(HeightField(grid + z, spacing, (x - half_x, y - half_y), interpolation="linear"))
    if not fields:
        raise DescriptionError("it has no geom of type hfield", file=file)
    return Terrain(fields, file.name)


@check_types
def from_mesh(path: str | os.PathLike[str], scale: float = 1.0) -> Terrain:
    """Read a terrain from a mesh file.

    Parameters
    ----------
    path
        An STL, OBJ, DAE, PLY or GLB file, in world coordinates, z up.
    scale
        Factor on all coordinates.

    Returns
    -------
    Terrain
    """
    mesh = read_mesh(path, (positive("scale", scale),) * 3)
    return Terrain([Mesh(mesh.vertices, mesh.faces)], Path(path).name)


@check_types
def from_file(path: str | os.PathLike[str], *numbers: float) -> Terrain:
    """Read a terrain from a file of any of these kinds, by its suffix.

    Parameters
    ----------
    path
    numbers
        For an image: cell, height; for a mesh: scale.

    Returns
    -------
    Terrain
    """
    suffix = Path(path).suffix.lower()
    if suffix in IMAGES and len(numbers) <= 2:
        return from_image(path, *numbers)
    if suffix in (".xml", ".mjcf") and not numbers:
        return from_mjcf(path)
    if suffix in SUFFIXES and len(numbers) <= 1:
        return from_mesh(path, *numbers)
    known = ", ".join((*IMAGES, ".xml", ".mjcf", *SUFFIXES))
    raise InputError(f"a terrain file must be one of {known}, with at most two numbers for an image, one for a mesh")


def _level_at_start(terrain: Terrain) -> Terrain:
    """Shift a terrain such that the ground at the origin has height 0, if there is any."""
    height = float(terrain.height((0.0, 0.0)))
    (grid,) = terrain.shapes
    assert isinstance(grid, HeightField)
    if not np.isfinite(height):
        return terrain
    return Terrain(
        [HeightField(grid.heights - height, grid.spacing, grid.origin, interpolation="linear")], terrain.name
    )
