"""Result of closed-form inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.checks import broadcast, numbers
from kinodyn.display import displayed
from kinodyn.ik.reasons import reasons_of

SOLVED, LIMITS, SINGULAR, UNREACHABLE = "solved", "limits", "singular", "unreachable"
STATUS_DTYPE = np.array([SOLVED, LIMITS, SINGULAR, UNREACHABLE]).dtype


@displayed
@dataclass(frozen=True, eq=False)
class AnalyticSolutions:
    """Result of `analytic`: all closed-form solutions of every target.

    Attributes
    ----------
    q : (..., n_branches, nq) array
        Full configurations; coordinates that were not solved for are those of q0, or neutral. A branch that does not
        reach the target is NaN; one that only violates limits is kept, with `valid` False.
    valid : (..., n_branches) bool array
        Reaches the target, is within the limits (unless ignored) and does not duplicate another branch. A branch
        reaches a target within 1e-9. If none does, those within 1e-6 are kept, the accuracy to which rotations must
        be orthonormal: where the arm is stretched or singular, a pose that was rounded can be out of reach by its
        rounding errors.
    singular : (..., n_branches) bool array
        A joint is free at this target: the branch represents a continuum, with the free joint as in q0, or at 0.
    residual : (..., n_branches) array
        Frobenius norm of the difference between the pose and the target by forward kinematics; positions only for a
        planar 2R arm. For a NaN branch, the residual at its closest approach.
    status : (...) str array
        "solved"; "singular": solved, but a joint is free; "limits": reached only outside the limits; "unreachable".
    clamped : (...) bool array
        The target was moved to the nearest reachable point, with `clamp=True`.
    family : str
        The recognised geometry.
    joints : tuple of str
        Names of the joints solved for, the redundant one included.
    outside_limits : (..., n_branches, joints) bool array
        Which of them are outside their limits.
    q_index : tuple of int
        Their indices in q.
    """

    q: Array
    valid: NDArray[np.bool_]
    singular: NDArray[np.bool_]
    residual: Array
    status: NDArray[np.str_]
    clamped: NDArray[np.bool_]
    family: str
    joints: tuple[str, ...]
    outside_limits: NDArray[np.bool_]
    q_index: tuple[int, ...]

    @property
    def count(self) -> NDArray[np.int_]:
        """Number (...) of valid solutions of each target."""
        counted: NDArray[np.int_] = np.count_nonzero(self.valid, axis=-1)
        return counted

    @property
    def reasons(self) -> NDArray[np.object_]:
        """Explanation (...) of the status of each target; empty where it is solved."""
        return reasons_of(self.status.shape, self._reason)

    def nearest(self, q0: ArrayLike) -> Array:
        """Choose for each target the valid solution nearest to q0, by the norm of the differences of the joints.

        Parameters
        ----------
        q0 : (..., nq)
            For all targets, or one for each.

        Returns
        -------
        (..., nq) array
            NaN where there is no valid solution.
        """
        here = numbers("q0", q0, self.q.shape[-1])[..., None, list(self.q_index)]
        q, here = broadcast((self.q, 2), (here, 2))
        valid = np.broadcast_to(self.valid, q.shape[:-1])
        gap = np.where(valid[..., None], q[..., list(self.q_index)], np.inf) - here
        best = np.argmin(np.square(gap).sum(axis=-1), axis=-1)[..., None]
        q = np.take_along_axis(q, np.broadcast_to(best[..., None], (*best.shape, 1)), axis=-2)[..., 0, :]
        found: Array = np.where(valid.any(axis=-1, keepdims=True), q, np.nan)
        return found

    def _reason(self, index: tuple[int, ...]) -> str:
        status = str(self.status[index])
        if status == UNREACHABLE:
            return f"no configuration of this {self.family} arm reaches the target, even without limits"
        if status == SINGULAR:
            return "a joint is free here: each branch represents a continuum, with the free joint as in q0 or at zero"
        if status == LIMITS:
            reaching = np.isfinite(self.q[index]).all(axis=-1)
            counts = np.count_nonzero(self.outside_limits[index][reaching], axis=0)
            worst = [name for name, n in zip(self.joints, counts, strict=True) if n]
            return (
                f"{np.count_nonzero(reaching)} branches reach the target, all outside the limits of {', '.join(worst)}"
            )
        return "the target was out of reach and was moved to the nearest reachable point" if self.clamped[index] else ""


def make_solutions(**fields: object) -> AnalyticSolutions:
    """Build solutions from all fields, without the generated `__init__`, which takes as long as a closed form."""
    result = object.__new__(AnalyticSolutions)
    result.__dict__.update(fields)
    return result
