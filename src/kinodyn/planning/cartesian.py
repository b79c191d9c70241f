"""Straight, collision-free motions of a frame: inverse kinematics along the line, without jumps between branches."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import kinematics, spatial
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, positive, vector
from kinodyn.collision.query import as_pairs, snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.ik.track import track
from kinodyn.model.robot import Robot
from kinodyn.planning.groups import Group, group_joints, group_query, moving_dofs
from kinodyn.planning.result import Plan, Status
from kinodyn.planning.timing import first_blocked
from kinodyn.spatial.lie import log_rotation

MAX_SAMPLES = 100_000


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class CartesianPlan(Plan):
    """A plan along a straight motion of a frame, or the part of it that is possible.

    Attributes
    ----------
    robot, status, message, path, group, world, planning_time, simplification_time, iterations
        As for any plan.
    allowed, resolution, constraints, deviations
        As for any plan; there are no constraints.
    fraction : float
        How much of the motion was planned, 0 to 1. The plan is "solved" only at 1; otherwise `path` ends there, and
        `trajectory` times that part.
    """

    fraction: float = 0.0

    def __repr__(self) -> str:
        return f"Cartesian{super().__repr__()[:-1]}, {self.fraction:.0%} of the motion)"


@check_types
def plan_cartesian(
    robot: Robot,
    start: ArrayLike,
    poses: MatrixLike,
    frame: str,
    world: World | WorldSnapshot | None = None,
    *,
    group: Group = None,
    allowed: Iterable[Iterable[str]] | None = None,
    step: float = 0.01,
    angle_step: float = 0.05,
) -> CartesianPlan:
    """Plan a motion of a frame along straight lines, with rotation at a constant rate about fixed axes.

    Parameters
    ----------
    robot
    start : (nq,)
        Where the motion starts.
    poses : (4, 4) or (n, 4, 4)
        T_world_frame at the end of each line.
    frame
        Name of a frame that only joints of the group move.
    world, group, allowed
        See `plan`.
    step, angle_step
        Maximum distance [m] and angle [rad] between configurations of the path.

    Returns
    -------
    CartesianPlan
        The path is continuous: `ik.track` follows one branch. The status is "out_of_reach" if inverse kinematics fails
        along the line, "no_path" if there is a collision; `fraction` is the part of the motion before that.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> start = [0, -0.8, 0, -2.4, 0, 1.6, 0.8]
    >>> T = kd.kinematics.pose(robot, start, "panda_link7")
    >>> T[2, 3] += 0.1
    >>> kd.planning.plan_cartesian(robot, start, T, "panda_link7").fraction
    1.0
    """
    begin = time.perf_counter()
    q0, pairs, snapshot = vector("start", start, robot.nq), as_pairs(allowed), snapshot_of(world)
    joints = group_joints(robot, group)
    names = tuple(joint.name for joint in joints)
    _require_own_frame(robot, frame, moving_dofs(robot, joints))
    ends = as_pose(poses, "poses").reshape(-1, 4, 4)
    T = _line(np.concatenate([kinematics.pose(robot, q0, frame)[None], ends]), step, angle_step)
    found = track(robot, T, frame, q0)
    reached = int(found.reached)
    path = np.array(found.q[:reached])
    status: Status = "solved"
    message = ""
    if reached < len(T):
        status, message = "out_of_reach", str(found.reasons)
    if reached:
        path[0] = q0
        query = group_query(robot, path, names, snapshot, pairs)
        blocked = first_blocked(query, path, pairs) if reached > 1 else None
        if blocked is not None:
            touching = query.touching(path[blocked + 1]) or query.touching(path[blocked])
            status, message = "no_path", "; ".join(f"{a} with {b}" for a, b in touching[:3]) or "in between"
            message = f"the motion would collide: {message}"
            path = path[: blocked + 1]
    fraction = max(len(path) - 1, 0) / (len(T) - 1)
    if len(path) < 2 and status != "solved":
        path = path[:0]
    seconds = time.perf_counter() - begin
    return CartesianPlan(robot, status, message, path, names, snapshot, seconds, allowed=pairs, fraction=fraction)


def _require_own_frame(robot: Robot, frame: str, moves: NDArray[np.bool_]) -> None:
    """Check that joints outside the group do not move the frame: tracking would move them."""
    J = kinematics.jacobian(robot, robot.random(seed=0), frame)
    others = (np.abs(J).max(axis=-2) > 1e-9) & ~moves
    if others.any():
        names = [joint.name for joint in robot.joints if joint.mimic is None and others[joint.v].any()]
        raise InputError(f"frame {frame!r} is also moved by {', '.join(names[:4])}, which are not in the group")


def _line(poses: Array, step: float, angle_step: float) -> Array:
    """Return poses (L, 4, 4) along the lines between poses (n, 4, 4)."""
    positive("step", step), positive("angle_step", angle_step)
    parts = [poses[:1]]
    for T0, T1 in zip(poses, poses[1:], strict=False):
        turn = np.linalg.norm(log_rotation(T0[:3, :3].T @ T1[:3, :3]))
        distance = np.linalg.norm(T1[:3, 3] - T0[:3, 3])
        count = int(np.ceil(max(distance / step, turn / angle_step, 1.0)))
        if count > MAX_SAMPLES:
            raise InputError(f"the line has {count} samples, at most {MAX_SAMPLES} are allowed; give a longer step")
        s = np.arange(1, count + 1) / count
        turned = [np.array(T) for T in (T0, T1)]
        for T in turned:
            T[:3, 3] = 0.0
        T = spatial.interpolate(turned[0], turned[1], s)
        T[:, :3, 3] = T0[:3, 3] + s[:, None] * (T1[:3, 3] - T0[:3, 3])
        parts.append(T)
    return np.concatenate(parts)
