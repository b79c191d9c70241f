"""Search for the legs of a robot by its structure: which way is up, which links reach the ground.

No names of links are assumed. Legs are chains of joints that hold the base above their ends; what hangs from a base
near the ground, such as the arms of an upper body, is not a leg.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.shapes import extreme_points
from kinodyn.description.types import Link, Shape
from kinodyn.errors import DescriptionError, KinodynError
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot, require_robot
from kinodyn.spatial import as_quaternion, quaternion_product, rot_z

STANDING = ("standing", "half_sitting", "upright", "stand", "home")  # names of configurations, in order of preference
HEIGHT_TOLERANCE = 0.04  # fraction of the robot's height: ends this high above the lowest are feet
TOE_TOLERANCE = 0.005  # fraction of the robot's height: if the last but one link is that low too, the last is a toe
MIN_BASE_HEIGHT = 0.4  # of the base above the ends of legs, as a fraction of their length
MAX_OFFSET = 0.3  # of the CoM from the ends of the legs, along the ground, as a fraction of the robot's height
MIN_JOINTS = 5  # of a leg without its toes
MIN_TOES = 0.2  # difference of a foot's extents to the front and to the back of its joint, as a fraction of its length
UP_AXES = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, -1, 0], [-1, 0, 0], [0, 0, -1]], dtype=float)
_LEGS: WeakKeyDictionary[Robot, Legs] = WeakKeyDictionary()


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
    carried : dict of str to list of str
        The links that are fixed to each moving link.
    reason : str
        Why these are not legs; empty if they are.
    """

    q: Array
    pose: dict[str, Array]
    feet: tuple[str, ...]
    carried: dict[str, list[str]]
    reason: str


def find_legs(robot: Robot, q: Array | None = None) -> Legs:
    """Find the links on which a robot stands, from left to right.

    Parameters
    ----------
    robot
        With a floating base.
    q
        A configuration (nq,) in which the robot stands upright, z up and x forward; by default `upright_posture`, with
        the base turned about the axes of its frame until it stands on legs, with its toes or its knees to the front.

    Returns
    -------
    Legs
    """
    require_robot(robot)
    if robot.base != "floating":
        raise KinodynError(f'{robot.name!r} has a fixed base and no feet; load a legged robot with base="floating"')
    if q is not None:
        return _legs(robot, q)
    if robot not in _LEGS:
        _LEGS[robot] = _search(robot)
    return _LEGS[robot]


def _search(robot: Robot) -> Legs:
    posture = upright_posture(robot)
    first = _legs(robot, posture)
    if not first.reason:
        return _facing_forward(robot, first)
    turned = (_turned(posture, _R_up(up)) for up in UP_AXES[1:])
    for q in (*_as_written(robot, posture), *turned):
        found = _legs(robot, q)
        if not found.reason:
            return _facing_forward(robot, found)
    return first


def _as_written(robot: Robot, posture: Array) -> list[Array]:
    """List the posture (nq,) with the orientations of the base that the description names."""
    found = []
    for name in robot.configurations:
        q = posture.copy()
        q[3:7] = robot.configuration(name)[3:7]
        found.append(q)
    return found


def upright_posture(robot: Robot) -> Array:
    """Choose the configuration (nq,) in which feet are searched: a named one, or neutral; the base is level."""
    known = {name.lower(): name for name in robot.configurations}
    named = [known[name] for name in STANDING if name in known]
    q = robot.configuration(named[0]) if named else robot.neutral()
    q[3:7] = (0.0, 0.0, 0.0, 1.0)
    return q


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


def lowest_height(robot: Robot, links: list[str], pose: dict[str, Array]) -> float:
    """Find the lowest height [m] of links, by the shapes that can be read, else by their origins."""
    heights = [float(pose[link][2, 3]) for link in links]
    for link in links_of(robot, links):
        R, p = pose[link.name][:3, :3], pose[link.name][:3, 3]
        for shape in ground_shapes(link):
            try:
                points = extreme_points(shape, -R[2])
            except DescriptionError:
                continue
            heights.append(float((points @ R[2]).min() + p[2]))
    return min(heights)


def links_of(robot: Robot, names: list[str]) -> list[Link]:
    """Find links by name."""
    return [link for link in robot.description.links if link.name in names]


def ground_shapes(link: Link) -> tuple[Shape, ...]:
    """List the shapes with which a link may touch the ground: collision shapes, visual ones if it has none."""
    return link.collisions or link.visuals


def _legs(robot: Robot, q: Array) -> Legs:
    pose = dict(zip(robot.frame_names, kinematics.poses(robot, q), strict=True))
    carried, ends = fixed_links(robot), chain_ends(robot)
    if not ends:
        return Legs(q, pose, (), carried, "no chain of joints ends in a link")
    heights = {link: lowest_height(robot, [link, *carried[link]], pose) for link in ends}
    lowest = min(heights.values())
    tall = max(float(T[2, 3]) for T in pose.values()) - lowest
    on_ground = [link for link in ends if heights[link] <= lowest + HEIGHT_TOLERANCE * tall]
    feet = list(dict.fromkeys(_without_toe(robot, link, carried, pose, heights[link], tall) for link in on_ground))
    feet.sort(key=lambda link: -float(pose[link][1, 3]))
    return Legs(q, pose, tuple(feet), carried, _standing_fault(robot, q, feet, pose, lowest, tall))


def _without_toe(
    robot: Robot, link: str, carried: dict[str, list[str]], pose: dict[str, Array], height: float, tall: float
) -> str:
    """Return the link before the last joint if it reaches the ground as well: then the last link is a toe."""
    chain = moving_chain(robot, link)
    before = chain[-2]
    last, rear = (links_of(robot, [name, *carried[name]]) for name in (link, before))
    collide = any(member.collisions for member in last)
    comparable = any(member.collisions if collide else member.visuals for member in rear)
    if len(chain) <= MIN_JOINTS + 1 or not comparable:
        return link
    low = lowest_height(robot, [before, *carried[before]], pose)
    return before if low <= height + TOE_TOLERANCE * tall else link


def _standing_fault(robot: Robot, q: Array, feet: list[str], pose: dict[str, Array], lowest: float, tall: float) -> str:
    """Explain why the robot cannot stand on these links; empty if it can."""
    free = [joint.child for joint in robot.joints[1:] if joint.kind == "floating"]
    if free:
        return f"it is a scene of several free bodies ({', '.join(free)}); load the robot without the others"
    if len(feet) < 2:
        return f"it stands on {feet[0]!r} alone"
    chains = [moving_chain(robot, foot) for foot in feet]
    shared = set(chains[0]).intersection(*chains[1:])
    base = _base_height(robot, pose) - lowest
    for foot, chain in zip(feet, chains, strict=True):
        own = np.array([pose[link][:3, 3] for link in chain if link not in shared])
        length = float(np.linalg.norm(np.diff(own, axis=0), axis=1).sum()) if len(own) else 0.0
        if base < MIN_BASE_HEIGHT * length:
            return (
                f"{foot!r} is the end of an arm rather than a foot: the base is only {base:.2g} m above the ends of "
                f"chains {length:.2g} m long"
            )
    places = np.array([pose[foot][:2, 3] for foot in feet])
    com = kinematics.com(robot, q)[:2]
    offset = float(np.linalg.norm(np.maximum(0.0, np.maximum(places.min(axis=0) - com, com - places.max(axis=0)))))
    if offset > MAX_OFFSET * tall:
        return f"its CoM is {offset:.2g} m away from {', '.join(map(repr, feet))}"
    return ""


def _base_height(robot: Robot, pose: dict[str, Array]) -> float:
    """Return the height of the base [m]: of its origin or its CoM, the higher one; origins may be on the ground."""
    base = robot.joints[0].child
    row = robot.parameter_links.index(base)
    mass, *moment = robot.inertial_parameters.reshape(-1, 10)[row, :4]
    T = pose[base]
    com = float(T[2, 3] + T[2, :3] @ moment / mass) if mass > 0 else -np.inf
    return max(float(T[2, 3]), com)


def _facing_forward(robot: Robot, legs: Legs) -> Legs:
    """Turn a biped about the vertical until its feet are beside each other, and its toes or knees to the front."""
    if len(legs.feet) != 2:
        return legs
    dx, dy = np.abs(legs.pose[legs.feet[0]][:2, 3] - legs.pose[legs.feet[1]][:2, 3])
    if dx > dy:
        legs = _legs(robot, _turned(legs.q, rot_z(np.pi / 2)))
    return _legs(robot, _turned(legs.q, rot_z(np.pi))) if _faces_backward(robot, legs) else legs


def _faces_backward(robot: Robot, legs: Legs) -> bool:
    """Return whether toes point backwards; where feet do not show it, whether knees bend backwards."""
    toes, length = np.array([_toes(robot, legs, foot) for foot in legs.feet]).T
    if (np.abs(toes) > MIN_TOES * length).all() and abs(toes.sum()) > MIN_TOES * length.sum():
        return bool(toes.sum() < 0)
    knees = [find_knee(robot, legs.q, foot, legs.feet).forward for foot in legs.feet]
    return sum(knees) < 0


def _toes(robot: Robot, legs: Legs, foot: str) -> tuple[float, float]:
    """Measure how much farther a foot extends to the front than to the back of its joint, and its length [m]."""
    x = []
    for link in links_of(robot, [foot, *legs.carried[foot]]):
        T = legs.pose[link.name]
        for shape in ground_shapes(link):
            try:
                x += (extreme_points(shape, -T[2, :3]) @ T[0, :3] + T[0, 3]).tolist()
            except DescriptionError:
                continue
    if not x:
        return 0.0, 0.0
    return max(x) + min(x) - 2.0 * float(legs.pose[foot][0, 3]), max(x) - min(x)


@dataclass(frozen=True)
class Knee:
    """The joint in the middle of a leg.

    Attributes
    ----------
    joint : JointInfo
    hip : str
        Link of the joint at the hip whose axis is most parallel to the knee's.
    ankle : str
        Link of the last joint.
    straight : float
        Position at which the leg is longest [rad].
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
    """Find the knee of a leg: the joint farthest from both ends of the chain, about an axis across it.

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
    chains = {link: moving_chain(robot, link) for link in feet}
    shared = set.intersection(*map(set, chains.values()))
    links = [link for link in chains[foot] if link not in shared]
    infos = {joint.child: joint for joint in robot.joints}
    written = {joint.name: joint for joint in robot.description.joints}
    poses = [kinematics.pose(robot, q, link) for link in links]
    places = np.array([T[:3, 3] for T in poses])
    axes = np.array([T[:3, :3] @ written[infos[link].name].axis for T, link in zip(poses, links, strict=True)])
    ends = np.minimum(*(np.linalg.norm(places - places[end], axis=1) for end in (0, -1)))
    along = (places[-1] - places[0]) / max(float(np.linalg.norm(places[-1] - places[0])), 1e-9)
    k = int((ends * np.linalg.norm(np.cross(axes, along), axis=1)).argmax())  # an axis along the leg does not bend it
    hip = int(np.abs(axes[:k] @ axes[k]).argmax()) if k else 0
    joint, axis = infos[links[k]], axes[k]
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


def _across(vector: Array, axis: Array) -> Array:
    """Return the part of a vector that is perpendicular to a unit axis."""
    result: Array = vector - (vector @ axis) * axis
    return result


def _R_up(up: Array) -> Array:
    """Compute the rotation (3, 3) of a base whose axis `up` is vertical, with the next base axis forward."""
    forward = next(axis for axis in np.eye(3) if abs(axis @ up) < 0.5)
    return np.array([forward, np.cross(up, forward), up])


def _turned(q: Array, R: Array) -> Array:
    """Turn a base (nq,) by a rotation of the world (3, 3)."""
    turned: Array = q.copy()
    turned[:3], turned[3:7] = R @ q[:3], quaternion_product(as_quaternion(R), q[3:7])
    return turned
