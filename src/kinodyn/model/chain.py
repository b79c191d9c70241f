"""The chain of joints that carries a frame: which joints move it, how long it can be, where it puts the frame.

Read from the description alone and computed in NumPy without the core, so that what the core says can be checked here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.description.types import Joint
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.compile import JointInfo, frame_along
from kinodyn.model.robot import Robot

TURNING = ("revolute", "continuous")


def configuration(robot: Robot, q: object) -> Array:
    """Return q as an array (..., nq), after all the checks that the core makes: shape, finite, unit quaternions."""
    _core.pose(robot, q, 0, None)  # type: ignore[arg-type]
    return np.asarray(q, dtype=float)


def frame_name(robot: Robot, frame: str | int) -> str:
    """Return the name of a frame that is given by name or by index."""
    return robot.frame_names[_core.frame_index(robot, frame)]


def chain(robot: Robot, frame: str | int) -> tuple[tuple[Joint, ...], Array]:
    """Find the joints from the root to a frame, fixed ones included, and the frame's pose (4, 4) in the last link."""
    name = frame_name(robot, frame)
    carriers = {joint.child: joint for joint in robot.description.joints}
    own = {other.name: (other.link, other.T_link_frame) for other in robot.description.frames}
    link, T_link_frame = own.get(name, (name, np.eye(4)))
    joints: list[Joint] = []
    while link in carriers:
        joints.append(carriers[link])
        link = joints[-1].parent
    return tuple(joints[::-1]), T_link_frame


def movers(robot: Robot, frame: str | int, joints: Sequence[str] | None = None) -> tuple[JointInfo, ...]:
    """List the joints with coordinates of their own that move a frame, or those of `joints` that do.

    The floating base is not among them: the frame moves relative to it. A joint that the chain follows by a mimic
    counts, wherever it stands itself.
    """
    names = {_source(robot, joint)[0].name for joint in chain(robot, frame)[0] if joint.kind != "fixed"}
    if robot.base == "floating":
        names.discard(robot.joints[0].name)
    if joints is not None:
        if isinstance(joints, str) or not all(isinstance(name, str) for name in joints):
            raise InputError(f"joints is {joints!r}; give a sequence of names of joints")
        for name in joints:
            if name not in robot.joint_names:
                raise unknown_name("joint", name, robot.joint_names)
        names &= set(joints)
    return tuple(joint for joint in robot.joints if joint.name in names)


def reach_bounds(
    robot: Robot, frame: str | int, q: Array, joints: Sequence[str] | None = None
) -> tuple[Array, float, float]:
    """Bound how far a frame can be from the first joint that moves it, from the lengths between joints alone.

    Returns the chain's parts as lengths (n, 2), least and greatest [m], and the bounds of the distance [m] that follow
    from the triangle inequality: no nearer than the longest part is longer than all others together. Angles and their
    limits do not enter, so what is outside can never be reached, and what is inside perhaps. Joints that are not asked
    for stand as in q (nq,).
    """
    moving = {joint.name for joint in movers(robot, frame, joints)}
    parts: list[tuple[float, float]] = []
    offset, started = np.eye(4), False  # what is rigid since the last joint that moves
    links, T_link_frame = chain(robot, frame)
    for joint in links:
        offset = offset @ joint.T_parent_child
        if joint.kind == "fixed":
            continue
        if _source(robot, joint)[0].name not in moving:
            offset = offset @ _motion(robot, joint, q)
            continue
        if started:
            parts.append(_length(offset))
        if joint.kind not in (*TURNING, "ball"):
            parts.append(_stroke(robot, joint))
        offset, started = np.eye(4), True
    parts.append(_length(offset @ T_link_frame))
    lengths = np.array(parts) if started else np.zeros((0, 2))
    least, greatest = lengths.T
    spare = [
        least[i] - (greatest.sum() - greatest[i]) if np.isfinite(greatest).all() else 0.0 for i in range(len(least))
    ]
    return lengths, max([0.0, *spare]), float(greatest.sum())


def first_joint(robot: Robot, frame: str | int, q: Array, joints: Sequence[str] | None = None) -> Array:
    """Find where the first joint that moves a frame stands in the world at the configuration q (nq,): (3,) [m]."""
    moving = {joint.name for joint in movers(robot, frame, joints)}
    T = np.eye(4)
    for joint in chain(robot, frame)[0]:
        T = T @ joint.T_parent_child
        if joint.kind != "fixed":
            source, *_ = _source(robot, joint)
            if source.name in moving:
                return np.array(T[:3, 3])
            T = T @ _motion(robot, joint, q)
    raise InputError(f"none of the joints asked for moves frame {frame_name(robot, frame)!r}")


def chain_pose(robot: Robot, q: Array, frame: str | int) -> Array:
    """Compute T_world_frame (..., 4, 4) at q (..., nq) as the product of the description's transforms."""
    joints, T_link_frame = chain(robot, frame)
    T = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
    for joint in joints:
        T = T @ joint.T_parent_child
        if joint.kind != "fixed":
            T = T @ _motion(robot, joint, q)
    return np.asarray(T @ T_link_frame)


def _source(robot: Robot, joint: Joint) -> tuple[JointInfo, float, float]:
    """Follow mimics to the joint that has the coordinate: position = multiplier * q + offset, less the reference."""
    by_name = {other.name: other for other in robot.description.joints}
    multiplier, offset, last = 1.0, -joint.reference, joint
    while last.mimic is not None:
        offset += multiplier * last.mimic.offset
        multiplier *= last.mimic.multiplier
        last = by_name[last.mimic.joint]
    return robot.joint(last.name), multiplier, offset


def _motion(robot: Robot, joint: Joint, q: Array) -> Array:
    """Compute what a moving joint adds to its place in the parent: (..., 4, 4)."""
    source, multiplier, offset = _source(robot, joint)
    own = q[..., source.q]
    T = np.array(np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4)))
    if joint.kind in TURNING:
        T[..., :3, :3] = _rotation((multiplier * own + offset) * joint.axis)
    elif joint.kind == "prismatic":
        T[..., :3, 3] = (multiplier * own + offset) * joint.axis
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


def _rotation(vectors: Array) -> Array:
    if vectors.size == 0:
        return np.zeros((*vectors.shape[:-1], 3, 3))
    matrices = Rotation.from_rotvec(np.array(vectors).reshape(-1, 3)).as_matrix()
    return np.asarray(matrices.reshape(*vectors.shape[:-1], 3, 3))


def _length(T: Array) -> tuple[float, float]:
    length = float(np.linalg.norm(T[:3, 3]))
    return length, length


def _stroke(robot: Robot, joint: Joint) -> tuple[float, float]:
    """Find how short and how long a sliding joint can make itself [m]."""
    if joint.kind != "prismatic":
        return 0.0, math.inf
    source, multiplier, offset = _source(robot, joint)
    ends = [multiplier * float(limit[source.q][0]) + offset for limit in (robot.limits.lower, robot.limits.upper)]
    least = 0.0 if min(ends) <= 0.0 <= max(ends) else min(abs(end) for end in ends)
    return least, max(abs(end) for end in ends)
