"""Feet of a robot and their soles.

No names are assumed: `legs` finds the links that stand on the ground, `soles` the flat undersides of their shapes.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance.foot import Foot
from kinodyn.balance.legs import STANDING, find_legs
from kinodyn.balance.polygon import hull, simplified
from kinodyn.balance.shapes import extreme_points
from kinodyn.balance.soles import SoleSource, assumed_sole, sole_points, sole_rotation
from kinodyn.balance.standing_links import Legs, links_of
from kinodyn.checks import vector
from kinodyn.description.types import Shape
from kinodyn.errors import DescriptionError, KinodynError, warn
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose

__all__ = ["STANDING", "biped_feet", "feet", "upright"]

SOLE_THICKNESS = 0.02  # fraction of the foot's size: points this high above the lowest belong to the sole
MAX_CORNERS = 8  # of the outline of a sole: contact cones of more have too many facets
MIN_WIDTH = 1e-3  # [m] of a sole
MAX_ASYMMETRY = 0.2  # of the soles of a biped, as a fraction of their length
_FEET: WeakKeyDictionary[Robot, tuple[Foot, ...]] = WeakKeyDictionary()


@check_types
def feet(robot: Robot, q: ArrayLike | None = None) -> tuple[Foot, ...]:
    """Find the feet of a robot, from left to right; of a biped the left one first.

    Parameters
    ----------
    robot
        With a floating base.
    q
        A configuration (nq,) in which the robot stands upright, z up and x forward. By default one that the description
        names (standing, half_sitting, upright), or the neutral one.

    Returns
    -------
    tuple of Foot

    Raises
    ------
    KinodynError
        If nothing can be a foot.

    Warns
    -----
    DescriptionWarning
        If a foot has no collision shape that can be read, with what its sole is derived from instead: its visual
        shapes, or the proportions of a human foot.

    Examples
    --------
    >>> import kinodyn as kd
    >>> left, right = kd.balance.feet(kd.load("humanoid"))
    >>> left.frame, left.size.round(3).tolist()
    ('left_sole', [0.258, 0.094])
    """
    if q is not None:
        q = vector("q", q, robot.nq)
    if q is None and robot in _FEET:
        return _FEET[robot]
    legs = find_legs(robot, q)
    if not legs.feet:
        raise KinodynError(f"{robot.name!r} has no feet: {legs.reason}")
    names = ("left", "right") if len(legs.feet) == 2 else tuple(f"foot{k + 1}" for k in range(len(legs.feet)))
    found = _from_best_source(robot, legs, names)
    if q is None:
        _FEET[robot] = found
    return found


@check_types
def biped_feet(robot: Robot, q: ArrayLike | None = None) -> tuple[Foot, Foot]:
    """Find the left and the right foot.

    Parameters
    ----------
    robot
        With a floating base.
    q
        A configuration (nq,) in which the robot stands upright; see `feet`.

    Returns
    -------
    tuple of two Foot

    Raises
    ------
    KinodynError
        If the robot does not stand on two feet with soles.
    """
    legs = find_legs(robot, None if q is None else np.asarray(q, dtype=float))
    if legs.reason:
        raise KinodynError(f"{robot.name!r} does not have two legs: {legs.reason}")
    found = feet(robot, q)
    if len(found) != 2:
        raise KinodynError(
            f"{robot.name!r} stands on {len(found)} feet ({', '.join(foot.frame for foot in found)}); two are needed"
        )
    thin = [foot.frame for foot in found if len(foot.corners) < 3 or foot.size.min() < MIN_WIDTH]
    if thin:
        raise KinodynError(f"{' and '.join(thin)} of {robot.name!r} touch the ground at a point or a line, not a sole")
    return found[0], found[1]


@check_types
def upright(robot: Robot) -> Array:
    """Choose the configuration in which feet are searched.

    Parameters
    ----------
    robot
        With a floating base.

    Returns
    -------
    (nq,)
        One that the description names (standing, half_sitting, upright), or the neutral one; the base is turned so that
        z is up and x forward.
    """
    return find_legs(robot).q


def _from_best_source(robot: Robot, legs: Legs, names: tuple[str, ...]) -> tuple[Foot, ...]:
    """Make the feet from collision shapes, else from visual shapes, else from the proportions of a human foot.

    Shapes of a biped count only if the feet are mirror images: otherwise a mesh is misplaced.
    """
    faults = []
    for source in ("collision", "visual"):
        shapes, fault = _shapes(robot, legs, source)
        if fault:
            faults.append(f"{source} shapes: {fault}")
            continue
        feet = tuple(
            _foot(robot, legs, side, link, source, shapes[link]) for side, link in zip(names, legs.feet, strict=True)
        )
        if len(feet) == 2 and not _mirrored(*feet):
            faults.append(f"{source} shapes: left and right are not mirror images")
            continue
        if faults:
            _warn(robot, legs, f"{'; '.join(faults)}. The soles are derived from the {source} shapes")
        return feet
    _warn(robot, legs, f"{'; '.join(faults)}. The soles are assumed as those of human feet on legs of this length")
    return tuple(_foot(robot, legs, side, link, "assumed", []) for side, link in zip(names, legs.feet, strict=True))


def _shapes(robot: Robot, legs: Legs, source: SoleSource) -> tuple[dict[str, list[tuple[str, Shape]]], str]:
    """List the shapes of each foot with their links, and say which foot has none that can be read."""
    found: dict[str, list[tuple[str, Shape]]] = {}
    for foot in legs.feet:
        found[foot], unread = [], "none"
        for link in links_of(robot, [foot, *legs.carried[foot]]):
            for shape in link.collisions if source == "collision" else link.visuals:
                try:
                    extreme_points(shape, np.array([0.0, 0.0, -1.0]))
                    found[foot].append((link.name, shape))
                except DescriptionError as cause:
                    unread = str(cause)
        if not found[foot]:
            return found, f"{foot!r} has {unread}"
    return found, ""


def _mirrored(left: Foot, right: Foot) -> bool:
    """Return whether the soles are about mirror images of each other."""
    if min(len(left.corners), len(right.corners)) < 3:
        return True
    mirror = np.array([1.0, -1.0])
    apart = max(np.abs(left.size - right.size).max(), np.abs(left.middle - mirror * right.middle).max())
    return bool(apart <= MAX_ASYMMETRY * max(left.size.max(), right.size.max()))


def _foot(robot: Robot, legs: Legs, side: str, link: str, source: SoleSource, shapes: list[tuple[str, Shape]]) -> Foot:
    pose = legs.pose
    frame = _frame(robot, link, legs.carried[link])
    placed = [(shape, pose[name] @ shape.T_link_shape) for name, shape in shapes]
    R_world_frame = pose[frame][:3, :3]
    tilt = sole_rotation(placed, R_world_frame)
    T_level_frame = np.eye(4)
    T_level_frame[:3, :3] = tilt @ R_world_frame
    origin = tilt @ (legs.ankle(link) - pose[frame][:3, 3])  # of the last joint, in level axes from the frame
    assumed = assumed_sole(_leg_length(legs, link)) + origin
    points = sole_points(placed, tilt, pose[frame][:3, 3]) if placed else assumed
    height = float(points[:, 2].min())
    spread = float(np.ptp(points[:, :2], axis=0).max()) if len(points) > 1 else 0.0
    low = points[points[:, 2] <= height + max(SOLE_THICKNESS * spread, 1e-6)]
    T_level_sole = np.eye(4)
    T_level_sole[:3, 3] = (origin[0], origin[1], height)
    T_frame_sole = inverse_pose(T_level_frame) @ T_level_sole
    outline, on_points = (
        simplified(hull(low[:, :2] - origin[:2]), MAX_CORNERS),
        bool(shapes) and all(shape.kind == "sphere" for _, shape in shapes),
    )
    ankle = float(origin[2] - height)
    return Foot(side, frame, T_frame_sole, outline, ankle, source, on_points=on_points)


def _warn(robot: Robot, legs: Legs, what: str) -> None:
    feet = " and ".join(map(repr, legs.feet))
    warn(f"feet {feet} of {robot.name!r}: {what}")


def _leg_length(legs: Legs, link: str) -> float:
    """Measure the length of the chain from the hip to the last joint of a leg [m]."""
    own = np.array([legs.pose[joint.info.child][:3, 3] for joint in legs.limbs[link]]).reshape(-1, 3)
    return float(np.linalg.norm(np.diff(own, axis=0), axis=1).sum())


def _frame(robot: Robot, link: str, carried: list[str]) -> str:
    """Choose the frame of the foot: an end effector of the description on it, else the link itself."""
    on_foot = {link, *carried}
    places = {frame.name: frame.link for frame in robot.description.frames}
    for name in robot.description.end_effectors.values():
        if places.get(name, name) in on_foot:
            return name
    return link
