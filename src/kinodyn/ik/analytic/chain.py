"""The turning joints between the base and a frame, as lines in space at zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.errors import InputError, unknown_name
from kinodyn.ik.analytic.axes import Axis
from kinodyn.ik.analytic.geometry import NoClosedFormError
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.spatial import inverse


@dataclass(frozen=True, eq=False)
class Chain:
    """What moves a frame: T_world_frame(q) = e1(q1) ... en(qn) T_zero, each e a turn about an axis in the world."""

    names: tuple[str, ...]
    places: tuple[int, ...]
    axes: tuple[Axis, ...]
    T_zero: Array
    lower: Array
    upper: Array

    @property
    def tip(self) -> Array:
        """Origin (3,) of the frame at zero [m]."""
        return self.T_zero[:3, 3]

    @cached_property
    def T_zero_inverse(self) -> Array:
        """Inverse of T_zero (4, 4)."""
        return inverse(self.T_zero)

    @cached_property
    def extent(self) -> float:
        """Distance [m] that nothing on the arm exceeds, neither from its base nor from the world's origin."""
        return self.size + float(np.abs(self.tip).max())

    @cached_property
    def size(self) -> float:
        """Length of the way along the axes' origins to the frame [m], a measure of the arm's size."""
        points = [*(axis.point for axis in self.axes), self.tip]
        return max(sum(float(np.linalg.norm(b - a)) for a, b in zip(points, points[1:], strict=False)), 1e-3)


def chain_of(robot: Robot, frame: str | int, joints: Sequence[str] | None, q: Array) -> Chain:
    """Take the chain to a frame, its joints at zero and everything else as in q (nq,)."""
    moving = _solved(_path(robot, frame), joints)
    zero = q.copy()
    places = tuple(joint.q.start for joint in moving)
    zero[list(places)] = 0.0
    J = kinematics.jacobian(robot, zero, frame, reference="world")
    twists = J[:, [joint.v.start for joint in moving]].T
    # A turn about a line through p along w has the twist (p x w, w); w x (p x w) is the line's point nearest to 0.
    axes = tuple(Axis.through(np.cross(t[3:], t[:3]), t[3:]) for t in twists)
    T_zero = kinematics.pose(robot, zero, frame)
    limits = robot.limits
    names = tuple(joint.name for joint in moving)
    return Chain(names, places, _near(axes, T_zero), T_zero, limits.lower[list(places)], limits.upper[list(places)])


def held_places(robot: Robot, frame: str | int, joints: Sequence[str] | None) -> list[int]:
    """List the coordinates on the way to the frame that are held, not solved for."""
    path = _path(robot, frame)
    solved = {joint.name for joint in _solved(path, joints)}
    return [i for joint in path if joint.name not in solved for i in range(joint.q.start, joint.q.stop)]


def _near(axes: tuple[Axis, ...], T_zero: Array) -> tuple[Axis, ...]:
    """Choose each axis' point near the one after it, so that a robot far from the world's origin loses no digits."""
    near, target = [], T_zero[:3, 3]
    for axis in reversed(axes):
        target = axis.point + axis.direction * float((target - axis.point) @ axis.direction)
        near.append(axis.moved(target))
    return tuple(reversed(near))


def _path(robot: Robot, frame: str | int) -> list[JointInfo]:
    """Every moving joint between the world and the frame, from the base outwards."""
    description = robot.description
    name = frame_name(robot, frame)
    link = next((other.link for other in description.frames if other.name == name), name)
    above = {joint.child: joint for joint in description.joints}
    moving = {joint.name: joint for joint in robot.joints}
    path = []
    while link in above:
        joint = above[link]
        path += [moving[joint.name]] if joint.name in moving else []
        link = joint.parent
    return path[::-1]


def frame_name(robot: Robot, frame: str | int) -> str:
    """Find the name of a frame given by name or by its place in `robot.frame_names`."""
    if isinstance(frame, str):
        return robot.frame_names[robot.frame_index(frame)]
    if not isinstance(frame, int) or not 0 <= frame < len(robot.frame_names):
        raise InputError(
            f"frame is {frame!r}; give a name or a place in frame_names, 0 to {len(robot.frame_names) - 1}"
        )
    return robot.frame_names[frame]


def _solved(path: list[JointInfo], joints: Sequence[str] | None) -> list[JointInfo]:
    """The joints to solve for: those named, or all but the free base."""
    known = [joint.name for joint in path]
    for name in joints or ():
        if name not in known:
            raise unknown_name("joint on the way to this frame", name, known)
    chosen = [joint for joint in path if (joint.kind != "floating" if joints is None else joint.name in joints)]
    if not chosen:
        raise InputError("no joint moves this frame; name a frame beyond at least two turning joints")
    for joint in chosen:
        if joint.mimic is not None:
            raise NoClosedFormError(
                f"joint {joint.name!r} follows {joint.mimic.joint!r}; closed forms want free joints"
            )
        if joint.kind not in ("revolute", "continuous"):
            raise NoClosedFormError(
                f"joint {joint.name!r} is {joint.kind}, and only turning joints are solved; name those to solve "
                "with joints=[...] to hold it where q0 has it"
            )
    leaders = {joint.name for joint in chosen}
    for joint in path:
        if joint.mimic is not None and joint.mimic.joint in leaders:
            raise NoClosedFormError(f"joint {joint.name!r} of the chain follows joint {joint.mimic.joint!r}")
    return chosen
