"""Check the names of a description and how its links hang together."""

from __future__ import annotations

from collections.abc import Sequence

from kinodyn.description.notices import listed
from kinodyn.description.types import Description, Frame, Joint, Link
from kinodyn.errors import DescriptionError, unknown_name

ONE_COORDINATE = ("revolute", "continuous", "prismatic")


def fault(description: Description, part: Link | Joint | Frame, message: str) -> DescriptionError:
    """Make the error that points at a link, joint or frame of the description."""
    line = None if isinstance(part, Frame) else part.line
    element = f'{type(part).__name__.lower()} name="{part.name}"'
    return DescriptionError(message, file=description.source, line=line, element=element)


def check_names(description: Description) -> None:
    """Check that there are links, and that names differ: those of joints, and those of links and frames together."""
    if not description.links:
        raise DescriptionError("has no links; a robot needs one at least", file=description.source)
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
                raise fault(description, part, f"the name is used twice{where}; names must differ")


def check_tree(description: Description) -> None:
    """Check that every joint and frame has its links and that these make one tree."""
    links = {link.name: link for link in description.links}
    joint_above: dict[str, Joint] = {}
    for joint in description.joints:
        _check_ends(description, joint, links)
        other = joint_above.setdefault(joint.child, joint)
        if other is not joint:
            message = f"link {joint.child!r} already hangs on joint {other.name!r}; a link has one parent"
            raise fault(description, joint, message)
    for frame in description.frames:
        if frame.link not in links:
            raise fault(
                description, frame, f"is on a link that does not exist: {unknown_name('link', frame.link, links)}"
            )
    roots = [link for link in description.links if link.name not in joint_above]
    if len(roots) > 1:
        names = listed(link.name for link in roots)
        raise fault(description, roots[1], f"there are {len(roots)} roots: {names}; connect them, a robot has one root")
    _check_no_loop(description, joint_above)


def _check_ends(description: Description, joint: Joint, links: dict[str, Link]) -> None:
    for end, name in (("parent", joint.parent), ("child", joint.child)):
        if name not in links:
            raise fault(description, joint, f"its {end} does not exist: {unknown_name('link', name, links)}")
    if joint.parent == joint.child:
        raise fault(description, joint, f"parent and child are the same link {joint.parent!r}, a loop; change one")


def _check_no_loop(description: Description, joint_above: dict[str, Joint]) -> None:
    """Follow parents upward from every link; a walk that meets itself has found a loop."""
    walk_of: dict[str, int] = {}
    for number, start in enumerate(description.links):
        name, walk = start.name, []
        while name not in walk_of and name in joint_above:
            walk_of[name] = number
            walk.append(name)
            name = joint_above[name].parent
        if walk_of.get(name) == number and name in joint_above:
            loop = walk[walk.index(name) :][::-1]
            message = f"closes a loop of links: {listed([loop[-1], *loop], most=12)}; a robot is a tree, cut one joint"
            raise fault(description, joint_above[name], message)


def check_mimics(description: Description) -> None:
    """Check that every mimic follows another joint of one coordinate, and that none follows itself in the end."""
    joints = {joint.name: joint for joint in description.joints}
    for joint in description.joints:
        if joint.mimic is None:
            continue
        source = joints.get(joint.mimic.joint)
        if source is None:
            raise fault(description, joint, f"mimics nothing: {unknown_name('joint', joint.mimic.joint, joints)}")
        if source is joint:
            raise fault(description, joint, "mimics itself; name another joint or remove the mimic")
        for role, one in (("follows", joint), ("is followed", source)):
            if one.kind not in ONE_COORDINATE:
                message = f"joint {one.name!r} {role} but is {one.kind}; both must be {', '.join(ONE_COORDINATE)}"
                raise fault(description, joint, message)
    _check_mimics_end(description, joints)


def _check_mimics_end(description: Description, joints: dict[str, Joint]) -> None:
    walk_of: dict[str, int] = {}
    for number, joint in enumerate(description.joints):
        walk, follower = [], joint
        while follower.mimic is not None and follower.name not in walk_of:
            walk_of[follower.name] = number
            walk.append(follower.name)
            follower = joints[follower.mimic.joint]
        if follower.mimic is not None and walk_of[follower.name] == number:
            loop = walk[walk.index(follower.name) :]
            message = f"mimics go round in a circle: {listed([*loop, loop[0]], most=12)}; one of them must lead"
            raise fault(description, follower, message)
