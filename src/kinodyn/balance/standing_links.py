"""The links on which a robot stands in a configuration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.limbs import LimbJoint, beside, fixed_links, limb, limb_ends, limb_root, link_mass, moving_chain
from kinodyn.balance.shapes import extreme_points
from kinodyn.description.types import Link, Shape
from kinodyn.errors import DescriptionError
from kinodyn.model.robot import Robot

HEIGHT_TOLERANCE = 0.04  # fraction of the robot's height: ends this high above the lowest are feet
TOE_TOLERANCE = 0.005  # fraction of the robot's height: if the last but one link is that low too, the last is a toe
MIN_TRUNK_HEIGHT = 0.4  # of the trunk above the ends of legs, as a fraction of their length
MAX_HANGING = 0.08  # of the CoM of the body below the first joints of legs, as a fraction of their length
MAX_OFFSET = 0.3  # of the CoM from the ends of the legs, along the ground, as a fraction of the robot's height
MIN_JOINTS = 5  # of a leg without its toes


@dataclass(frozen=True, eq=False)
class Legs:
    """The links of a robot that stand on the ground in a configuration.

    Attributes
    ----------
    q : (nq,)
        The configuration, with the base turned so that z is up and x forward.
    pose : dict of str to (4, 4)
        Pose of each frame.
    feet : tuple of str
        The links that stand on the ground.
    limbs : dict of str to tuple of LimbJoint
        The joints of each leg by its foot, from the hip on.
    trunk : str
        The link that is kept upright: the base, unless it is a part of a leg, or lighter than the pelvis and not the
        pelvis itself, such as a head or a hand with which a description starts.
    carried : dict of str to list of str
        The links that are fixed to each moving link.
    reason : str
        Why these are not legs; empty if they are.
    """

    q: Array
    pose: dict[str, Array]
    feet: tuple[str, ...]
    limbs: dict[str, tuple[LimbJoint, ...]]
    trunk: str
    carried: dict[str, list[str]]
    reason: str

    def ankle(self, foot: str) -> Array:
        """Return the position (3,) of the last joint of a leg; of the origin of the link where there is none [m]."""
        limb = self.limbs[foot]
        return self.pose[limb[-1].info.child if limb else foot][:3, 3]


def legs_at(robot: Robot, q: Array) -> Legs:
    """Find the links on which a robot stands in a configuration (nq,), z up, from left to right if x is forward."""
    pose = dict(zip(robot.frame_names, kinematics.poses(robot, q), strict=True))
    carried, ends = fixed_links(robot), limb_ends(robot)
    base = robot.joints[0].child
    if not ends:
        return Legs(q, pose, (), {}, base, carried, "no chain of joints ends in a link")
    heights = {link: lowest_height(robot, [link, *carried[link]], pose) for link in ends}
    lowest = min(heights.values())
    tall = max(float(T[2, 3]) for T in pose.values()) - lowest
    on_ground = [link for link in ends if heights[link] <= lowest + HEIGHT_TOLERANCE * tall]
    found = dict.fromkeys(
        _without_toe(robot, link, on_ground, carried, pose, heights[link], tall) for link in on_ground
    )
    feet = tuple(sorted(found, key=lambda link: -float(pose[link][1, 3])))
    pelvis = limb_root(robot, feet)
    limbs = {foot: tuple(limb(robot, pelvis, foot)) for foot in feet}
    trunk = _trunk(robot, pelvis, limbs)
    legs = Legs(q, pose, feet, limbs, trunk, carried, "")
    return Legs(q, pose, feet, limbs, trunk, carried, _standing_fault(robot, legs, lowest, tall))


def lowest_height(robot: Robot, links: list[str], pose: dict[str, Array]) -> float:
    """Find the lowest height [m] of links, by the shapes that can be read, else by their origins."""
    heights: list[float] = []
    for link in links_of(robot, links):
        R, p = pose[link.name][:3, :3], pose[link.name][:3, 3]
        for shape in ground_shapes(link):
            try:
                points = extreme_points(shape, -R[2])
            except DescriptionError:
                continue
            heights.append(float((points @ R[2]).min() + p[2]))
    return min(heights or [float(pose[link][2, 3]) for link in links])


def links_of(robot: Robot, names: list[str]) -> list[Link]:
    """Find links by name."""
    return [link for link in robot.description.links if link.name in names]


def ground_shapes(link: Link) -> tuple[Shape, ...]:
    """List the shapes with which a link may touch the ground: collision shapes, visual ones if it has none."""
    return link.collisions or link.visuals


def _trunk(robot: Robot, pelvis: str, limbs: dict[str, tuple[LimbJoint, ...]]) -> str:
    """Choose the link that is kept upright."""
    base = robot.joints[0].child
    carries_trunk = any(joint.direction < 0 for joints in limbs.values() for joint in joints)
    if carries_trunk or (base != pelvis and link_mass(robot, base) < link_mass(robot, pelvis)):
        return pelvis
    return base


def _without_toe(
    robot: Robot,
    link: str,
    on_ground: list[str],
    carried: dict[str, list[str]],
    pose: dict[str, Array],
    height: float,
    tall: float,
) -> str:
    """Return the link before the last joint if it reaches the ground as well: then the last link is a toe."""
    chain = max((limb(robot, other, link) for other in on_ground), key=len)
    if len(chain) // 2 <= MIN_JOINTS:
        return link
    before = _far_link(robot, chain[-1])
    last, rear = (links_of(robot, [name, *carried[name]]) for name in (link, before))
    collide = any(member.collisions for member in last)
    if not any(member.collisions if collide else member.visuals for member in rear):
        return link
    low = lowest_height(robot, [before, *carried[before]], pose)
    return before if low <= height + TOE_TOLERANCE * tall else link


def _far_link(robot: Robot, joint: LimbJoint) -> str:
    """Return the moving link on the side of a joint that is towards the trunk."""
    return moving_chain(robot, joint.info.parent)[-1] if joint.direction > 0 else joint.info.child


def _standing_fault(robot: Robot, legs: Legs, lowest: float, tall: float) -> str:
    """Explain why the robot cannot stand on these links; empty if it can."""
    free = [joint.child for joint in robot.joints[1:] if joint.kind == "floating"]
    if free:
        return f"it is a scene of several free bodies ({', '.join(free)}); load the robot without the others"
    if len(legs.feet) < 2:
        return f"it stands on {legs.feet[0]!r} alone"
    height = _link_height(robot, legs.trunk, legs.pose) - lowest
    body = _body_height(robot, legs)
    for foot, joints in legs.limbs.items():
        own = np.array([legs.pose[joint.info.child][:3, 3] for joint in joints])
        length = float(np.linalg.norm(np.diff(own, axis=0), axis=1).sum()) if len(own) else 0.0
        if height < MIN_TRUNK_HEIGHT * length:
            return (
                f"{foot!r} is the end of an arm rather than a foot: {legs.trunk!r} is only {height:.2g} m above the "
                f"ends of chains {length:.2g} m long"
            )
        if len(own) and (below := float(own[0, 2]) - body) > MAX_HANGING * length:
            return (
                f"{foot!r} is the end of an arm rather than a foot: the body hangs {below:.2g} m below the first joint "
                f"of a chain {length:.2g} m long"
            )
    places = np.array([legs.pose[foot][:2, 3] for foot in legs.feet])
    com = kinematics.com(robot, legs.q)[:2]
    offset = float(np.linalg.norm(np.maximum(0.0, np.maximum(places.min(axis=0) - com, com - places.max(axis=0)))))
    if offset > MAX_OFFSET * tall:
        return f"its CoM is {offset:.2g} m away from {', '.join(map(repr, legs.feet))}"
    return ""


def _link_height(robot: Robot, link: str, pose: dict[str, Array]) -> float:
    """Return the height of a link [m]: of its origin or its CoM, the higher one; origins may be on the ground."""
    height = float(pose[link][2, 3])
    mass, moment = _moment(robot, link, pose)
    return max(height, moment / mass) if mass > 0 else height


def _body_height(robot: Robot, legs: Legs) -> float:
    """Return the height of the CoM of the robot without its legs [m]; infinite if they have all of its mass."""
    joints = [joint for limb in legs.limbs.values() for joint in limb]
    pelvis = limb_root(robot, legs.feet)
    rows = np.array([_moment(robot, link, legs.pose) for link in beside(robot, pelvis, joints)])
    mass, moment = rows.sum(axis=0).tolist()
    return moment / mass if mass > 0 else np.inf


def _moment(robot: Robot, link: str, pose: dict[str, Array]) -> tuple[float, float]:
    """Return the mass of a moving link [kg], and its first moment of mass about the ground [kg m]."""
    row = robot.parameter_links.index(link)
    mass, *moment = robot.inertial_parameters.reshape(-1, 10)[row, :4]
    return float(mass), float(mass * pose[link][2, 3] + pose[link][2, :3] @ moment)
