"""Goals of a plan as configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import as_pose, numbers
from kinodyn.errors import InputError
from kinodyn.ik.solve import solve
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

Goal = str | ArrayLike | Mapping[str, ArrayLike]

STARTS = 32  # of inverse kinematics for each pose
DISTINCT = 1e-3  # [rad or m] configurations nearer to each other count as one


class Goals(NamedTuple):
    """Configurations (n, nq) that reach a goal, nearest to the start first; or the reason why there are none."""

    q: Array
    reason: str = ""


def goal_configurations(robot: Robot, goal: Goal, start: Array, joints: Sequence[JointInfo]) -> Goals:
    """Return configurations that reach a goal.

    Parameters
    ----------
    robot
    goal
        As `plan` takes it.
    start : (nq,)
        Position of the joints that do not move.
    joints
        Those that move.
    """
    if isinstance(goal, Mapping):
        return _from_poses(robot, goal, start, joints)
    q = robot.configuration(goal) if isinstance(goal, str) else numbers("goal", goal, robot.nq)
    if q.ndim > 2:
        raise InputError(f"goal has shape {q.shape}; give a configuration ({robot.nq},) or several (n, {robot.nq})")
    columns = [joint.q.start for joint in joints]
    goals = np.tile(start, (len(np.atleast_2d(q)), 1))
    goals[:, columns] = np.atleast_2d(q)[:, columns]
    return _within_limits(robot, _nearest_turns(robot, goals, start, columns), joints)


def _within_limits(robot: Robot, goals: Array, joints: Sequence[JointInfo]) -> Goals:
    columns = np.array([joint.q.start for joint in joints])
    low, high = robot.limits.lower[columns], robot.limits.upper[columns]
    values = goals[:, columns]
    beyond = np.maximum(low - values, values - high)
    inside = (beyond <= 1e-6).all(axis=1)
    if inside.any():
        return Goals(goals[inside])
    i = int(np.argmax(beyond[0]))
    where = f"{values[0, i]:.6g}, outside of its limits {low[i]:.6g} to {high[i]:.6g}"
    return Goals(goals[:0], f"the goal has joint {joints[i].name} at {where}")


def _nearest_turns(robot: Robot, goals: Array, start: Array, columns: Sequence[int]) -> Array:
    """Return the goals with joints that turn without limits moved by whole turns next to the start."""
    endless = {joint.q.start for joint in robot.joints if joint.kind == "continuous" and joint.mimic is None}
    turning = [i for i in columns if i in endless and not np.isfinite(robot.limits.upper[i])]
    goals[:, turning] -= 2 * np.pi * np.rint((goals[:, turning] - start[turning]) / (2 * np.pi))
    return goals


def _from_poses(robot: Robot, goal: Mapping[str, ArrayLike], start: Array, joints: Sequence[JointInfo]) -> Goals:
    if not goal:
        raise InputError("goal is empty; give poses by frame: {'frame': T}")
    poses = {frame: np.atleast_3d(as_pose(T, f"goal of {frame}")).reshape(-1, 4, 4) for frame, T in goal.items()}
    columns = np.array([joint.q.start for joint in joints])
    count = max(map(len, poses.values()))
    starts = np.tile(start, (STARTS, count, 1))
    low, high = robot.limits.lower[columns], robot.limits.upper[columns]
    low, high = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
    rng = np.random.default_rng(0)
    starts[1:][..., columns] = rng.uniform(low, high, (STARTS - 1, count, len(columns)))
    found = solve(robot, poses, starts, restarts=0, joints=[joint.name for joint in joints])
    q = found.q[found.success]
    if not len(q):
        best = found.residual.reshape(-1, 2)[np.argmin(found.residual.reshape(-1, 2).sum(axis=1))]
        return Goals(q, f"no configuration reaches the goal: {1e3 * best[0]:.3g} mm and {best[1]:.3g} rad are left")
    q = _nearest_turns(robot, q, start, columns.tolist())
    q = q[np.argsort(np.linalg.norm(q - start, axis=1))]
    return Goals(_distinct(q))


def _distinct(q: Array) -> Array:
    kept: list[Array] = []
    for row in q:
        if all(np.abs(row - other).max() > DISTINCT for other in kept):
            kept.append(row)
    return np.array(kept)
