"""Reactive motion among moving obstacles: the robot commits only to motions that it can stop safely."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import nonnegative, numbers, positive, seed_number, vector
from kinodyn.collision.query import Query, as_pairs, range_of, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.planning.connection import connected
from kinodyn.planning.curves import remaining, until
from kinodyn.planning.evasion import evasion_targets
from kinodyn.planning.goals import Goal
from kinodyn.planning.groups import Group, group_joints, moving_dofs
from kinodyn.planning.joint_motions import JointMotions, standing
from kinodyn.planning.motion_safety import TIME_TOLERANCE, MotionSafety
from kinodyn.planning.moving_obstacles import MovingObstacle, sphere_records
from kinodyn.planning.plan import plan
from kinodyn.planning.reactive_step import ReactiveStep, Status
from kinodyn.planning.result import Plan
from kinodyn.planning.timing import motion_limits
from kinodyn.trajectory.bounds import LimitLike
from kinodyn.trajectory.piecewise import PiecewisePolynomial, joined
from kinodyn.trajectory.space import Space

COMMITTED_PERIODS = 3  # periods of the path that are committed at once, so that a late decision does not interrupt it


class _Choice(NamedTuple):
    """A motion from the end of the period on, and how safe it is, see `MotionSafety.level`."""

    motion: PiecewisePolynomial
    level: int
    status: Status
    committed: bool = True  # False: a part of the motion before


@displayed
class ReactiveMotion:
    """Motion to a goal among moving obstacles, replanned in every period.

    In each period the next motion is decided. The robot follows its path for the next three periods only if it could
    come to rest afterwards before anything touches it, by the predicted motion of robot and obstacles, checked
    continuously. Otherwise it continues the stopping motion that was verified before. If it would be hit at rest,
    or observes an obstacle too late to stop, it searches for a free evasive motion. It replans while it brakes or
    evades, and continues from there without coming to rest if that is possible within the limits; else from rest.

    Parameters
    ----------
    robot
    q0 : (nq,)
        Start configuration, at rest.
    world
        Obstacles that do not move; it may change.
    group
        Joints that move, see `plan`.
    velocity, acceleration, jerk : () or (nv,), or dict of joint -> limit, optional
        See `Plan.trajectory`. Torques are not checked.
    period
        Control period: time between decisions [s].
    horizon
        Prediction horizon of the obstacles [s].
    budget
        Maximum time of a decision [s], by default the period. A decision that takes longer is dropped and counted.
    margin
        Distance by which obstacles are enlarged [m], to allow for errors of prediction and tracking.
    allowed
        Pairs that may touch, see `plan`.
    seed
        Seed of the random number generator.
    clock
        Measures the time of decisions; replaced in tests.

    Attributes
    ----------
    time : float
        [s]
    missed : int
        Decisions and plans that took longer than the budget.
    replans : int
        Paths planned after leaving a previous one.
    replans_in_motion : int
        Replans that took effect without coming to rest.

    Notes
    -----
    Passive motion safety: S. Bouraine et al., "Provably safe navigation for mobile robots with limited field-of-views
    in unknown dynamic environments", 2012. Bodies of the robot that the group does not move are not checked.

    An obstacle is known in time if, at the end of the period in which it is first given, a motion within the limits
    exists that is free until the horizon. Evasive motions lead to configurations that move the links nearest to the
    predicted path aside, and to random ones; each period without a free one tries others. If none
    is found, the robot is at rest when it is hit, and `threats` names the obstacle beforehand.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> motion = kd.planning.ReactiveMotion(robot, [0, -0.8, 0, -2.4, 0, 1.6, 0.8])
    >>> motion.go_to([1, -0.2, 0, -2, 0, 1.6, 0.8]).success
    True
    >>> ball = kd.planning.MovingObstacle([2, 0, 1], [-4, 0, 2], 0.05, acceleration=[0, 0, -9.81])
    >>> steps = [motion.step([ball]) for _ in range(100)]
    >>> all(step.safe for step in steps)
    True
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        q0: ArrayLike,
        *,
        world: World | WorldSnapshot | None = None,
        group: Group = None,
        velocity: LimitLike | None = None,
        acceleration: LimitLike | None = None,
        jerk: LimitLike | None = None,
        period: float = 0.01,
        horizon: float = 1.0,
        budget: float | None = None,
        margin: float = 0.0,
        allowed: Iterable[Iterable[str]] | None = None,
        seed: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.robot, self.world, self._allowed = robot, world, as_pairs(allowed)
        q = vector("q0", q0, robot.nq)
        space = Space(robot)
        self.group = tuple(joint.name for joint in group_joints(robot, group))
        self._moves = moving_dofs(robot, group_joints(robot, self.group))
        self._limits = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk, "torque": False}
        bounds = motion_limits(robot, velocity, acceleration, jerk, False).bounds
        self._joints = JointMotions(space, q, np.flatnonzero(self._moves), bounds)
        self.period, self.horizon = positive("period", period), positive("horizon", horizon)
        self.budget = self.period if budget is None else positive("budget", budget)
        self.margin, self._clock, self._seed = nonnegative("margin", margin), clock, seed_number(seed)
        self._rng = np.random.default_rng(self._seed)
        self.time, self.missed, self.replans, self.replans_in_motion = 0.0, 0, 0, 0
        self._planning_time = 0.0  # of the last plan [s]
        self._seen = sphere_records((), 0.0, 0.0)  # obstacles of this period
        self._motion, self._start = standing(space, q, 0.0), 0.0
        self._before = (self._motion, self._start)
        self._status: Status = "standing"
        self._path: PiecewisePolynomial | None = None
        self._path_start = self._leaves = 0.0
        self._goal: Array | None = None
        self._safety = MotionSafety(self._make_query(), self.period, self.horizon)
        self._version = self._world_version()

    def go_to(self, goal: Goal, *, time_budget: float = 1.0) -> Plan:
        """Plan to a goal from the end of the current motion.

        Parameters
        ----------
        goal
            See `plan`.
        time_budget
            Time budget of the plan [s].

        Returns
        -------
        Plan
            If it has a path, the robot follows it from the next period on; otherwise the current motion continues.
        """
        found = self._plan(goal, time_budget)
        if found.success:
            self._goal = found.path[-1]
            self._set_path(found)
        return found

    @property
    def arrived(self) -> bool:
        """Whether the robot is at rest at its goal."""
        return self._goal is not None and self._at_rest and bool(np.abs(self(self.time) - self._goal).max() < 1e-6)

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Compute q, v or a of the motion, from one period before `time` on; later times are those of the safe stop."""
        times = numbers("t", t)
        old, old_start = self._before
        earlier = times < self._start
        now = self._motion(np.maximum(times - self._start, 0.0), order)
        if not earlier.any():
            return now
        return np.where(earlier[..., None], old(np.maximum(times - old_start, 0.0), order), now)

    @check_types
    def step(self, obstacles: Sequence[MovingObstacle] = ()) -> ReactiveStep:
        """Advance by a period, and decide the next motion.

        Parameters
        ----------
        obstacles
            All obstacles known at this time.

        Returns
        -------
        ReactiveStep
        """
        begin, t1 = self._clock(), self.time + self.period
        if self._world_version() != self._version:
            self._safety.query, self._version = self._make_query(), self._world_version()
        self._seen = spheres = sphere_records(obstacles, self.time, self.margin)
        choice = self._decide(obstacles, spheres, t1, begin)
        took = self._clock() - begin
        late = took > self.budget
        if late:
            self.missed += 1
            choice = self._continued(spheres, t1)
        self._commit(choice, t1)
        threats = () if choice.level == 2 else self._safety.threats(choice.motion, spheres)
        q, v, a = (self(t1, order) for order in range(3))
        return ReactiveStep(t1, q, v, a, choice.status, choice.level > 0, threats, late, took)

    def _decide(self, obstacles: Sequence[MovingObstacle], spheres: np.ndarray, t1: float, begin: float) -> _Choice:
        """Follow the path if that is safe, else continue to rest, else evade."""
        following = self._following(spheres, t1)
        if following is not None and following.level == 2:
            return following
        present = self._continued(spheres, t1)
        if present.level == 2:
            return present
        evading = self._evading(obstacles, spheres, t1, begin + 0.7 * self.budget, present)
        return present if evading is None or evading.level <= present.level else evading

    def _following(self, spheres: np.ndarray, t1: float) -> _Choice | None:
        """Follow the path for a few periods and stop: safe if that is, and either the path ahead or the end is free."""
        if self._path is None:
            self._replan(t1)
        if self._path is None or t1 < self._path_start - TIME_TOLERANCE:
            return None
        if self._at_rest_at(t1) and t1 - self._path_start < self.period + TIME_TOLERANCE:
            self._path_start = t1  # it has waited
        ahead = remaining(self._path, t1 - self._path_start)
        if ahead.duration <= TIME_TOLERANCE:
            return None
        followed = COMMITTED_PERIODS * self.period
        if ahead.duration <= followed:
            motion = ahead
        else:
            stop = self._joints.stop(self._joints.state(ahead, followed))
            if stop is None:
                return None
            motion = joined([until(ahead, followed), stop])
        level = self._safety.level(motion, spheres)
        if level == 1 and self._safety.level(until(ahead, self.horizon), spheres) > (ahead.duration < self.horizon):
            level = 2  # it leaves before the obstacle arrives, instead of waiting at the goal
        if level < 2 and self._safety.level(ahead, spheres) == 2:
            motion, level = ahead, 2  # next to an obstacle, where a stop would leave the path and touch it
        return _Choice(motion, level, "following")

    def _continued(self, spheres: np.ndarray, t1: float) -> _Choice:
        """Continue the current motion to rest."""
        motion = remaining(self._motion, t1 - self._start)
        status: Status = "standing" if motion.duration <= TIME_TOLERANCE else self._status
        if status == "following" and t1 >= self._leaves - TIME_TOLERANCE:
            status = "braking"
        return _Choice(motion, self._safety.level(motion, spheres), status, committed=False)

    def _evading(
        self, obstacles: Sequence[MovingObstacle], spheres: np.ndarray, t1: float, end: float, present: _Choice
    ) -> _Choice | None:
        """Find an evasive motion that is free until the horizon, or else the first that is free until it is at rest."""
        state = self._joints.state(self._motion, t1 - self._start)
        threats = [obstacles[i] for i in self._safety.threats(present.motion, spheres)]
        times = (self.time, self.time + self.horizon)
        rest = present.motion(present.motion.duration)
        columns, q_index = self._joints.columns, self._joints.q_index
        best: _Choice | None = None
        for target in evasion_targets(self.robot, rest, columns, q_index, threats, times, self._rng):
            if self._clock() > end:
                break
            motion = self._joints.to(state, target)
            level = 0 if motion is None else self._safety.level(motion, spheres)
            if motion is not None and level > (0 if best is None else best.level):
                best = _Choice(motion, level, "evading")
            if level == 2:
                break
        return best

    def _commit(self, choice: _Choice, t1: float) -> None:
        if choice.status in ("braking", "evading") and (choice.committed or t1 >= self._path_start - TIME_TOLERANCE):
            self._path = None  # planned again
        if choice.status == "following" and choice.committed:
            self._leaves = t1 + COMMITTED_PERIODS * self.period
        self._before = (self._motion, self._start)
        self._motion, self._start, self._status, self.time = choice.motion, t1, choice.status, t1

    @property
    def _at_rest(self) -> bool:
        return self._at_rest_at(self.time)

    def _at_rest_at(self, t: float) -> bool:
        return t - self._start >= self._motion.duration - TIME_TOLERANCE

    def _replan(self, t1: float) -> None:
        """Replan; the path takes effect after the time that planning took."""
        if self._goal is None or self.arrived:
            return
        begin = self._clock()
        if self._at_rest_at(t1):
            found = self._plan(self._goal, self.budget)
            self._planning_time = self._clock() - begin
            if found.success:
                self.replans += 1
                self._set_path(found, math.ceil(self._planning_time / self.period) * self.period)
        elif self._planning_time <= self.budget:
            self._replan_in_motion(t1, begin)

    def _replan_in_motion(self, t1: float, begin: float) -> None:
        """Plan from where the current motion comes to rest, and switch to that path before it does."""
        leaves = t1 + math.ceil(self._planning_time / self.period) * self.period
        if self._at_rest_at(leaves):
            return
        found = self._plan(self._goal, self.budget)  # type: ignore[arg-type]
        state, motion = self._joints.state(self._motion, leaves - self._start), None
        if found.success and len(found.path) > 1:
            is_free = partial(self._safety.is_free, spheres=self._seen, start=leaves - self.time)
            motion = connected(self._joints, state, found.path, is_free, self._timer(found))
        self._planning_time = self._clock() - begin
        if motion is not None and t1 - self.period + self._planning_time <= leaves:
            self.replans, self.replans_in_motion = self.replans + 1, self.replans_in_motion + 1
            self._path, self._path_start = motion, leaves

    def _timer(self, found: Plan) -> Callable[[Array], PiecewisePolynomial]:
        return lambda path: replace(found, path=path).trajectory(**self._limits)  # type: ignore[arg-type]

    def _plan(self, goal: Goal, time_budget: float) -> Plan:
        rest = self._motion(self._motion.duration)
        options = {"group": self.group, "time_budget": time_budget, "allowed": self._allowed, "seed": self._seed}
        return plan(self.robot, rest, goal, self.world, **options)  # type: ignore[arg-type]

    def _set_path(self, found: Plan, delay: float = 0.0) -> None:
        end = self._start + self._motion.duration
        self._path = found.trajectory(**self._limits)  # type: ignore[arg-type]
        self._path_start = max(end, self.time + self.period) + delay

    def _world_version(self) -> int:
        return self.world.version if isinstance(self.world, World) else 0

    def _make_query(self) -> Query:
        q = self._motion(self._motion.duration) if self.time else self._joints.q0
        bounds = range_of(self.robot, q)
        return Query(self.robot, snapshot_of(self.world), self._allowed, self._joints.q0, self._moves, bounds=bounds)
