"""Validation of the names of a description and of its tree of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinodyn.description.messages import counted, listed, warn
from kinodyn.description.mimics import combine_limits, find_leaders
from kinodyn.description.types import Description, Frame, Joint, Link
from kinodyn.errors import DescriptionError, unknown_name

ONE_COORDINATE = ("revolute", "continuous", "prismatic")


def fault(description: Description, part: Link | Joint | Frame, message: str) -> DescriptionError:
    """Create the error that points at a link, joint or frame of the description."""
    line = None if isinstance(part, Frame) else part.line
    element = f'{type(part).__name__.lower()} name="{part.name}"'
    return DescriptionError(message, file=description.source, line=line, element=element)


def check_names(description: Description) -> None:
    """Check that there are links, and that names are unique: of joints, and of links and frames together."""
    if not description.links:
        raise DescriptionError("has no links; a robot needs at least one", file=description.source)
    kinds: tuple[Sequence[Link | Joint | Frame], ...] = (description.joints, (*description.links, *description.frames))
    for parts in kinds:
        first: dict[str, Link | Joint | Frame] = {}
        for part in parts:
            if not part.name:
                raise fault(description, part, "has no name; give it one")
            earlier = first.setdefault(part.name, part)
            if earlier is not part:
                line = None if isinstance(earlier, Frame) else earlier.line
                where = "" if line is None else f" (first on line {line})"
                raise fault(description, part, f"the name is used twice{where}; names must be unique")


def check_tree(description: Description) -> None:
    """Check that the links of every joint and frame exist and form one tree."""
    links = {link.name: link for link in description.links}
    joint_above: dict[str, Joint] = {}
    for joint in description.joints:
        _check_ends(description, joint, links)
        other = joint_above.setdefault(joint.child, joint)
        if other is not joint:
            message = f"link {joint.child!r} is already the child of joint {other.name!r}; a link has one parent"
            raise fault(description, joint, message)
    for frame in description.frames:
        if frame.link not in links:
            raise fault(description, frame, f"its link does not exist: {unknown_name('link', frame.link, links)}")
    roots = [link for link in description.links if link.name not in joint_above]
    if len(roots) > 1:
        names = listed(link.name for link in roots)
        raise fault(description, roots[1], f"there are {len(roots)} roots: {names}; connect them, a robot has one root")
    _check_no_loop(description, joint_above)


def _check_ends(description: Description, joint: Joint, links: dict[str, Link]) -> None:
    for end, name in (("parent", joint.parent), ("child", joint.child)):
        if name not in links:
            hint = '; Drake has this link in every model, add <link name="world"/>' if name == "world" else ""
            raise fault(description, joint, f"its {end} does not exist: {unknown_name('link', name, links)}{hint}")
    if joint.parent == joint.child:
        raise fault(description, joint, f"parent and child are the same link {joint.parent!r}, a loop; change one")


def _check_no_loop(description: Description, joint_above: dict[str, Joint]) -> None:
    loop = find_loop({child: joint.parent for child, joint in joint_above.items()})
    if loop:
        names = listed([loop[0], *reversed(loop)], limit=12)
        message = f"closes a loop of links: {names}; a robot is a tree, remove one joint"
        raise fault(description, joint_above[loop[0]], message)


def check_mimics(description: Description) -> None:
    """Check that every mimic follows another joint with one coordinate, and that mimics do not form a loop."""
    joints = {joint.name: joint for joint in description.joints}
    followers = {joint.name: joint.mimic.joint for joint in description.joints if joint.mimic is not None}
    for name, leader in followers.items():
        if leader not in joints:
            unknown = unknown_name("joint", leader, joints)
            raise fault(description, joints[name], f"mimics a joint that does not exist: {unknown}")
        if leader == name:
            raise fault(description, joints[name], "mimics itself; name another joint or remove the mimic")
        for role, joint in (("follows", joints[name]), ("is followed", joints[leader])):
            if joint.kind not in ONE_COORDINATE:
                message = f"joint {joint.name!r} {role} but is {joint.kind}; both must be {', '.join(ONE_COORDINATE)}"
                raise fault(description, joints[name], message)
    loop = find_loop(followers)
    if loop:
        message = f"mimics follow each other in a loop: {listed([*loop, loop[0]], limit=12)}; remove one mimic"
        raise fault(description, joints[loop[0]], message)
    _check_limits_of_mimics(description)


def _check_limits_of_mimics(description: Description) -> None:
    """Check that the limits of joints and of those that follow them have a position in common.

    That they have only one in common, so that the joint cannot move, is a warning: files in use have such grippers.
    """
    joints = {joint.name: joint for joint in description.joints}
    locked = []
    for name, limits in combine_limits(description).items():
        lower, upper = limits.lower, limits.upper
        if lower.value > upper.value and (lower.joint, upper.joint) != (name, name):
            follower = upper.joint if lower.joint == name else lower.joint
            leader = find_leaders(description.joints)[follower]
            if leader.multiplier == 0.0:
                at, own = leader.offset, joints[follower]
                message = f"its mimic keeps it at {at:g}, outside its limits {own.lower:g} to {own.upper:g}"
                raise fault(description, own, message)
            message = (
                f"its limits and those of joint {name!r}, which it follows, have no position in common: joint {name!r} "
                f"must be at least {lower.value:g} for {lower.joint!r} and at most {upper.value:g} for "
                f"{upper.joint!r}; change the limits or the mimic"
            )
            raise fault(description, joints[follower], message)
        if lower.value == upper.value and joints[name].lower < joints[name].upper:
            locked.append(name)
    if locked:
        message = f"{counted(len(locked), 'joint')} that cannot move within the limits of the joints that follow"
        warn(f"change the limits or the mimics of {message}: {listed(locked)}", description.source)


def find_loop(successors: Mapping[str, str]) -> list[str]:
    """Follow each name to its successor, in linear time; return the first loop, empty if there is none."""
    visited_by: dict[str, str] = {}
    for start in successors:
        name, path = start, []
        while name in successors and name not in visited_by:
            visited_by[name] = start
            path.append(name)
            name = successors[name]
        if visited_by.get(name) == start:
            return path[path.index(name) :]
    return []
