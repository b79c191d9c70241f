"""Groups of joints that a planner moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.collision.query import Pairs, Query, range_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.errors import InputError
from kinodyn.ik.space import named_joints
from kinodyn.model.compile import JointInfo
from kinodyn.model.joint_values import MAX_SAMPLED_TRANSLATION
from kinodyn.model.robot import Robot, require_robot

Group = str | Sequence[str] | None

MAX_GROUPS = 64  # cached for a robot
LIMIT_TOLERANCE = 1e-6  # [rad or m] by which a position may exceed its limits


@dataclass(frozen=True, eq=False)
class JointGroup:
    """The joints that a planner moves.

    Attributes
    ----------
    joints : tuple of JointInfo
    names : tuple of str
    columns : (n,) int array
        Their coordinates among q.
    turning : (m,) int array
        Those of the coordinates that are unlimited angles.
    moves : (nv,) bool array
        Their degrees of freedom.
    lower, upper : (n,) array
        Limits of the coordinates.
    """

    joints: tuple[JointInfo, ...]
    names: tuple[str, ...]
    columns: NDArray[np.intp]
    turning: NDArray[np.intp]
    moves: NDArray[np.bool_]
    lower: Array
    upper: Array

    def is_within_limits(self, q: Array) -> NDArray[np.bool_]:
        """Return which configurations (..., nq) are within the limits."""
        return np.asarray((self._beyond(q) <= LIMIT_TOLERANCE).all(axis=-1))

    def limit_violation(self, q: Array) -> str:
        """Say which joint of a configuration (nq,) is farthest outside its limits."""
        i = int(self._beyond(q).argmax())
        name, value = column_names(self.joints)[i], q[self.columns[i]]
        return f"joint {name} is at {value:.6g}, outside its limits {self.lower[i]:.6g} to {self.upper[i]:.6g}"

    def _beyond(self, q: Array) -> Array:
        values = q[..., self.columns]
        return np.maximum(self.lower - values, values - self.upper)


_GROUPS: WeakKeyDictionary[Robot, dict[str | tuple[str, ...] | None, JointGroup]] = WeakKeyDictionary()


def joint_group(robot: Robot, group: Group) -> JointGroup:
    """Return the joints of a group, of any kind, cached; see `group_joints`."""
    known = _GROUPS.get(robot)
    if known is None:
        known = _GROUPS.setdefault(robot, {})
    key = group if group is None or isinstance(group, str) else _joint_names(robot, group)
    found = known.get(key)
    if found is None:
        found = group_of(robot, group_joints(robot, key, manifold=True))
        if len(known) >= MAX_GROUPS:
            known.clear()
        known[key] = found
    return found


def _joint_names(robot: Robot, group: Sequence[str]) -> tuple[str, ...]:
    return tuple(joint.name for joint in group_joints(robot, group, manifold=True))


def group_of(robot: Robot, joints: Sequence[JointInfo]) -> JointGroup:
    """Return a group of these joints."""
    columns = group_columns(joints)
    limits = robot.limits.lower[columns], robot.limits.upper[columns]
    angles = [joint.q.stop - 1 for joint in joints if joint.kind in ("continuous", "planar")]
    turning = np.array([i for i in angles if not np.isfinite(robot.limits.upper[i])], dtype=np.intp)
    names = tuple(joint.name for joint in joints)
    return JointGroup(tuple(joints), names, columns, turning, moving_dofs(robot, joints), *limits)


def group_joints(robot: Robot, group: Group, *, manifold: bool = False) -> tuple[JointInfo, ...]:
    """Return the joints of a group, in the order of the robot.

    Parameters
    ----------
    robot
    group
        Name of a chain of the robot (a group of its SRDF) or of a joint, several such names, or None for all joints
        but floating ones, and ball joints unless `manifold`. Joints that follow another one move with it.
    manifold
        Whether ball and floating joints may move.
    """
    require_robot(robot)
    own = [joint for joint in robot.joints if joint.mimic is None]
    if group is None:
        chosen = [joint for joint in own if is_vector(joint) or (manifold and joint.kind == "ball")]
    elif isinstance(group, (str, Sequence)):
        names = set(named_joints(robot, group if isinstance(group, str) else tuple(group)))
        chosen = [joint for joint in own if joint.name in names]
    else:
        raise InputError(f"group must be the name of a chain, names of joints, or None for all joints, got {group!r}")
    for joint in chosen:
        if not manifold and not is_vector(joint):
            raise InputError(f"joint {joint.name} of the group is a {joint.kind} joint; only `plan` moves those")
    if not chosen:
        raise InputError(f"group {group!r} of {robot.name} has no joints that move")
    return tuple(chosen)


def group_columns(joints: Sequence[JointInfo]) -> NDArray[np.intp]:
    """Return the coordinates of joints among q (nq,)."""
    return np.array([i for joint in joints for i in range(joint.q.start, joint.q.stop)], dtype=np.intp)


def column_names(joints: Sequence[JointInfo]) -> list[str]:
    """Return the name of the joint of each coordinate."""
    return [joint.name for joint in joints for _ in range(joint.q.start, joint.q.stop)]


def moving_dofs(robot: Robot, joints: Sequence[JointInfo]) -> NDArray[np.bool_]:
    """Return which degrees of freedom (nv,) the joints have."""
    moves = np.zeros(robot.nv, dtype=bool)
    for joint in joints:
        moves[joint.v] = True
    return moves


def group_query(
    robot: Robot,
    path: Array,
    names: Iterable[str],
    snapshot: WorldSnapshot,
    allowed: Pairs,
    resolution: float | None = None,
) -> Query:
    """Return the query of motions of some joints along a path (n, nq), with spheres of a resolution [m]."""
    moves = moving_dofs(robot, [robot.joint(name) for name in names])
    return Query(robot, snapshot, allowed, path[0], moves, bounds=range_of(robot, path), resolution=resolution)


def is_vector(joint: JointInfo) -> bool:
    """Return whether the coordinates of a joint are those of a vector space; quaternions are not."""
    return joint.kind not in ("floating", "ball")


def search_range(lower: Array, upper: Array, near: Array, wide: NDArray[np.bool_] | None = None) -> tuple[Array, Array]:
    """Return bounds (n,) for samples: the limits, but half a turn or pi metres beyond `near` where they are too wide.

    Parameters
    ----------
    lower, upper : (n,) array
        Limits, which may be infinite.
    near : (m, n) array
        Configurations that the samples surround.
    wide : (n,) bool array, optional
        Which ranges are too wide; by default those of lengths that count as unlimited.
    """
    if wide is None:
        wide = upper - lower > MAX_SAMPLED_TRANSLATION
    if not wide.any():
        return lower, upper
    return (
        np.where(wide, np.maximum(lower, near.min(axis=0) - np.pi), lower),
        np.where(wide, np.minimum(upper, near.max(axis=0) + np.pi), upper),
    )
