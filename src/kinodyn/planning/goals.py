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
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.planning.groups import column_names, group_columns
from kinodyn.planning.pose_goals import IsFree, pose_configurations
from kinodyn.planning.regions import PoseRegion

Goal = str | ArrayLike | Mapping[str, ArrayLike | PoseRegion]

LIMIT_TOLERANCE = 1e-6  # [rad or m]
DUPLICATE_TOLERANCE = 1e-3  # [rad or m] configurations that are the same when rounded to this count as one


class Goals(NamedTuple):
    """Configurations (n, nq) that reach a goal, nearest to the start first; or the reason why there are none."""

    q: Array
    reason: str = ""


def goal_configurations(
    robot: Robot,
    goal: Goal,
    start: Array,
    joints: Sequence[JointInfo],
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
    joints
        Those that move.
    is_free
        Returns which configurations (n, nq) are free; inverse kinematics searches until some are.
    end
        Deadline on the clock of `time.perf_counter` [s].
    seed
        Seed of the random number generator.
    """
    poses = goal_poses(goal)
    if poses is not None:
        q, reason = pose_configurations(robot, poses, start, joints, is_free, end, seed)
        if reason:
            return Goals(q, reason)
        q = _nearest_turns(robot, q, start, joints)
        return Goals(_distinct(q[np.argsort(np.linalg.norm(q - start, axis=1))]))
    q = given_configurations(robot, goal, start)
    columns = group_columns(joints)
    goals = np.tile(start, (len(q), 1))
    goals[:, columns] = q[:, columns]
    return _within_limits(robot, _nearest_turns(robot, goals, start, joints), joints)


def goal_poses(goal: Goal) -> Mapping[str, ArrayLike | PoseRegion] | None:
    """Return the goal if it consists of poses or regions by frame, else None."""
    if isinstance(goal, Mapping) and goal and not all(isinstance(value, Real) for value in goal.values()):
        return goal
    return None


def given_configurations(robot: Robot, goal: Goal, start: Array) -> Array:
    """Return the configurations (n, nq) of a goal given by names or values; joints not mentioned do not move."""
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
    q = numbers("goal", goal, robot.nq)
    if q.ndim > 2 or not len(q):
        raise InputError(f"goal must be a configuration ({robot.nq},) or several (n, {robot.nq}), got shape {q.shape}")
    return np.atleast_2d(q)


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


def _within_limits(robot: Robot, goals: Array, joints: Sequence[JointInfo]) -> Goals:
    columns = group_columns(joints)
    low, high = robot.limits.lower[columns], robot.limits.upper[columns]
    values = goals[:, columns]
    beyond = np.maximum(low - values, values - high)
    inside = (beyond <= LIMIT_TOLERANCE).all(axis=1)
    if inside.any():
        return Goals(goals[inside])
    i = int(np.argmax(beyond[0]))
    where = f"{values[0, i]:.6g}, outside its limits {low[i]:.6g} to {high[i]:.6g}"
    return Goals(goals[:0], f"the goal has joint {column_names(joints)[i]} at {where}")


def _nearest_turns(robot: Robot, goals: Array, start: Array, joints: Sequence[JointInfo]) -> Array:
    """Return the goals with unlimited joints shifted by full turns to be nearest to the start."""
    turning = [joint.q.stop - 1 for joint in joints if joint.kind in ("continuous", "planar")]
    turning = [i for i in turning if not np.isfinite(robot.limits.upper[i])]
    goals[:, turning] -= 2 * np.pi * np.rint((goals[:, turning] - start[turning]) / (2 * np.pi))
    return goals


def _distinct(q: Array) -> Array:
    """Remove configurations that are the same as an earlier one, rounded in every coordinate."""
    _, first = np.unique(np.rint(q / DUPLICATE_TOLERANCE), axis=0, return_index=True)
    return np.asarray(q[np.sort(first)])
