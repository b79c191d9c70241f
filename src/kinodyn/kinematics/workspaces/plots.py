"""Plots of voxel grids. Matplotlib is slow to import, so it is imported only when a plot is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kinodyn.arrays import Array, Mask
from kinodyn.checks import one_of
from kinodyn.errors import InputError

Axes: TypeAlias = Any  # of matplotlib


@dataclass(frozen=True, eq=False)
class VoxelImage:
    """Data of a plot: a value for each voxel (nx, ny, nz), and which voxels are reachable."""

    values: Array
    reachable: Mask
    origin: Array
    resolution: float
    centre: Array
    title: str
    label: str


def plot_slice(image: VoxelImage, voids: Mask, axis: str, at: float | None, ax: Axes | None) -> Axes:
    """Draw one layer of voxels; see `Workspace.plot_slice`."""
    one_of("axis", axis, ("x", "y", "z"))
    normal = "xyz".index(axis)
    across, up = (i for i in range(3) if i != normal)
    height = float(image.centre[normal]) if at is None else float(at)
    layer = _layer(image, normal, height)
    ax = _new_axes(None) if ax is None else ax
    shown, reached, void = (np.take(part, layer, axis=normal) for part in (image.values, image.reachable, voids))
    corner, half = image.origin[[across, up]], image.resolution / 2
    last = corner + image.resolution * (np.array(shown.shape) - 1)
    extent = (corner[0] - half, last[0] + half, corner[1] - half, last[1] + half)
    drawn = ax.imshow(np.ma.masked_where(~reached, shown).T, origin="lower", extent=extent, cmap="viridis", vmin=0.0)
    if void.any():
        ax.imshow(np.ma.masked_where(~void, void * 1.0).T, origin="lower", extent=extent, cmap="Reds", vmin=0, vmax=2)
    ax.plot(*image.centre[[across, up]], "k+", markersize=10)
    ax.set_xlabel(f"{'xyz'[across]} [m]")
    ax.set_ylabel(f"{'xyz'[up]} [m]")
    ax.set_title(f"{image.title}, {axis} = {height:.3g} m" + (", voids red" if void.any() else ""))
    _colour_bar(ax, drawn, image.label)
    return ax


def _layer(image: VoxelImage, normal: int, height: float) -> int:
    """Find the index of the layer of voxels at a coordinate."""
    count = image.values.shape[normal]
    layer = int(np.floor((height - image.origin[normal]) / image.resolution + 0.5))
    if not 0 <= layer < count:
        low, high = image.origin[normal] + image.resolution * np.array([0, count - 1])
        axis = "xyz"[normal]
        raise InputError(f"at is {height:.4g} m; the workspace spans {low:.4g} to {high:.4g} m along {axis}")
    return layer


def plot_cloud(image: VoxelImage, ax: Axes | None, *, cut: bool) -> Axes:
    """Draw the reachable voxels in space, with the quarter that faces the viewer left out if `cut`."""
    ax = _new_axes("3d") if ax is None else ax
    if getattr(ax, "name", "") != "3d":
        raise InputError('ax is two-dimensional; create it with projection="3d"')
    points = image.origin + image.resolution * np.argwhere(image.reachable)
    kept = (points[:, 0] <= image.centre[0]) | (points[:, 1] >= image.centre[1]) | (not cut)
    points, shown = points[kept], image.values[image.reachable][kept]
    drawn = ax.scatter(*points.T, c=shown, s=14, cmap="viridis", linewidths=0)
    ax.set_box_aspect(np.maximum(np.ptp(points, axis=0), image.resolution))
    ax.locator_params(nbins=5)
    ax.view_init(elev=20, azim=-45)
    for name in "xyz":
        getattr(ax, f"set_{name}label")(f"{name} [m]")
    ax.set_title(image.title)
    _colour_bar(ax, drawn, image.label, pad=0.12)  # room for the tick labels of the z axis
    return ax


def _new_axes(projection: str | None) -> Axes:
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(7.0, 6.0), layout="constrained")
    return figure.add_subplot(projection=projection)


def _colour_bar(ax: Axes, drawn: object, label: str, pad: float = 0.02) -> None:
    ax.get_figure().colorbar(drawn, ax=ax, label=label, shrink=0.8, pad=pad)
