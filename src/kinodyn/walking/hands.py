"""Detection of hands and arms, by structure."""

from __future__ import annotations

import numpy as np

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.balance.feet import biped_feet, upright
from kinodyn.errors import KinodynError
from kinodyn.model.chain import chain
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

MIN_ARM_JOINTS = 4  # fewer cannot place a hand
MIN_OFFSET = 0.02  # [m] to the side, beyond which a link belongs to the left or to the right


@check_types
def hands(robot: Robot) -> tuple[str, str]:
    """Find the left and the right hand.

    The joints of an arm move links of one side only. The hand is the last link of a chain that the description names,
    or the last one before the fingers part; where the description names an end effector on it, the frame of that.

    Parameters
    ----------
    robot
        A robot with two feet.

    Returns
    -------
    tuple of two str
        Frames of the left and the right hand.

    Raises
    ------
    KinodynError
        If the robot does not have two arms of at least four joints.

    Examples
    --------
    >>> import kinodyn as kd
    >>> kd.walking.hands(kd.load("humanoid"))
    ('left_palm', 'right_palm')
    """
    left, right = _arms(robot)
    return _frame(robot, left[-1].child), _frame(robot, right[-1].child)


def arm_joints(robot: Robot, hand: str) -> tuple[JointInfo, ...]:
    """List the joints of the arm of a hand, from the shoulder.

    Parameters
    ----------
    robot
        A robot with two arms.
    hand
        Frame of the hand.

    Returns
    -------
    tuple of JointInfo
    """
    moving = {joint.name for joint in chain(robot, hand)[0]}
    return max(_arms(robot), key=lambda arm: len(moving & {joint.name for joint in arm}))


def _arms(robot: Robot) -> tuple[tuple[JointInfo, ...], tuple[JointInfo, ...]]:
    """Find the joints of the left and of the right arm."""
    q = upright(robot)
    middle = float(kinematics.com(robot, q)[1])
    legs = {joint.name for foot in biped_feet(robot) for joint in chain(robot, foot.frame)[0]}
    chains: dict[int, list[list[str]]] = {1: [], -1: []}
    for link in _ends(robot):
        offset = float(kinematics.pose(robot, q, link)[1, 3]) - middle
        if abs(offset) > MIN_OFFSET:
            chains[int(np.sign(offset))].append([joint.name for joint in chain(robot, link)[0]])
    return _arm(robot, chains[1], legs.union(*chains[-1])), _arm(robot, chains[-1], legs.union(*chains[1]))


def _arm(robot: Robot, chains: list[list[str]], others: set[str]) -> tuple[JointInfo, ...]:
    """Find the joints that all long chains of one side have in common, and that move nothing else."""
    own = [[joint for joint in robot.joints if joint.name in names and joint.name not in others] for names in chains]
    own = [joints for joints in own if len(joints) >= MIN_ARM_JOINTS]
    shared = [joint for joint in own[0] if all(joint in joints for joints in own)] if own else []
    if len(shared) < MIN_ARM_JOINTS:
        raise KinodynError(f"{robot.name!r} does not have two arms of at least {MIN_ARM_JOINTS} joints")
    named = _named_chain(robot, shared)
    return tuple(joint for joint in shared if joint.name in named) if named else tuple(shared)


def _named_chain(robot: Robot, arm: list[JointInfo]) -> set[str]:
    """Return the longest chain that the description names of joints of the arm alone: it leaves grippers out."""
    names = {joint.name for joint in arm}
    chains = [set(chain) for chain in robot.description.chains.values() if set(chain) <= names]
    return max((chain for chain in chains if len(chain) >= MIN_ARM_JOINTS), key=len, default=set())


def _ends(robot: Robot) -> list[str]:
    """List the links at the ends of chains."""
    inner = {joint.name for info in robot.joints for joint in chain(robot, info.parent)[0]}
    return [info.child for info in robot.joints[1:] if info.name not in inner]


def _frame(robot: Robot, link: str) -> str:
    """Choose the frame of a hand: an end effector of the description on its link, else the link."""
    links = {frame.name: frame.link for frame in robot.description.frames}
    on_link = [name for name in robot.description.end_effectors.values() if links.get(name, name) == link]
    return on_link[0] if on_link else link
