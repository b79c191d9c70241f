"""The result of planning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import nonnegative
from kinodyn.collision.query import Pairs
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.planning.constraint_set import ConstraintSet, Deviation
from kinodyn.planning.constraints import Constraint
from kinodyn.planning.groups import group_query
from kinodyn.planning.smoothing import smoothed
from kinodyn.planning.timing import motion_limits, timed
from kinodyn.trajectory.bounds import LimitLike
from kinodyn.trajectory.piecewise import PiecewisePolynomial

Status = Literal[
    "solved",
    "start_in_collision",
    "start_violates_constraint",
    "goal_in_collision",
    "goal_violates_constraint",
    "out_of_reach",
    "no_path",
    "interrupted",
]


@displayed
@dataclass(frozen=True, eq=False)
class Plan:
    """A collision-free path, or the reason why there is none.

    Attributes
    ----------
    robot : Robot
    status : str
        "solved"; "start_in_collision", "goal_in_collision"; "start_violates_constraint", "goal_violates_constraint";
        "out_of_reach": inverse kinematics found no configuration
        for the goal; "no_path": none was found within the budget; "interrupted": stopped by Ctrl-C.
    message : str
        Explanation of the status: which parts collide, which target is out of reach.
    path : (n, nq) array
        Vertices; the motion between them is straight in joint space. Empty if there is none.
    group : tuple of str
        Names of the joints that move.
    world : WorldSnapshot
        The world in which it was planned.
    planning_time, simplification_time : float
        Time of the search, failed attempts included, and time of shortening the path [s].
    iterations : int
        Samples of the planner.
    allowed : set of pairs of names
        Links and objects that were allowed to touch, beyond `kd.collision.allowed_pairs` of the robot.
    constraints : tuple of Constraint
        Constraints that the path satisfies.
    deviations : tuple of Deviation
        Largest deviation from each constraint along the path.
    resolution : float or None
        How far spheres extend beyond the shapes [m]; None for the default.
    """

    robot: Robot
    status: Status
    message: str
    path: Array
    group: tuple[str, ...]
    world: WorldSnapshot
    planning_time: float = 0.0
    simplification_time: float = 0.0
    iterations: int = 0
    allowed: Pairs = frozenset()
    constraints: tuple[Constraint, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    resolution: float | None = None

    @property
    def success(self) -> bool:
        """Whether a path was found."""
        return self.status == "solved"

    @property
    def length(self) -> float:
        """Length of the path, L2 norm in joint space [rad or m]; 0 without one."""
        if not len(self.path):
            return 0.0
        return float(np.linalg.norm(self.robot.difference(self.path[:-1], self.path[1:]), axis=1).sum())

    @check_types
    def trajectory(
        self,
        *,
        velocity: LimitLike | None = None,
        acceleration: LimitLike | None = None,
        jerk: LimitLike | None = None,
        torque: LimitLike | Literal[False] | None = None,
        blend: float = np.inf,
    ) -> PiecewisePolynomial:
        """Time the path: from rest to rest, within limits of velocity, acceleration, jerk and torque.

        The motion follows the straight segments of the path and rounds its corners (`kd.trajectory.linear_segments`).
        All of it is checked for collision again, continuously: on the spheres of the robot, and on its exact shapes
        where these touch. A blend that is not free, or violates a constraint, becomes smaller, until the motion stops
        at the corner. Where torques would be too large, the motion is slower.

        Parameters
        ----------
        velocity, acceleration, jerk : () or (nv,), or dict of joint -> limit, optional
            [rad/s, m/s], [rad/s^2, m/s^2], [rad/s^3, m/s^3]. By default the velocity limits of the robot, 1 rad/s or
            m/s for joints without one; accelerations that reach the velocity limit in 0.25 s; jerks that reach the
            acceleration limit in 0.1 s.
        torque : () or (nv,), dict of joint -> limit, or False, optional
            [N m, N]; by default the effort limits of the robot. False ignores torques. They are also ignored for robots
            with a floating base, whose contact forces are unknown. The mass of attached objects is ignored.
        blend : float
            How far from a corner a blend starts and ends at most, L2 norm over the joints [rad or m].

        Returns
        -------
        PiecewisePolynomial
            Piecewise cubic. Velocity, acceleration and jerk are within the limits exactly, torques at samples.

        Raises
        ------
        InputError
            If there is no path, or gravity exceeds a torque limit on it.

        Examples
        --------
        >>> import kinodyn as kd
        >>> robot = kd.load("panda")
        >>> start, goal = [0, -0.8, 0, -2.4, 0, 1.6, 0.8], [1, -0.2, 0, -2, 0, 1.6, 0.8]
        >>> trajectory = kd.planning.plan(robot, start, goal).trajectory()
        >>> bool(kd.trajectory.check(robot, trajectory))
        True
        """
        if not len(self.path):
            raise InputError(f"there is no path to time: {self.status}: {self.message}")
        if blend != np.inf:
            nonnegative("blend", blend)
        limits = motion_limits(self.robot, velocity, acceleration, jerk, torque)
        query = group_query(self.robot, self.path, self.group, self.world, self.allowed, self.resolution)
        return timed(self.path, query, limits, blend=float(blend), allowed=self.allowed, satisfied=self._satisfied())

    def _satisfied(self) -> Callable[[Array], NDArray[np.bool_]] | None:
        """Return a function that checks the constraints at configurations (n, nq), None if there are none."""
        if not self.constraints:
            return None
        joints = [self.robot.joint(name) for name in self.group]
        return ConstraintSet(self.robot, self.path[0], joints, self.constraints, self.path).satisfied

    @check_types
    def smoothed(self, *, reach: float = np.inf) -> PiecewisePolynomial:
        """Return a collision-free curve along the path with continuous first and second derivatives.

        A cubic B-spline with its control points on the path: all vertices, and a point before and after each. Pieces
        that are not part of an edge of the path are checked continuously. Where one would collide, the points around
        the corner move nearer to it; if nothing else is free, the corner remains.

        Parameters
        ----------
        reach : float
            Maximum distance of the control points next to a vertex from it, L2 norm over the joints [rad or m].

        Returns
        -------
        PiecewisePolynomial
            Over a parameter that is about the length along the path [rad or m], not time: `kd.trajectory.time_optimal`
            times it.

        Raises
        ------
        InputError
            If there is no path.

        Examples
        --------
        >>> import kinodyn as kd
        >>> robot = kd.load("panda")
        >>> start, goal = [0, -0.8, 0, -2.4, 0, 1.6, 0.8], [1, -0.2, 0, -2, 0, 1.6, 0.8]
        >>> curve = kd.planning.plan(robot, start, goal).smoothed()
        >>> kd.trajectory.time_optimal(curve, acceleration=5.0, robot=robot).status
        'solved'
        """
        if not len(self.path):
            raise InputError(f"there is no path to smooth: {self.status}: {self.message}")
        if reach != np.inf:
            nonnegative("reach", reach)
        query = group_query(self.robot, self.path, self.group, self.world, self.allowed, self.resolution)
        return smoothed(self.robot, self.path, query, self.allowed, float(reach))

    def __repr__(self) -> str:
        found = f", {len(self.path)} vertices, length {self.length:.3g}" if self.success else f": {self.message}"
        return f"Plan({self.status}{found}, {1e3 * (self.planning_time + self.simplification_time):.3g} ms)"
