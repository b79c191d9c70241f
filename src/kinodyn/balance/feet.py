"""Feet of a robot and their soles.

No names are assumed: `legs` finds the links that stand on the ground, `soles` the flat undersides of their shapes.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.balance.legs import STANDING, Legs, find_legs, links_of, moving_chain
from kinodyn.balance.polygon import hull
from kinodyn.balance.shapes import extreme_points
from kinodyn.balance.soles import SoleSource, assumed_sole, sole_points, sole_rotation
from kinodyn.checks import as_pose
from kinodyn.description.types import Shape
from kinodyn.dynamics.contact import Contact
from kinodyn.errors import DescriptionError, DescriptionWarning, InputError, KinodynError
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose

__all__ = ["STANDING", "Foot", "biped_feet", "feet", "upright"]

SOLE_THICKNESS = 0.02  # fraction of the foot's size: points this high above the lowest belong to the sole
FreeRotation = Literal["", "roll", "yaw"]
MIN_WIDTH = 1e-3  # [m] of a sole
MAX_ASYMMETRY = 0.2  # of the soles of a biped, as a fraction of their length
_FEET: WeakKeyDictionary[Robot, tuple[Foot, ...]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Foot:
    """A foot of a robot. Its *sole frame* lies on the underside: z up, x forward, the origin under the ankle.

    Attributes
    ----------
    side : str
        "left" or "right" for a biped; otherwise "foot1", "foot2", ... from the left.
    frame : str
        The robot's frame of the foot: an end effector of the description, or the link itself.
    T_frame_sole : (4, 4)
        Pose of the sole frame in that frame.
    corners : (n, 2)
        Outline of the sole in the sole frame, counter-clockwise [m].
    ankle : float
        Height of the last joint above the sole [m].
    source : "collision", "visual" or "assumed"
        What the sole was derived from: collision shapes, visual shapes, or the proportions of a human leg.
    free : "", "roll" or "yaw"
        Rotation of the sole that its leg cannot control, as with five joints: it follows the leg.
    reach : (float, float)
        Largest distance of the centre of pressure from the ankle along x and y that its torques bear [m].
    on_points : bool
        Whether it touches the ground only at its corners, as spheres do: each of them needs ground below it.
    """

    side: str
    frame: str
    T_frame_sole: Array
    corners: Array
    ankle: float
    source: SoleSource = "collision"
    free: FreeRotation = ""
    reach: tuple[float, float] = (np.inf, np.inf)
    on_points: bool = False

    @cached_property
    def rectangle(self) -> Array:
        """Largest rectangle inside the outline that the ankle bears, along its axes: [[x0, y0], [x1, y1]] [m].

        That of a foot whose roll is free is as long as the line on which it stands (see `contact`): its outline bounds
        the centre of pressure across the foot only.
        """
        corners = self.corners
        for axis, reach in enumerate(self.reach):
            corners = _clipped(corners, axis, reach)
        found = largest_rectangle(corners)
        if self.free == "roll":
            found[:, 0] = corners[:, 0].min(), corners[:, 0].max()
        return found

    @cached_property
    def middle(self) -> Array:
        """Centre (2,) of the rectangle in the sole frame [m]."""
        result: Array = self.rectangle.mean(axis=0)
        return result

    @property
    def size(self) -> Array:
        """Length and width (2,) of the rectangle [m]."""
        result: Array = self.rectangle[1] - self.rectangle[0]
        return result

    @property
    def points(self) -> Array:
        """Outline (n, 3) in the foot's frame, as contacts take it [m]."""
        flat = np.column_stack([self.corners, np.zeros(len(self.corners))])
        return np.asarray(flat @ self.T_frame_sole[:3, :3].T + self.T_frame_sole[:3, 3])

    def solid(self, thickness: float) -> Array:
        """Return the corners (2 n, 3) of a plate above the outline, in the foot's frame [m].

        Parameters
        ----------
        thickness
            Of the plate [m].

        Returns
        -------
        (2 n, 3)
        """
        up = thickness * self.T_frame_sole[:3, 2]
        return np.concatenate([self.points, self.points + up])

    def sole_pose(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the pose of the sole.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).

        Returns
        -------
        (..., 4, 4)
            T_world_sole.
        """
        result: Array = kinematics.pose(robot, q, self.frame) @ self.T_frame_sole
        return result

    def frame_pose(self, T_world_sole: MatrixLike) -> Array:
        """Compute the pose of the foot's frame from the pose of its sole.

        Parameters
        ----------
        T_world_sole
            (..., 4, 4)

        Returns
        -------
        (..., 4, 4)
            T_world_frame.
        """
        result: Array = as_pose(T_world_sole, "T_world_sole") @ inverse_pose(self.T_frame_sole)
        return result

    def contact(self, friction: float = 0.7, *, part: float = 1.0) -> Contact:
        """Make a contact of the whole sole, with its corners.

        A foot whose roll is free touches along the line from its heel to its toes, about which it may turn.

        Parameters
        ----------
        friction
            Friction coefficient.
        part
            Fraction of the outline about its middle that bears forces, above 0 and at most 1.

        Returns
        -------
        Contact

        Raises
        ------
        InputError
            For a part outside its range.
        """
        if not 0 < part <= 1:
            raise InputError(f"part must be above 0 and at most 1, got {part!r}")
        corners = self.points
        if self.free == "roll":
            x, y = self.corners[:, 0], float(self.middle[1])
            line = np.array([[x.min(), y, 0.0], [x.max(), y, 0.0]])
            corners = line @ self.T_frame_sole[:3, :3].T + self.T_frame_sole[:3, 3]
        middle = corners.mean(axis=0)
        return Contact(self.frame, corners=middle + part * (corners - middle), friction=friction, name=self.side)

    @cached_property
    def controlled(self) -> Array:
        """Return for each row (6,) of a twist in the axes of the foot's frame whether the leg controls it: 1 or 0."""
        rows = np.ones(6)
        if self.free:
            axis = self.T_frame_sole[:3, 0 if self.free == "roll" else 2]
            rows[3 + int(np.abs(axis).argmax())] = 0.0
        return rows


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
    if q is None and robot in _FEET:
        return _FEET[robot]
    legs = find_legs(robot, None if q is None else np.asarray(q, dtype=float))
    if not legs.feet:
        raise KinodynError(f"{robot.name!r} has no feet: {legs.reason}")
    names = ("left", "right") if len(legs.feet) == 2 else tuple(f"foot{k + 1}" for k in range(len(legs.feet)))
    found = _from_best_source(robot, legs, names)
    if q is None:
        _FEET[robot] = found
    return found


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
    origin = tilt @ (pose[link][:3, 3] - pose[frame][:3, 3])  # of the last joint, in level axes from the frame
    if placed:
        points = sole_points(placed, tilt, pose[frame][:3, 3])
    else:
        points = assumed_sole(_leg_length(robot, legs, link)) + origin
    height = float(points[:, 2].min())
    spread = float(np.ptp(points[:, :2], axis=0).max()) if len(points) > 1 else 0.0
    low = points[points[:, 2] <= height + max(SOLE_THICKNESS * spread, 1e-6)]
    T_level_sole = np.eye(4)
    T_level_sole[:3, 3] = (origin[0], origin[1], height)
    T_frame_sole = inverse_pose(T_level_frame) @ T_level_sole
    outline, on_points = (
        hull(low[:, :2] - origin[:2]),
        bool(shapes) and all(shape.kind == "sphere" for _, shape in shapes),
    )
    ankle = float(origin[2] - height)
    return Foot(side, frame, T_frame_sole, outline, ankle, source, on_points=on_points)


def _warn(robot: Robot, legs: Legs, what: str) -> None:
    feet = " and ".join(map(repr, legs.feet))
    warnings.warn(f"feet {feet} of {robot.name!r}: {what}", DescriptionWarning, stacklevel=4)


def _leg_length(robot: Robot, legs: Legs, link: str) -> float:
    """Measure the length of the chain from the first joint that no other foot shares [m]."""
    chains = [moving_chain(robot, foot) for foot in legs.feet]
    shared = set(chains[0]).intersection(*chains[1:]) if len(chains) > 1 else set(chains[0][:1])
    own = np.array([legs.pose[name][:3, 3] for name in moving_chain(robot, link) if name not in shared])
    return float(np.linalg.norm(np.diff(own, axis=0), axis=1).sum())


def _frame(robot: Robot, link: str, carried: list[str]) -> str:
    """Choose the frame of the foot: an end effector of the description on it, else the link itself."""
    on_foot = {link, *carried}
    places = {frame.name: frame.link for frame in robot.description.frames}
    for name in robot.description.end_effectors.values():
        if places.get(name, name) in on_foot:
            return name
    return link


def _clipped(corners: Array, axis: int, reach: float) -> Array:
    """Clip a convex polygon to -reach ... reach along an axis; it stays whole where nothing would be left."""
    for sign in (1.0, -1.0):
        inside = reach - sign * corners[:, axis]
        if (inside >= 0).all() or (inside <= 0).all():
            continue
        points = []
        for k, point in enumerate(corners):
            after, room = corners[(k + 1) % len(corners)], inside[(k + 1) % len(corners)]
            if inside[k] >= 0:
                points.append(point)
            if inside[k] * room < 0:
                points.append(point + inside[k] / (inside[k] - room) * (after - point))
        corners = np.array(points)
    return corners


def largest_rectangle(corners: Array) -> Array:
    """Search over pairs of columns, between which the height is bounded by the outline at both."""
    if len(corners) < 3:
        return np.array([corners.min(axis=0), corners.max(axis=0)])
    x = np.unique(np.concatenate([corners[:, 0], np.linspace(corners[:, 0].min(), corners[:, 0].max(), 101)]))
    a, b = corners, np.roll(corners, -1, axis=0)
    upper = np.full(len(x), -np.inf)
    lower = np.full(len(x), np.inf)
    for p, other in zip(a, b, strict=True):
        (x0, y0), (x1, y1) = (p, other) if p[0] <= other[0] else (other, p)
        on = (x >= x0) & (x <= x1)
        y = y0 + (x - x0) / (x1 - x0) * (y1 - y0) if x1 > x0 else np.full(len(x), y0)
        upper[on], lower[on] = np.maximum(upper[on], y[on]), np.minimum(lower[on], y[on])
        upper[x == x1], lower[x == x1] = np.maximum(upper[x == x1], y1), np.minimum(lower[x == x1], y1)
    top = np.minimum(upper[:, None], upper)
    bottom = np.maximum(lower[:, None], lower)
    area = np.abs(x[:, None] - x) * np.maximum(top - bottom, 0.0)
    i, j = np.unravel_index(int(area.argmax()), area.shape)
    return np.array([[min(x[i], x[j]), bottom[i, j]], [max(x[i], x[j]), top[i, j]]])
