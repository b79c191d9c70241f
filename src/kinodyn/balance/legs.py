"""Search for the legs of a robot by its structure: which way is up, which way is forward, which links reach the ground.

No names of links and no axes of the base are assumed. Legs are chains of joints that hold the trunk above their ends;
what hangs from a base near the ground, such as the arms of an upper body, is not a leg.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.knees import find_knee
from kinodyn.balance.limbs import LimbJoint, limb_mass
from kinodyn.balance.shapes import extreme_points
from kinodyn.balance.soles import sole_normal
from kinodyn.balance.standing_links import MIN_JOINTS, Legs, ground_shapes, legs_at, links_of
from kinodyn.description.types import Shape
from kinodyn.errors import DescriptionError, KinodynError
from kinodyn.model.robot import Robot, require_robot
from kinodyn.spatial import as_quaternion, quaternion_product, rot_z

STANDING = ("standing", "half_sitting", "upright", "stand", "home")  # names of configurations, in order of preference
MIN_TOES = 0.2  # difference of a foot's extents to the front and to the back of its joint, as a fraction of its length
UP_AXES = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, -1, 0], [-1, 0, 0], [0, 0, -1]], dtype=float)
PARALLEL = np.cos(np.deg2rad(0.5))  # cosine of the angle between directions that count as the same
MAX_DIRECTIONS = 12  # of the structure that are tried as the vertical
MIN_SUPPORT = 1 / 3  # of the support of another vertical, with which one that is written in the description is kept
SOLE_SUPPORT = 2  # joints whose axes count as much as the normal of a sole
MAX_SOLE_TILT = np.deg2rad(60.0)  # of a sole, while the vertical is searched
MAX_MASS_RATIO = 1.25  # of two legs
SNAP_TURN = np.deg2rad(3.0)  # from a quarter turn of the base, within which a biped that is beside it is turned so
_LEGS: WeakKeyDictionary[Robot, Legs] = WeakKeyDictionary()


def find_legs(robot: Robot, q: Array | None = None) -> Legs:
    """Find the links on which a robot stands, from left to right.

    Parameters
    ----------
    robot
        With a floating base.
    q
        A configuration (nq,) in which the robot stands upright, z up and x forward; by default `upright_posture`, with
        the base turned until the robot stands on legs, upright, with its toes or its knees to the front.

    Returns
    -------
    Legs
    """
    require_robot(robot)
    if robot.base != "floating":
        raise KinodynError(f'{robot.name!r} has a fixed base and no feet; load a legged robot with base="floating"')
    if q is not None:
        return legs_at(robot, q)
    if robot not in _LEGS:
        _LEGS[robot] = _search(robot)
    return _LEGS[robot]


def upright_posture(robot: Robot) -> Array:
    """Choose the configuration (nq,) in which feet are searched: a named one, or neutral; the base is not turned."""
    known = {name.lower(): name for name in robot.configurations}
    named = [known[name] for name in STANDING if name in known]
    q = robot.configuration(named[0]) if named else robot.neutral()
    q[3:7] = (0.0, 0.0, 0.0, 1.0)
    return q


def _search(robot: Robot) -> Legs:
    """Find an orientation in which the robot stands: as written, on an axis of its base, or as its joints suggest.

    On a base that is inclined a robot may stand on its hands as well: of bipeds the one with the heaviest limbs counts.
    """
    posture = upright_posture(robot)
    first = legs_at(robot, posture)
    if not first.reason and _is_aligned(robot, first):
        return _facing_forward(robot, _upright(robot, first))
    found = [first] if not first.reason else []
    found += [legs for q in _on_written_axes(robot, posture) if not (legs := legs_at(robot, q)).reason]
    found += [legs for q in _on_common_axes(robot, first) if _is_biped(robot, legs := legs_at(robot, q))]
    if not found:
        return first
    best = max(found, key=lambda legs: round(_biped_mass(robot, legs), 6))  # of equals the first
    return _facing_forward(robot, _upright(robot, best))


def _is_biped(robot: Robot, legs: Legs) -> bool:
    """Return whether a robot stands on two limbs that may be legs: equal ones."""
    if legs.reason or len(legs.feet) != 2:
        return False
    left, right = legs.limbs.values()
    light, heavy = sorted((limb_mass(robot, left), limb_mass(robot, right)))
    return len(left) == len(right) >= MIN_JOINTS and heavy <= MAX_MASS_RATIO * light


def _biped_mass(robot: Robot, legs: Legs) -> float:
    """Return the mass of the limbs of a biped [kg]; 0 for others."""
    return sum(limb_mass(robot, limb) for limb in legs.limbs.values()) if _is_biped(robot, legs) else 0.0


def _on_written_axes(robot: Robot, posture: Array) -> Iterator[Array]:
    """Yield a posture (nq,) with the orientations of the base that the description names, then on each of its axes."""
    for name in robot.configurations:
        written = posture.copy()
        written[3:7] = robot.configuration(name)[3:7]
        yield written
    for up in UP_AXES[1:]:
        yield _turned(posture, _R_up(up))


def _on_common_axes(robot: Robot, legs: Legs) -> Iterator[Array]:
    """Yield the configuration (nq,) of legs, turned so that a direction that many axes share is vertical."""
    joints = [LimbJoint(joint, 1.0) for joint in robot.joints[1:]]
    for direction in _common(_directions(robot, joints, legs.pose))[:MAX_DIRECTIONS]:
        for up in (direction, -direction):
            yield _turned(legs.q, _R_up(up))


def _upright(robot: Robot, legs: Legs) -> Legs:
    """Turn a biped that stands until its legs are upright.

    The vertical is a direction that axes of joints, axes of links and normals of soles share. That of the base is kept
    where it is one of them: the legs of some robots are inclined in their neutral posture. A base whose axes are
    inclined, at any angle, has none that is.
    """
    if len(legs.feet) != 2:
        return legs
    directions = _leg_directions(robot, legs)
    written = _support(directions, np.array([0.0, 0.0, 1.0]))
    for direction in _common(directions):
        up = direction if direction[2] > 0 else -direction
        if written >= MIN_SUPPORT * _support(directions, up):
            break
        found = legs_at(robot, _turned(legs.q, _R_up(up)))
        if not found.reason and set(found.feet) == set(legs.feet):
            return found
    return legs


def _leg_directions(robot: Robot, legs: Legs) -> Array:
    """List the directions (n, 3) of legs in the world: axes of joints, axes of links, normals of soles."""
    joints = [joint for limb in legs.limbs.values() for joint in limb]
    neutral = robot.neutral()
    neutral[:7] = legs.q[:7]
    aligned = legs_at(robot, neutral)  # thighs and shanks too, which are inclined in a posture with bent knees
    normals = [normal for foot in legs.feet for normal in _normals(robot, aligned, foot)]
    return np.vstack([_directions(robot, joints, aligned.pose), *SOLE_SUPPORT * normals])


def _is_aligned(robot: Robot, legs: Legs) -> bool:
    """Return whether directions of the legs share the vertical."""
    directions = _leg_directions(robot, legs)
    most = max((_support(directions, up) for up in _common(directions)), default=0)
    return _support(directions, np.array([0.0, 0.0, 1.0])) >= MIN_SUPPORT * most


def _directions(robot: Robot, joints: list[LimbJoint], pose: dict[str, Array]) -> Array:
    """List the directions (n, 3) of the axes of joints and of their links in the world, without those of the base."""
    written = {joint.name: joint for joint in robot.description.joints}
    base = robot.joints[0].child
    rows = [np.zeros((0, 3))]
    for joint in joints:
        R = pose[joint.info.child][:3, :3]
        rows.append((R @ written[joint.info.name].axis)[None])
        if joint.info.child != base:
            rows.append(R.T)
    return np.concatenate(rows)


def _support(directions: Array, up: Array) -> int:
    """Count the directions (n, 3) that are parallel to a unit vector."""
    return int((np.abs(directions @ up) >= PARALLEL).sum())


def _common(directions: Array) -> Array:
    """List the distinct directions (m, 3), those that most others are parallel to first."""
    counts = (np.abs(directions @ directions.T) >= PARALLEL).sum(axis=1)
    distinct: list[Array] = []
    for row in directions[np.argsort(-counts, kind="stable")]:
        if all(abs(row @ other) < PARALLEL for other in distinct):
            distinct.append(row)
    return np.array(distinct).reshape(-1, 3)


def _normals(robot: Robot, legs: Legs, foot: str) -> list[Array]:
    """Find the normal (3,) of the sole of a foot, as a list that is empty for a round foot."""
    placed: list[tuple[Shape, Array]] = []
    for link in links_of(robot, [foot, *legs.carried[foot]]):
        for shape in ground_shapes(link):
            try:
                extreme_points(shape, np.array([0.0, 0.0, -1.0]))
            except DescriptionError:
                continue
            placed.append((shape, legs.pose[link.name] @ shape.T_link_shape))
    normal = sole_normal(placed, max_tilt=MAX_SOLE_TILT)
    return [] if normal is None else [normal]


def _facing_forward(robot: Robot, legs: Legs) -> Legs:
    """Turn a biped about the vertical until its hips are beside each other, and its toes or knees to the front."""
    if len(legs.feet) != 2:
        return legs
    left, right = (legs.pose[legs.limbs[foot][0].info.child][:2, 3] for foot in legs.feet)
    dx, dy = left - right
    turn = np.pi / 2 - np.arctan2(dy, dx)
    quarter = np.pi / 2 * round(turn / (np.pi / 2))
    axes = legs.pose[robot.joints[0].child][2, :3]  # vertical components
    is_upright = bool((np.abs(axes) >= PARALLEL).any())  # otherwise the base has no axis ahead
    turn = quarter if is_upright and abs(turn - quarter) < SNAP_TURN else turn
    if turn:
        legs = legs_at(robot, _turned(legs.q, rot_z(turn)))
    return legs_at(robot, _turned(legs.q, rot_z(np.pi))) if _faces_backward(robot, legs) else legs


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
    return max(x) + min(x) - 2.0 * float(legs.ankle(foot)[0]), max(x) - min(x)


def _R_up(up: Array) -> Array:
    """Compute a rotation (3, 3) that takes a unit vector to the vertical, and the next axis across it forward."""
    nearest = next(axis for axis in np.eye(3) if abs(axis @ up) < 0.8)
    across = nearest - (nearest @ up) * up
    forward = across / np.linalg.norm(across)
    return np.array([forward, np.cross(up, forward), up])


def _turned(q: Array, R: Array) -> Array:
    """Turn a base (nq,) by a rotation of the world (3, 3)."""
    turned: Array = q.copy()
    turned[:3], turned[3:7] = R @ q[:3], quaternion_product(as_quaternion(R), q[3:7])
    return turned
