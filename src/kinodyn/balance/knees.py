"""The knee of a leg: the joint in its middle, and in which direction it bends; of a telescopic leg its slide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.limbs import limb, limb_root
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

MIN_TRAVEL = 0.1  # of a slide that is the knee of a leg, as a fraction of the leg's size: others are play of a knee
ALONG = 0.7  # cosine of the angle between the leg and the axis of a slide that changes its length
PARALLEL = 0.1  # difference of cosines of axes that count as equally parallel: those of hips are often inclined


@dataclass(frozen=True)
class Knee:
    """The joint in the middle of a leg, or the slide along it.

    Attributes
    ----------
    joint : JointInfo
    hip : str
        Link of the joint at the hip whose axis is most parallel to the knee's, the first of several; above a slide most
        parallel to the lateral axis.
    ankle : str
        Link of the last joint.
    straight : float
        Position at which the leg is longest [rad or m].
    bending : float
        Direction in which its range is larger from there on, 1 or -1.
    forward : float
        1 if the knee then moves forward, -1 if backward, 0 if its range is as large on both sides.
    """

    joint: JointInfo
    hip: str
    ankle: str
    straight: float
    bending: float
    forward: float


def find_knee(robot: Robot, q: Array, foot: str, feet: tuple[str, ...]) -> Knee:
    """Find the knee of a leg: the joint whose axis is farthest from both ends of the chain, and across it.

    Parameters
    ----------
    robot
    q
        Configuration (nq,), x forward.
    foot
        Link of the foot.
    feet
        Links of all feet: joints that they share do not belong to the leg.

    Returns
    -------
    Knee
    """
    joints = limb(robot, limb_root(robot, feet), foot)
    links = [joint.info.child for joint in joints]
    written = {joint.name: joint for joint in robot.description.joints}
    poses = [kinematics.pose(robot, q, link) for link in links]
    places = np.array([T[:3, 3] for T in poses])
    # about these axes the foot's side of a joint turns while its position grows
    axes = np.array([j.direction * T[:3, :3] @ written[j.info.name].axis for T, j in zip(poses, joints, strict=True)])
    # distances from the axes, not from the joints: a wide hip is far from the first joint, but along its own axis
    ends = np.minimum(*(np.linalg.norm(np.cross(axes, places - places[end]), axis=1) for end in (0, -1)))
    along = (places[-1] - places[0]) / max(float(np.linalg.norm(places[-1] - places[0])), 1e-9)
    slides = [_is_long_slide(robot, joint.info, float(np.ptp(places, axis=0).max())) for joint in joints]
    lengthening = np.where(slides, axes @ along, 0.0)
    if np.abs(lengthening).max(initial=0.0) > ALONG:
        return _slide(robot, q, [joint.info for joint in joints], axes, lengthening)
    k = int((ends * np.linalg.norm(np.cross(axes, along), axis=1)).argmax())  # an axis along the leg does not bend it
    parallel = np.abs(axes[:k] @ axes[k])
    hip = int(np.flatnonzero(parallel > parallel.max() - PARALLEL)[0]) if k else 0  # the first: thighs may bend too
    joint, axis = joints[k].info, axes[k]
    thigh, shank = (_across(places[end] - places[k], axis) for end in (hip, -1))
    align = float(np.arctan2(axis @ np.cross(shank, -thigh), shank @ -thigh))
    straight = float(q[joint.q.start]) + align if joint.q.stop > joint.q.start else 0.0
    low, high = (float(bound[joint.q.start]) for bound in (robot.limits.lower, robot.limits.upper))
    up, down = max(high - straight, 0.0), max(straight - low, 0.0)
    forward = float(np.sign(np.cross(axis, thigh)[0]))  # of the knee between hip and ankle, while its angle grows
    if max(up, down) <= 2.0 * min(up, down) or not np.isfinite(min(up, down)):
        return Knee(joint, links[hip], links[-1], straight, forward or 1.0, 0.0)
    bending = 1.0 if up > down else -1.0
    return Knee(joint, links[hip], links[-1], straight, bending, bending * forward)


def _is_long_slide(robot: Robot, joint: JointInfo, size: float) -> bool:
    """Return whether a joint is a slide of its own with the travel of a telescopic leg of some size [m]."""
    if joint.kind != "prismatic" or joint.mimic is not None:
        return False
    return bool(robot.limits.upper[joint.q.start] - robot.limits.lower[joint.q.start] > MIN_TRAVEL * size)


def _slide(robot: Robot, q: Array, joints: list[JointInfo], axes: Array, lengthening: Array) -> Knee:
    """Describe the slide along a leg that changes its length most, by the cosines (n,) of joints with the leg."""
    k = int(np.abs(lengthening).argmax())
    joint, longer = joints[k], float(np.sign(lengthening[k]))
    lateral = np.abs(axes[: max(k, 1), 1])
    hip = int(np.flatnonzero(lateral > lateral.max() - PARALLEL)[0])
    bound = robot.limits.upper if longer > 0.0 else robot.limits.lower
    straight = float(bound[joint.q.start])
    straight = straight if np.isfinite(straight) else float(q[joint.q.start])
    return Knee(joint, joints[hip].child, joints[-1].child, straight, -longer, 0.0)


def _across(vector: Array, axis: Array) -> Array:
    """Return the part of a vector that is perpendicular to a unit axis."""
    result: Array = vector - (vector @ axis) * axis
    return result
