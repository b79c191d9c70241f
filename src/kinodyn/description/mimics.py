"""Mimic joints: the joint that each one follows, and the limits that they impose on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Protocol, TypeVar

from kinodyn.description.types import Description, Joint, Mimic


class HasMimic(Protocol):
    """A joint, of a description or of a compiled robot."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def mimic(self) -> Mimic | None: ...  # noqa: D102


AnyJoint = TypeVar("AnyJoint", bound=HasMimic)


@dataclass(frozen=True)
class Leader(Generic[AnyJoint]):
    """The joint whose coordinate determines the position of another one: multiplier * q[joint] + offset."""

    joint: AnyJoint
    multiplier: float
    offset: float


def find_leaders(joints: Iterable[AnyJoint]) -> dict[str, Leader[AnyJoint]]:
    """Map each joint to the joint at the end of its chain of mimics; one that follows none to itself."""
    by_name = {joint.name: joint for joint in joints}
    found: dict[str, Leader[AnyJoint]] = {}
    for joint in by_name.values():
        chain = []  # of mimics up to one that is known already
        while joint.name not in found and joint.mimic is not None:
            chain.append(joint)
            joint = by_name[joint.mimic.joint]
        leader = found.setdefault(joint.name, Leader(joint, 1.0, 0.0))
        for follower in reversed(chain):
            assert follower.mimic is not None
            factor, offset = follower.mimic.multiplier, follower.mimic.offset
            leader = Leader(leader.joint, factor * leader.multiplier, factor * leader.offset + offset)
            found[follower.name] = leader
    return found


class Bound(NamedTuple):
    """A limit of a joint, and the joint that imposes it: itself or one that follows it."""

    value: float
    joint: str


@dataclass
class CombinedLimits:
    """Limits of a joint's coordinate, those of the joints that follow it included."""

    lower: Bound
    upper: Bound
    velocity: Bound

    def combine(self, joint: Joint, multiplier: float, offset: float) -> None:
        """Narrow the limits so that a joint at multiplier * q + offset stays within its own."""
        if multiplier == 0.0:  # it does not move; if it is outside its limits, its leader has no valid position either
            if not joint.lower <= offset <= joint.upper:
                self.lower, self.upper = Bound(math.inf, joint.name), Bound(-math.inf, joint.name)
            return
        bounds = sorted((bound - offset) / multiplier + 0.0 for bound in (joint.lower, joint.upper))  # no -0.0
        self.lower = max(self.lower, Bound(bounds[0], joint.name), key=_value)
        self.upper = min(self.upper, Bound(bounds[1], joint.name), key=_value)
        self.velocity = min(self.velocity, Bound(joint.velocity / abs(multiplier), joint.name), key=_value)


def combine_limits(description: Description) -> dict[str, CombinedLimits]:
    """Compute the limits of each joint with one coordinate in q, those of its mimic followers included.

    Parameters
    ----------
    description
        A description whose mimics are valid.

    Returns
    -------
    limits : dict of str to CombinedLimits
        By joint. The lower bound exceeds the upper one where followers leave no position.
    """
    one_coordinate = [joint for joint in description.joints if joint.kind in ("revolute", "continuous", "prismatic")]
    limits = {joint.name: _own_limits(joint) for joint in one_coordinate if joint.mimic is None}
    leaders = find_leaders(description.joints)
    for joint in one_coordinate:
        leader = leaders[joint.name]
        if joint.mimic is not None:
            limits[leader.joint.name].combine(_limited(joint), leader.multiplier, leader.offset)
    return limits


def _own_limits(joint: Joint) -> CombinedLimits:
    own = _limited(joint)
    return CombinedLimits(*(Bound(value, joint.name) for value in (own.lower, own.upper, own.velocity)))


def _limited(joint: Joint) -> Joint:
    """Return the joint without the position limits that a continuous one ignores."""
    return replace(joint, lower=-math.inf, upper=math.inf) if joint.kind == "continuous" else joint


def _value(bound: Bound) -> float:
    return bound.value
