"""The kinematic chain of a frame: the joints that move it, bounds on its reach, and its pose.

Computed in NumPy from the description alone, without the core, so that results of the core can be checked against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.checks import known_names
from kinodyn.description import mimics
from kinodyn.description.types import Joint
from kinodyn.errors import InputError
from kinodyn.model.compile import JointInfo, frame_along
from kinodyn.model.robot import Robot, require_robot

ROTARY = ("revolute", "continuous")


Leader: TypeAlias = mimics.Leader[JointInfo]


def leaders(robot: Robot) -> dict[str, Leader]:
    """Map each moving joint to the independent joint that it follows, directly or indirectly, or to itself."""
    return mimics.find_leaders(robot.joints)


def configuration(robot: Robot, q: object) -> Array:
    """Return q as an array (..., nq), after the core's checks: shape, finite values, unit quaternions."""
    _core.pose(robot, q, 0, None)  # type: ignore[arg-type]
    return np.asarray(q, dtype=float)


def single_configuration(robot: Robot, q: ArrayLike | None, name: str = "q0") -> Array:
    """Validate and return one configuration (nq,), by default the neutral one."""
    require_robot(robot)
    result = configuration(robot, robot.neutral() if q is None else q)
    if result.shape != (robot.nq,):
        raise InputError(f"{name} must be one configuration of shape ({robot.nq},), got {result.shape}")
    return result


def frame_name(robot: Robot, frame: str | int) -> str:
    """Return the name of a frame given by name or by index."""
    require_robot(robot)
    return robot.frame_names[_core.frame_index(robot, frame)]


def chain(robot: Robot, frame: str | int) -> tuple[tuple[Joint, ...], Array]:
    """Find the joints from the root to a frame, fixed ones included, and the frame's pose (4, 4) in the last link."""
    name = frame_name(robot, frame)
    joint_above = {joint.child: joint for joint in robot.description.joints}
    frames = {other.name: (other.link, other.T_link_frame) for other in robot.description.frames}
    link, T_link_frame = frames.get(name, (name, np.eye(4)))
    joints: list[Joint] = []
    while link in joint_above:
        joints.append(joint_above[link])
        link = joints[-1].parent
    return tuple(joints[::-1]), T_link_frame


def moving_joints(robot: Robot, frame: str | int, joints: Sequence[str] | None = None) -> tuple[JointInfo, ...]:
    """List the independent joints that move a frame, or those of `joints` that do.

    The floating base is not included: the frame moves relative to it. A joint that a mimic joint of the chain follows
    is included even if it is not part of the chain.
    """
    leader = leaders(robot)
    names = {leader[joint.name].joint.name for joint in chain(robot, frame)[0] if joint.kind != "fixed"}
    if robot.base == "floating":
        names.discard(robot.joints[0].name)
    if joints is not None:
        names &= set(known_names("joints", joints, "joint", robot.joint_names))
    return tuple(joint for joint in robot.joints if joint.name in names)


def reach_bounds(
    robot: Robot, frame: str | int, q: Array, joints: Sequence[str] | None = None
) -> tuple[Array, float, float]:
    """Bound the distance of a frame from the first joint that moves it, from the link lengths alone.

    Returns the lengths (n, 2) of the chain's segments, minimum and maximum [m], and the bounds of the distance [m] that
    follow from the triangle inequality: the lower bound is the excess of one segment over the sum of all others.
    Angles and their limits are ignored: points outside can never be reached, points inside perhaps. Joints that are
    not listed keep their position in q (nq,).
    """
    moving = {joint.name for joint in moving_joints(robot, frame, joints)}
    leader = leaders(robot)
    segments: list[tuple[float, float]] = []
    offset, started = np.eye(4), False  # the rigid transform since the last moving joint
    links, T_link_frame = chain(robot, frame)
    for joint in links:
        offset = offset @ joint.T_parent_child
        if joint.kind == "fixed":
            continue
        if leader[joint.name].joint.name not in moving:
            offset = offset @ _motion(joint, leader[joint.name], q)
            continue
        if started:
            segments.append(_length(offset))
        if joint.kind not in (*ROTARY, "ball"):
            segments.append(_stroke(robot, joint, leader[joint.name]))
        offset, started = np.eye(4), True
    segments.append(_length(offset @ T_link_frame))
    lengths = np.array(segments) if started else np.zeros((0, 2))
    return lengths, _min_distance(*lengths.T), float(lengths[:, 1].sum())


def _min_distance(shortest: Array, longest: Array) -> float:
    """Bound the distance between the ends of a chain from below."""
    if not np.isfinite(longest).all():
        return 0.0
    return float(max(0.0, (shortest - (longest.sum() - longest)).max(initial=0.0)))


def first_joint_position(robot: Robot, frame: str | int, q: Array, joints: Sequence[str] | None = None) -> Array:
    """Find the position (3,) [m] in the world, at the configuration q (nq,), of the first joint that moves a frame."""
    moving = {joint.name for joint in moving_joints(robot, frame, joints)}
    leader = leaders(robot)
    T = np.eye(4)
    for joint in chain(robot, frame)[0]:
        T = T @ joint.T_parent_child
        if joint.kind != "fixed":
            if leader[joint.name].joint.name in moving:
                return np.array(T[:3, 3])
            T = T @ _motion(joint, leader[joint.name], q)
    raise InputError(f"none of the given joints moves frame {frame_name(robot, frame)!r}")


def chain_pose(robot: Robot, q: Array, frame: str | int) -> Array:
    """Compute T_world_frame (..., 4, 4) at q (..., nq) as the product of the description's transforms."""
    joints, T_link_frame = chain(robot, frame)
    leader = leaders(robot)
    T = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
    for joint in joints:
        T = T @ joint.T_parent_child
        if joint.kind != "fixed":
            T = T @ _motion(joint, leader[joint.name], q)
    return np.asarray(T @ T_link_frame)


def _motion(joint: Joint, leader: Leader, q: Array) -> Array:
    """Compute the transform (..., 4, 4) of a moving joint relative to its origin in the parent link."""
    own = q[..., leader.joint.q]
    T = np.array(np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4)))
    if joint.kind in ROTARY:
        T[..., :3, :3] = _rotation(_displacement(joint, leader, own) * joint.axis)
    elif joint.kind == "prismatic":
        T[..., :3, 3] = _displacement(joint, leader, own) * joint.axis
    elif joint.kind == "planar":
        T[..., :3, 3] = own[..., :2] @ frame_along(joint.axis)[:, :2].T
        T[..., :3, :3] = _rotation(own[..., 2:] * joint.axis)
    else:
        quaternion = own[..., -4:]
        flat = Rotation.from_quat(quaternion.reshape(-1, 4)).as_matrix() if quaternion.size else np.zeros((0, 3, 3))
        T[..., :3, :3] = flat.reshape(*q.shape[:-1], 3, 3)
        if joint.kind == "floating":
            T[..., :3, 3] = own[..., :3]
    return T


def _displacement(joint: Joint, leader: Leader, own: Array) -> Array:
    """Compute the displacement of a one-coordinate joint from its reference position."""
    return leader.multiplier * own + leader.offset - joint.reference


def _rotation(vectors: Array) -> Array:
    if vectors.size == 0:
        return np.zeros((*vectors.shape[:-1], 3, 3))
    matrices = Rotation.from_rotvec(np.array(vectors).reshape(-1, 3)).as_matrix()
    return np.asarray(matrices.reshape(*vectors.shape[:-1], 3, 3))


def _length(T: Array) -> tuple[float, float]:
    length = float(np.linalg.norm(T[:3, 3]))
    return length, length


def _stroke(robot: Robot, joint: Joint, leader: Leader) -> tuple[float, float]:
    """Find the smallest and the largest length [m] that a prismatic joint adds."""
    if joint.kind != "prismatic":
        return 0.0, math.inf
    limits = np.array([robot.limits.lower[leader.joint.q.start], robot.limits.upper[leader.joint.q.start]])
    ends = _displacement(joint, leader, limits).tolist()
    shortest = 0.0 if min(ends) <= 0.0 <= max(ends) else min(abs(end) for end in ends)
    return shortest, max(abs(end) for end in ends)
