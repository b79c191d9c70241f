"""Results of numeric inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.layouts import codes


@displayed
@dataclass(frozen=True, eq=False)
class IKResult:
    """Result of `solve` for each target; leading axes are the batch axes of the targets.

    Attributes
    ----------
    q : (..., nq) array
        The solution or, if there is none, the nearest configuration found: the least weighted sum of squares of
        distances [m] and chords 2 sin(angle / 2) [rad]. Joints that may move are within limits in both cases.
    success : (...) bool array
        All residuals, verified by forward kinematics, are within the tolerance, and the moving joints within limits.
    status : (...) str array
        "solved"; "limits": a solution exists only beyond joint limits; "singular": the target requires motion along a
        singular direction; "unreachable": every start stalled before the target; "collision": every solution found
        collides, at q the pair in `colliding`; "budget": iterations, restarts or time ran out, and a solution may
        exist.
    residual : (..., 2) array
        Maximum distance [m] and angle [rad] from a target, over the frames, in directions of positive weight.
    active_limits : (..., nq) bool array
        Coordinates at a limit.
    iterations : (...) array
        Iterations of the start that led to q.
    T_reached : dict of str to (..., 4, 4) array
        Pose of each frame at q: for an unreachable target, the nearest pose found.
    colliding : (..., 2) str array or None
        Names of the pair with the deepest penetration where the status is "collision", empty elsewhere; None unless
        collisions were checked.
    depth : (...) array or None
        Penetration depth of that pair [m]; 0 elsewhere, NaN if coal is not installed.
    """

    q: Array
    success: NDArray[np.bool_]
    status: NDArray[np.str_]
    residual: Array
    active_limits: NDArray[np.bool_]
    iterations: Array
    T_reached: dict[str, Array]
    colliding: NDArray[np.str_] | None = None
    depth: Array | None = None

    @classmethod
    def _solved(
        cls, q: Array, residual: Array, active: NDArray[np.bool_], iterations: Array, poses: dict[str, Array]
    ) -> IKResult:
        """Return the result of one target that is solved; `__init__` of a frozen class would take 1 us longer."""
        result = object.__new__(cls)
        result.__dict__.update(
            q=q,
            success=_TRUE.copy(),
            status=SOLVED.copy(),
            residual=residual,
            active_limits=active,
            iterations=iterations,
            T_reached=poses,
            colliding=None,
            depth=None,
        )
        return result


@dataclass
class Attempt:
    """Outcome of one start for each of several targets, along the first axis of every array."""

    q: Array
    success: NDArray[np.bool_]
    residual: Array
    cost: Array  # sum of weighted squares, the objective
    steps: Array
    termination: Array  # CONVERGED, STALLED, OUT_OF_ITERATIONS, SINGULAR or COLLIDING
    poses: Array  # (n, frames, 4, 4)

    def all_solved(self) -> bool:
        """Return whether every row is solved."""
        return int(np.count_nonzero(self.success)) == len(self.success)

    def failures(self) -> NDArray[np.intp]:
        """Return the rows that are not solved."""
        return (~self.success).nonzero()[0]

    def pick(self, rows: NDArray[np.intp] | slice) -> Attempt:
        """Select rows."""
        return Attempt(
            self.q[rows],
            self.success[rows],
            self.residual[rows],
            self.cost[rows],
            self.steps[rows],
            self.termination[rows],
            self.poses[rows],
        )

    def put(self, rows: NDArray[np.intp], other: Attempt) -> None:
        """Replace rows by those of another attempt."""
        self.q[rows], self.success[rows] = other.q, other.success
        self.residual[rows], self.cost[rows] = other.residual, other.cost
        self.steps[rows], self.termination[rows], self.poses[rows] = other.steps, other.termination, other.poses


def joined(parts: list[Attempt]) -> Attempt:
    """Concatenate attempts."""
    return Attempt(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Attempt)))


# how an attempt terminated
ENDINGS = codes("ik_ending")
CONVERGED, STALLED = ENDINGS["converged"], ENDINGS["stalled"]
OUT_OF_ITERATIONS, SINGULAR = ENDINGS["out_of_iterations"], ENDINGS["singular"]
COLLIDING = max(ENDINGS.values()) + 1  # it reached its target, but collides there; the core does not check this

STATUS = "<U11"  # as long as "unreachable"
SOLVED = np.array("solved", dtype=STATUS)
_TRUE = np.array(True)
