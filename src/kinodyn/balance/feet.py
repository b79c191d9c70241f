"""Detection of feet and soles.

No names are assumed: feet are the last links of the chains that reach lowest when the robot stands upright, and soles
are the undersides of their collision shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.balance.polygon import hull
from kinodyn.balance.shapes import extreme_points
from kinodyn.checks import as_pose
from kinodyn.description.types import Link
from kinodyn.dynamics.contact import Contact
from kinodyn.errors import DescriptionError, KinodynError
from kinodyn.model.robot import Robot, require_robot
from kinodyn.spatial.poses import inverse_pose

STANDING = ("standing", "half_sitting", "upright", "stand", "home")  # names of configurations, in order of preference
SOLE_THICKNESS = 0.02  # fraction of the foot's size: points this high above the lowest belong to the sole
MIN_COSINE = 0.95  # of the tilt up to which a foot counts as flat, tilted only by the posture
HEIGHT_TOLERANCE = 0.04  # fraction of the robot's height: ends this high above the lowest are feet


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
    """

    side: str
    frame: str
    T_frame_sole: Array
    corners: Array
    ankle: float

    @cached_property
    def rectangle(self) -> Array:
        """Largest rectangle inside the outline, along the axes of the sole: [[x0, y0], [x1, y1]] [m]."""
        return _largest_rectangle(self.corners)

    @property
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

    def contact(self, friction: float = 0.7) -> Contact:
        """Make a contact of the whole sole, with its corners.

        Parameters
        ----------
        friction
            Friction coefficient.

        Returns
        -------
        Contact
        """
        return Contact(self.frame, corners=self.points, friction=friction, name=self.side)


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
        If nothing can be a foot, or the foot has no collision shapes that can be read; the message names it.

    Examples
    --------
    >>> import kinodyn as kd
    >>> left, right = kd.balance.feet(kd.load("humanoid"))
    >>> left.frame, left.size.round(3).tolist()
    ('left_sole', [0.258, 0.094])
    """
    require_robot(robot)
    if robot.base != "floating":
        raise KinodynError(f'{robot.name!r} has a fixed base and no feet; load a legged robot with base="floating"')
    pose = dict(zip(robot.frame_names, kinematics.poses(robot, upright(robot) if q is None else q), strict=True))
    carried = _carried(robot)
    ends = _ends(robot)
    heights = {link: _lowest(robot, [link, *carried[link]], pose) for link in ends}
    if not heights:
        raise KinodynError(f"{robot.name!r} has no feet: no chain of joints ends in a link")
    lowest = min(heights.values())
    tall = max(float(T[2, 3]) for T in pose.values()) - lowest
    links = [link for link in ends if heights[link] <= lowest + HEIGHT_TOLERANCE * tall]
    links.sort(key=lambda link: -float(pose[link][1, 3]))
    names = ("left", "right") if len(links) == 2 else tuple(f"foot{k + 1}" for k in range(len(links)))
    return tuple(_foot(robot, side, link, carried[link], pose) for side, link in zip(names, links, strict=True))


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
    found = feet(robot, q)
    if len(found) != 2:
        raise KinodynError(
            f"{robot.name!r} stands on {len(found)} feet ({', '.join(foot.frame for foot in found)}); two are needed"
        )
    thin = [foot.frame for foot in found if len(foot.corners) < 3 or foot.size.min() < 1e-3]
    if thin:
        raise KinodynError(f"{' and '.join(thin)} of {robot.name!r} touch the ground at a point or a line, not a sole")
    return found[0], found[1]


def upright(robot: Robot) -> Array:
    """Choose the configuration (nq,) in which feet are searched: a named one, or neutral; the base is level."""
    known = {name.lower(): name for name in robot.configurations}
    named = [known[name] for name in STANDING if name in known]
    q = robot.configuration(named[0]) if named else robot.neutral()
    q[3:7] = (0.0, 0.0, 0.0, 1.0)
    return q


def _ends(robot: Robot) -> list[str]:
    """List the links at the ends of chains: moved by a joint, and carrying no other moving joint."""
    parents = {joint.child: joint.parent for joint in robot.description.joints}
    inner: set[str] = set()
    for joint in robot.joints:
        link: str | None = joint.parent
        while link is not None and link not in inner:
            inner.add(link)
            link = parents.get(link)
    return [joint.child for joint in robot.joints[1:] if joint.child not in inner]


def _carried(robot: Robot) -> dict[str, list[str]]:
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


def _lowest(robot: Robot, links: list[str], pose: dict[str, Array]) -> float:
    """Find the lowest height [m] of links, by their collision shapes if these can be read, else by their origins."""
    heights = [float(pose[link][2, 3]) for link in links]
    for link in _links(robot, links):
        try:
            points = _points(link, pose[link.name])
        except DescriptionError:
            continue
        heights += points[:, 2].tolist()
    return min(heights)


def _links(robot: Robot, names: list[str]) -> list[Link]:
    return [link for link in robot.description.links if link.name in names]


def _points(link: Link, T_world_link: Array) -> Array:
    """List the points (n, 3) of a link, in the world, that may touch the ground."""
    R, p = T_world_link[:3, :3], T_world_link[:3, 3]
    parts = [extreme_points(shape, -R[2]) for shape in link.collisions]
    return np.asarray(np.concatenate([np.zeros((0, 3)), *parts]) @ R.T + p)


def _foot(robot: Robot, side: str, link: str, carried: list[str], pose: dict[str, Array]) -> Foot:
    members = _links(robot, [link, *carried])
    if not any(member.collisions for member in members):
        raise KinodynError(
            f"the foot {link!r} of {robot.name!r} has no collision shapes that define its sole; add a <collision> "
            "box to its description"
        )
    frame = _frame(robot, link, carried)
    R_world_frame = pose[frame][:3, :3]
    tilt = _level(_upward_axis(R_world_frame))
    points = np.concatenate([_in_sole(member, pose[frame], pose[member.name], tilt) for member in members])
    height = float(points[:, 2].min())
    spread = float(np.ptp(points[:, :2], axis=0).max()) if len(points) > 1 else 0.0
    low = points[points[:, 2] <= height + max(SOLE_THICKNESS * spread, 1e-6)]
    T_level_frame = np.eye(4)
    T_level_frame[:3, :3] = tilt @ R_world_frame
    ankle = (tilt @ (pose[link][:3, 3] - pose[frame][:3, 3])) - np.array([0.0, 0.0, height])
    T_level_sole = np.eye(4)
    T_level_sole[:3, 3] = (ankle[0], ankle[1], height)
    corners = hull(low[:, :2] - ankle[:2])
    return Foot(side, frame, inverse_pose(T_level_frame) @ T_level_sole, corners, float(ankle[2]))


def _in_sole(link: Link, T_world_frame: Array, T_world_link: Array, tilt: Array) -> Array:
    """List the points (n, 3) of a link relative to the foot's frame, in axes in which the foot is level."""
    R, p = tilt @ T_world_link[:3, :3], tilt @ (T_world_link[:3, 3] - T_world_frame[:3, 3])
    parts = [extreme_points(shape, -R[2]) for shape in link.collisions]
    return np.asarray(np.concatenate([np.zeros((0, 3)), *parts]) @ R.T + p)


def _upward_axis(R_world_frame: Array) -> Array:
    """Return the axis (3,) of a frame that is meant to be vertical: flat feet have one, others take the vertical."""
    k = int(np.abs(R_world_frame[2]).argmax())
    axis: Array = np.sign(R_world_frame[2, k]) * R_world_frame[:, k]
    return axis if axis[2] >= MIN_COSINE else np.array([0.0, 0.0, 1.0])


def _level(up: Array) -> Array:
    """Compute the smallest rotation (3, 3) that takes `up` to the vertical."""
    axis = np.array([up[1], -up[0], 0.0])  # up x z
    sine, cosine = float(np.linalg.norm(axis)), float(up[2])
    if sine < 1e-9:
        return np.eye(3)
    x, y, _ = axis / sine
    K = np.array([[0.0, 0.0, y], [0.0, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + sine * K + (1.0 - cosine) * (K @ K))


def _frame(robot: Robot, link: str, carried: list[str]) -> str:
    """Choose the frame of the foot: an end effector of the description on it, else the link itself."""
    on_foot = {link, *carried}
    places = {frame.name: frame.link for frame in robot.description.frames}
    for name in robot.description.end_effectors.values():
        if places.get(name, name) in on_foot:
            return name
    return link


def _largest_rectangle(corners: Array) -> Array:
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
