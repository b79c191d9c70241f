"""SRDF groups as chains of joint names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kinodyn.description.messages import listed
from kinodyn.description.srdf.names import Names
from kinodyn.description.types import Joint
from kinodyn.description.xml_tree import Node


def read_groups(root: Node, names: Names) -> dict[str, tuple[str, ...]]:
    """Map each group with moving joints to their names, in the order of the file, without repetition."""
    groups: dict[str, Node] = {}
    for node in root.all("group"):
        first = groups.setdefault(node.word("name"), node)
        if first is not node:
            raise node.error(f"the group is defined twice (first on line {first.line}); rename one")
    chains: dict[str, tuple[str, ...]] = {}
    for name in groups:
        for ready in _innermost_first(name, groups, chains, names):
            chains[ready] = tuple(dict.fromkeys(_members(groups[ready], chains, names)))
    return {name: chain for name, chain in chains.items() if chain}


def _innermost_first(
    name: str, groups: dict[str, Node], done: dict[str, tuple[str, ...]], names: Names
) -> Iterator[str]:
    """Yield the group and the groups inside it that are not done yet, each after those that it contains."""
    path = {name: iter(_subgroups(groups[name], groups, names))}
    while path:
        outer = next(reversed(path))
        inner = next((inner for inner in path[outer] if inner not in done), None)
        if inner in path:
            loop = list(path)[list(path).index(inner) :]
            raise groups[inner].error(f"groups contain each other: {listed([*loop, inner], limit=12)}")
        if inner is not None:
            path[inner] = iter(_subgroups(groups[inner], groups, names))
            continue
        del path[outer]
        if outer not in done:
            yield outer


def _subgroups(group: Node, groups: dict[str, Node], names: Names) -> list[str]:
    members = [node.word("name") for node in group.all("group")]
    for name in members:
        if name not in groups:
            names.skip("group", name)
    return [name for name in members if name in groups]


def _members(group: Node, chains: dict[str, tuple[str, ...]], names: Names) -> Iterator[str]:
    for node in group.children:
        if node.tag == "joint":
            yield from _moving([names.joint(node.word("name"))])
        elif node.tag == "link" and names.has_link(node.word("name")):
            yield from _moving([names.joint_above(node.word("name"))])
        elif node.tag == "chain":
            yield from _moving(_between(node, names))
        elif node.tag == "group":
            yield from chains.get(node.word("name"), ())


def _moving(joints: Iterable[Joint | None]) -> Iterator[str]:
    return (joint.name for joint in joints if joint is not None and joint.kind != "fixed")


def _between(node: Node, names: Names) -> list[Joint]:
    """Return the joints on the path from `base_link` to `tip_link`, through their nearest common link if necessary."""
    base, tip = node.word("base_link"), node.word("tip_link")
    known = [names.has_link(base), names.has_link(tip)]
    if not all(known):
        return []
    up, down = _joints_to_root(base, names), _joints_to_root(tip, names)
    # From the root down, both paths are the same until they part.
    while up and down and up[-1] is down[-1]:
        up.pop()
        down.pop()
    return [*up, *reversed(down)]


def _joints_to_root(link: str, names: Names) -> list[Joint]:
    joints = []
    joint = names.joint_above(link)
    while joint is not None:
        joints.append(joint)
        joint = names.joint_above(joint.parent)
    return joints
