"""The parts of a humanoid that follow a human: found from the kinematic structure, whatever the names of links.

All dimensions are measured in the configuration in which `balance` finds the legs: upright, z up, x forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.feet import biped_feet
from kinodyn.balance.foot import Foot
from kinodyn.balance.knees import find_knee
from kinodyn.balance.legs import find_legs
from kinodyn.balance.limbs import chain_ends, fixed_links, moving_chain
from kinodyn.balance.shapes import extreme_points
from kinodyn.balance.standing_links import ground_shapes, links_of
from kinodyn.errors import DescriptionError, KinodynError
from kinodyn.model.compile import Place, compile_tree
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose

SIDES = ("left", "right")
MIN_ARM = 3  # joints of an arm
MIRROR = 0.08  # of the robot's height, within which ends of arms are mirror images
SPREAD = 0.5  # [rad] by which arms are turned outwards to be away from the body
WRIST = 0.35  # of the distance from the elbow to the tip, beyond which the last joint is a wrist
OUTLINE = 0.001  # [m] by which the points that stand for a link may be less far than its shapes
DIRECTIONS = 300  # in which they are compared
ROUND = 130  # directions in which round shapes have points

_BODIES: WeakKeyDictionary[Robot, Body] = WeakKeyDictionary()


@dataclass(frozen=True)
class Limb:
    """A leg or an arm: the links that carry its joints, and the points of its ends in the upright posture.

    Attributes
    ----------
    links : tuple of str
        Links that only this limb moves, from the trunk outwards.
    middle : str
        Link whose joint is the knee or the elbow.
    end : str
        Link of the foot or the hand.
    root, knee, tip : (3,)
        Centre of hip or shoulder, origin of knee or elbow, origin of ankle or wrist [m].
    finger : (3,)
        Farthest point of the hand; the ankle of legs [m].
    """

    links: tuple[str, ...]
    middle: str
    end: str
    root: Array
    knee: Array
    tip: Array
    finger: Array

    @property
    def upper(self) -> float:
        """Length of thigh or upper arm [m]."""
        return float(np.linalg.norm(self.knee - self.root))

    @property
    def lower(self) -> float:
        """Length of shank or forearm [m]."""
        return float(np.linalg.norm(self.tip - self.knee))


@dataclass(frozen=True, eq=False)
class Body:
    """Measures of a humanoid, made by `Body.from_robot`.

    Attributes
    ----------
    robot : Robot
    q : (nq,)
        Upright posture.
    pelvis, torso : str
        Links that carry the legs and the arms.
    legs, arms : dict of str to Limb
        By side. A robot without arms has none.
    feet : dict of str to Foot
    trunk : tuple of str
        Links between them, with the torso; none if it does not move against the pelvis.
    waist : (3,)
        Where the torso turns against the pelvis [m].
    v : (n,) of int
        Indices in v of the joints that move; fingers and the head rest.
    """

    robot: Robot
    q: Array
    pelvis: str
    torso: str
    legs: dict[str, Limb]
    arms: dict[str, Limb]
    feet: dict[str, Foot]
    trunk: tuple[str, ...]
    waist: Array
    v: NDArray[np.int32]

    @classmethod
    def from_robot(cls, robot: Robot) -> Body:
        """Measure a robot with two legs.

        Parameters
        ----------
        robot
            With a floating base.

        Returns
        -------
        Body

        Raises
        ------
        KinodynError
            If it does not stand on two feet with soles.
        """
        if robot not in _BODIES:
            _BODIES[robot] = _measure(robot)
        return _BODIES[robot]

    @property
    def leg(self) -> float:
        """Length of a leg from hip to ankle [m]."""
        return float(np.mean([leg.upper + leg.lower for leg in self.legs.values()]))

    def pose(self, frame: str) -> Array:
        """Return the pose (4, 4) of a frame in the upright posture."""
        return kinematics.pose(self.robot, self.q, frame)

    @cached_property
    def places(self) -> dict[str, Place]:
        """Bodies of the core in which frames are fixed."""
        return compile_tree(self.robot.description).places

    @cached_property
    def spread(self) -> Array:
        """The upright posture (nq,) with arms turned outwards, by the shoulder joint that moves elbows out most."""
        limits = self.robot.limits
        q: Array = self.q.copy()
        by_link = {joint.child: joint for joint in self.robot.joints}
        for side, arm in self.arms.items():
            out = 1.0 if side == "left" else -1.0
            best = 0.0, q
            for link in arm.links[: arm.links.index(arm.middle)]:
                k = by_link[link].q.start
                for turn in (-SPREAD, SPREAD):
                    tried = q.copy()
                    tried[k] = np.clip(q[k] + turn, limits.lower[k], limits.upper[k])
                    moved = out * (kinematics.pose(self.robot, tried, arm.end)[1, 3] - self.pose(arm.end)[1, 3])
                    best = max(best, (float(moved), tried), key=lambda one: one[0])
            q = best[1]
        return np.asarray(q)

    @cached_property
    def body_count(self) -> int:
        """Number of bodies of the core."""
        return len(compile_tree(self.robot.description).bodies)

    @cached_property
    def outline(self) -> Points:
        """Points of all moving links that reach out farthest: those that could touch the ground."""
        return fixed_points(self, *outline_points(self))

    @cached_property
    def foot_points(self) -> dict[str, Array]:
        """Points (n, 3) of each foot that reach out farthest, in the frame of its sole [m]."""
        found = {}
        for side, leg in self.legs.items():
            T = inverse_pose(self.sole_pose(side))
            points = _farthest(_surface(self, [leg.end, *fixed_links(self.robot)[leg.end]]))
            found[side] = points @ T[:3, :3].T + T[:3, 3]
        return found

    def sole_pose(self, side: str) -> Array:
        """Return the pose (4, 4) of a sole in the upright posture."""
        return self.pose(self.feet[side].frame) @ self.feet[side].T_frame_sole


@dataclass(frozen=True, eq=False)
class Points:
    """Points of a robot, each fixed in a body of the core.

    Attributes
    ----------
    bodies : (n,) of int32
    locals : (n, 3)
        Positions in the body [m].
    """

    bodies: NDArray[np.int32]
    locals: Array


def sole_corners(body: Body, side: str) -> Array:
    """List the corners (4, 2) of the box around a sole, in the sole frame [m]."""
    corners = body.feet[side].corners
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    return np.array([(x0, y0), (x0, y1), (x1, y0), (x1, y1)])


def fixed_points(body: Body, links: list[str], positions: Array) -> Points:
    """Fix points in links.

    Parameters
    ----------
    body
        The humanoid.
    links
        Frame in which each point is fixed.
    positions
        Positions (n, 3) in the world in the upright posture [m].

    Returns
    -------
    Points
    """
    bodies, rows = [], []
    poses = {link: inverse_pose(body.pose(link)) for link in set(links)}
    for link, position in zip(links, positions, strict=True):
        T = poses[link]
        place = body.places[link]
        bodies.append(place.body)
        rows.append(place.R @ (T[:3, :3] @ position + T[:3, 3]) + place.p)
    return Points(np.array(bodies, dtype=np.int32), np.array(rows).reshape(-1, 3))


def outline_points(body: Body) -> tuple[list[str], Array]:
    """List points of all moving links that reach out farthest: those that could touch the ground.

    Parameters
    ----------
    body
        The humanoid.

    Returns
    -------
    list of str
        The links.
    (n, 3)
        Positions in the world in the upright posture [m].
    """
    carried, feet = fixed_links(body.robot), {leg.end: side for side, leg in body.legs.items()}
    names: list[str] = []
    rows: list[Array] = []
    for joint in body.robot.joints:
        if joint.child in feet:
            T = body.sole_pose(feet[joint.child])
            points = body.foot_points[feet[joint.child]] @ T[:3, :3].T + T[:3, 3]
        else:
            points = _farthest(_surface(body, [joint.child, *carried[joint.child]]))
        rows += list(points)
        names += [joint.child] * len(points)
    return names, np.array(rows).reshape(-1, 3)


def _farthest(points: Array) -> Array:
    """Select points (n, 3) that reach out, in any of the directions, as far as all of them but for `OUTLINE`."""
    if not len(points):
        return points
    heights = points @ _directions(DIRECTIONS).T
    lack, chosen = np.full(DIRECTIONS, np.inf), list[int]()
    while lack.max() > OUTLINE:
        chosen.append(int(heights[:, lack.argmax()].argmax()))
        lack = np.minimum(lack, heights.max(axis=0) - heights[chosen[-1]])
    return np.asarray(points[np.sort(chosen)])


def _surface(body: Body, links: list[str]) -> Array:
    """List points (n, 3) on the shapes of links, in the world."""
    found: list[Array] = []
    for link in links_of(body.robot, links):
        T = body.pose(link.name)
        for shape in ground_shapes(link):
            try:
                whole = shape.kind in ("box", "mesh")  # of which any direction gives all points
                points = np.concatenate([extreme_points(shape, d) for d in _directions(1 if whole else ROUND)])
            except DescriptionError:
                continue
            found.append(points @ T[:3, :3].T + T[:3, 3])
    return np.concatenate(found) if found else np.zeros((0, 3))


@cache
def _directions(count: int) -> Array:
    """Return unit vectors (count, 3) that are spread evenly: a Fibonacci lattice."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    around = np.pi * (1.0 + np.sqrt(5.0)) * k
    across = np.sqrt(1.0 - z * z)
    return np.stack([across * np.cos(around), across * np.sin(around), z], axis=1)


def _measure(robot: Robot) -> Body:
    legs = find_legs(robot)
    if legs.reason or len(legs.feet) != 2:
        raise KinodynError(f"{robot.name!r} does not have two legs: {legs.reason or 'it stands on other feet'}")
    feet = dict(zip(SIDES, biped_feet(robot), strict=True))
    q = legs.q
    pose = legs.pose
    found_legs = {side: _limb(robot, q, pose, end, legs.feet) for side, end in zip(SIDES, legs.feet, strict=True)}
    hands = _hands(robot, pose, legs.feet)
    arms = {side: _limb(robot, q, pose, end, hands) for side, end in zip(SIDES, hands, strict=True)} if hands else {}
    pelvis = _last_shared(robot, legs.feet)
    torso = _last_shared(robot, hands) if hands else pelvis
    trunk = [link for link in moving_chain(robot, torso) if link not in moving_chain(robot, pelvis)]
    waist = np.mean([pose[link][:3, 3] for link in trunk], axis=0) if trunk else pose[pelvis][:3, 3]
    moving = {robot.joints[0].child, *moving_chain(robot, pelvis), *trunk}
    for limb in (*found_legs.values(), *arms.values()):
        moving |= set(limb.links)
    v = np.concatenate([np.arange(j.v.start, j.v.stop) for j in robot.joints if j.child in moving])
    return Body(robot, q, pelvis, torso, found_legs, arms, feet, tuple(trunk), waist, v.astype(np.int32))


def _last_shared(robot: Robot, ends: tuple[str, ...]) -> str:
    chains = [moving_chain(robot, end) for end in ends]
    return [link for link in chains[0] if all(link in chain for chain in chains)][-1]


def _hands(robot: Robot, pose: dict[str, Array], feet: tuple[str, ...]) -> tuple[str, ...]:
    """Find the links of the left and the right hand: ends of the longest mirrored chains that are not legs."""
    leg_links = {link for foot in feet for link in moving_chain(robot, foot)} - set(
        moving_chain(robot, _last_shared(robot, feet))
    )
    ends = [end for end in chain_ends(robot) if not leg_links & set(moving_chain(robot, end))]
    tall = float(np.ptp([T[2, 3] for T in pose.values()]))
    chains = {end: moving_chain(robot, end) for end in ends}
    best: tuple[float, tuple[str, ...]] = (0.0, ())
    for left in ends:
        for right in ends:
            apart = np.abs(pose[left][:3, 3] * [1, -1, 1] - pose[right][:3, 3]).max()
            if pose[left][1, 3] <= pose[right][1, 3] + 0.05 * tall or apart > MIRROR * tall:
                continue
            hands = tuple(_before_fingers(chains, first, second) for first, second in ((left, right), (right, left)))
            own = [link for link in chains[left] if link not in chains[right]]
            own = own[: own.index(hands[0]) + 1]
            places = np.array([pose[link][:3, 3] for link in own] + [pose[left][:3, 3]])
            length = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
            if len(own) >= MIN_ARM and length > best[0]:
                best = (length, hands)
    return best[1]


def _before_fingers(chains: dict[str, list[str]], end: str, other: str) -> str:
    """Return the last link of an arm that carries all its fingers; the end itself if it does not branch."""
    own = [link for link in chains[end] if link not in chains[other]]
    fingers = [chain for chain in chains.values() if own[0] in chain]
    return [link for link in own if all(link in chain for chain in fingers)][-1]


def _limb(robot: Robot, q: Array, pose: dict[str, Array], end: str, ends: tuple[str, ...]) -> Limb:
    shared = set.intersection(*(set(moving_chain(robot, other)) for other in ends))
    links = [link for link in moving_chain(robot, end) if link not in shared]
    knee = find_knee(robot, q, end, ends).joint.child
    at = links.index(knee)
    origins = np.array([pose[link][:3, 3] for link in links])
    root = _centre(robot, pose, links[:at]) if at else origins[0]
    tip, finger = _tip(robot, pose, links, origins[at])
    return Limb(tuple(links), knee, end, root, origins[at], tip, finger)


def _centre(robot: Robot, pose: dict[str, Array], links: list[str]) -> Array:
    """Find the point nearest to the axes of joints: the centre of a hip or shoulder."""
    written = {joint.name: joint for joint in robot.description.joints}
    infos = {joint.child: joint for joint in robot.joints}
    A, b = np.zeros((3, 3)), np.zeros(3)
    origins = np.array([pose[link][:3, 3] for link in links])
    for link, origin in zip(links, origins, strict=True):
        axis = pose[link][:3, :3] @ written[infos[link].name].axis
        P = np.eye(3) - np.outer(axis, axis)
        A, b = A + P, b + P @ origin
    weak = 1e-3
    return np.asarray(np.linalg.solve(A + weak * np.eye(3), b + weak * origins.mean(axis=0)))


def _tip(robot: Robot, pose: dict[str, Array], links: list[str], elbow: Array) -> tuple[Array, Array]:
    """Find wrist or ankle, and the farthest point of the hand from the elbow."""
    last = pose[links[-1]][:3, 3]
    carried = fixed_links(robot)[links[-1]]
    surface = []
    for link in links_of(robot, [links[-1], *carried]):
        T = pose[link.name]
        for shape in ground_shapes(link):
            try:
                whole = shape.kind in ("box", "mesh")  # of which any direction gives all points
                points = np.concatenate([extreme_points(shape, d) for d in _directions(1 if whole else ROUND)])
                surface.append(points @ T[:3, :3].T + T[:3, 3])
            except DescriptionError:
                continue
    frames = np.array([pose[name][:3, 3] for name in carried] or [last])
    points = np.concatenate([frames, last[None], *surface])
    far = points[np.linalg.norm(points - elbow, axis=1).argmax()]
    if np.linalg.norm(last - elbow) >= WRIST * np.linalg.norm(far - elbow):
        return last, far
    # without a wrist the forearm reaches to the hand
    return elbow + 0.8 * (far - elbow), far
