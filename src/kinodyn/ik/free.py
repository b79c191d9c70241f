"""Collision-free solutions of inverse kinematics: checked on spheres first, on exact shapes where spheres overlap."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Query, as_pairs, as_resolution, range_of, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.ik.result import COLLIDING, Attempt
from kinodyn.model.robot import Robot

EXACT_CANDIDATES = 8  # per target: solutions in sphere contact whose exact shapes are checked
DUPLICATE_TOLERANCE = 1e-3  # [rad or m] candidates nearer to each other count as one


class Collision(NamedTuple):
    """The pair with the deepest penetration at a configuration; the depth [m] is NaN without coal."""

    pair: tuple[str, str]
    depth: float


class FreeSolutions:
    """Checks which solutions are collision-free, and stores those whose spheres are in contact.

    Parameters
    ----------
    robot
    world
        Obstacles and attached objects.
    allowed
        Pairs that may touch, in addition to those of the robot.
    resolution
        Of the spheres [m], see `kd.collision.free`.
    """

    def __init__(
        self,
        robot: Robot,
        world: World | WorldSnapshot | None,
        allowed: Iterable[Iterable[str]] | None,
        resolution: float | None,
    ) -> None:
        self.robot, self.snapshot, self.allowed = robot, snapshot_of(world), as_pairs(allowed)
        self.resolution = as_resolution(resolution)
        self._touching: dict[int, list[Array]] = {}

    def query(self, q: Array) -> Query:
        """Return the collision query for configurations (..., nq); the position of a floating base is unbounded."""
        bounds = range_of(self.robot, q)
        return Query(self.robot, self.snapshot, self.allowed, bounds=bounds, resolution=self.resolution)

    def exclude_touching(self, attempt: Attempt, targets: NDArray[np.intp]) -> None:
        """Mark solutions whose spheres are in contact as not successful; `targets` (n,) are the targets of the rows."""
        rows = attempt.success.nonzero()[0]
        if len(rows) == 0:
            return
        q = attempt.q[rows]
        touching = rows[~self.query(q).free(q)]
        attempt.success[touching] = False
        attempt.termination[touching] = COLLIDING
        for row in touching:
            self._remember(int(targets[row]), attempt.q[row])

    def _remember(self, target: int, q: Array) -> None:
        known = self._touching.setdefault(target, [])
        if len(known) < EXACT_CANDIDATES and all(np.abs(q - other).max() > DUPLICATE_TOLERANCE for other in known):
            known.append(q.copy())

    def decide(self, target: int, start: Array) -> tuple[Array, Collision | None]:
        """Return the solution of a target whose exact shapes are collision-free, the nearest to `start` (nq,).

        If there is none, or without coal: the one with the smallest penetration, and the pair that collides there.
        """
        candidates = np.array(self._touching[target])
        order = np.linalg.norm(self.robot.difference(start, candidates), axis=1).argsort()
        found: list[tuple[Array, Collision]] = []
        for q in candidates[order]:
            collision = self._collision(q)
            if collision is None:
                return q, None
            found.append((q, collision))
            if np.isnan(collision.depth):
                break
        return min(found, key=lambda one: one[1].depth)

    def _collision(self, q: Array) -> Collision | None:
        query = self.query(q)
        if not exact.is_available():
            return Collision(query.touching(q)[0], np.nan)
        depths = ExactChecks(query, self.allowed).colliding(q)
        if not depths:
            return None
        pair = max(depths, key=lambda one: depths[one])
        return Collision(pair, depths[pair])
