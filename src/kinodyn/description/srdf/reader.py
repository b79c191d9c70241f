"""Read an SRDF file: groups, states, end effectors, collision pairs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kinodyn.argument_types import check_types
from kinodyn.description.srdf.groups import read_groups
from kinodyn.description.srdf.names import Names
from kinodyn.description.types import Description, JointKind
from kinodyn.description.xml_tree import Node, read_xml

Positions = dict[str, tuple[float, ...]]

_COORDINATES: dict[JointKind, int] = {
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "planar": 3,
    "ball": 4,
    "floating": 7,
}

# Quaternions in files have few digits; a norm that differs from 1 by more is an error.
_QUATERNION_TOLERANCE = 1e-3


@check_types
def read_srdf(source: str | os.PathLike[str], description: Description) -> Description:
    """Add the groups, end effectors, states and collision pairs of an SRDF file to a description.

    Parameters
    ----------
    source
        Path of the SRDF file.
    description
        The robot that the file refers to.

    Returns
    -------
    description : Description

    Raises
    ------
    DescriptionError
        If the file cannot be read, groups contain each other, or a state does not fit its joint.

    Notes
    -----
    Groups become `chains` of moving joints in the order of the file: joints by name, the joint above a named link, the
    joints between `base_link` and `tip_link`, and those of subgroups. `end_effectors` map to their parent link. Group
    states become `configurations`; states with one name are merged unless they contradict each other: then the later
    one is called `group/name`. A virtual floating joint, and one called `root_joint`, is the joint that `with_base`
    adds; the parent frames of virtual joints become `world_frames`. `disable_collisions`, and all pairs of a link of
    `disable_default_collisions` but those of `enable_collisions`, become `collision_exclusions`. Names that the robot
    does not have are skipped with one warning.
    """
    path = Path(source)
    root = read_xml(path)
    if root.tag != "robot":
        raise root.error(f"the root element is <{root.tag}>; an SRDF file has <robot>")
    names = Names(root, description)
    described = replace(
        description,
        chains={**description.chains, **read_groups(root, names)},
        configurations={**description.configurations, **_read_states(root, names)},
        end_effectors={**description.end_effectors, **dict(_end_effectors(root, names))},
        collision_exclusions=tuple(dict.fromkeys((*description.collision_exclusions, *_exclusions(root, names)))),
        world_frames=tuple(dict.fromkeys((*description.world_frames, *_world_frames(root, names)))),
    )
    names.warn(path)
    return described


def _end_effectors(root: Node, names: Names) -> Iterator[tuple[str, str]]:
    for node in root.all("end_effector"):
        link = node.word("parent_link")
        if names.has_link(link):
            yield node.word("name"), link


def _world_frames(root: Node, names: Names) -> Iterator[str]:
    for node in root.all("virtual_joint"):
        frame = node.attributes.get("parent_frame", "").strip()
        if frame and not names.is_link(frame):
            yield frame


def _exclusions(root: Node, names: Names) -> Iterator[tuple[str, str]]:
    """Yield the pairs that are disabled one by one, and those of links that collide with nothing by default."""
    yield from _pairs(root, "disable_collisions", names)
    enabled = {frozenset(pair) for pair in _pairs(root, "enable_collisions", names)}
    for node in root.all("disable_default_collisions"):
        link = node.word("link")
        if names.has_link(link):
            others = (other for other in names.links if other != link)
            yield from ((link, other) for other in others if frozenset((link, other)) not in enabled)


def _pairs(root: Node, tag: str, names: Names) -> Iterator[tuple[str, str]]:
    for node in root.all(tag):
        pair = node.word("link1"), node.word("link2")
        known = [names.has_link(link) for link in pair]
        if all(known):
            yield pair


def _read_states(root: Node, names: Names) -> dict[str, Positions]:
    states: dict[str, Positions] = {}
    for node in root.all("group_state"):
        name, positions = node.word("name"), _positions(node, names)
        if not positions:
            continue
        earlier = states.setdefault(name, {})
        if all(earlier.get(joint, value) == value for joint, value in positions.items()):
            earlier.update(positions)
        else:
            states[f"{node.word('group')}/{name}"] = positions
    return states


def _positions(state: Node, names: Names) -> Positions:
    positions: Positions = {}
    for node in state.all("joint"):
        joint = names.joint(node.word("name"))
        if joint is None:
            continue
        if joint.kind == "fixed":
            names.skip("position of fixed joint", joint.name)
            continue
        values = node.numbers("value", _COORDINATES[joint.kind])
        positions[joint.name] = _with_unit_quaternion(node, values) if len(values) >= 4 else values
    return positions


def _with_unit_quaternion(node: Node, values: tuple[float, ...]) -> tuple[float, ...]:
    """Normalise the last four numbers, a quaternion x y z w with few digits."""
    length = math.hypot(*values[-4:])
    if abs(length - 1.0) > _QUATERNION_TOLERANCE:
        raise node.error(f"value={node.attributes['value']!r} must have a quaternion of norm 1, got {length:.6g}")
    return *values[:-4], *(part / length for part in values[-4:])
