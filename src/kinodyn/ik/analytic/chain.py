"""The revolute joints between the base and a frame, as lines in space at joint positions zero."""

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
    """Product of exponentials: T_world_frame(q) = e1(q1) ... en(qn) T_zero, each e a rotation about a joint axis."""

    names: tuple[str, ...]
    q_index: tuple[int, ...]
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
        """Upper bound [m] of the distance of the frame from the base and from the world's origin."""
        return self.size + float(np.abs(self.tip).max())

    @cached_property
    def size(self) -> float:
        """Length of the polyline through the axes' origins to the frame [m], a measure of the arm's size."""
        points = [*(axis.point for axis in self.axes), self.tip]
        return max(sum(float(np.linalg.norm(b - a)) for a, b in zip(points, points[1:], strict=False)), 1e-3)


def chain_of(robot: Robot, frame: str | int, joints: Sequence[str] | None, q: Array) -> Chain:
    """Return the chain to a frame, with its joints at zero and all others as in q (nq,)."""
    moving = _solved(_path(robot, frame), joints)
    zero = q.copy()
    q_index = tuple(joint.q.start for joint in moving)
    zero[list(q_index)] = 0.0
    J = kinematics.jacobian(robot, zero, frame, reference="world")
    twists = J[:, [joint.v.start for joint in moving]].T
    # A rotation about a line through p along w has the twist (p x w, w); w x (p x w) is its point nearest to 0.
    axes = tuple(Axis.through(np.cross(t[3:], t[:3]), t[3:]) for t in twists)
    T_zero = kinematics.pose(robot, zero, frame)
    limits = robot.limits
    names = tuple(joint.name for joint in moving)
    lower, upper = limits.lower[list(q_index)], limits.upper[list(q_index)]
    return Chain(names, q_index, _near(axes, T_zero), T_zero, lower, upper)


def fixed_coordinates(robot: Robot, frame: str | int, joints: Sequence[str] | None) -> list[int]:
    """List the coordinates between base and frame that are not solved for."""
    path = _path(robot, frame)
    solved = {joint.name for joint in _solved(path, joints)}
    return [i for joint in path if joint.name not in solved for i in range(joint.q.start, joint.q.stop)]


def _near(axes: tuple[Axis, ...], T_zero: Array) -> tuple[Axis, ...]:
    """Choose each axis' point near the next one, which keeps precision for a robot far from the world's origin."""
    near, target = [], T_zero[:3, 3]
    for axis in reversed(axes):
        target = axis.point + axis.direction * float((target - axis.point) @ axis.direction)
        near.append(axis.moved(target))
    return tuple(reversed(near))


def _path(robot: Robot, frame: str | int) -> list[JointInfo]:
    """List every moving joint between the world and the frame, from the base outwards."""
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
    """Return the name of a frame given by name or by its index in `robot.frame_names`."""
    if isinstance(frame, str):
        return robot.frame_names[robot.frame_index(frame)]
    if not isinstance(frame, int) or not 0 <= frame < len(robot.frame_names):
        raise InputError(
            f"frame must be a name or an index in frame_names, 0 to {len(robot.frame_names) - 1}, got {frame!r}"
        )
    return robot.frame_names[frame]


def _solved(path: list[JointInfo], joints: Sequence[str] | None) -> list[JointInfo]:
    """Return the joints to solve for: those named, or all but a floating base."""
    known = [joint.name for joint in path]
    for name in joints or ():
        if name not in known:
            raise unknown_name("joint between base and frame", name, known)
    chosen = [joint for joint in path if (joint.kind != "floating" if joints is None else joint.name in joints)]
    if not chosen:
        raise InputError("no joint moves this frame; choose a frame moved by at least two revolute joints")
    for joint in chosen:
        if joint.mimic is not None:
            raise NoClosedFormError(
                f"joint {joint.name!r} mimics {joint.mimic.joint!r}; closed forms need independent joints"
            )
        if joint.kind not in ("revolute", "continuous"):
            raise NoClosedFormError(
                f"joint {joint.name!r} is {joint.kind}, but only revolute joints are solved; name those to solve for "
                "with joints=[...], and it stays as in q0"
            )
    leaders = {joint.name for joint in chosen}
    for joint in path:
        if joint.mimic is not None and joint.mimic.joint in leaders:
            raise NoClosedFormError(f"joint {joint.name!r} of the chain mimics joint {joint.mimic.joint!r}")
    return chosen
