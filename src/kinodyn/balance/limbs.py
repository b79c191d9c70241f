"""Limbs of a robot: chains of joints between its links, whichever link the description starts with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot


class LimbJoint(NamedTuple):
    """A joint of a limb, counted from the trunk to the end.

    Attributes
    ----------
    info : JointInfo
    direction : float
        1 where the joint carries the end of the limb on its child link, -1 where on its parent: in a description that
        starts with a foot, the joints of that leg carry the trunk.
    """

    info: JointInfo
    direction: float


def chain_ends(robot: Robot) -> list[str]:
    """List the links at the ends of chains of the robot: moved by a joint, and carrying no other moving joint."""
    parents = {joint.child: joint.parent for joint in robot.description.joints}
    inner: set[str] = set()
    for joint in robot.joints:
        link: str | None = joint.parent
        while link is not None and link not in inner:
            inner.add(link)
            link = parents.get(link)
    return [joint.child for joint in robot.joints[1:] if joint.kind != "floating" and joint.child not in inner]


def limb_ends(robot: Robot) -> list[str]:
    """List the links at the ends of limbs: `chain_ends`, and a base that carries a single chain."""
    base = robot.joints[0].child
    chains = [joint for joint in robot.joints[1:] if moving_chain(robot, joint.parent)[-1:] == [base]]
    return [base, *chain_ends(robot)] if len(chains) == 1 else chain_ends(robot)


def fixed_links(robot: Robot) -> dict[str, list[str]]:
    """List for each moving link the links that are fixed to it."""
    fixed: dict[str, list[str]] = {}
    for joint in robot.description.joints:
        if joint.kind == "fixed":
            fixed.setdefault(joint.parent, []).append(joint.child)
    result: dict[str, list[str]] = {}
    for moving in robot.joints:
        found, queue = [], [moving.child]
        while queue:
            children = fixed.get(queue.pop(0), [])
            found += children
            queue += children
        result[moving.child] = found
    return result


def moving_chain(robot: Robot, link: str) -> list[str]:
    """List the links of the moving joints from the base to a link, the base first."""
    parents = {joint.child: joint.parent for joint in robot.description.joints}
    moving = {joint.child for joint in robot.joints}
    chain, at = [], link
    while True:
        if at in moving:
            chain.append(at)
        if at not in parents:
            return chain[::-1]
        at = parents[at]


def limb(robot: Robot, start: str, end: str) -> list[LimbJoint]:
    """List the joints from one moving link to another, in this order."""
    up, down = moving_chain(robot, start), moving_chain(robot, end)
    shared = len([1 for a, b in zip(up, down, strict=False) if a == b])
    infos = {joint.child: joint for joint in robot.joints}
    towards_base = [LimbJoint(infos[link], -1.0) for link in reversed(up[shared:])]
    return towards_base + [LimbJoint(infos[link], 1.0) for link in down[shared:]]


def limb_root(robot: Robot, ends: Sequence[str]) -> str:
    """Find the moving link from which limbs to some links start: the pelvis of two legs.

    It is the last link that the chains from the base share, unless the base is a part of one of two limbs; then it is
    the middle of the chain from one end to the other. Of these two, the one with more mass beside the limbs counts.
    """
    chains = [moving_chain(robot, end) for end in ends]
    last = [link for link in chains[0] if all(link in chain for chain in chains)][-1]
    if len(ends) != 2:
        return last
    joints = limb(robot, *ends)
    half, odd = divmod(len(joints), 2)
    if odd or not half:
        return last
    info, direction = joints[half - 1]
    middle = info.child if direction > 0 else moving_chain(robot, info.parent)[-1]
    if middle == last:
        return last
    masses = {link: sum(link_mass(robot, other) for other in beside(robot, link, joints)) for link in (middle, last)}
    return middle if masses[middle] > masses[last] else last


def limb_mass(robot: Robot, joints: Sequence[LimbJoint]) -> float:
    """Return the mass of the moving links from the first joint of a limb to its end [kg]."""
    links = (
        joint.info.child if joint.direction > 0 else moving_chain(robot, joint.info.parent)[-1] for joint in joints
    )
    return sum(link_mass(robot, link) for link in links)


def link_mass(robot: Robot, link: str) -> float:
    """Return the mass of a moving link with those that are fixed to it [kg]."""
    return float(robot.inertial_parameters[10 * robot.parameter_links.index(link)])


def beside(robot: Robot, link: str, joints: Sequence[LimbJoint]) -> list[str]:
    """List the moving links that stay connected to one of them where the joints of limbs are removed."""
    dividing = {joint.info.child for joint in joints}
    part: dict[str, str] = {}
    for joint in robot.joints:
        before = moving_chain(robot, joint.parent)
        part[joint.child] = joint.child if joint.child in dividing or not before else part[before[-1]]
    return [other for other, name in part.items() if name == part[link]]
