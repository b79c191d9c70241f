"""Result of path tracking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.ik.reasons import reasons_of
from kinodyn.model.robot import Robot

Axes: TypeAlias = Any  # of matplotlib, which only plotting imports


@displayed
@dataclass(frozen=True, eq=False)
class TrackResult:
    """Result of `track`: a joint path for each path of poses, up to its end or break. Leading axes are batch axes.

    Attributes
    ----------
    q : (..., L, nq) array
        Configurations, one per sample; NaN from the break on, so that `q[:reached]` is valid.
    success : (...) bool array
        The whole path was tracked.
    reached : (...) int array
        Number of samples tracked: L, or the index of the sample at which the path breaks.
    status : (...) str array
        "solved"; "limits": a joint is at a limit and no other can compensate; "unreachable": no configuration was
        found for the sample, with or without limits; "singular": other branches reach the sample, but this one ends in
        a singularity, or passes one so closely that a joint moves more than `max_step`; "step": a joint moves more
        than `max_step` away from singularities.
    joint : (...) str array
        The joint at its limit, or the one that moves too far; otherwise empty.
    side : (...) str array
        Which limit, "lower" or "upper"; otherwise empty.
    residual : (..., L, 2) array
        Distance [m] and angle [rad] from each sample by forward kinematics; NaN from the break on.
    singular_value : (..., L) array
        Smallest singular value of the Jacobian in the tracked directions; NaN from the break on.
    crossed : (..., L) bool array
        A singularity was crossed before this sample: several branches meet there, and the smooth one was taken.
    tried : (...) int array
        Number of starts, null space motions and searches over all solutions that were tried.
    robot : Robot
    frame : str
    """

    q: Array
    success: NDArray[np.bool_]
    reached: NDArray[np.int64]
    status: NDArray[np.str_]
    joint: NDArray[np.object_]
    side: NDArray[np.str_]
    residual: Array
    singular_value: Array
    crossed: NDArray[np.bool_]
    tried: NDArray[np.int64]
    robot: Robot
    frame: str

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Which samples (..., L) were tracked."""
        return np.asarray(np.arange(self.q.shape[-2]) < self.reached[..., None])

    @property
    def motion(self) -> Array:
        """Total joint motion (...): the sum of the Euclidean norms of the steps [rad and m]."""
        q = np.where(self.valid[..., None], self.q, self.robot.neutral())  # finite values for the difference
        steps = self.robot.difference(q[..., :-1, :], q[..., 1:, :])
        return np.asarray((np.linalg.norm(steps, axis=-1) * self.valid[..., 1:]).sum(axis=-1))

    @property
    def reasons(self) -> NDArray[np.object_]:
        """Where and why each path (...) breaks, as a sentence; empty where it does not."""
        return reasons_of(self.status.shape, self._reason)

    def _reason(self, index: tuple[int, ...]) -> str:
        status, joint = str(self.status[index]), self.joint[index]
        if status == "solved":
            return ""
        prefix = f"sample {self.reached[index]}: "
        if status == "limits":
            which = f"joint {joint!r} is at its {self.side[index]} limit" if joint else "joint limits prevent it"
            return f"{prefix}{which}, and no other joint can compensate"
        if status == "unreachable":
            return f"{prefix}no configuration was found that reaches it"
        if status == "step":
            return f"{prefix}joint {joint!r} would move more than max_step in one sample"
        if joint:
            return f"{prefix}near a singularity joint {joint!r} would move more than max_step in one sample"
        return f"{prefix}this branch ends in a singularity; other configurations reach the sample"

    def plot(self, ax: Axes | None = None, *, path: tuple[int, ...] = ()) -> Axes:
        """Plot the moving joints over the samples, with dashed limits and the break.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to plot; by default a new figure.
        path : tuple of int
            Index of one path of a batch.

        Returns
        -------
        matplotlib Axes
        """
        from kinodyn.ik.tracking.plots import plot_joints  # import cycle: the plot is built on the result

        return plot_joints(self, path, ax)
