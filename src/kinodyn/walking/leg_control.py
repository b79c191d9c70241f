"""Which motions of its sole a leg controls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.foot import Foot, FreeRotation
from kinodyn.balance.legs import find_legs
from kinodyn.errors import KinodynError
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

MIN_CONTROL = 0.02  # least singular value of the leg's Jacobian, in leg lengths, with which a direction is controlled
# The same for all directions but the height: with an ankle of pitch and roll 0.4 to 0.6; with one of pitch and yaw,
# whose roll follows from bent knees only, 0.15.
MIN_LEVEL_CONTROL = 0.25
AXES = ("roll", "pitch", "yaw")
PITCH_REASON = "the pitch of the foot; hip, knee and ankle must each have a joint about a pitch axis"


def free_rotation(
    robot: Robot, foot: Foot, joints: Sequence[JointInfo], length: float, *, bent: Array, level: Array
) -> FreeRotation:
    """Find the rotation of the sole that the joints of its leg cannot control; raise KinodynError if it is pitch.

    `length` [m] is that of the leg; `bent` and `level` (nq,) are configurations with a bent knee, the second with a
    level sole: where the sole is inclined, an ankle that rolls also yaws.
    """
    own = [joint.v.start for joint in joints if joint.mimic is None]
    J = _sole_jacobian(robot, bent, foot, length)[:, own]
    if len(own) > 5 and float(np.linalg.svd(J, compute_uv=False)[5]) > MIN_CONTROL:
        J = np.delete(J, 2, axis=0)
        if float(np.linalg.svd(J, compute_uv=False)[4]) > MIN_LEVEL_CONTROL:
            return ""
    # the knee controls the height, the less the straighter it is: it would hide what the other joints control
    J = np.delete(_sole_jacobian(robot, level, foot, length)[:, own], 2, axis=0)
    first = 2  # row of the roll
    kept = {
        name: float(np.linalg.svd(np.delete(J, first + k, axis=0), compute_uv=False)[-1]) for k, name in enumerate(AXES)
    }
    free = max(kept, key=lambda name: kept[name])
    if kept[free] <= MIN_CONTROL or free == "pitch":
        raise KinodynError(
            f"the {foot.side} leg of {robot.name!r} cannot keep its foot level: its joints "
            f"({', '.join(joint.name for joint in joints)}) do not control "
            f"{PITCH_REASON if free == 'pitch' else 'its position and two of its rotations'}"
        )
    return "roll" if free == "roll" else "yaw"


def _sole_jacobian(robot: Robot, q: Array, foot: Foot, length: float) -> Array:
    """Compute the Jacobian (6, nv) of a sole relative to the trunk, lengths in legs."""
    sole, trunk = foot.sole_pose(robot, q)[:3, 3], find_legs(robot).trunk
    J = _jacobian_at(robot, q, foot.frame, sole) - _jacobian_at(robot, q, trunk, sole)
    J[:3] /= length
    return J


def _jacobian_at(robot: Robot, q: Array, frame: str, point: Array) -> Array:
    """Compute the Jacobian (6, nv) of a point (3,) of the world that moves with a frame."""
    J = kinematics.jacobian(robot, q, frame)
    J[:3] += np.cross(J[3:].T, point - kinematics.pose(robot, q, frame)[:3, 3]).T
    return J
