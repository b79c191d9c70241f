"""Monitor a world that changes while a motion is executed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Pairs, Query, range_of, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.model.robot import Robot
from kinodyn.planning.curves import distance_from_line, piece_ends, pieces_free
from kinodyn.planning.groups import group_joints, moving_dofs
from kinodyn.planning.timing import RESOLUTION
from kinodyn.trajectory.piecewise import PiecewisePolynomial

SAMPLES = 16  # of a piece, to find what touches


class MotionMonitor:
    """Checks whether motions are still free in a world.

    Parameters
    ----------
    robot
    world
        May change at any time, from any thread.
    allowed
        Pairs that may touch.
    joints
        Names of the joints that move.
    q : (nq,)
        Where the others stay.

    Attributes
    ----------
    columns : (n,) int array
        Velocity coordinates of the joints that move.
    """

    def __init__(
        self, robot: Robot, world: World | WorldSnapshot | None, allowed: Pairs, joints: Sequence[str], q: Array
    ) -> None:
        self.robot, self.world, self.allowed, self._q = robot, world, allowed, q
        self._moves = moving_dofs(robot, group_joints(robot, tuple(joints))) if joints else None
        self.columns = np.arange(robot.nv) if self._moves is None else np.flatnonzero(self._moves)
        self._version: int | None = None

    def changed(self) -> bool:
        """Return whether the world has changed since the last call; True at the first."""
        version = self.world.version if isinstance(self.world, World) else 0
        changed, self._version = version != self._version, version
        return changed

    def blocking(self, motion: PiecewisePolynomial) -> str:
        """Return the names of colliding parts of a motion, empty if it is free."""
        snapshot, bounds = snapshot_of(self.world), range_of(self.robot, motion.base)
        query = Query(self.robot, snapshot, self.allowed, self._q, self._moves, bounds=bounds)
        blocked = np.flatnonzero(~pieces_free(query, motion, resolution=RESOLUTION))
        if not len(blocked):
            return ""
        everything = Query(self.robot, snapshot, self.allowed, bounds=bounds)
        if exact.is_available():  # where spheres touch, the exact shapes decide, on straight pieces
            checks, straight = ExactChecks(everything, self.allowed), _straight(motion)
            begin, end = piece_ends(motion)
            free = [bool(straight[k]) and checks.motion_free(begin[k], end[k], RESOLUTION) for k in blocked]
            blocked = blocked[~np.array(free, dtype=bool)]
        return _touching(everything, motion, int(blocked[0])) if len(blocked) else ""


def _straight(motion: PiecewisePolynomial) -> Array:
    """Return which pieces (n,) are straight in joint space: all coefficients but the first are parallel."""
    x = motion.coefficients[1:]
    return np.asarray(distance_from_line(x) <= 1e-9 * np.maximum(np.abs(x).max(axis=(0, 2)), 1e-300))


def _touching(query: Query, motion: PiecewisePolynomial, piece: int) -> str:
    """Name the parts that touch on a piece."""
    t = np.linspace(motion.knots[piece], motion.knots[piece + 1], SAMPLES)
    q = motion(t)
    hit = np.flatnonzero(~query.free(q))
    pairs = query.touching(q[hit[0]]) if len(hit) else []
    return "; ".join(f"{a} with {b}" for a, b in pairs[:3]) or "something within the resolution of the check"
