"""Goals of a plan as configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot
from kinodyn.planning.groups import LIMIT_TOLERANCE, JointGroup
from kinodyn.planning.pose_goals import IsFree, pose_configurations
from kinodyn.planning.regions import PoseRegion

Goal = str | ArrayLike | Mapping[str, ArrayLike | PoseRegion]

GOAL_TIME_FRACTION = 0.5  # fraction of the time budget of a plan for pose goals
DUPLICATE_TOLERANCE = 1e-3  # [rad or m] configurations that are the same when rounded to this count as one


class Goals(NamedTuple):
    """Configurations (n, nq) that reach a goal, nearest to the start first; or the reason why there are none."""

    q: Array
    reason: str = ""


def goal_configurations(
    robot: Robot,
    goal: Goal,
    start: Array,
    group: JointGroup,
    is_free: IsFree | None = None,
    end: float = np.inf,
    seed: int = 0,
) -> Goals:
    """Return configurations that reach a goal.

    Parameters
    ----------
    robot
    goal
        Goal, as in `plan`.
    start : (nq,)
        Position of the joints that do not move.
    group
        The joints that move.
    is_free
        Returns which configurations (n, nq) are free; inverse kinematics searches until some are.
    end
        Deadline on the clock of `time.perf_counter` [s].
    seed
        Seed of the random number generator.
    """
    poses = goal_poses(goal)
    if poses is not None:
        q, reason = pose_configurations(robot, poses, start, group.joints, is_free, end, seed)
        if reason:
            return Goals(q, reason)
        q = _nearest_turns(q, start, group)
        return Goals(_distinct(q[np.argsort(np.linalg.norm(q - start, axis=1))]))
    q = given_configurations(robot, goal, start)
    if isinstance(goal, Mapping):
        for joint in (robot.joint(name) for name in goal if name not in group.names):
            if np.abs(q[0, joint.q] - start[joint.q]).max() > LIMIT_TOLERANCE:
                return Goals(q[:0], f"the goal moves joint {joint.name}, which is not in the group")
    goals = np.empty_like(q)
    goals[:] = start
    goals[:, group.columns] = q[:, group.columns]
    return _within_limits(_nearest_turns(goals, start, group), group)


def goal_poses(goal: Goal) -> Mapping[str, ArrayLike | PoseRegion] | None:
    """Return the goal if it consists of poses or regions by frame, else None."""
    if isinstance(goal, Mapping) and goal and not all(isinstance(value, Real) for value in goal.values()):
        return goal
    return None


def given_configurations(robot: Robot, goal: Goal, start: Array) -> Array:
    """Return the configurations (n, nq) of a goal given by names or values; joints not mentioned do not move."""
    if isinstance(goal, np.ndarray):
        return _values(robot, goal)
    if isinstance(goal, str):
        robot.configuration(goal)  # it must exist
        return _filled(robot, start, robot.description.configurations[goal])
    if isinstance(goal, Mapping):
        if not goal:
            raise InputError("goal is empty; give poses by frame: {'frame': T}, or positions by joint: {'joint': q}")
        own = {joint.name: joint for joint in robot.joints if joint.mimic is None}
        for name in goal:
            if name not in own:
                raise unknown_name("joint", name, own)
        values = {name: numbers(f"goal of {name}", cast(ArrayLike, value)).reshape(1) for name, value in goal.items()}
        return _filled(robot, start, values)
    if isinstance(goal, Sequence) and goal and all(isinstance(name, str) for name in goal):
        return np.concatenate([given_configurations(robot, name, start) for name in goal])
    if isinstance(goal, PoseRegion):
        raise InputError("goal is a PoseRegion without a frame; give {'frame': region}")
    return _values(robot, goal)


def _values(robot: Robot, goal: ArrayLike) -> Array:
    q = numbers("goal", goal, robot.nq)
    if q.ndim > 2 or not len(q):
        raise InputError(f"goal must be a configuration ({robot.nq},) or several (n, {robot.nq}), got shape {q.shape}")
    return q if q.ndim == 2 else q[None]


def _filled(robot: Robot, start: Array, positions: Mapping[str, ArrayLike]) -> Array:
    q: Array = start.copy()
    for joint in robot.joints:
        if joint.mimic is None and joint.name in positions:
            values = np.asarray(positions[joint.name], dtype=float)
            if values.shape != (joint.q.stop - joint.q.start,):
                raise InputError(
                    f"goal of joint {joint.name} needs {joint.q.stop - joint.q.start} numbers, got {values.size}"
                )
            q[joint.q] = values
    return np.atleast_2d(q)


def _within_limits(goals: Array, group: JointGroup) -> Goals:
    inside = group.is_within_limits(goals)
    if inside.all():
        return Goals(goals)
    return Goals(goals[inside], "" if inside.any() else f"the goal: {group.limit_violation(goals[0])}")


def _nearest_turns(goals: Array, start: Array, group: JointGroup) -> Array:
    """Return the goals with unlimited joints shifted by full turns to be nearest to the start."""
    turning = group.turning
    if len(turning):
        goals[:, turning] -= 2 * np.pi * np.rint((goals[:, turning] - start[turning]) / (2 * np.pi))
    return goals


def _distinct(q: Array) -> Array:
    """Remove configurations that are the same as an earlier one, rounded in every coordinate."""
    _, first = np.unique(np.rint(q / DUPLICATE_TOLERANCE), axis=0, return_index=True)
    return np.asarray(q[np.sort(first)])
