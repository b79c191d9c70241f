"""What a robot needs to walk: gravity along -z, and legs with enough joints, motors and a knee."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.foot import Foot
from kinodyn.balance.knees import Knee
from kinodyn.balance.standing_links import MIN_JOINTS
from kinodyn.errors import InputError, KinodynError
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

MIN_RANGE = 0.02  # [rad or m] of a joint that counts as moving
MIN_SHORTENING = 0.005  # of a leg by its knee


def require_gravity_downwards(robot: Robot) -> None:
    """Raise InputError unless gravity is along -z: the ground is level and z is up."""
    x, y, z = robot.gravity
    if not z < 0.0 or np.hypot(x, y) > 1e-6 * abs(z):
        raise InputError(
            f"gravity of {robot.name!r} must be along -z to walk on level ground, got {robot.gravity.tolist()}; change "
            "it with robot.replace(gravity=(0, 0, -9.81)): the axes of the base may be any"
        )


def require_joints(robot: Robot, foot: Foot, joints: Sequence[JointInfo]) -> None:
    """Raise KinodynError unless a leg has enough joints that move and have a motor."""
    limits = robot.limits
    able = [
        joint
        for joint in joints
        if joint.mimic is None
        and joint.q.stop - joint.q.start == 1
        and limits.upper[joint.q.start] - limits.lower[joint.q.start] > MIN_RANGE
    ]
    if len(able) < MIN_JOINTS:
        listed = ", ".join(joint.name for joint in able) or "none"
        raise KinodynError(
            f"the {foot.side} leg of {robot.name!r} has {len(able)} joints of its own that move ({listed}); "
            f"{MIN_JOINTS} are needed to put a foot down flat"
        )
    passive = [joint.name for joint in joints if joint.mimic is None and not limits.effort[joint.v.start] > 0]
    if passive:
        raise KinodynError(
            f"the {foot.side} leg of {robot.name!r} has joints without a motor ({', '.join(passive)}): their effort "
            "limit is 0; walking needs torques at every joint of the legs"
        )


def require_knee(robot: Robot, foot: Foot, knee: Knee, places: tuple[Array, Array, Array]) -> None:
    """Raise KinodynError unless the knee shortens the leg between hip, knee and ankle, at the given places (3,)."""
    hip, middle, ankle = places
    thigh, shank = float(np.linalg.norm(middle - hip)), float(np.linalg.norm(ankle - middle))
    index, limits = knee.joint.q.start, robot.limits
    if knee.joint.kind == "prismatic":
        if not np.isfinite(limits.lower[index]) or not np.isfinite(limits.upper[index]):
            raise KinodynError(
                f"the {foot.side} leg of {robot.name!r} has the slide {knee.joint.name!r} as its knee, without limits; "
                "state how far it moves"
            )
        return
    low, high = np.clip([limits.lower[index] - knee.straight, limits.upper[index] - knee.straight], -np.pi, np.pi)
    straightest = float(np.clip(0.0, low, high))
    angles = np.array([straightest, high if abs(high) > abs(low) else low])
    longest, shortest = np.sqrt(thigh**2 + shank**2 + 2.0 * thigh * shank * np.cos(angles))
    if not shortest < (1.0 - MIN_SHORTENING) * longest:
        moves = float(np.rad2deg(limits.upper[index] - limits.lower[index]))
        raise KinodynError(
            f"the {foot.side} leg of {robot.name!r} cannot bend: joint {knee.joint.name!r}, the nearest to a knee, "
            f"moves by {moves:.3g} degrees and shortens it by {100.0 * (1.0 - shortest / longest):.2g} %; check the "
            "joint's limits, and whether the angles of the file are in degrees or radians"
        )
