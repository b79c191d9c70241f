"""Pictures of a workspace. Matplotlib takes long to import: it is, when one is drawn."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.kinematics.workspaces.grid import Axes, Workspace

LABELS = {"probability": "share of samples [per voxel]", "dexterity": "share of directions"}


def plot_slice(space: Workspace, axis: str, at: float | None, quantity: str, ax: Axes | None) -> Axes:
    """Draw one layer of voxels; see `Workspace.plot_slice`."""
    values = _values(space, quantity)
    if axis not in ("x", "y", "z"):
        raise InputError(f'axis is {axis!r}; give "x", "y" or "z"')
    normal = "xyz".index(axis)
    across, up = (i for i in range(3) if i != normal)
    height = float(space.centre[normal]) if at is None else float(at)
    layer = int(np.floor((height - space.origin[normal]) / space.resolution + 0.5))
    if not 0 <= layer < values.shape[normal]:
        ends = space.origin[normal] + space.resolution * np.array([0, values.shape[normal] - 1])
        raise InputError(f"at is {height:.4g} m; the workspace spans {ends[0]:.4g} to {ends[1]:.4g} m along {axis}")
    ax = _new_axes(None) if ax is None else ax
    shown = np.take(values, layer, axis=normal)
    reached = np.take(space.reachable, layer, axis=normal)
    corner, half = space.origin[[across, up]], space.resolution / 2
    last = corner + space.resolution * (np.array(shown.shape) - 1)
    extent = (corner[0] - half, last[0] + half, corner[1] - half, last[1] + half)
    image = ax.imshow(np.ma.masked_where(~reached, shown).T, origin="lower", extent=extent, cmap="viridis", vmin=0.0)
    void = np.take(space.voids(), layer, axis=normal)
    if void.any():
        ax.imshow(np.ma.masked_where(~void, void * 1.0).T, origin="lower", extent=extent, cmap="Reds", vmin=0, vmax=2)
    ax.plot(*space.centre[[across, up]], "k+", markersize=10)
    ax.set_xlabel(f"{'xyz'[across]} [m]")
    ax.set_ylabel(f"{'xyz'[up]} [m]")
    ax.set_title(f"{space.robot}: {space.frame}, {axis} = {height:.3g} m" + (", voids red" if void.any() else ""))
    _colour_bar(ax, image, quantity)
    return ax


def plot_cloud(space: Workspace, quantity: str, ax: Axes | None) -> Axes:
    """Draw the reachable voxels in space; see `Workspace.plot_cloud`."""
    values = _values(space, quantity)
    ax = _new_axes("3d") if ax is None else ax
    if getattr(ax, "name", "") != "3d":
        raise InputError('ax is flat; make it with projection="3d"')
    points = space.points()
    # The quarter that faces the viewer is left out, so that the inside shows.
    kept = (points[:, 0] <= space.centre[0]) | (points[:, 1] >= space.centre[1]) | (space.dimension < 3)
    points, shown = points[kept], values[space.reachable][kept]
    image = ax.scatter(*points.T, c=shown, s=14, cmap="viridis", linewidths=0)
    ax.set_box_aspect(np.maximum(np.ptp(points, axis=0), space.resolution))
    ax.locator_params(nbins=5)
    ax.view_init(elev=20, azim=-45)
    for name in "xyz":
        getattr(ax, f"set_{name}label")(f"{name} [m]")
    ax.set_title(f"{space.robot}: {space.frame}, reach {space.max_reach:.3f} m")
    _colour_bar(ax, image, quantity, pad=0.12)  # the numbers of the z axis want room
    return ax


def _values(space: Workspace, quantity: str) -> Array:
    if quantity not in LABELS:
        raise InputError(f'quantity is {quantity!r}; give "probability" or "dexterity"')
    values = space.probability if quantity == "probability" else space.dexterity
    if values.size == 0:
        raise InputError("this workspace was made with dexterous=False; make it with dexterous=True")
    return values


def _new_axes(projection: str | None) -> Axes:
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(7.0, 6.0), layout="constrained")
    return figure.add_subplot(projection=projection)


def _colour_bar(ax: Axes, image: object, quantity: str, pad: float = 0.02) -> None:
    ax.get_figure().colorbar(image, ax=ax, label=LABELS[quantity], shrink=0.8, pad=pad)
