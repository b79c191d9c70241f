"""Workspace: a voxel grid that records how often, and from how many directions, a frame reached each voxel."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, Mask
from kinodyn.checks import nonnegative, numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.kinematics.workspaces import files, plots
from kinodyn.kinematics.workspaces.plots import Axes

_LABELS = {"probability": "fraction of samples [per voxel]", "dexterity": "fraction of directions"}


@displayed
@dataclass(frozen=True, eq=False)
class Workspace:
    """Result of `kinodyn.kinematics.workspace`. Grids (nx, ny, nz) have an empty border of one voxel.

    Attributes
    ----------
    robot, frame : str
        Names of the robot and of the frame.
    origin : (3,) array
        Centre of voxel (0, 0, 0) in the world [m].
    resolution : float
        Edge of a voxel [m].
    samples : int
        Number of configurations sampled.
    counts : (nx, ny, nz) array of int
        Number of samples with the frame's origin in each voxel.
    dexterity : (nx, ny, nz) array, (0, 0, 0) if it was not requested
        Fraction of the directions on the sphere along which the frame's approach axis was observed, 0 to 1. It grows
        with the number of samples: a lower bound.
    centre : (3,) array
        Point from which reach is measured [m]: the first joint that moves the frame.
    max_reach : float
        Maximum distance from it [m], found by optimisation from the farthest samples, within the joint limits.
    q_max_reach : (nq,) array
        A configuration with that reach.
    """

    robot: str
    frame: str
    origin: Array
    resolution: float
    samples: int
    counts: NDArray[np.int64]
    dexterity: Array
    centre: Array
    max_reach: float
    q_max_reach: Array

    @property
    def reachable(self) -> Mask:
        """Mark the voxels that some sample reached."""
        return self.counts > 0

    @property
    def probability(self) -> Array:
        """Compute the fraction of samples, uniform in joint space, in each voxel; they add up to 1."""
        return self.counts / self.samples

    @property
    def dimension(self) -> int:
        """Count the axes along which the workspace is more than one voxel thick: 2 for a planar arm."""
        return sum(size > 1 for size in self._thickness())

    @property
    def volume(self) -> float:
        """Compute the volume of all reachable voxels [m^3], an area [m^2] or length [m] where the workspace is flat.

        This is an upper bound: a voxel counts in full if any part of it is reached. The voxels that are not on the
        `boundary` give a lower bound.
        """
        return float(self.reachable.sum() * self.resolution**self.dimension)

    @property
    def boundary(self) -> Mask:
        """Mark the reachable voxels that share a face with an unreachable one."""
        flat = self.reachable[self._core_slices()]
        result = np.zeros_like(self.reachable)
        result[self._core_slices()] = flat & ~ndimage.binary_erosion(flat)
        return result

    def voids(self, *, min_hits: float = 10.0) -> Mask:
        """Mark the unreachable voxels enclosed by reachable ones, in the plane where the workspace is flat.

        Parameters
        ----------
        min_hits
            Minimum average number of hits of the reachable voxels around a void: a voxel that no sample
            happened to hit looks like a void. 0 marks every void.

        Returns
        -------
        voids : (nx, ny, nz) array of bool
        """
        nonnegative("min_hits", min_hits)
        core = self._core_slices()
        flat = self.reachable[core]
        labels, n = ndimage.label(ndimage.binary_fill_holes(flat) & ~flat)
        around = np.where(flat, ndimage.grey_dilation(labels, size=(3,) * labels.ndim), 0)
        hits = np.asarray(ndimage.mean(self.counts[core], around, np.arange(1, n + 1)))
        result = np.zeros_like(self.reachable)
        result[core] = np.concatenate([[False], hits >= min_hits])[labels]
        return result

    def points(self, mask: Mask | None = None) -> Array:
        """List the centres of voxels.

        Parameters
        ----------
        mask
            Which voxels `(nx, ny, nz)`; the reachable ones if not given.

        Returns
        -------
        points : (n, 3) array [m]
        """
        chosen = self.reachable if mask is None else np.asarray(mask)
        if chosen.dtype != bool or chosen.shape != self.counts.shape:
            raise InputError(f"mask must be booleans {self.counts.shape}, got {chosen.dtype} {chosen.shape}")
        return self.origin + self.resolution * np.argwhere(chosen)

    def contains(self, points: ArrayLike) -> Mask:
        """Return whether points lie in a reachable voxel.

        Parameters
        ----------
        points
            Points `(..., 3)` in the world [m].

        Returns
        -------
        inside : (...) array of bool
        """
        index = np.floor((numbers("points", points, 3) - self.origin) / self.resolution + 0.5)
        inside = np.asarray(((index >= 0) & (index < self.counts.shape)).all(axis=-1))
        i, j, k = np.moveaxis(np.where(inside[..., None], index, 0).astype(np.int64), -1, 0)
        return np.asarray(inside & self.reachable[i, j, k])

    @check_types
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an NPZ file of plain arrays.

        Parameters
        ----------
        path
            Path of the file, used as it is: no suffix is appended.
        """
        files.write(path, {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    @check_types
    def load(cls, path: str | os.PathLike[str]) -> Workspace:
        """Read a file that `save` wrote, without pickle, and check that it is consistent.

        Parameters
        ----------
        path
            Path of the file.

        Returns
        -------
        workspace : Workspace
        """
        return cls(**files.read(path, [field.name for field in fields(cls)]))

    @check_types
    def plot_slice(
        self, *, axis: str = "z", at: float | None = None, quantity: str = "probability", ax: Axes | None = None
    ) -> Axes:
        """Draw a layer of voxels, voids in red.

        Parameters
        ----------
        axis
            Normal of the layer: "x", "y" or "z".
        at
            Coordinate of the layer along the axis [m]; that of `centre` if not given.
        quantity
            "probability" or "dexterity".
        ax
            Axes of matplotlib to draw on; new ones if not given.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        return plots.plot_slice(self._image(quantity, f"{self.robot}: {self.frame}"), self.voids(), axis, at, ax)

    @check_types
    def plot_cloud(self, *, quantity: str = "probability", ax: Axes | None = None) -> Axes:
        """Draw every reachable voxel as a point in space, cut open towards the viewer.

        Parameters
        ----------
        quantity
            "probability" or "dexterity".
        ax
            Three-dimensional axes of matplotlib to draw on; new ones if not given.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        title = f"{self.robot}: {self.frame}, reach {self.max_reach:.3f} m"
        return plots.plot_cloud(self._image(quantity, title), ax, cut=self.dimension == 3)

    def _image(self, quantity: str, title: str) -> plots.VoxelImage:
        if quantity not in _LABELS:
            raise InputError(f'quantity must be "probability" or "dexterity", got {quantity!r}')
        values = self.probability if quantity == "probability" else self.dexterity
        if values.size == 0:
            raise InputError("this workspace was made with dexterous=False; make it with dexterous=True")
        return plots.VoxelImage(
            values=values,
            reachable=self.reachable,
            origin=self.origin,
            resolution=self.resolution,
            centre=self.centre,
            title=title,
            label=_LABELS[quantity],
        )

    def _thickness(self) -> list[int]:
        return [int(self.reachable.any(axis=axes).sum()) for axes in ((1, 2), (0, 2), (0, 1))]

    def _core_slices(self) -> tuple[Any, ...]:
        """Drop the axes along which the workspace is flat, so that a ring in a plane encloses its hole."""
        middle = np.argwhere(self.reachable)[0]
        return tuple(slice(None) if size > 1 else int(middle[i]) for i, size in enumerate(self._thickness()))
