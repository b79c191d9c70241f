"""The space that numeric inverse kinematics searches: the coordinates that may move, and their limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError, unknown_name
from kinodyn.layouts import constant
from kinodyn.model.chain import chain, leaders
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

INFINITE_LIMIT = constant("no_limit")  # represents an infinite limit: the core accepts finite numbers only
LIMIT_TOLERANCE = 1e-9  # distance within which a coordinate counts as at a limit [rad or m]
MAX_CACHED = 256  # spaces cached for one robot

Joints: TypeAlias = str | tuple[str, ...] | None  # a joint or a chain, several, or all joints


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """The coordinates that may move to bring frames to their targets, as the solver needs them; vectors are (nq,)."""

    lower: Array  # finite, for the core; joints that were not chosen do not move and have no limits
    upper: Array
    near_lower: Array  # a coordinate at or below it is at its lower limit
    near_upper: Array
    low: Array  # range of the starts
    high: Array
    middle: Array
    dofs: NDArray[np.int32]  # v indices of the chosen joints that move a frame: the variables of the core
    chosen: NDArray[np.int32]  # v indices of all chosen joints: the variables of a preference
    locked: NDArray[np.intp]  # coordinates of the other joints, which keep the position of q0
    drawn: NDArray[np.bool_]  # coordinates that vary between starts: those of `dofs` except floating and ball joints
    periodic: NDArray[np.bool_]  # coordinates whose pose repeats after a full turn

    def active(self, q: Array) -> NDArray[np.bool_]:
        """Return which coordinates are at a limit."""
        at: NDArray[np.bool_] = (q <= self.near_lower) | (q >= self.near_upper)
        return at

    def wrapped(self, q: Array) -> Array:
        """Add full turns that bring angles within their limits, where possible."""
        turns = np.ceil((self.lower - LIMIT_TOLERANCE - q) / (2 * np.pi)) * self.periodic
        inside = q + 2 * np.pi * turns
        moved = self.periodic & ((q < self.lower) | (q > self.upper)) & (inside <= self.upper + LIMIT_TOLERANCE)
        return np.asarray(np.where(moved, inside, q))

    def integrate(self, robot: Robot, q: Array, v: Array) -> Array:
        """Integrate q (..., nq) by v (..., nv); fixed coordinates stay bitwise equal, despite normalisation."""
        result = robot.integrate(q, v)
        result[..., self.locked] = q[..., self.locked]
        return result


_KNOWN: WeakKeyDictionary[Robot, dict[tuple[tuple[str, ...], Joints], SearchSpace]] = WeakKeyDictionary()


def space_of(robot: Robot, frames: tuple[str, ...], joints: str | Sequence[str] | None) -> SearchSpace:
    """Return the space of the joints that move these frames, all or those of `joints`; cached."""
    key = frames, joints if joints is None else _checked(joints)
    known = _KNOWN.get(robot)
    if known is None:
        known = _KNOWN.setdefault(robot, {})
    space = known.get(key)
    if space is None:
        if len(known) >= MAX_CACHED:
            known.clear()
        space = known[key] = _make(robot, *key)
    return space


def _checked(joints: str | Sequence[str]) -> str | tuple[str, ...]:
    if isinstance(joints, str):
        return joints
    names = tuple(joints) if isinstance(joints, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"joints must be names of joints, the name of a chain, or None for all joints, got {joints!r}")
    return names


def _make(robot: Robot, frames: tuple[str, ...], joints: Joints) -> SearchSpace:
    chosen = [joint for joint in robot.joints if joint.mimic is None]
    if joints is not None:
        names = set(named_joints(robot, joints))
        chosen = [joint for joint in chosen if joint.name in names]
    carrying = _carrying(robot, frames)
    moving = [joint for joint in chosen if joint.name in carrying]
    lower, upper = np.full(robot.nq, -INFINITE_LIMIT), np.full(robot.nq, INFINITE_LIMIT)
    for joint in chosen:
        lower[joint.q] = np.maximum(robot.limits.lower[joint.q], -INFINITE_LIMIT)
        upper[joint.q] = np.minimum(robot.limits.upper[joint.q], INFINITE_LIMIT)
    low, high = robot.sampling_range()
    quaternion = _marked(robot, [joint for joint in robot.joints if joint.kind in ("floating", "ball")])
    return SearchSpace(
        lower=lower,
        upper=upper,
        near_lower=robot.limits.lower + LIMIT_TOLERANCE,
        near_upper=robot.limits.upper - LIMIT_TOLERANCE,
        low=low,
        high=high,
        middle=np.where(quaternion, robot.neutral(), 0.5 * (low + high)),
        dofs=_dofs(moving),
        chosen=_dofs(chosen),
        locked=np.flatnonzero(~_marked(robot, chosen)),
        drawn=_marked(robot, moving) & ~quaternion,
        periodic=_marked(robot, _periodic(robot, moving)),
    )


def _marked(robot: Robot, joints: Iterable[JointInfo]) -> NDArray[np.bool_]:
    """Mark the coordinates (nq,) of joints."""
    mask = np.zeros(robot.nq, dtype=bool)
    for joint in joints:
        mask[joint.q] = True
    return mask


def _dofs(joints: Iterable[JointInfo]) -> NDArray[np.int32]:
    return np.array([i for joint in joints for i in range(joint.v.start, joint.v.stop)], dtype=np.int32)


def _carrying(robot: Robot, frames: tuple[str, ...]) -> set[str]:
    """List the independent joints that move any of the frames."""
    leader = leaders(robot)
    return {
        leader[joint.name].joint.name for frame in frames for joint in chain(robot, frame)[0] if joint.kind != "fixed"
    }


def _periodic(robot: Robot, joints: list[JointInfo]) -> list[JointInfo]:
    """List the revolute joints without mimic followers: a full turn of a joint need not be one of its follower."""
    followed = {leader.joint.name for name, leader in leaders(robot).items() if leader.joint.name != name}
    return [joint for joint in joints if joint.kind in ("revolute", "continuous") and joint.name not in followed]


def named_joints(robot: Robot, joints: str | tuple[str, ...]) -> Iterator[str]:
    """List the names of the independent joints that `joints` refers to.

    If a joint and a chain have the same name, a single string means the chain, and a string in a sequence the joint.
    """
    chains, known = robot.description.chains, {joint.name for joint in robot.description.joints}
    names = (joints,) if isinstance(joints, str) else joints
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"joints must be names of joints or chains, got {name!r}")
        if name in chains and (name is joints or name not in known):
            yield from _members(robot, name)
        elif name in known:
            yield _leader(robot, name)
        else:
            raise unknown_name("joint or chain", name, (*robot.joint_names, *chains))


def _members(robot: Robot, name: str) -> list[str]:
    """List the independent joints of a chain."""
    members = set(robot.description.chains[name])
    found = [joint.name for joint in robot.joints if joint.name in members and joint.mimic is None]
    if not found:
        raise InputError(f"the chain {name!r} has no independent moving joint; name joints that move")
    return found


def _leader(robot: Robot, name: str) -> str:
    """Return the name of an independent joint, or raise an error that says why it is not one."""
    leader = leaders(robot).get(name)
    if leader is None:
        raise InputError(f"joint {name!r} is fixed and cannot move; leave it out of joints")
    if leader.joint.name != name:
        raise InputError(f"joint {name!r} follows {leader.joint.name!r}; name {leader.joint.name!r}, which moves both")
    return name
