"""Repairs of URDF joints: axes, limits, and joints that follow others."""

from __future__ import annotations

import math
import os
import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from kinodyn.description.check_tree import ONE_COORDINATE, find_loop
from kinodyn.description.messages import listed
from kinodyn.description.mimics import find_leaders
from kinodyn.description.repair.findings import Findings
from kinodyn.description.repair.numbers import written
from kinodyn.description.repair.urdf_tree import nearest
from kinodyn.description.types import Mimic
from kinodyn.description.xml_tree import Node

_Any = TypeVar("_Any")

UNIT = 1e-3  # an axis whose length differs from 1 by less was rounded
# Limits of joints of which neither a mirrored joint nor another one of the robot has any.
DEFAULTS = {
    "revolute": {"lower": -math.pi, "upper": math.pi, "effort": 100.0, "velocity": 10.0},
    "continuous": {"effort": 100.0, "velocity": 10.0},
    "prismatic": {"lower": -1.0, "upper": 1.0, "effort": 1000.0, "velocity": 1.0},
}
MIN_RANGE = 1e-4  # [rad or m] to either side of a joint whose limits are equal
_TURN = (("revolute", "low"), ("revolute", "upp"))
_SIDES = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R"), ("lf", "rf"), ("lh", "rh"))


def repair_joints(findings: Findings) -> None:
    """Repair axes, limits and mimics of all joints."""
    joints = {joint.attributes["name"]: joint for joint in findings.document.root.all("joint")}
    for joint in joints.values():
        _repair_axis(findings, joint, joints)
    given = _Known({name: _GivenLimits(joint) for name, joint in joints.items()})
    for joint in joints.values():
        if joint.attributes.get("type") in DEFAULTS:
            _repair_limits(findings, joint, given)
    for joint in joints.values():
        _repair_mimic(findings, joint, joints)
    _remove_mimic_loops(findings, joints)
    _repair_limits_of_followers(findings, joints)


def mirrored(name: str, joints: Mapping[str, _Any]) -> _Any | None:
    """Return the value of the mirrored joint: right_knee for left_knee; None if there is none."""
    for side in _SIDES:
        for one, other in (side, side[::-1]):
            twin = re.sub(rf"(?<![A-Za-z]){one}(?![a-z])|{one}(?=_)" if len(one) < 3 else one, other, name, count=1)
            if twin != name and twin in joints:
                return joints[twin]
    return None


def _axis(joint: Node) -> tuple[float, ...] | None:
    node = next(joint.all("axis"), None)
    text = None if node is None else node.attributes.get("xyz")
    return None if text is None else tuple(map(float, text.split()))


def _repair_axis(findings: Findings, joint: Node, joints: dict[str, Node]) -> None:
    kind = joint.attributes.get("type")
    node = None if kind in ("fixed", "floating") else joint.child("axis")
    if node is None:
        return
    axis = _axis(joint)
    length = 0.0 if axis is None else math.hypot(*axis)
    if axis is not None and length > 0.0:
        if abs(length - 1.0) > UNIT:
            unit = written(*(part / length for part in axis))
            message = f"xyz={node.attributes['xyz']!r} has length {length:.6g}; a unit vector is expected"
            findings.set("note", node, message, f'xyz="{unit}", the same direction', xyz=unit)
        return
    twin = mirrored(joint.attributes["name"], joints)
    other = None if twin is None else _axis(twin)
    message = f"xyz={node.attributes.get('xyz', '')!r} is zero; a {kind} joint needs a nonzero axis"
    if twin is not None and other is not None and math.hypot(*other) > 0.0:
        text = written(*(part / math.hypot(*other) for part in other))
        findings.set("error", node, message, f'xyz="{text}", as joint {twin.attributes["name"]!r} has', xyz=text)
    else:
        findings.set("error", node, message, 'xyz="1 0 0", the default of URDF: check it', xyz="1 0 0")


def _limit(joint: Node, key: str) -> float | None:
    node = joint.child("limit")
    return None if node is None or key not in node.attributes else float(node.attributes[key])


def _position(joint: Node) -> tuple[float, float] | None:
    """Return the position limits; by the specification a missing one is 0 if the other is there."""
    lower, upper = _limit(joint, "lower"), _limit(joint, "upper")
    return None if lower is None and upper is None else (lower or 0.0, upper or 0.0)


class _GivenLimits:
    """The limits that a file gives a joint, before any repair."""

    def __init__(self, joint: Node) -> None:
        self.kind = joint.attributes.get("type", "")
        self.name = joint.attributes["name"]
        self.position = _position(joint)
        self.drive = {key: _limit(joint, key) for key in ("effort", "velocity")}

    def value(self, key: str) -> float | None:
        """Return a usable limit, None if there is none."""
        if key in self.drive:
            value = self.drive[key]
            return value if value is not None and 0.0 < value < math.inf else None
        if self.position is None or not all(map(math.isfinite, self.position)):
            return None
        return min(self.position) if key == "lower" else max(self.position)


class _Known:
    """The limits that a file gives its joints, and their medians."""

    def __init__(self, joints: dict[str, _GivenLimits]) -> None:
        self.joints = joints
        self._medians: dict[tuple[str, str], float | None] = {}

    def median(self, kind: str, key: str) -> float | None:
        """Return the median of the joints of a kind, None if none has the limit."""
        if (kind, key) not in self._medians:
            every = [limits.value(key) for limits in self.joints.values() if limits.kind == kind]
            found = [value for value in every if value is not None]
            self._medians[kind, key] = statistics.median(found) if found else None
        return self._medians[kind, key]


def _repair_limits(findings: Findings, joint: Node, given: _Known) -> None:
    bounded = joint.attributes["type"] != "continuous"
    missing = [key for key in ("effort", "velocity") if _limit(joint, key) is None and bounded]
    zero = [key for key in ("effort", "velocity") if _limit(joint, key) == 0.0]
    if bounded and joint.child("limit") is not None:
        _repair_range(findings, joint, placeholder=len(missing) + len(zero) == 2)
    if bounded and _position(joint) is None:
        missing += ["lower", "upper"]
    for keys, why in ((missing, "missing, which URDF requires"), (zero, "0: the joint could not be driven")):
        if keys:
            _give_limits(findings, joint, given, keys, why)


def _repair_range(findings: Findings, joint: Node, placeholder: bool) -> None:
    """Swap limits in the wrong order; remove impossible ones and zeros that stand for none; widen equal ones."""
    node, positions = joint.need("limit"), _position(joint)
    if positions is None:
        return
    low, high = positions
    if low == math.inf or high == -math.inf:
        findings.set("error", node, f"limits {positions} allow no finite position", "removed", lower=None, upper=None)
    elif low > high:
        lower, upper = written(high), written(low)
        message = f"lower limit {low} is above upper limit {high}; swap them"
        findings.set("error", node, message, f'lower="{lower}" upper="{upper}", swapped', lower=lower, upper=upper)
    elif low == high == 0.0 and placeholder:
        message = "all limits are 0, which stands for none: the joint could not move"
        findings.set("warning", node, message, "position limits replaced", lower=None, upper=None)
    elif low == high and joint.child("mimic") is None:
        lower, upper = written(low - MIN_RANGE), written(high + MIN_RANGE)
        message = f"lower and upper limit are equal ({low:g}): simulators need a range"
        repair = f'lower="{lower}" upper="{upper}"; make the joint fixed if it must not move'
        findings.set("warning", node, message, repair, lower=lower, upper=upper)


def _give_limits(findings: Findings, joint: Node, given: _Known, keys: list[str], why: str) -> None:
    suitable = {key: _suitable(joint, given, key) for key in keys}
    texts = {key: written(value) for key, (value, _) in suitable.items()}
    sources = sorted({source for _, source in suitable.values()})
    repair = " ".join(f'{key}="{text}"' for key, text in texts.items()) + f", {'; '.join(sources)}"
    node = joint.child("limit")
    are = "limit " + keys[0] + " is" if len(keys) == 1 else "limits " + ", ".join(keys) + " are"
    findings.add("warning", node or joint, f"{are} {why}", repair)
    if node is None:
        findings.document.add(joint, "limit", texts)
    else:
        for key, text in texts.items():
            findings.document.set(node, key, text)


def _suitable(joint: Node, given: _Known, key: str) -> tuple[float, str]:
    """Return a limit and where it comes from: the mirrored joint, the median of the robot's joints, or a default."""
    kind = joint.attributes["type"]
    twin = mirrored(joint.attributes["name"], given.joints)
    value = None if twin is None or twin.kind != kind else twin.value(key)
    if twin is not None and value is not None:
        return value, f"as joint {twin.name!r} has"
    median = given.median(kind, key)
    if median is not None and key in ("effort", "velocity"):
        return median, f"the median of the robot's {kind} joints"
    return DEFAULTS[kind][key], "one turn: check it" if (kind, key[:3]) in _TURN else "a default: check it"


def _repair_mimic(findings: Findings, joint: Node, joints: dict[str, Node]) -> None:
    mimic = joint.child("mimic")
    if mimic is None:
        return
    name, leader = joint.attributes["name"], mimic.attributes.get("joint", "")
    if joint.attributes.get("type") == "fixed":
        if joints.get(leader) is not None and joints[leader].attributes.get("type") != "fixed":
            findings.remove("warning", mimic, "a fixed joint has a <mimic>, which has no effect", "<mimic> removed")
        return
    if leader not in joints:
        intended = _intended_leader(name, leader, [other for other in joints if other != name])
        message = f"mimics a joint that does not exist: {leader!r}" if leader else "has no attribute 'joint'; add it"
        if intended is None:
            findings.remove("error", mimic, message, "<mimic> removed: the joint moves independently")
            return
        findings.set("error", mimic, message, f'joint="{intended}"', joint=intended)
        leader = intended
    if leader == name:
        findings.remove("error", mimic, "mimics itself", "<mimic> removed: the joint moves independently")
        return
    for role, other in (("follows", joint), ("is followed", joints[leader])):
        kind = other.attributes.get("type")
        if kind not in ONE_COORDINATE:
            message = (
                f"joint {other.attributes['name']!r} {role} but is {kind}; both must be {', '.join(ONE_COORDINATE)}"
            )
            findings.remove("error", mimic, message, "<mimic> removed")
            return


def _intended_leader(name: str, leader: str, others: list[str]) -> str | None:
    """Return the joint that a mimic refers to: one whose name ends as written, of the same side, or a similar name."""
    ending = [other for other in others if leader and other.endswith(leader)]
    if ending:
        return max(ending, key=lambda other: len(os.path.commonprefix([other, name])))
    return nearest(leader, others) if leader else None


def _remove_mimic_loops(findings: Findings, joints: dict[str, Node]) -> None:
    while True:
        followers = {name: found.mimic.joint for name in joints if (found := _follower(joints[name])).mimic is not None}
        loop = find_loop(followers)
        if not loop:
            return
        message = f"mimics follow each other in a loop: {listed([*loop, loop[0]], limit=12)}"
        mimic = joints[loop[0]].need("mimic")
        findings.remove("error", mimic, message, "<mimic> removed: the joint moves independently")


@dataclass(frozen=True)
class _Follower:
    """A joint of the file and the joint that it follows."""

    node: Node
    mimic: Mimic | None

    @property
    def name(self) -> str:
        return self.node.attributes["name"]


def _follower(joint: Node) -> _Follower:
    node = joint.child("mimic")
    if node is None or joint.attributes.get("type") == "fixed":
        return _Follower(joint, None)
    factor, offset = (float(node.attributes.get(key, default)) for key, default in (("multiplier", 1), ("offset", 0)))
    return _Follower(joint, Mimic(node.attributes["joint"], factor, offset))


def _repair_limits_of_followers(findings: Findings, joints: dict[str, Node]) -> None:
    """Give a follower the limits of its leader where its own leave the leader no range to move in."""
    leaders = find_leaders([_follower(joint) for joint in joints.values()])
    for joint in joints.values():
        found = leaders[joint.attributes["name"]]
        leader, multiplier, offset = found.joint.node, found.multiplier, found.offset
        limits, own = _position(leader), _position(joint)
        if leader is joint:
            continue
        if own is None or limits is None or "continuous" in (joint.attributes["type"], leader.attributes["type"]):
            continue
        reached = sorted(multiplier * limit + offset for limit in limits)
        low, high = max(own[0], reached[0]), min(own[1], reached[1])
        if low > high or (low == high and limits[0] < limits[1] and reached[0] < reached[1]):
            lower, upper = written(reached[0]), written(reached[1])
            message = (
                f"its limits [{own[0]:g}, {own[1]:g}] leave joint {leader.attributes['name']!r}, which it follows, no "
                f"range to move in: that takes it from {lower} to {upper}"
            )
            node = joint.need("limit")
            repair = f'lower="{lower}" upper="{upper}", what the joint that it follows reaches'
            findings.set("error" if low > high else "warning", node, message, repair, lower=lower, upper=upper)
