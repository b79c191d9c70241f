"""What `track` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

Axes: TypeAlias = Any  # of matplotlib, which only drawing needs


@dataclass(frozen=True, eq=False)
class TrackResult:
    """A joint path for each path of poses, up to its end or to where it must break. Batch axes lead.

    Attributes
    ----------
    q : (..., L, nq)
        Configurations, one per sample; NaN from the break on, so that `q[:reached]` is what holds.
    success : (...) bool
        The whole path was followed.
    reached : (...) int
        How many samples were followed: L, or the index of the sample at which the path breaks.
    status : (...) str
        "solved"; "limits": a joint stands at a limit and no other can take over; "unreachable": no configuration was
        found for the sample, with or without limits; "singular": others reach the sample, but this branch ends in a
        singularity, or passes one so near that a joint moves more than `max_step`; "step": a joint moves more than
        `max_step` in a place that is not singular.
    joint : (...) str
        The joint at its limit, or the one that moves too far; else empty.
    side : (...) str
        Which limit, "lower" or "upper"; else empty.
    residual : (..., L, 2)
        Distance [m] and angle [rad] from each sample by forward kinematics; NaN from the break on.
    singular_value : (..., L)
        The smallest singular value of the Jacobian, in the directions that the joints can serve; NaN from the break on.
    crossed : (..., L) bool
        A singularity was crossed on the way to this sample: in it several branches meet, and the smooth one was taken.
    tried : (...) int
        How many starts and null-space motions were followed to find this one, and searches among all solutions.
    robot, frame
        Whose path it is.
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
        """Mark the samples (..., L) that were followed."""
        return np.asarray(np.arange(self.q.shape[-2]) < self.reached[..., None])

    @property
    def motion(self) -> Array:
        """Sum up (...) how far the joints move in all, by the Euclidean norm of each step [rad and m]."""
        q = np.where(self.valid[..., None], self.q, self.robot.neutral())  # finite, so that it can be subtracted
        steps = self.robot.difference(q[..., :-1, :], q[..., 1:, :])
        return np.asarray((np.linalg.norm(steps, axis=-1) * self.valid[..., 1:]).sum(axis=-1))

    @property
    def reasons(self) -> NDArray[np.object_]:
        """Say in a sentence (...) where and why each path breaks; empty where it does not."""
        said = np.empty(self.status.shape, dtype=object)
        for index in np.ndindex(self.status.shape):
            said[index] = self._reason(index)
        return said

    def _reason(self, index: tuple[int, ...]) -> str:
        status, joint = str(self.status[index]), self.joint[index]
        if status == "solved":
            return ""
        begin = f"sample {self.reached[index]}: "
        if status == "limits":
            which = f"joint {joint!r} is at its {self.side[index]} limit" if joint else "joint limits are in the way"
            return f"{begin}{which}, and no other joint can take over"
        if status == "unreachable":
            return f"{begin}no configuration was found that reaches it"
        if status == "step":
            return f"{begin}joint {joint!r} would move more than max_step in one sample"
        if joint:
            return f"{begin}near a singularity joint {joint!r} would move more than max_step in one sample"
        return f"{begin}this branch ends in a singularity; other configurations reach the sample"

    def plot(self, ax: Axes | None = None, *, path: tuple[int, ...] = ()) -> Axes:
        """Draw the joints that move over the samples, limits dashed and the break marked, into `ax` or a new figure.

        `path` chooses one path of a batch.
        """
        from kinodyn.ik.tracking.plots import plot_joints

        return plot_joints(self, path, ax)
