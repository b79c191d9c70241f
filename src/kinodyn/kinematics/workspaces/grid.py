"""Workspace: a grid of voxels that says how often and from how many directions a frame got to each."""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError

Axes: TypeAlias = Any  # of matplotlib, which only drawing needs
Mask = NDArray[np.bool_]
FORMAT = "kinodyn workspace 1"


@dataclass(frozen=True, eq=False)
class Workspace:
    """What `kinodyn.kinematics.workspace` found. Arrays over voxels have the shape (nx, ny, nz), an empty rim included.

    Attributes
    ----------
    robot, frame : str
        Whose workspace it is.
    origin : (3,) array
        Centre of voxel (0, 0, 0) in the world [m].
    resolution : float
        Edge of a voxel [m].
    samples : int
        How many configurations were tried.
    counts : (nx, ny, nz) integers
        How many of them put the frame's origin into each voxel.
    dexterity : (nx, ny, nz) array, or of shape (0, 0, 0) if it was not asked for
        Share of the directions over the sphere along which the frame's approach axis was seen there, 0 to 1. It grows
        with the number of samples: a lower bound of what is possible.
    centre : (3,) array
        The point that reach is measured from [m].
    max_reach : float
        The greatest distance from it [m], found by optimisation from the farthest samples, within the limits.
    q_max_reach : (nq,) array
        A configuration that reaches so far.
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
        """Compute the share of samples, uniform in the joints, that fell into each voxel; all add up to 1."""
        return self.counts / self.samples

    @property
    def dimension(self) -> int:
        """Count the axes along which the workspace is more than one voxel thick: 2 for an arm in a plane."""
        return sum(size > 1 for size in self._thickness())

    @property
    def volume(self) -> float:
        """Compute the size of all reachable voxels [m^3], an area [m^2] or length [m] where the workspace is flat.

        A voxel counts as a whole if any of it is reached; without the boundary the size is that of voxels inside.
        """
        return float(self.reachable.sum() * self.resolution**self.dimension)

    @property
    def boundary(self) -> Mask:
        """Mark the reachable voxels next to an unreachable one, face to face."""
        flat = self.reachable[self._core_slices()]
        result = np.zeros_like(self.reachable)
        result[self._core_slices()] = flat & ~ndimage.binary_erosion(flat)
        return result

    def voids(self, *, evidence: float = 10.0) -> Mask:
        """Mark the unreachable voxels that reachable ones enclose, in the plane where the workspace is flat.

        A voxel that no sample happened to hit looks the same. Hence a void counts only if the reachable voxels around
        it were hit `evidence` times on average; 0 gives every void. More samples bring more of them to light.
        """
        if isinstance(evidence, bool) or not isinstance(evidence, int | float) or not 0.0 <= evidence < np.inf:
            raise InputError(f"evidence is {evidence!r}; give a number of hits, 0 or more")
        core = self._core_slices()
        flat = self.reachable[core]
        labels, n = ndimage.label(ndimage.binary_fill_holes(flat) & ~flat)
        around = np.where(flat, ndimage.grey_dilation(labels, size=(3,) * labels.ndim), 0)
        hits = np.asarray(ndimage.mean(self.counts[core], around, np.arange(1, n + 1)))
        result = np.zeros_like(self.reachable)
        result[core] = np.concatenate([[False], hits >= evidence])[labels]
        return result

    def points(self, mask: Mask | None = None) -> Array:
        """List the centres (n, 3) [m] of the voxels of a mask, of the reachable ones if none is given."""
        chosen = self.reachable if mask is None else np.asarray(mask)
        if chosen.dtype != bool or chosen.shape != self.counts.shape:
            raise InputError(f"mask has shape {chosen.shape} of {chosen.dtype}; give {self.counts.shape} of bool")
        return self.origin + self.resolution * np.argwhere(chosen)

    def contains(self, points: ArrayLike) -> Mask:
        """Tell (...) whether points (..., 3) [m] lie in a reachable voxel."""
        place = np.floor((numbers("points", points, 3) - self.origin) / self.resolution + 0.5)
        inside = np.asarray(((place >= 0) & (place < self.counts.shape)).all(axis=-1))
        i, j, k = np.moveaxis(np.where(inside[..., None], place, 0).astype(np.int64), -1, 0)
        return np.asarray(inside & self.reachable[i, j, k])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an NPZ file at exactly this path, plain arrays only."""
        content: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        with open(path, "wb") as file:
            np.savez_compressed(file, format=FORMAT, **content)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Workspace:
        """Read what `save` wrote, without pickle, and check that it holds together."""
        names = [field.name for field in fields(cls)]
        try:
            with np.load(path, allow_pickle=False) as file:
                content = {name: file[name] for name in ("format", *names)}
        except (OSError, ValueError, KeyError, AttributeError, TypeError, EOFError, zipfile.BadZipFile) as cause:
            raise InputError(f"{os.fspath(path)} cannot be read as a saved workspace: {cause}") from cause
        return cls._checked(os.fspath(path), content)

    @classmethod
    def _checked(cls, path: str, content: dict[str, Any]) -> Workspace:
        shape = content["counts"].shape
        shapes = {"origin": (3,), "centre": (3,), "counts": shape, "q_max_reach": content["q_max_reach"].shape[:1]}
        shapes["dexterity"] = shape if content["dexterity"].size else (0, 0, 0)
        kinds = {"format": "U", "robot": "U", "frame": "U", "samples": "iu", "counts": "iu"}
        for name, array in content.items():
            if array.dtype.kind not in kinds.get(name, "f") or array.shape != shapes.get(name, ()):
                raise InputError(f"{path}: {name} is an array {array.shape} of {array.dtype}, not that of a workspace")
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise InputError(f"{path}: {name} is not finite")
        if content["format"] != FORMAT:
            raise InputError(f"{path} says it is {str(content['format'])!r}; {FORMAT!r} can be read")
        counts, samples = content["counts"], int(content["samples"])
        if len(shape) != 3 or (counts < 0).any() or counts.sum() != samples or samples < 1:
            raise InputError(f"{path}: counts must be three-dimensional, not negative, and add up to samples")
        if not content["resolution"] > 0.0:
            raise InputError(f"{path}: resolution must be above 0")
        plain: dict[str, Any] = {"robot": str, "frame": str, "samples": int, "resolution": float, "max_reach": float}
        return cls(**{name: plain.get(name, np.asarray)(content[name]) for name in content if name != "format"})

    def plot_slice(
        self, *, axis: str = "z", at: float | None = None, quantity: str = "probability", ax: Axes | None = None
    ) -> Axes:
        """Draw the layer of voxels across `axis` at the coordinate `at` [m], that of `centre` if none is given.

        `quantity` is "probability" or "dexterity". Voids are red.
        """
        from kinodyn.kinematics.workspaces.plots import plot_slice

        return plot_slice(self, axis, at, quantity, ax)

    def plot_cloud(self, *, quantity: str = "probability", ax: Axes | None = None) -> Axes:
        """Draw every reachable voxel as a point in space, cut open towards the viewer."""
        from kinodyn.kinematics.workspaces.plots import plot_cloud

        return plot_cloud(self, quantity, ax)

    def _thickness(self) -> list[int]:
        return [int(self.reachable.any(axis=axes).sum()) for axes in ((1, 2), (0, 2), (0, 1))]

    def _core_slices(self) -> tuple[Any, ...]:
        """Take out the axes along which the workspace is flat, so that a ring in a plane encloses its hole."""
        middle = np.argwhere(self.reachable)[0]
        return tuple(slice(None) if size > 1 else int(middle[i]) for i, size in enumerate(self._thickness()))
