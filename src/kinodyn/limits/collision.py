"""Collision avoidance as a limit: minimum distances between links, attached objects and obstacles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, number, numbers, positive
from kinodyn.collision.distance import Distance, distance
from kinodyn.collision.distance_query import DistanceQuery, distance_query
from kinodyn.collision.margins import pair_margins
from kinodyn.collision.query import Pairs, as_pairs, as_resolution, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.layouts import constant
from kinodyn.limits.limit import AT_LIMIT, RowLimit
from kinodyn.model.chain import single_configuration
from kinodyn.model.robot import Robot

MAX_ROWS = int(constant("collision_limit_max_rows"))
STOP_MARGIN = 2e-5  # [m] added to the margin where the core stops the motion


class _Address(float):
    """Address of an object that the core reads; keeps its owner alive."""

    owner: object

    def __new__(cls, address: float, owner: object) -> _Address:
        """Return the address as a number."""
        self = super().__new__(cls, address)
        self.owner = owner
        return self


@displayed
class CollisionLimit(RowLimit):
    """Keep the links of a robot, and grasped objects, at a distance from each other and from obstacles.

    Distances are those of `collision.distance` between spheres: lower bounds of the distances between the shapes. Each
    of the nearest pairs has a row.

    Parameters
    ----------
    world
        Obstacles and attached objects; None for the robot alone. A `World` may change at any time: each step and each
        control tick uses its current contents. Obstacles are assumed to be at rest.
    margin
        Minimum distance [m]. Spheres extend beyond the shapes by up to `resolution`, so parts that are meant to come
        close to each other may need a negative margin, or must be `allowed`. Two links that are within the margin in
        most configurations, as on both sides of a shoulder, keep a smaller distance: see `reduced_margins`.
    slow_down
        Distance [m] beyond the margin at which motion towards an obstacle begins to slow down.
    gain
        In inverse kinematics distances decrease by at most gain * (distance - margin) per second; in [1/s]. Parts
        within the margin leave it as fast as the other limits allow.
    pairs, allowed
        Pairs of links or objects that are measured, and pairs that may touch; see `collision.distance`.
    reference
        A configuration (nq,) that is free of collisions, such as the posture in which the robot stands. Pairs whose
        spheres are within the margin there keep the distance that they have there.
    rows
        Maximum number of pairs that are considered at once, nearest first; at most 64.
    priority
        In inverse kinematics the limit precedes tasks of the same priority, and follows those with a smaller number.
    braking
        At the acceleration level: deceleration [m/s^2] assumed to be available for braking before obstacles.
    resolution
        How far spheres may reach beyond the shapes [m], by default 0.015 or less. Finer spheres take longer.
    name
        Name in results and messages. Pairs have names such as "hand near torso".

    Notes
    -----
    Starting within the margin is not an error: parts leave it, and those that cannot do not come closer than the worst
    pair was at the start. In `ik.WholeBody` a step that would still violate the margin, around a corner or because of
    curvature, is solved again with additional rows. If that does not help, it is shortened.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot, world = kd.load("panda"), kd.collision.World()
    >>> world.add_sphere("ball", 0.1, [0.5, 0.0, 0.5])
    >>> limit = kd.limits.CollisionLimit(world, margin=0.02)
    >>> reach = kd.tasks.FrameTask("panda_hand_tcp", [0.5, 0.0, 0.5])
    >>> solver = kd.ik.WholeBody(robot, [reach], [kd.limits.PositionLimit(), kd.limits.VelocityLimit(), limit])
    >>> q = robot.configuration("ready")
    >>> for _ in range(200):
    ...     q = solver.step(q, 0.01).q
    >>> bool(limit.distance(robot, q).distance >= 0.02 - 1e-6)
    True
    """

    kind = "collision_limit"
    named_by_state = True

    @check_types
    def __init__(
        self,
        world: World | WorldSnapshot | None = None,
        *,
        margin: float = 0.01,
        slow_down: float = 0.05,
        gain: float = 20.0,
        pairs: Iterable[Iterable[str]] | None = None,
        allowed: Iterable[Iterable[str]] | None = None,
        reference: ArrayLike | None = None,
        rows: int = 32,
        priority: int = 0,
        braking: float = 5.0,
        resolution: float | None = None,
        name: str = "collision",
    ) -> None:
        super().__init__(name, priority, braking)
        integer(f"rows of {name!r}", rows, 1, MAX_ROWS)
        self.world = world
        self.margin = number(f"margin of {name!r}", margin)
        self.slow_down = positive(f"slow_down of {name!r}", slow_down)
        self.gain = positive(f"gain of {name!r}", gain)
        self.pairs: Pairs | None = None if pairs is None else as_pairs(pairs, "pairs")
        self.allowed: Pairs = as_pairs(allowed)
        self.reference = None if reference is None else np.array(numbers(f"reference of {name!r}", reference))
        self.rows = int(rows)
        self.resolution = as_resolution(resolution)

    def __setattr__(self, name: str, value: object) -> None:
        if name == "world":
            self.__dict__["_snapshot"] = snapshot_of(value)  # type: ignore[arg-type]
        super().__setattr__(name, value)

    @property
    def version(self) -> int:  # type: ignore[override]
        """Incremented by every change of the limit or its world."""
        snapshot = snapshot_of(self.world)
        if snapshot is not self.__dict__["_snapshot"]:
            self.__dict__["_snapshot"] = snapshot
            self._changed("world")
        return int(self.__dict__["version"])

    def row_count(self, robot: Robot) -> int:
        return self.rows

    def memory(self, robot: Robot) -> int:
        return int(self._query(robot).core.memory)

    def check(self, robot: Robot) -> None:
        super().check(robot)
        self._margins(self._query(robot))

    def settings(self, robot: Robot) -> dict[str, Any]:
        query = self._query(robot)
        margins = self._margins(query)
        return {
            **super().settings(robot),
            "margin": self.margin,
            "slow_down": self.slow_down,
            "approach_gain": self.gain,
            "query": _Address(query.core.address, query),
            "margins": _Address(margins.ctypes.data, margins),
        }

    def _query(self, robot: Robot) -> DistanceQuery:
        return distance_query(robot, self.__dict__["_snapshot"], self.allowed, self.pairs, self.resolution)

    def distance(self, robot: Robot, q: ArrayLike) -> Distance:
        """Measure the smallest distance between the pairs of the limit.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).

        Returns
        -------
        Distance
            As `collision.distance` returns it.
        """
        chosen, fine = self.pairs, self.resolution
        return distance(robot, q, self.world, allowed=self.allowed, pairs=chosen, resolution=fine)

    def reduced_margins(self, robot: Robot) -> dict[tuple[str, str], float]:
        """List the pairs whose margin is reduced.

        These are links that are within the margin in most configurations, and pairs that are within it at `reference`.

        Parameters
        ----------
        robot

        Returns
        -------
        dict
            The two names of each pair, and the distance [m] that they keep instead of the margin.

        Examples
        --------
        >>> import kinodyn as kd
        >>> robot = kd.load("humanoid")
        >>> kd.limits.CollisionLimit(margin=0.01).reduced_margins(robot)
        {}
        """
        query = self._query(robot)
        margins = self._margins(query)
        return {query.names[k]: float(margins[k]) for k in np.flatnonzero(margins < self.margin)}

    def _margins(self, query: DistanceQuery) -> Array:
        """Return the margin of each pair."""
        reference = self.reference
        at = None if reference is None else single_configuration(query.robot, reference, f"reference of {self.name!r}")
        return pair_margins(query, self.margin, at)

    def remaining(self, robot: Robot, q: Array, x: Array, dt: float) -> tuple[Array, Array]:
        J, after = self._after(robot, q, x, dt)
        reached = after < AT_LIMIT
        return J[reached], np.minimum(after[reached], 0.0)

    def remaining_names(self, robot: Robot, q: Array, x: Array, dt: float) -> list[str]:
        reached = self._after(robot, q, x, dt)[1] < AT_LIMIT
        return [name for name, is_reached in zip(self.row_names(robot, q), reached, strict=True) if is_reached]

    def _after(self, robot: Robot, q: Array, x: Array, dt: float) -> tuple[Array, Array]:
        """Return the rows, and the margins that remain after the step."""
        J = self.jacobian(robot, q)
        margins = self.margins(robot, q) - STOP_MARGIN
        return J, np.where(margins > 0.0, min(self.gain * dt, 1.0), 1.0) * margins - J @ x

    def row_names(self, robot: Robot, q: Array | None = None, v: Array | None = None) -> list[str]:
        if q is None:
            return super().row_names(robot)
        names = [f"{first} near {second}" for first, second in self._query(robot).names]
        pairs = self.labels(robot, q, v)
        return [names[int(pair)] if pair >= 0 else self.name for pair in pairs]

    def __repr__(self) -> str:
        return f"CollisionLimit(margin={self.margin:g}, slow_down={self.slow_down:g}, priority={self.priority})"
