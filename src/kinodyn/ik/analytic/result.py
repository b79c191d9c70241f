"""What `analytic` answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.checks import numbers

SOLVED, LIMITS, SINGULAR, UNREACHABLE = "solved", "limits", "singular", "unreachable"


@dataclass(frozen=True, eq=False)
class AnalyticSolutions:
    """Every closed-form solution of every target.

    Attributes
    ----------
    q : (..., n_branches, nq) array
        Whole configurations; coordinates that were not solved for are those of q0, or neutral. A branch that does not
        reach the target is NaN; one that only breaks limits is kept, and `valid` is False for it.
    valid : (..., n_branches) bool array
        Reaches the target to 1e-9, keeps the limits (unless they were switched off) and repeats no other branch.
    singular : (..., n_branches) bool array
        Some joint is free at this target: the branch stands for a continuum, with the free joint as in q0, or at 0.
    residual : (..., n_branches) array
        Distance of the pose from the target by forward kinematics: norm of all entries of the difference, metres and
        directions alike; positions only for a planar 2R arm. Of a NaN branch it is what its nearest try left.
    status : (...) array of str
        "solved"; "singular": solved, but a joint is free; "limits": reached only outside the limits; "unreachable".
    clamped : (...) bool array
        The target was moved to the nearest point within reach, at `clamp=True`.
    family : str
        The geometry that was recognised.
    joints : tuple of str
        Names of the joints that were solved for, the redundant one included.
    broken : (..., n_branches, joints) bool array
        Which of them stand outside their limits.
    places : tuple of int
        Their places in q.
    """

    q: Array
    valid: NDArray[np.bool_]
    singular: NDArray[np.bool_]
    residual: Array
    status: NDArray[np.str_]
    clamped: NDArray[np.bool_]
    family: str
    joints: tuple[str, ...]
    broken: NDArray[np.bool_]
    places: tuple[int, ...]

    @property
    def count(self) -> NDArray[np.int_]:
        """Number (...) of valid branches of each target."""
        counted: NDArray[np.int_] = np.count_nonzero(self.valid, axis=-1)
        return counted

    @property
    def reasons(self) -> NDArray[np.object_]:
        """Say in a sentence (...) for each target why it has its status; empty where it is simply solved."""
        said = np.empty(self.status.shape, dtype=object)
        for index in np.ndindex(self.status.shape):
            said[index] = self._reason(index)
        return said

    def nearest(self, q0: ArrayLike) -> Array:
        """Choose for each target the valid branch nearest to q0 (..., nq): (..., nq), NaN where there is none.

        Near is the smallest Euclidean norm of the differences of the joints that were solved for.
        """
        here = numbers("q0", q0, self.q.shape[-1])[..., None, list(self.places)]
        gap = np.where(self.valid[..., None], self.q[..., list(self.places)], np.inf) - here
        best = np.argmin(np.square(gap).sum(axis=-1), axis=-1)[..., None]
        q = np.take_along_axis(self.q, np.broadcast_to(best[..., None], (*best.shape, 1)), axis=-2)[..., 0, :]
        found: Array = np.where(self.valid.any(axis=-1, keepdims=True), q, np.nan)
        return found

    def _reason(self, index: tuple[int, ...]) -> str:
        status = str(self.status[index])
        if status == UNREACHABLE:
            return f"no configuration of this {self.family} arm reaches the target, whatever the limits"
        if status == SINGULAR:
            return "a joint is free here: each branch stands for a continuum, its free joint as in q0 or at zero"
        if status == LIMITS:
            reaching = np.isfinite(self.q[index]).all(axis=-1)
            counts = np.count_nonzero(self.broken[index][reaching], axis=0)
            worst = [name for name, n in zip(self.joints, counts, strict=True) if n]
            return (
                f"{np.count_nonzero(reaching)} branches reach the target, all outside the limits of {', '.join(worst)}"
            )
        return "the target was out of reach and was moved to the nearest point" if self.clamped[index] else ""
