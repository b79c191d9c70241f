"""What numeric inverse kinematics gives back."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array


@dataclass(frozen=True, eq=False)
class IKResult:
    """What became of each target; the batch axes of the targets lead.

    Attributes
    ----------
    q : (..., nq)
        The solution or, where there is none, the configuration that came nearest: the least sum of weighted squares
        of distances [m] and chords of the angles [rad]. Within limits either way.
    success : (...) bool
        All residuals are within the tolerance, by forward kinematics, and q is within limits.
    status : (...) str
        "solved"; "limits": it was found only beyond joint limits; "singular": the last step of the way needs
        motion that the robot does not have there; "unreachable": every start ended in a standstill short of the
        target; "budget": iterations, restarts or time ran out before a solution that may well be there.
    residual : (..., 2)
        Largest distance [m] and angle [rad] from a target, over the frames, in directions that have weight.
    active_limits : (..., nq) bool
        Coordinates that stand at a limit.
    iterations : (...)
        Steps of the start that led to q.
    T_reached : dict of str to (..., 4, 4)
        Where q brings each frame: for a target out of reach, the nearest pose that was found.
    """

    q: Array
    success: NDArray[np.bool_]
    status: NDArray[np.str_]
    residual: Array
    active_limits: NDArray[np.bool_]
    iterations: Array
    T_reached: dict[str, Array]


@dataclass
class Attempt:
    """One start for each of several targets, and what came of it: the first axis of every array."""

    q: Array
    success: NDArray[np.bool_]
    residual: Array
    cost: Array  # what is made small: the sum of weighted squares
    steps: Array
    ended: Array  # ARRIVED, STANDSTILL, OUT_OF_ITERATIONS or SINGULAR
    poses: Array  # (n, frames, 4, 4)

    def all_right(self) -> bool:
        """Tell whether every row is a success."""
        return int(np.count_nonzero(self.success)) == len(self.success)

    def failures(self) -> NDArray[np.intp]:
        """List the rows that are none."""
        return (~self.success).nonzero()[0]

    def pick(self, rows: NDArray[np.intp] | slice) -> Attempt:
        """Take some rows."""
        return Attempt(
            self.q[rows],
            self.success[rows],
            self.residual[rows],
            self.cost[rows],
            self.steps[rows],
            self.ended[rows],
            self.poses[rows],
        )

    def put(self, rows: NDArray[np.intp], other: Attempt) -> None:
        """Replace some rows by those of another."""
        self.q[rows], self.success[rows] = other.q, other.success
        self.residual[rows], self.cost[rows] = other.residual, other.cost
        self.steps[rows], self.ended[rows], self.poses[rows] = other.steps, other.ended, other.poses


def joined(parts: list[Attempt]) -> Attempt:
    """Put attempts one after the other."""
    return Attempt(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Attempt)))


# how an attempt ended, as the core says it
ARRIVED, STANDSTILL, OUT_OF_ITERATIONS, SINGULAR = range(4)

STATUS = "<U11"  # room for the longest, "unreachable"
SOLVED = np.array("solved", dtype=STATUS)
